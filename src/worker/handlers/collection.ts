/** The request that list, watch and deletecollection send to the store, which answers with the final bytes. */
import { COLLECTION_HEADER, encodeCollection } from "../../api/store/list/collection-header";
import type { Result } from "../../core/base/result";
import { badRequest, type Status } from "../../api/meta/status";
import { parseIncludeObject } from "../../api/meta/table";
import type { CollectionRequest, AnswerForm } from "../../api/rpc/store";
import { compressed } from "../http/answer/compress";
import { answerOfCopy, noteSource } from "../routing/list-copies";
import type { CollectionOptions } from "../http/read/collection-options";
import { call } from "../routing/call";
import { socketHeaders } from "../http/connection/web-socket";
import { bootstrapProblem, callName, refuse, type ResourceRequest, store } from "./resource-request";
import { rerendered } from "../http/answer/rerender";

const COLLECTION_URL = "http://store/collection";

/** The representation that the client asked for, or why it cannot have it. */
export function representationOf(request: ResourceRequest): Result<AnswerForm, Status> {
  const { transform } = request.accepted;
  if (transform.as !== "table") return { ok: true, value: transform };
  const include = parseIncludeObject(request.query.get("includeObject") ?? "");
  if (!include.ok) return { ok: false, error: badRequest(include.error) };
  return { ok: true, value: { as: "table", includeObject: include.value, version: transform.version } };
}

/**
 * Asks the store, or a copy where a copy is allowed. The store's Response is the answer, refusals included. An error means that the store was not
 * reached.
 */
export async function askCollection(
  request: ResourceRequest,
  options: CollectionOptions,
  representation: AnswerForm,
  extra: Pick<CollectionRequest, "deleteOptions" | "watchedBy"> = {},
): Promise<Result<Response, Status>> {
  const { cluster, verb, namespace, definition, version } = request.info;
  const { group, resource } = definition;
  if (verb !== "list" && verb !== "watch" && verb !== "deletecollection") throw new Error(`${verb} is not a verb of collections`);
  const encoding = request.accepted.encoding === "protobuf" ? { encoding: "protobuf" as const } : {};
  const wanted: CollectionRequest = { ...options, ...extra, verb, namespace, group, version, resource, representation, ...encoding };
  const copied = await answerOfCopy(request.env, cluster, wanted, definition);
  if (copied) return { ok: true, value: copied };
  const problem = await bootstrapProblem(request);
  if (problem) return { ok: false, error: problem };
  const askedAt = Date.now();
  const socket = verb === "watch" ? socketHeaders(request.request.headers) : undefined;
  const init: RequestInit = {
    method: verb === "deletecollection" ? "POST" : "GET",
    headers: { [COLLECTION_HEADER]: encodeCollection(wanted), ...socket },
    // The client's disconnect ends a watch at its source. A socket reports its own end.
    ...(socket ? {} : { signal: request.request.signal }),
  };
  const answer = await call(() => store(request).fetch(new Request(COLLECTION_URL, init)), {
    what: callName(request),
    repeatable: verb !== "deletecollection",
    timeoutMs: request.timeoutMs,
  });
  if (answer.ok) noteSource(cluster, definition, answer.value, askedAt);
  return answer;
}

/** The store's answer as the client wants to read it. */
export async function collectionResponse(request: ResourceRequest, answer: Response): Promise<Response> {
  const rendering = answer.status < 400 ? request.rendering : request.refusal;
  const shown = await call(() => rerendered(answer, rendering), { what: callName(request), repeatable: false });
  return shown.ok ? compressed(shown.value, request.request.headers.get("Accept-Encoding")) : refuse(request, shown.error);
}
