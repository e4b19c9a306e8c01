/**
 * The answer to a request for an object or a collection. The reasons to refuse it are looked at in this order: its page's origin, its form, its
 * timeout, the number of requests, its cluster. Then its handler runs.
 */
import { forbidden, noRepresentation, notAcceptable } from "../../api/meta/status";
import { refusalOf } from "../http/in-flight";
import { listSizes } from "../http/answer/list-sizes";
import { namesMediaType, negotiate, type AnswerShape } from "../http/negotiate/negotiate";
import { isOwnOrigin } from "../http/read/authority";
import { parseTimeout } from "../http/read/query";
import { renderingOf, statusResponse } from "../http/answer/respond";
import { wakeForAccounts } from "../access/default-policy";
import { renewServed } from "../routing/identity";
import { BY_ITSELF, inCluster, madeAnew, nearSender } from "../routing/known-clusters";
import type { RequestInfo, RequestTarget, TargetKind } from "../routing/request-info";
import type { ResourceRequest } from "../handlers/resource-request";
import type { TargetRequest } from "./target-request";
import { turn, until } from "./turn";

/** Resources with an object in each namespace that a new cluster gets when somebody asks. */
const OF_ACCOUNTS: ReadonlySet<string> = new Set(["serviceaccounts", "configmaps"]);

/** Kinds of targets with an object or a collection behind them. */
export type ObjectKind = Exclude<TargetKind, "connect" | "review">;

/** What the answers of one kind of target have of their own. */
export interface ObjectRoute<K extends ObjectKind> {
  /** the kind of answer, for negotiation */
  shape(info: RequestInfo): AnswerShape;
  /** what the request can be answered as */
  types(info: RequestInfo): readonly string[];
  /** what the path has, for every verb on it */
  representations(info: RequestInfo): readonly string[];
  /** whether the request is not counted among those under way; absent = by its verb alone */
  isUncounted?(query: URLSearchParams, headers: Headers): boolean;
  /** whether the request may make its cluster where it is not there; absent = it may not */
  begins?(request: ResourceRequest): boolean;
  /** `request.info.cluster` is the id of the cluster */
  answer(request: ResourceRequest, target: RequestTarget<K>): Promise<Response>;
}

/** The steps from a target of one kind to its handler. */
export function objectAnswer<K extends ObjectKind>(
  route: ObjectRoute<K>,
): (asked: TargetRequest, target: RequestTarget<K>) => Promise<Response> {
  return (asked, target) => answered(route, asked, target);
}

async function answered<K extends ObjectKind>(route: ObjectRoute<K>, asked: TargetRequest, target: RequestTarget<K>): Promise<Response> {
  const { env, config, request, url, access, userAgent, accept, refusal, count, waitUntil } = asked;
  const { cluster, query } = url;
  const { info } = target;
  const { namespace, definition } = info;
  if (definition.confidential && !isOwnOrigin(request.headers.get("Origin"), config.allowedHosts)) {
    return count(statusResponse(forbidden(definition, info.name, "pages of other origins may not use it"), refusal));
  }
  const accepted = negotiate(accept, route.shape(info));
  if (!accepted) {
    const status = namesMediaType(accept) ? notAcceptable(route.types(info)) : noRepresentation(route.representations(info));
    return count(statusResponse(status, refusal));
  }
  const rendering = renderingOf(accepted.encoding, query, userAgent);
  // A watch ends by its timeoutSeconds; upstream ignores `timeout` there.
  const timeout = info.verb === "watch" ? undefined : parseTimeout(query);
  if (timeout && !timeout.ok) return count(statusResponse(timeout.error, refusal));
  const timeoutMs = timeout?.value ?? 0;
  const { group, resource } = definition;
  const listSeats = (max: number): number => listSizes.seatsOf({ cluster, group, resource, namespace }, query, max);
  const place = await turn(route.isUncounted?.(query, request.headers) ? "watch" : info.verb, asked, { timeoutMs, listSeats });
  if (!place) return count(statusResponse(refusalOf(info.verb), refusal));
  const resourceRequest: ResourceRequest = {
    env,
    config,
    request,
    url,
    access,
    place,
    info,
    query,
    userAgent,
    timeoutMs,
    accepted,
    rendering,
    refusal,
    waitUntil,
  };
  let servedId: string | undefined;
  const begins = route.begins?.(resourceRequest) ? (config.impliesClusters ? nearSender(request) : BY_ITSELF) : undefined;
  const answer = inCluster({ env, name: cluster, begins, refusal }, (id) => {
    // The rules of a former life of the name say nothing about this one.
    if (access.clusterId !== undefined && access.clusterId !== id) return statusResponse(madeAnew(), refusal);
    servedId = id;
    return route.answer({ ...resourceRequest, info: { ...info, cluster: id } }, target);
  });
  const afterwards = (): Promise<unknown> | undefined => {
    if (servedId === undefined) return undefined;
    const renewed = renewServed(env, servedId, request);
    return OF_ACCOUNTS.has(resource) ? Promise.all([renewed, wakeForAccounts(env, servedId)]) : renewed;
  };
  return until(answer, place, asked, afterwards);
}
