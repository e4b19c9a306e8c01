/**
 * The objects of clusters that begin, change or end by `/clusters/{name}`, or by a first write. The object comes first, and its controller does the same as the
 * request goes on to do: where the request dies, the controller goes on.
 */
import type { Status } from "../api/meta/status";
import { parseTime } from "../api/meta/time";
import { ADOPTED_ANNOTATION, type Cluster, CLUSTERS_GROUP, CLUSTERS_VERSION } from "../api/registry/clusters/cluster";
import { CLUSTERS_MANAGER } from "../api/registry/ipam/ipam";
import type { GetResult, ObjectKey, WriteOptions, WriteRequest, WriteResult } from "../api/rpc/store";
import { err, ok, type Result } from "../core/base/result";
import type { QuotaAmounts } from "../api/rpc/namespace-quotas";
import type { ControllerList } from "../core/config/controllers";
import { isLocation, type Location } from "../core/config/location";
import type { ClusterSource } from "../tenancy/rpc";

/** What a new cluster is to be. */
export interface ClusterWish {
  readonly location?: Location | undefined;
  /** null = the variable's */
  readonly controllers?: ControllerList | null | undefined;
  /** undefined = the variable's */
  readonly serviceRanges?: readonly string[] | undefined;
  /** with which its namespaces start; undefined = with none */
  readonly quotas?: QuotaAmounts | undefined;
}

/** What the beginning of a cluster has to know. */
export type FirstWish = Omit<ClusterWish, "controllers">;

/** The store of Clusters, and their controller. */
export interface DeclaringPorts {
  get(key: ObjectKey): Promise<Result<GetResult, Status>>;
  /** may be made twice: a write that came through unheard is found by the next read */
  write(request: WriteRequest): Promise<Result<WriteResult, Status>>;
  /** asks the controller to look at what is being deleted, and resolves behind that */
  hurry(): Promise<void>;
  /** in the Worker, whose request waits */
  wait(ms: number): Promise<void>;
}

const TRIES = 3;
/** Between two requests to look at a deletion: the controller does not look more often. */
const HURRY_MS = 100;
const OPTIONS: WriteOptions = {
  dryRun: false,
  fieldManager: CLUSTERS_MANAGER,
  fieldValidation: "Ignore",
  force: false,
  group: CLUSTERS_GROUP,
  version: CLUSTERS_VERSION,
};

/**
 * `made`: by this call. `ending`: the object, or the cluster without one, is being deleted. `wish`: what the object that is there says. `source`: the object,
 * as what asks for the cluster. `waits`: the cluster begins with a range of a pool, which its controller takes.
 */
export type Declared =
  { how: "ending" } | { how: "waits" } | { how: "made"; source: ClusterSource } | { how: "found"; source: ClusterSource; wish: FirstWish };

/**
 * Makes the object of a cluster unless there is one.
 *
 * @param wishOf asked where there is none; undefined = the cluster is being deleted
 */
export async function declareCluster(
  ports: DeclaringPorts,
  name: string,
  wishOf: () => Promise<Result<ClusterWish | undefined, Status>>,
): Promise<Result<Declared, Status>> {
  for (let tried = 1; ; tried++) {
    const found = await objectOf(ports, name);
    if (!found.ok) return found;
    if (found.value?.metadata?.deletionTimestamp) {
      if (tried === TRIES) return ok({ how: "ending" });
      // Its cluster may have ended just now.
      if (tried > 1) await ports.wait(HURRY_MS);
      await ports.hurry();
      continue;
    }
    if (found.value && isRangeless(found.value)) {
      if (tried === TRIES) return ok({ how: "waits" });
      await ports.wait(HURRY_MS);
      continue;
    }
    if (found.value) return ok({ how: "found", source: sourceOf(found.value), wish: wishIn(found.value) });
    const wish = await wishOf();
    if (!wish.ok) return wish;
    if (!wish.value) return ok({ how: "ending" });
    const { location, controllers, serviceRanges, quotas } = wish.value;
    const spec = {
      ...(location !== undefined && { location }),
      ...(controllers && { controllers }),
      ...(serviceRanges && { serviceCIDRs: serviceRanges }),
      ...(quotas && { quotas }),
    };
    const object = JSON.stringify({ metadata: { name }, spec });
    const made = await ports.write({ verb: "create", namespace: "", object, options: OPTIONS });
    if (!made.ok) return made;
    if (made.value.ok) return ok({ how: "made", source: sourceOf(JSON.parse(made.value.object) as Cluster) });
    if (made.value.status.code !== 409 || tried === TRIES) return err(made.value.status);
  }
}

/** `said`: by this generation of the object. `none`: there is no object. `other`: it stands for another life of the name than the one that is meant. */
export type ControllersDeclared = { how: "said"; source: ClusterSource } | { how: "none" | "other" };

/**
 * Gives the object a list of controllers, or with null the variable's. A call that comes late changes no later object of the name.
 *
 * @param meant the object; without its uid the life that it stands for, whichever object that is
 */
export async function declareControllers(
  ports: DeclaringPorts,
  name: string,
  controllers: ControllerList | null,
  meant: ClusterSource,
): Promise<Result<ControllersDeclared, Status>> {
  let { uid } = meant;
  if (uid === undefined) {
    const found = await objectOf(ports, name);
    if (!found.ok) return found;
    if (!found.value) return ok({ how: "none" });
    const life = lifeOf(found.value);
    if (life !== undefined && meant.life !== undefined && life !== meant.life) return ok({ how: "other" });
    uid = found.value.metadata?.uid;
  }
  const patch = JSON.stringify({ ...(uid !== undefined && { metadata: { uid } }), spec: { controllers } });
  const answer = await ports.write({ verb: "patch", key: keyOf(name), subresource: "", patchType: "merge", patch, options: OPTIONS });
  if (answer.ok && answer.value.ok) return ok({ how: "said", source: sourceOf(JSON.parse(answer.value.object) as Cluster) });
  const gone = settled(answer);
  if (gone.ok) return ok({ how: "none" });
  // A patch with the uid of another object is refused as every other one that the rules refuse.
  const now = uid === undefined ? ok(undefined) : await objectOf(ports, name);
  return now.ok && now.value && now.value.metadata?.uid !== uid ? ok({ how: "other" }) : gone;
}

/** The life of a cluster that was there before its object. Nobody says it of a cluster whose status says more. */
export function adoptedLife({ metadata, status }: Cluster): string | undefined {
  return status?.phase === "Active" ? undefined : metadata?.annotations?.[ADOPTED_ANNOTATION];
}

/** Id of the life that the object stands for; undefined = its controller has not said so yet. */
export function lifeOf(object: Cluster): string | undefined {
  return object.status?.id ?? adoptedLife(object);
}

/**
 * The object as what says something of its cluster.
 *
 * @param life id of the life that is meant; undefined = the caller knows none
 */
export function sourceOf({ metadata }: Cluster, life?: string): ClusterSource {
  const { uid, generation, creationTimestamp } = metadata ?? {};
  const createdAt = parseTime(creationTimestamp);
  return {
    ...(uid !== undefined && { uid }),
    ...(generation !== undefined && { generation }),
    ...(createdAt !== undefined && { createdAt }),
    ...(life !== undefined && { life }),
  };
}

/**
 * Deletes the object, if there is one that is meant: that one; undefined = there is none. A call that comes late deletes no later object of the name.
 *
 * @param isMeant asked of the life that the object stands for; undefined = its controller has not said so yet
 */
export async function undeclareCluster(
  ports: DeclaringPorts,
  name: string,
  isMeant: (life: string | undefined) => Promise<Result<boolean, Status>>,
): Promise<Result<ClusterSource | undefined, Status>> {
  const found = await objectOf(ports, name);
  if (!found.ok) return found;
  if (!found.value) return ok(undefined);
  const meant = await isMeant(lifeOf(found.value));
  if (!meant.ok) return meant;
  if (!meant.value) return ok(undefined);
  const { uid } = found.value.metadata ?? {};
  const preconditions = uid === undefined ? {} : { uid };
  const options = { dryRun: false, preconditions, propagationPolicy: "Background" as const, gracePeriodSeconds: undefined };
  const deleted = settled(await ports.write({ verb: "delete", key: keyOf(name), options }));
  return deleted.ok ? ok(sourceOf(found.value)) : deleted;
}

/** Only its controller may begin it: it knows the range. */
function isRangeless({ spec, status }: Cluster): boolean {
  return spec?.pool !== undefined && status?.phase !== "Active";
}

function wishIn(cluster: Cluster): FirstWish {
  const { location = "", pool } = cluster.spec ?? {};
  // What it has out of a pool, its status says.
  const { serviceCIDRs = [] } = (pool ? cluster.status : cluster.spec) ?? {};
  const quotas = quotasOf(cluster);
  return {
    ...(isLocation(location) && { location }),
    ...(serviceCIDRs.length > 0 && { serviceRanges: serviceCIDRs }),
    ...(quotas && { quotas }),
  };
}

/** With which new namespaces are to start; null = with none. */
export function quotasOf({ spec }: Cluster): QuotaAmounts | null {
  const { quotas = {} } = spec ?? {};
  return Object.keys(quotas).length > 0 ? quotas : null;
}

function keyOf(name: string): ObjectKey {
  return { namespace: "", name };
}

function settled(answer: Result<WriteResult, Status>): Result<void, Status> {
  if (!answer.ok) return answer;
  return answer.value.ok || answer.value.status.code === 404 ? ok(undefined) : err(answer.value.status);
}

async function objectOf(ports: DeclaringPorts, name: string): Promise<Result<Cluster | undefined, Status>> {
  const answer = await ports.get(keyOf(name));
  if (!answer.ok) return answer;
  const { value: found } = answer;
  if (found.ok) return ok(JSON.parse(found.object) as Cluster);
  return found.status.code === 404 ? ok(undefined) : err(found.status);
}
