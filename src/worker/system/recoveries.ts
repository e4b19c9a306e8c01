/**
 * POST /recoveries: the platform brings one object of the cluster back to an earlier time (docs/backup.md).
 *
 *   {"object": "services", "time": "2026-01-31T12:00:00Z"}
 *   {"object": "services", "bookmark": …}                     the way back, as the answer to the recovery before has it
 *
 * `object` is the name of a store as `kubectl get` has it, `owners/UID` with the uid of a ServiceCIDR, or `controllers/NAME`. The answer has the bookmark that
 * undoes it, and so has the log. A ServiceCIDR without a range is 404. A local server has no such recovery: 405.
 *
 * `controllers/repair` has the list of stores that were ever used. What entered since is missing in it, so from a second behind its restart on every store may
 * be used, until the next full visit has asked each. Where that could not be told, the answer has `"doubted": false`.
 */
import { CONTROLLERS } from "../../../durable-objects/platform/controllers";
import type { Env } from "../../../durable-objects/platform/env";
import { coordinator, recordedObject, repairStub } from "../../../durable-objects/peers/peers";
import { systemClock } from "../../../durable-objects/platform/ports";
import { badRequest, methodNotAllowed, notFound, qualifiedResource, type Status } from "../../api/meta/status";
import { parseTime } from "../../api/meta/time";
import { storedDefinitionsIn } from "../../api/registry/all";
import { serviceCIDRsDefinition } from "../../api/registry/service-cidrs/definition";
import type { JsonObject, JsonValue } from "../../api/schema/json/json-value";
import { err, ok, type Result } from "../../core/base/result";
import { isRootCluster } from "../../tenancy/cluster-id";
import type { ClusterObject } from "../../tenancy/record-storage";
import type { RecoveryTarget } from "../../tenancy/rpc";
import { readJsonObject } from "../http/read/read-json";
import { urlOf } from "../http/read/request-url";
import { jsonResponse, renderingOf, statusResponse } from "../http/answer/respond";
import { call } from "../routing/call";
import { configOf } from "../routing/config-guard";

const MEMBERS = ["object", "time", "bookmark"];
/** Between two looks at repair. It starts anew a tenth of a second behind its answer. */
const RESTART_MS = 1_000;
const LOOKS = 4;
const UID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Names of the stores that the cluster has. */
function storesIn(cluster: string): readonly string[] {
  return storedDefinitionsIn(isRootCluster(cluster)).map(qualifiedResource);
}

/** `cluster`: its id */
export async function recoveriesResponse(env: Env, cluster: string, request: Request): Promise<Response> {
  const rendering = renderingOf("json", urlOf(request).query, request.headers.get("User-Agent") ?? "");
  if (request.method !== "POST") return statusResponse(methodNotAllowed(), rendering);
  const config = configOf(env);
  if (!config.ok) return statusResponse(config.error, rendering);
  const body = await readJsonObject(request, config.value, "JSON object");
  if (!body.ok) return statusResponse(body.error, rendering);
  const asked = recoveryIn(cluster, body.value ?? {});
  if (!asked.ok) return statusResponse(asked.error, rendering);
  const { object, target } = asked.value;
  if (object.kind === "owner") {
    const missing = await missingOwner(env, cluster, object.name);
    if (missing) return statusResponse(missing, rendering);
  }
  // Once: a second recovery to a time would answer another way back.
  const done = await call(() => recordedObject(env, cluster, object).recover(target), {
    what: `${object.name}.recover`,
    repeatable: false,
  });
  if (!done.ok) return statusResponse(done.error, rendering);
  const answer = done.value;
  if (answer.ok) {
    const isUnsure = object.kind === "controller" && object.name === "repair" && !(await doubted(env, cluster));
    const told = { object: body.value?.["object"], undo: answer.undo, ...(isUnsure && { doubted: false }) };
    return jsonResponse(200, JSON.stringify(told), rendering);
  }
  if (answer.isHere) return statusResponse(badRequest(`${object.name} cannot be brought back: ${answer.why}`), rendering);
  return statusResponse(methodNotAllowed("point-in-time recovery is Cloudflare's: a local server has none"), rendering);
}

/** Whether the list of used stores is in doubt. What is told before its restart is lost with that life, so it is looked at a second later. */
async function doubted(env: Env, cluster: string): Promise<boolean> {
  let isTold = false;
  for (let look = 0; look < LOOKS; look++) {
    await systemClock.sleep(RESTART_MS);
    if (isTold) {
      const known = await call(() => repairStub(env, cluster).entered(), { what: "repair.entered", repeatable: true });
      if (known.ok && known.value === null) return true;
    }
    isTold = (await call(() => repairStub(env, cluster).doubt(), { what: "repair.doubt", repeatable: true })).ok;
  }
  return false;
}

/** Why there is no such owner of ranges; a call to an object of any other uid would make it, and nothing would find it again. */
async function missingOwner(env: Env, cluster: string, uid: string): Promise<Status | undefined> {
  const topology = await call(() => coordinator(env, cluster).topology(), { what: "coordinator.topology", repeatable: true });
  if (!topology.ok) return topology.error;
  const { claims, owners } = topology.value;
  const isKnown = claims.some(({ ownerUid }) => ownerUid === uid) || owners.some((owner) => owner.uid === uid);
  return isKnown ? undefined : notFound(serviceCIDRsDefinition, uid);
}

function recoveryIn(
  cluster: string,
  { object: name, time, bookmark, ...others }: JsonObject,
): Result<{ object: ClusterObject; target: RecoveryTarget }, Status> {
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined)
    return err(badRequest(`strict decoding error: unknown field ${JSON.stringify(unknown)} (there are ${MEMBERS.join(", ")})`));
  const object = objectNamed(cluster, name);
  if (!object) return err(badRequest(`object must be owners/UID, controllers/NAME, or one of ${storesIn(cluster).join(", ")}`));
  if ((time === undefined) === (bookmark === undefined)) return err(badRequest("there must be a time or a bookmark"));
  if (typeof bookmark === "string" && bookmark !== "") return ok({ object, target: { bookmark } });
  const atMs = typeof time === "string" ? parseTime(time) : undefined;
  return atMs === undefined
    ? err(badRequest("time must be one as 2026-01-31T12:00:00Z, and a bookmark a text"))
    : ok({ object, target: { atMs } });
}

function objectNamed(cluster: string, name: JsonValue | undefined): ClusterObject | undefined {
  if (typeof name !== "string") return undefined;
  const [folder = "", own] = name.split("/", 2);
  if (own === undefined) return storesIn(cluster).includes(name) ? { kind: "store", name } : undefined;
  if (folder === "owners" && UID.test(own)) return { kind: "owner", name: own };
  return folder === "controllers" && CONTROLLERS.namesIn(isRootCluster(cluster)).some((known) => known === own)
    ? { kind: "controller", name: own }
    : undefined;
}
