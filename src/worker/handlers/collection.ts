/** The request that list, watch and deletecollection send to the store, which answers with the final bytes. */
import { selectorWithin } from "../../access/authorization/fleet-reads";
import { clustersDefinition } from "../../api/registry/clusters/definition";
import { storedNamespace, storedResource } from "../../api/registry/all";
import { COLLECTION_HEADER, encodeCollection } from "../../api/store/list/collection-header";
import { SOURCE_HEADER } from "../../api/store/list/list-source";
import type { OpenedSocket } from "../../api/relay/feed";
import type { Result } from "../../core/base/result";
import { badRequest, type Status } from "../../api/meta/status";
import { parseIncludeObject } from "../../api/meta/table";
import type { CollectionRequest, AnswerForm } from "../../api/rpc/store";
import { compressed } from "../http/answer/compress";
import { answerOfCopy, noteSource } from "../routing/list-copies";
import type { CollectionOptions } from "../http/read/collection-options";
import { call } from "../routing/call";
import { openStoreSocket } from "../routing/store-socket";
import { bootstrapProblem, callName, refuse, type ResourceRequest, servedAt, store } from "./resource-request";
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

/** What a request for a collection asks the store for. */
export function wantedCollection(
  request: ResourceRequest,
  options: CollectionOptions,
  representation: AnswerForm,
  extra: Pick<CollectionRequest, "deleteOptions"> = {},
): CollectionRequest {
  const { verb, namespace, definition, version } = request.info;
  const { group, resource } = definition;
  if (verb !== "list" && verb !== "watch" && verb !== "deletecollection") throw new Error(`${verb} is not a verb of collections`);
  const encoding = request.accepted.encoding === "protobuf" ? { encoding: "protobuf" as const } : {};
  const { clusters } = request.access.caller;
  // A tenant sees his own.
  const isOfFleet = storedResource(definition).resource === clustersDefinition.resource;
  const own = clusters && isOfFleet && { labelSelector: selectorWithin(clusters, options.labelSelector) };
  // In a namespace in which none is shown there is none.
  const asked = { verb, namespace: storedNamespace(definition, namespace) ?? namespace, group, version, resource, representation };
  const at = servedAt(request);
  return { ...options, ...own, ...extra, ...asked, ...encoding, ...(at && { servedAt: at }) };
}

/**
 * Asks the store for a list or a deletecollection, or a copy where a copy is allowed. The store's Response is the answer, refusals included. An error
 * means that the store was not reached.
 */
export async function askCollection(request: ResourceRequest, wanted: CollectionRequest): Promise<Result<Response, Status>> {
  const { cluster, definition } = request.info;
  const copied = await answerOfCopy(request.env, cluster, wanted, definition, request.request.signal);
  if (copied) return { ok: true, value: copied };
  const problem = await bootstrapProblem(request);
  if (problem) return { ok: false, error: problem };
  const askedAt = Date.now();
  const init: RequestInit = {
    method: wanted.verb === "deletecollection" ? "POST" : "GET",
    headers: { [COLLECTION_HEADER]: encodeCollection(wanted) },
    signal: request.request.signal,
  };
  const answer = await call(() => store(request).fetch(new Request(COLLECTION_URL, init)), {
    what: callName(request),
    repeatable: wanted.verb !== "deletecollection",
    timeoutMs: request.timeoutMs,
  });
  if (answer.ok) noteSource(cluster, definition, answer.value.headers.get(SOURCE_HEADER), askedAt);
  return answer;
}

/** Opens a watch at the store. A Status is the store's refusal, or says that it was not reached. */
export async function openSocket(request: ResourceRequest, wanted: CollectionRequest): Promise<Result<OpenedSocket, Status>> {
  const { cluster, definition } = request.info;
  const problem = await bootstrapProblem(request);
  if (problem) return { ok: false, error: problem };
  const askedAt = Date.now();
  const opened = await openStoreSocket(() => store(request), wanted, { what: callName(request), repeatable: true });
  if (opened.ok) noteSource(cluster, definition, opened.value.source, askedAt);
  return opened;
}

/**
 * A watch at a store of the release before, as that release's Worker opened it: the store's stream or socket is the client's. `protocol`: that of a handshake,
 * undefined = the client reads a body.
 */
export async function openAtEarlierStore(
  request: ResourceRequest,
  wanted: CollectionRequest,
  protocol: string | undefined,
): Promise<Result<Response, Status>> {
  const socket = { Upgrade: "websocket", ...(protocol ? { "Sec-WebSocket-Protocol": protocol } : {}) };
  const headers = { [COLLECTION_HEADER]: encodeCollection(wanted), ...(protocol === undefined ? {} : socket) };
  const init: RequestInit = { headers, ...(protocol === undefined ? { signal: request.request.signal } : {}) };
  return call(() => store(request).fetch(new Request(COLLECTION_URL, init)), { what: callName(request), repeatable: true });
}

/** The store's answer as the client wants to read it. */
export async function collectionResponse(request: ResourceRequest, answer: Response): Promise<Response> {
  const rendering = answer.status < 400 ? request.rendering : request.refusal;
  const shown = await call(() => rerendered(answer, rendering), { what: callName(request), repeatable: false });
  return shown.ok ? compressed(shown.value, request.request.headers.get("Accept-Encoding")) : refuse(request, shown.error);
}
