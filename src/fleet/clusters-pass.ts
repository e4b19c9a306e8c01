/**
 * The pass of the controller of Clusters: makes, configures and deletes the cluster behind each object, and says in its status what came of it. Its rows say
 * of each object which step it needs; the object itself is read again before a step.
 *
 *   dies behind                     what there is                                   what the next pass does
 *   look, open                      perhaps a cluster that its status lacks         opens again, which changes nothing
 *   setControllers, bootstrap       the cluster, and the record tells its objects   the same again
 *   the status                      everything                                      finds the step done
 *   look of an end                  the cluster, or its deletion                    looks again
 *   remove                          a record that works off the deletion            asks how far that is
 *   the finalizer                   no cluster, and no object                       finds nothing to do
 *
 * Clusters that have no object come in by the list of all clusters: those of an earlier release, and of one that runs beside this one. An object whose
 * cluster somebody deleted past it goes, too: it would begin an empty cluster otherwise.
 *
 * The status says which life of the name the object stands for, and the end of the object ends that life alone. An object may be older than what has its
 * name: its store was brought back in time, or somebody took its finalizer away.
 */
import { readObject } from "../api/meta/read-object";
import { semanticEqual } from "../api/meta/equality";
import {
  CLUSTER_FINALIZER,
  type Cluster,
  type ClusterObjectStatus,
  CLUSTERS_GROUP,
  CLUSTERS_VERSION,
  ROOT_CLUSTER,
} from "../api/registry/clusters/cluster";
import { leastOf } from "../core/base/extremes";
import { checkControllers, type ControllerList } from "../core/config/controllers";
import { isLocation, type Location } from "../core/config/location";
import type { WrittenStore } from "../controllers/followed/called-store";
import { FollowedStore } from "../controllers/followed/followed-store";
import { KeptFacts } from "../controllers/followed/kept-facts";
import { KeptRows } from "../controllers/followed/kept-rows";
import type { RowStorage } from "../controllers/followed/row-storage";
import { createRequest, deleteRequest, updateRequest, type Writer } from "../controllers/followed/write-requests";
import type { Pass } from "../controllers/frame/controller";
import { Frame, type FramePorts } from "../controllers/frame/frame";
import { type Outcome, outcomeOf, type Round } from "../controllers/frame/round";
import { locationOf } from "../tenancy/cluster-id";
import type { ListedCluster } from "../tenancy/rpc";
import { activeStatus, deletingStatus, waitingStatus } from "./cluster-status";
import type { FleetPorts } from "./ports";

/** Between two looks at a deletion while nobody asks. */
const LOOK_MS = 1_000;
/** The same, however many pokes come. */
const LOOK_MIN_MS = 50;
/** Between two readings of the list of all clusters. */
const LIST_MS = 3_600_000;
const LIST_PAGE = 1_000;
const WRITER: Writer = { manager: "clusters", group: CLUSTERS_GROUP, version: CLUSTERS_VERSION };

/** `make`: the cluster is not yet as the spec says. `end`: the object waits for the end of its cluster. */
export type ClusterStep = "make" | "end" | "none";

/** `adopt`: the cluster has no object. `doubt`: the list of all clusters lacks the cluster of an object, or has a later one of the name. */
type Work = { readonly name: string } & ({ readonly step: "make" | "end" | "doubt" } | { readonly step: "adopt"; listed: ListedCluster });

export interface ClustersPassPorts extends FramePorts {
  storage: RowStorage;
  clusters: WrittenStore;
  fleet: FleetPorts;
}

/** What the object needs. */
export function stepOf({ metadata, status }: Cluster): ClusterStep {
  if (metadata?.deletionTimestamp) return metadata.finalizers?.includes(CLUSTER_FINALIZER) ? "end" : "none";
  return status?.phase === "Active" && status.observedGeneration === metadata?.generation ? "none" : "make";
}

export function clustersPass({ storage, clusters, fleet, ...ports }: ClustersPassPorts): Pass {
  const { clock, recorder } = ports;
  const rows = new KeptRows(storage);
  const facts = new KeptFacts<Cluster, { readonly step: ClusterStep; readonly id?: string }>(rows, "clusters", (object) => {
    const { id } = object.status ?? {};
    return { step: stepOf(object), ...(id !== undefined && { id }) };
  });
  const store = new FollowedStore("clusters", clusters, facts.reader, rows, recorder);
  /** by name of a cluster that waits for a deletion: when it was looked at */
  const looked = new Map<string, number>();
  /** what the last reading of the list of all clusters found */
  let found = new Map<string, Work>();
  let listAt = -Infinity;

  /** Names without an object, and objects without a cluster. */
  async function compare(round: Round): Promise<void> {
    const known = new Set(facts.keys);
    const next = new Map<string, Work>();
    let after = "";
    for (;;) {
      const page = await fleet.page(after, LIST_PAGE);
      if (!page) return round.leave();
      for (const listed of page.clusters) {
        const { name } = listed;
        const { step, id } = facts.get(name) ?? {};
        if (!known.delete(name)) next.set(name, { name, step: "adopt", listed });
        else if (step === "none" && id !== undefined && listed.facts && listed.facts.id !== id) next.set(name, { name, step: "doubt" });
      }
      if (page.isLast) break;
      after = page.clusters.at(-1)?.name ?? after;
    }
    known.delete(ROOT_CLUSTER);
    for (const name of known) if (facts.get(name)?.step === "none") next.set(name, { name, step: "doubt" });
    found = next;
    listAt = clock.now() + LIST_MS;
  }

  async function plan(round: Round): Promise<Work[]> {
    const now = clock.now();
    // A list that does not answer holds up no other work.
    if (listAt <= now || listAt > now + LIST_MS) await compare(round).catch((error: unknown) => round.failed(error));
    for (const name of looked.keys()) if ((facts.get(name)?.step ?? "none") === "none") looked.delete(name);
    const isFresh = (at = -Infinity): boolean => at <= now && now < at + LOOK_MIN_MS;
    const steps = [...facts.keys].flatMap((name): Work[] => {
      const step = facts.get(name)?.step ?? "none";
      return step === "none" || isFresh(looked.get(name)) ? [] : [{ name, step }];
    });
    return [...steps, ...found.values()];
  }

  async function write(work: Work): Promise<Outcome> {
    if (work.step === "adopt") return noted(work, await adopt(work.listed));
    const [text] = await clusters.objectsNamed([{ namespace: "", name: work.name }]);
    const object = text ? readObject<Cluster>(text) : undefined;
    if (work.step === "doubt") return noted(work, object && stepOf(object) === "none" ? await doubt(object) : "none");
    // What the rows lack the next pass reads.
    if (!object || stepOf(object) !== work.step) return "none";
    return work.step === "make" ? make(object) : end(object);
  }

  function noted(work: Work, outcome: Outcome): Outcome {
    if (outcome === "done" || outcome === "none") found.delete(work.name);
    return outcome;
  }

  function wait(name: string): Outcome {
    looked.set(name, clock.now());
    return "waits";
  }

  /** A cluster that is being deleted needs no object: it leaves the list. */
  async function adopt({ name, stamp, facts: told }: ListedCluster): Promise<Outcome> {
    const state = told ? await fleet.look(name, locationOf(told.id)) : await fleet.listed(name, stamp);
    if (state.phase !== "active") return "none";
    const location = locationOf(state.id);
    const spec = { ...(location !== undefined && { location }), ...(state.controllers && { controllers: [...state.controllers] }) };
    const answer = await clusters.write(createRequest({ metadata: { name }, spec } as Cluster, WRITER));
    return !answer.ok && answer.status.code === 409 ? "done" : outcomeOf(answer);
  }

  /** The list may have been told late: the record knows. */
  async function doubt(object: Cluster): Promise<Outcome> {
    const state = await fleet.look(nameOf(object), placeOf(object));
    if (state.phase !== "active") return outcomeOf(await clusters.write(deleteRequest(object)));
    return state.id === object.status?.id ? "none" : tell(object, activeStatus(object, state, clock.now()));
  }

  async function make(object: Cluster): Promise<Outcome> {
    const name = nameOf(object);
    const isRoot = name === ROOT_CLUSTER;
    const place = placeOf(object);
    const wasThere = object.status?.phase === "Active";
    // The cluster of the bare paths may be there without a record, and stays so without a list of its own.
    let state = wasThere ? await fleet.look(name, place) : await fleet.open(name, place);
    if (wasThere && !isRoot && state.phase !== "active") return outcomeOf(await clusters.write(deleteRequest(object)));
    if (state.phase === "deleting") {
      const outcome = await tell(object, waitingStatus(object, clock.now()));
      return outcome === "done" ? wait(name) : outcome;
    }
    const wanted = listOf(object);
    const kept = state.phase === "active" ? state.controllers : null;
    // A list that is older than the object is the object's.
    if (!wanted && kept && object.status?.observedGeneration === undefined) {
      const answer = await clusters.write(
        updateRequest({ ...object, spec: { ...object.spec, controllers: [...kept] } } as Cluster, WRITER),
      );
      return answer.ok ? "later" : outcomeOf(answer);
    }
    if (isRoot && wanted && state.phase === "absent") state = await fleet.open(name, place);
    if (state.phase === "active" && !semanticEqual(state.controllers, wanted)) {
      const told = await fleet.setControllers(name, place, wanted);
      if (!told.isTold) return "later";
      state = told.state;
    }
    if (!isRoot && state.phase === "active") await fleet.bootstrap(state.id);
    return tell(object, activeStatus(object, state, clock.now()));
  }

  async function end(object: Cluster): Promise<Outcome> {
    const name = nameOf(object);
    const place = placeOf(object);
    let state = await fleet.look(name, place);
    // Without a status the controller has not looked before: what began meanwhile began for this object.
    const life = object.status?.id ?? (state.phase === "absent" ? "" : state.id);
    if (state.phase === "active" && state.id === life) state = await fleet.remove(name, place, life);
    if (state.phase === "deleting" && state.id === life) {
      const outcome = await tell(object, deletingStatus(object, state, clock.now()));
      return outcome === "done" ? wait(name) : outcome;
    }
    // No cluster, or a later one of the name, which this deletion does not mean.
    const finalizers = (object.metadata?.finalizers ?? []).filter((finalizer) => finalizer !== CLUSTER_FINALIZER);
    const { finalizers: _, ...metadata } = object.metadata ?? {};
    return outcomeOf(
      await clusters.write(updateRequest({ ...object, metadata: { ...metadata, ...(finalizers.length > 0 && { finalizers }) } }, WRITER)),
    );
  }

  /** Writes the version that was read, so what somebody has changed meanwhile is judged by the next pass. */
  async function tell(object: Cluster, status: ClusterObjectStatus): Promise<Outcome> {
    if (semanticEqual(object.status, status)) return "done";
    return outcomeOf(await clusters.write(updateRequest({ ...object, status } as Cluster, WRITER, "status")));
  }

  return new Frame<Work>(ports, {
    rows,
    keeps: [facts],
    follows: () => [store],
    work: { plan, write, nameOf: ({ name, step }) => `${step} ${name}` },
    due(isRefused) {
      const pending = [...facts.keys].flatMap((name) => {
        const step = facts.get(name)?.step ?? "none";
        // What the pass has written itself may be work, too.
        return step === "none" || isRefused(`${step} ${name}`) ? [] : [(looked.get(name) ?? -Infinity) + LOOK_MS];
      });
      return pending.length > 0 ? leastOf(pending) : undefined;
    },
  }).pass;
}

function nameOf({ metadata }: Cluster): string {
  return metadata?.name ?? "";
}

function placeOf({ spec }: Cluster): Location | undefined {
  const { location = "" } = spec ?? {};
  return isLocation(location) ? location : undefined;
}

/** The list of the spec with names in place of aliases; null = the variable's. A list that a rule of today refuses counts as none. */
function listOf({ spec }: Cluster): ControllerList | null {
  const checked = spec?.controllers && checkControllers(spec.controllers);
  return checked?.ok ? checked.value : null;
}
