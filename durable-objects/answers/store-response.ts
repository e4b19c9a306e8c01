/** Collections over HTTP: what a store's object answers to `fetch`. */
import type { ClusterStore } from "../../src/api/store/cluster-store";
import { COLLECTION_HEADER, decodeCollection } from "../../src/api/store/list/collection-header";
import { pageResponse, refusalResponse } from "./page-response";
import { isSocketRequest, watchSocketResponse } from "./watch-socket";
import { watchResponse } from "./watch-stream";

/** The part of a store that HTTP reaches. */
type CollectionStore = Pick<ClusterStore<never>, "opened" | "list" | "watch" | "deleteCollection" | "source">;

/** Lists, watches and deletecollection: the CollectionRequest comes in a header, the body goes out in its final form. */
export async function storeResponse(store: CollectionStore, request: Request): Promise<Response> {
  const collection = decodeCollection(request.headers.get(COLLECTION_HEADER) ?? "");
  await store.opened(collection);
  switch (collection.verb) {
    case "list":
      return listResponse(store.list(collection), store);
    case "deletecollection":
      return listResponse(await store.deleteCollection(collection), store);
    case "watch":
      if (isSocketRequest(request)) return watchSocketResponse(store, collection, request.headers.get("Sec-WebSocket-Protocol") ?? "");
      return watchResponse(store, collection, request.signal);
  }
}

function listResponse(body: ReturnType<CollectionStore["list"]>, { source }: CollectionStore): Response {
  return body.ok ? pageResponse(body.value, source) : refusalResponse(body.error);
}
