/**
 * A watch over WebSocket: the same URL with `Upgrade: websocket`, what the client says ignored. The rules are in src/api/store/hub/socket-sink.
 * Source: upstream apiserver endpoints/handlers/watch.go (HandleWS).
 */
import type { CollectionRequest } from "../../src/api/rpc/store";
import type { ClusterStore } from "../../src/api/store/cluster-store";
import { NORMAL_CLOSURE, sendEvents, socketSink } from "../../src/api/store/hub/socket-sink";
import { refusedWatchFrame } from "../../src/api/store/watch/refused-watch";
import { refusalResponse } from "./page-response";

export function isSocketRequest(request: Request): boolean {
  return request.headers.get("Upgrade")?.toLowerCase() === "websocket";
}

/** Answers the handshake, or refuses it with the Status. `protocol` is the subprotocol to agree on, "" = none. */
export function watchSocketResponse(store: Pick<ClusterStore<never>, "watch">, request: CollectionRequest, protocol: string): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  let stop: () => void = () => undefined;
  const started = store.watch(
    request,
    socketSink(server, () => stop(), request.encoding),
  );
  if (started.ok) stop = started.value.stop;
  else {
    const frame = refusedWatchFrame(started.error, request.encoding);
    if (frame === undefined) return refusalResponse(started.error);
    sendEvents(server, frame, request.encoding ?? "json");
    server.close(NORMAL_CLOSURE);
  }
  for (const event of ["close", "error"] as const) server.addEventListener(event, () => stop());
  const headers: Record<string, string> = protocol === "" ? {} : { "Sec-WebSocket-Protocol": protocol };
  return new Response(null, { status: 101, webSocket: client, headers });
}
