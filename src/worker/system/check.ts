/**
 * The operator's view of one cluster, for `kubectl get --raw` and `npm run check`:
 *
 *   GET  /check                 the report of a check of the whole cluster, as `npm run check -- --output json` prints it; one at a time
 *   POST /check                 begins a repair of everything, without waiting for cron and its portions; answers 202 at once
 *   GET  /check/owners          who writes the addresses of which prefixes
 *   GET  /check/owners/{uid}    a page of what one of them has written (behind the position `?after=`), and whether its bitmap agrees
 *   GET  /check/nodeports       which Service has which node port, as its allocator has written it
 *   GET  /check/slices          whether the cluster's own controller keeps EndpointSlices
 *   GET  /check/controllers     what each controller's last pass read, did and left, since when work is left, and when the next pass is due
 *
 * Only POST changes anything.
 */
import type { Env } from "../../../durable-objects/platform/env";
import { coordinator, ipAddressesStore, repairStub, servicesStore } from "../../../durable-objects/peers/peers";
import { systemClock } from "../../../durable-objects/platform/ports";
import { FairQueue } from "../../access/fairness/fair-queue";
import { checkCluster } from "../../tools/check/check-cluster";
import type { NodePortsView } from "../../tools/check/node-port-rows";
import { badRequest, methodNotAllowed, notAcceptable, overloaded, type Status, succeeded } from "../../api/meta/status";
import { CHECKS_MAX, IN_FLIGHT_PERIOD_MS } from "../http/limits";
import { DOCUMENT_TYPES, negotiateDocument } from "../http/negotiate/negotiate";
import { call } from "../routing/call";
import { usedObjects } from "./used-objects";
import { urlOf } from "../http/read/request-url";
import { jsonResponse, pageNotFound, renderingOf, statusResponse } from "../http/answer/respond";
import { CheckRefused, RpcSource } from "./check-source";
import { type ControllersView, controllerViews } from "./controller-statuses";

/** One for each isolate. */
const checks = new FairQueue(systemClock, IN_FLIGHT_PERIOD_MS);
const CHECK = { kind: "reads", cluster: "", user: "", seats: 1, max: CHECKS_MAX, least: 0, waitMs: 0, isExempt: true } as const;

/** GET and POST /check. `waitUntil` of the platform: a check whose client has left still ends, and frees its place. */
export function checkResponse(env: Env, cluster: string, request: Request, waitUntil: (work: Promise<unknown>) => void): Promise<Response> {
  if (request.method === "POST") return repairResponse(env, cluster);
  const answer = answered(request, async () => {
    const place = await checks.begin(CHECK);
    if (!place) throw new CheckRefused(overloaded());
    try {
      return await checkCluster(new RpcSource(env, cluster), systemClock);
    } finally {
      place.end();
    }
  });
  waitUntil(answer.catch(() => undefined));
  return answer;
}

/** GET /check/owners */
export function ownersResponse(env: Env, cluster: string, request: Request): Promise<Response> {
  return answered(request, () => new RpcSource(env, cluster).view());
}

/** GET /check/owners/{uid} */
export function ownerResponse(env: Env, cluster: string, request: Request, uid: string): Promise<Response> {
  const after = urlOf(request).query.get("after") ?? "0";
  if (!/^\d{1,15}$/.test(after)) return Promise.resolve(statusResponse(badRequest(`after=${after}: must be a position`)));
  const source = new RpcSource(env, cluster);
  // A call to an unknown uid would create an object.
  return answered(request, async () => {
    const { claims } = await source.view();
    return claims.some(({ ownerUid }) => ownerUid === uid) ? source.page(uid, Number(after)) : undefined;
  });
}

/** GET /check/nodeports */
export function nodePortsResponse(env: Env, cluster: string, request: Request): Promise<Response> {
  return answered(request, async (): Promise<NodePortsView> => ({ rows: await new RpcSource(env, cluster).nodePortRows() }));
}

/** GET /check/slices */
export function sliceControllerResponse(env: Env, cluster: string, request: Request): Promise<Response> {
  return answered(request, () => new RpcSource(env, cluster).sliceController());
}

/** GET /check/controllers */
export function controllersResponse(env: Env, cluster: string, request: Request): Promise<Response> {
  return answered(request, async (): Promise<ControllersView> => ({
    controllers: await controllerViews(env, cluster, await usedObjects(env, cluster)),
  }));
}

/** `read` resolves to undefined for a missing owner. It rejects with CheckRefused for one that cannot be read. */
async function answered(request: Request, read: () => Promise<object | undefined>): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") return statusResponse(methodNotAllowed());
  const encoding = negotiateDocument(request.headers.get("Accept"));
  if (!encoding) return statusResponse(notAcceptable(DOCUMENT_TYPES));
  const rendering = renderingOf(encoding, urlOf(request).query, request.headers.get("User-Agent") ?? "");
  try {
    const body = await read();
    return body ? jsonResponse(200, JSON.stringify(body), rendering) : pageNotFound();
  } catch (error) {
    if (error instanceof CheckRefused) return statusResponse(error.status, rendering);
    throw error;
  }
}

/** Each object answers at once and repairs afterwards, so all are asked together. */
async function repairResponse(env: Env, cluster: string): Promise<Response> {
  const tasks = {
    "repair.sweep": () => repairStub(env, cluster).sweep(),
    "services.auditAll": () => servicesStore(env, cluster).auditAll(),
    "ipaddresses.auditAll": () => ipAddressesStore(env, cluster).auditAll(),
    "coordinator.maintain": () => coordinator(env, cluster).maintain(),
    "services.maintain": () => servicesStore(env, cluster).maintain(),
  };
  const begun = await Promise.all(Object.entries(tasks).map(([what, task]) => call(task, { what, repeatable: true })));
  const refused = begun.find((one): one is { ok: false; error: Status } => !one.ok);
  if (refused) return statusResponse(refused.error);
  return statusResponse(succeeded(202, "a repair of everything has begun"));
}
