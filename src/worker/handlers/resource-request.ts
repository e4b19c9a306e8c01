/** One request for a resource, as every handler gets it, and the answers that all handlers share. */

import type { Config } from "../../core/config/config";
import type { Status } from "../../api/meta/status";
import type { AskedWatch } from "../../api/relay/relay";
import type { StoreRpc } from "../../api/rpc/store";
import { type Access, senderOf } from "../access/access";
import { bootstrapFor, isBootstrapped } from "../routing/bootstrap";
import type { Env } from "../../../durable-objects/platform/env";
import { type Remote, storeStub } from "../../../durable-objects/peers/peers";
import type { ServedAt } from "../../core/net/served-at";
import { originOf } from "../http/read/authority";
import { storedResource } from "../../api/registry/all";
import { encodeBase64 } from "../../core/encoding/base64";
import type { HeldSeats } from "../http/in-flight";
import type { Accepted, AnswerShape } from "../http/negotiate/negotiate";
import type { RequestUrl } from "../http/read/request-url";
import type { RequestInfo } from "../routing/request-info";
import { type Rendering, statusResponse } from "../http/answer/respond";

export interface ResourceRequest {
  env: Env;
  config: Config;
  request: Request;
  url: RequestUrl;
  /** who sends it, and what he may do */
  access: Access;
  /** its place among the requests under way */
  place: HeldSeats;
  info: RequestInfo;
  /** that of `url` */
  query: URLSearchParams;
  userAgent: string;
  /** the request's `timeout` parameter in milliseconds; 0 = none, as for a watch, which ignores it */
  timeoutMs: number;
  accepted: Accepted;
  rendering: Rendering;
  /** how refusals are written */
  refusal: Rendering;
  /** keeps `work` running when the client leaves before its answer, or after it */
  waitUntil(work: Promise<unknown>): void;
}

export type Handler = (request: ResourceRequest) => Promise<Response>;

/** The kind of answer that a verb has, for negotiation. */
export function shapeOf(info: RequestInfo): AnswerShape {
  switch (info.verb) {
    case "watch":
      return "watch";
    case "list":
    case "deletecollection":
      return "list";
    default:
      return "object";
  }
}

/** A new stub of the request's store. */
export function store(request: ResourceRequest): Remote<StoreRpc> {
  return storeStub(request.env, request.info.cluster, storedResource(request.info.definition));
}

/** Where the client has reached the server, for a resource that says such a thing. */
export function servedAt({ config, info, request }: ResourceRequest): ServedAt | undefined {
  if (!info.definition.representationOf?.saysAddress) return undefined;
  const origin = originOf(request, config);
  if (origin === "") return undefined;
  const { rootCertificates } = config;
  return { origin, ...(rootCertificates !== "" && origin.startsWith("https:") && { certificates: encodeBase64(rootCertificates) }) };
}

/** The Status of a failure as the answer. */
export function refuse(request: ResourceRequest, status: Status, warnings: readonly string[] = []): Response {
  return statusResponse(status, request.refusal, warnings);
}

/** The Status of a success as the answer, in the form that the object would have had. */
export function succeed(request: ResourceRequest, status: Status, warnings: readonly string[]): Response {
  return statusResponse(status, request.rendering, warnings);
}

/** "services.create", for log lines. */
export function callName(request: ResourceRequest): string {
  return `${request.info.definition.resource}.${request.info.verb}`;
}

/** Writes need a bootstrapped cluster. Reads do without: they only see less. */
export async function bootstrapProblem(request: ResourceRequest): Promise<Status | undefined> {
  const { cluster, verb } = request.info;
  if (isBootstrapped(request.env, cluster)) return undefined;
  const problem = await bootstrapFor(request.env, cluster, request.request, request.timeoutMs);
  return verb === "get" || verb === "list" || verb === "watch" ? undefined : problem;
}

/** Administrators of all clusters have any number of watches: they look at what others do. */
export function watcherOf({ config, access }: ResourceRequest): Pick<AskedWatch, "watchedBy"> {
  if (access.makesClusters) return {};
  return { watchedBy: { user: senderOf(access), max: config.maxWatchesPerUser } };
}
