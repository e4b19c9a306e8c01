/** Collections over HTTP: what a store's object answers to `fetch`. */
import type { ClusterStore } from "../../src/api/store/cluster-store";
import { serviceUnavailable, type Status } from "../../src/api/meta/status";
import { unsupported } from "../../src/api/rpc/protocol";
import { COLLECTION_HEADER, decodeCollection } from "../../src/api/store/list/collection-header";
import { RELAY_FORM, RELAY_HEADER } from "../../src/api/store/watch/relay-frames";
import { pageResponse, refusalResponse } from "./page-response";
import type { ObjectSockets } from "./watch-socket";
import { watchResponse } from "./watch-stream";

/** A deploy replaces the Worker within seconds. */
const ANOTHER_RELEASE_SECONDS = 1;

/** The part of a store that HTTP reaches. */
type CollectionStore = Pick<ClusterStore<never>, "opened" | "list" | "watch" | "deleteCollection" | "source">;

/** Lists, watches and deletecollection: the CollectionRequest comes in a header, the body goes out in its final form. */
export async function storeResponse(store: CollectionStore, sockets: Pick<ObjectSockets, "open">, request: Request): Promise<Response> {
  const collection = decodeCollection(request.headers.get(COLLECTION_HEADER) ?? "");
  await store.opened(collection);
  switch (collection.verb) {
    case "list":
      return listResponse(store.list(collection), store, request.signal);
    case "deletecollection":
      return listResponse(await store.deleteCollection(collection), store, request.signal);
    case "watch":
      if (request.headers.get("Upgrade")?.toLowerCase() !== "websocket") return watchResponse(store, collection, request.signal);
      // A Worker of another release would hand on frames that it does not know.
      if (request.headers.get(RELAY_HEADER) !== RELAY_FORM) return refusalResponse(anotherRelease());
      return sockets.open(collection);
    default:
      throw unsupported(`fetch with the verb ${String((collection as { verb: unknown }).verb)}`);
  }
}

function anotherRelease(): Status {
  return serviceUnavailable("the server is currently unable to handle the request", ANOTHER_RELEASE_SECONDS);
}

function listResponse(body: ReturnType<CollectionStore["list"]>, { source }: CollectionStore, signal: AbortSignal): Response {
  return body.ok ? pageResponse(body.value, source, signal) : refusalResponse(body.error);
}
