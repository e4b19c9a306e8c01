/** A request inside a served group and version -> its one handler. */
import { assert } from "../../core/base/assert";
import type { Config } from "../../core/config/config";
import type {
  ActionDefinition,
  ConnectDefinition,
  ObjectAnswer,
  ObjectReport,
  ObjectView,
  ResourceDefinition,
  Verb,
} from "../../api/registry/resource";
import { forbidden, noRepresentation, notAcceptable, unknownResource } from "../../api/meta/status";
import type { Env } from "../../../durable-objects/platform/env";
import { inCluster, madeAnew } from "../routing/known-clusters";
import { RBAC_GROUP } from "../../api/meta/rbac-names";
import { noteRulesChanged } from "../access/policies";
import { type Access, senderOf } from "../access/access";
import { configOf } from "../routing/config-guard";
import { renewServed } from "../routing/identity";
import { writeStreaks } from "../routing/write-streaks";
import { isOwnOrigin } from "../http/read/authority";
import { type BeginningRequest, beginRequest, type Place, refusalOf, UNCOUNTED } from "../http/in-flight";
import { listSizes } from "../http/answer/list-sizes";
import { patchTypeOf } from "../http/read/content-type";
import { ANSWER_TYPES, DOCUMENT_TYPES, namesMediaType, negotiate, negotiateStatus, WATCH_TYPES } from "../http/negotiate/negotiate";
import { parseTimeout, queryBool } from "../http/read/query";
import { type RequestInfo, requestTarget, type RequestTarget } from "../routing/request-info";
import { parseQuery } from "../http/read/request-url";
import { type Handler, type ResourceRequest, shapeOf } from "./resource-request";
import { renderingOf, statusResponse, warned } from "../http/answer/respond";
import type { ServedVersion } from "../routing/served";
import { createReview } from "./reviews";
import { type Asked, dryRunLabel } from "../http/negotiate/asked";
import { nowNoted } from "../http/connection/process-start";
import { requestMetrics } from "../http/connection/request-metrics";
import { terminations } from "../http/connection/terminations";
import { act } from "./act";
import { create } from "./create";
import { get } from "./get";
import { list } from "./list";
import { mayCreate } from "./may-create";
import { type Connect, nodeProxy } from "./node-proxy";
import { patch } from "./patch";
import { mayWait, proxyConfig } from "./proxy-config";
import { isSmallReport, reportProxyHealth } from "./proxy-health";
import { remove } from "./remove";
import { removeCollection } from "./remove-collection";
import { requestToken } from "./token-request";
import { update } from "./update";
import { watch } from "./watch";

/** Verbs whose success changes a store. */
const WRITING: ReadonlySet<Verb> = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** Only a request that may make an object begins a cluster; a dry run makes none, and only an administrator of the server makes a cluster. */
function beginsCluster({ access, info, query, request }: ResourceRequest): boolean {
  return access.makesClusters && mayCreate(info, patchTypeOf(request.headers.get("Content-Type"))) && !query.has("dryRun");
}

const HANDLERS: Readonly<Record<Verb, Handler>> = {
  create,
  get,
  list,
  watch,
  update,
  patch,
  delete: remove,
  deletecollection: removeCollection,
};

const CONNECTS: Readonly<Record<ConnectDefinition["name"], Connect>> = { proxy: nodeProxy };

const VIEWS: Readonly<Record<ObjectView, Handler>> = { "proxy-config": proxyConfig };

const REPORTS: Readonly<Record<ObjectReport, Handler>> = { "proxy-health": reportProxyHealth };

const ANSWERS: Readonly<Record<ObjectAnswer, (request: ResourceRequest, action: ActionDefinition) => Promise<Response>>> = {
  "token-request": requestToken,
};

export interface GroupVersionRequest {
  env: Env;
  request: Request;
  cluster: string;
  served: ServedVersion;
  /** path after the version, percent-encoded, without its leading slash */
  rest: string;
  /** raw */
  query: string;
  access: Access;
  /** keeps `work` running when the client leaves before its answer */
  waitUntil(work: Promise<unknown>): void;
}

export async function dispatch({
  env,
  request,
  cluster,
  served,
  rest,
  query: rawQuery,
  access,
  waitUntil,
}: GroupVersionRequest): Promise<Response> {
  const query = parseQuery(rawQuery);
  const userAgent = request.headers.get("User-Agent") ?? "";
  const accept = request.headers.get("Accept");
  const refusal = renderingOf(negotiateStatus(accept), query, userAgent);
  const target = requestTarget(cluster, served, rest, request.method, queryBool(query, "watch"));
  if (target.kind === "refused") return statusResponse(target.status, refusal);
  const asked = target.kind === "review" ? askedReview(target, served, request) : askedFor(target, request);
  const count = counting({ cluster, asked, dryRun: dryRunLabel(query), begunMs: nowNoted(), deprecated: deprecationsOf(target) });
  if (target.kind === "review") {
    const review = served.reviews.get(target.resource);
    if (!review) return statusResponse(unknownResource(), refusal);
    const timeout = parseTimeout(query);
    if (!timeout.ok) return count(statusResponse(timeout.error, refusal));
    const place = await turn("create", { env, request, access, cluster, waitUntil, timeoutMs: timeout.value });
    if (!place) return count(statusResponse(refusalOf("create"), refusal));
    const body = { request, place, timeoutMs: timeout.value };
    return until(createReview(body, review, target.namespace, query, access), { count, place, waitUntil });
  }
  const { info } = target;
  if (target.kind === "connect") {
    const { definition, name } = info;
    const connected = inCluster({ env, name: cluster, begins: false, refusal }, (id) =>
      CONNECTS[target.connect.name]({ env, cluster: id, definition, id: name, path: target.path, request, query, refusal }),
    );
    // As upstream: like a watch, it takes no place among the requests under way.
    return until(connected, { count, place: UNCOUNTED, waitUntil });
  }
  if (info.definition.confidential && !isOwnOrigin(request.headers.get("Origin"), configured(env).allowedHosts)) {
    return count(statusResponse(forbidden(info.definition, info.name, "pages of other origins may not use it"), refusal));
  }
  const accepted = negotiate(accept, target.kind === "view" ? "document" : shapeOf(info));
  if (!accepted) {
    const types = typesOf(target);
    return count(statusResponse(namesMediaType(accept) ? notAcceptable(types) : noRepresentation(representationsOf(target)), refusal));
  }
  const rendering = renderingOf(accepted.encoding, query, userAgent);
  // A watch ends by its timeoutSeconds; upstream ignores `timeout` there.
  const timeout = info.verb === "watch" ? undefined : parseTimeout(query);
  if (timeout && !timeout.ok) return count(statusResponse(timeout.error, refusal));
  const isUncounted = target.kind === "view" ? mayWait(query) : target.kind === "report" && isSmallReport(request.headers);
  const timeoutMs = timeout?.value ?? 0;
  const { namespace, definition } = info;
  const { group, resource } = definition;
  const listSeats = (max: number): number => listSizes.seatsOf({ cluster, group, resource, namespace }, query, max);
  const place = await turn(isUncounted ? "watch" : info.verb, { env, request, access, cluster, waitUntil, timeoutMs, listSeats });
  if (!place) return count(statusResponse(refusalOf(info.verb), refusal));
  const resourceRequest: ResourceRequest = { env, request, access, place, info, query, userAgent, timeoutMs, accepted, rendering, refusal };
  let servedId: string | undefined;
  const answer = inCluster(
    { env, name: cluster, begins: target.kind === "resource" && beginsCluster(resourceRequest), refusal },
    async (id) => {
      // The rules of a former life of the name say nothing about this one.
      if (access.clusterId !== undefined && access.clusterId !== id) return statusResponse(madeAnew(), refusal);
      servedId = id;
      const inside = { ...resourceRequest, info: { ...info, cluster: id } };
      if (target.kind === "view") return VIEWS[target.view](inside);
      if (target.kind === "report") return REPORTS[target.report](inside);
      if (target.kind === "action") {
        const { action } = target;
        return action.effect.does === "answer" ? ANSWERS[action.effect.answer](inside, action) : act(inside, action);
      }
      const response = await HANDLERS[info.verb](inside);
      if (response.ok && WRITING.has(info.verb) && !query.has("dryRun")) noteWritten(id, info.definition);
      return response;
    },
  );
  const afterwards = (): Promise<void> => (servedId === undefined ? Promise.resolve() : renewServed(env, servedId, request));
  return until(answer, { count, place, waitUntil }, afterwards);
}

/** The place of the request among those under way, when its turn has come. */
async function turn(
  verb: Verb,
  asked: Pick<GroupVersionRequest, "env" | "request" | "access" | "cluster" | "waitUntil"> &
    Pick<BeginningRequest, "timeoutMs" | "listSeats">,
): Promise<Place | undefined> {
  const { env, request, access, cluster, waitUntil, ...more } = asked;
  const flow = { cluster, user: access.isOpen ? "" : senderOf(access), isExempt: !access.isOpen && access.makesClusters };
  const begun = beginRequest({ verb, config: configured(env), ...flow, ...more, signal: request.signal });
  // Otherwise the platform drops the request of a client that left, and whoever hears its turn is gone.
  if (begun instanceof Promise) waitUntil(begun);
  return begun;
}

function noteWritten(cluster: string, { group, resource }: ResourceDefinition): void {
  writeStreaks.note(cluster, resource, Date.now());
  if (group === RBAC_GROUP) noteRulesChanged(cluster);
}

function askedReview(
  { resource, namespace }: Extract<RequestTarget, { kind: "review" }>,
  { group, version }: ServedVersion,
  { headers }: Request,
): Asked {
  return { verb: "create", group, version, resource, subresource: "", namespace, name: "", headers };
}

function askedFor(target: Extract<RequestTarget, { info: RequestInfo }>, { headers }: Request): Asked {
  const { version, namespace, name, subresource, definition } = target.info;
  const { group, resource } = definition;
  const verb = target.kind === "connect" ? "connect" : target.info.verb;
  const under =
    target.kind === "action"
      ? target.action.name
      : target.kind === "view"
        ? target.view
        : target.kind === "report"
          ? target.report
          : target.kind === "connect"
            ? target.connect.name
            : subresource;
  return { verb, group, version, resource, subresource: under, namespace, name, headers };
}

function typesOf({ kind, info }: Extract<RequestTarget, { info: RequestInfo }>): readonly string[] {
  if (kind === "view") return DOCUMENT_TYPES;
  return info.verb === "watch" ? WATCH_TYPES : ANSWER_TYPES;
}

/** What the path has, for every verb on it: a collection's path also has the frames of its watches. */
function representationsOf(target: Extract<RequestTarget, { info: RequestInfo }>): readonly string[] {
  const isCollection = target.kind === "resource" && target.info.name === "";
  return isCollection ? [...ANSWER_TYPES, ...WATCH_TYPES] : typesOf(target);
}

function deprecationsOf(target: RequestTarget): string[] {
  if (target.kind !== "resource") return [];
  const { definition, version } = target.info;
  const text = definition.deprecations?.[version];
  return text === undefined ? [] : [text];
}

interface Begun {
  cluster: string;
  asked: Asked;
  dryRun: string;
  begunMs: number;
  /** warnings of every answer */
  deprecated: readonly string[];
}

/** Counts the answer of the request, and hands it on. */
type Count = (response: Response) => Response;

function counting({ cluster, asked, dryRun, begunMs, deprecated }: Begun): Count {
  return (response) => {
    requestMetrics.note(cluster, asked, dryRun, response.status, Math.max(0, Date.now() - begunMs) / 1000);
    terminations.note(cluster, asked, response);
    return warned(response, deprecated);
  };
}

interface UnderWay extends Pick<GroupVersionRequest, "waitUntil"> {
  count: Count;
  place: Place;
}

/** The answer; its place is given back when it is there. No answer waits for what is done `afterwards`, which never rejects. */
function until(answer: Promise<Response>, { count, place, waitUntil }: UnderWay, afterwards?: () => Promise<void>): Promise<Response> {
  const ended = () => place.end();
  const answered = answer.then(count);
  // Otherwise the platform drops the request of a client that left, and its place is never given back.
  waitUntil(answered.then(ended, ended).then(afterwards));
  return answered;
}

function configured(env: Env): Config {
  const config = configOf(env);
  assert(config.ok, "requests with invalid variables are refused before");
  return config.value;
}
