/**
 * Watch. The isolate relays what the store says over a socket (src/api/relay), so that the store may sleep while clients wait.
 * Upstream: apiserver endpoints/handlers/get.go and watch.go.
 */
import { invalid } from "../../api/meta/status";
import { storedResource, storeLabel } from "../../api/registry/all";
import type { AskedWatch } from "../../api/relay/relay";
import { parseCollectionOptions, resourceVersionProblem } from "../http/read/collection-options";
import { brokenHandshake, socketProtocol } from "../http/connection/web-socket";
import { watchAnswer } from "../http/answer/watch-answer";
import { relay } from "../routing/relay";
import { EarlierStore } from "../routing/store-socket";
import { refuse, type ResourceRequest, watcherOf } from "./resource-request";
import { endedWatch } from "../routing/waits";
import { collectionResponse, openAtEarlierStore, openSocket, representationOf, wantedCollection } from "./collection";

export async function watch(request: ResourceRequest): Promise<Response> {
  const { cluster, definition, name } = request.info;
  const options = parseCollectionOptions(request.query, true);
  if (!options.ok) return refuse(request, options.error);
  const problem = resourceVersionProblem(options.value.resourceVersion);
  if (problem) return refuse(request, invalid({ ...definition, kind: definition.resource }, "", [problem]));
  const representation = representationOf(request);
  if (!representation.ok) return refuse(request, representation.error);
  // The deprecated path /watch/…/{name} is a watch of one object.
  const own = name === "" ? "" : `metadata.name=${name.replace(/[\\,=]/g, "\\$&")}`;
  const fieldSelector = [options.value.fieldSelector, own].filter((part) => part !== "").join(",");
  const protocol = socketProtocol(request.request.headers);
  const broken = protocol === undefined ? undefined : brokenHandshake(request.request);
  if (broken) return refuse(request, broken);
  const overBefore = options.value.timeoutSeconds < 0 && protocol === undefined;
  if (relay.isStopping || overBefore) return endedWatch(request.rendering);
  const wanted = wantedCollection(request, { ...options.value, fieldSelector }, representation.value);
  const asked: AskedWatch = {
    cluster,
    store: storeLabel(storedResource(definition)),
    request: wanted,
    definition,
    ...watcherOf(request),
    open: (collection) => openSocket(request, collection),
  };
  const { waitUntil } = request;
  const { signal } = request.request;
  const client = { signal, encoding: wanted.encoding, protocol, waitUntil };
  try {
    const answer = await watchAnswer(client, (sink) => relay.begin(asked, sink));
    return answer.ok ? answer.value : refuse(request, answer.error);
  } catch (error) {
    if (!(error instanceof EarlierStore)) throw error;
    const answer = await openAtEarlierStore(request, wanted, protocol);
    if (!answer.ok) return refuse(request, answer.error);
    return answer.value.status < 400 ? answer.value : collectionResponse(request, answer.value);
  }
}
