/**
 * A watch over WebSocket: the same URL with `Upgrade: websocket`, each event one text message, what the client says ignored.
 * Source: upstream apiserver endpoints/handlers/watch.go (HandleWS).
 *
 * A socket does not tell what its client has taken, so a stalled client does not show. The bytes sent are bounded instead. After its start
 * a watch is sent SOCKET_ALLOWANCE_BYTES and the hub's backlog at most; then it is closed properly, and its client watches again from its
 * last revision. A stalled client holds no more memory than that, and none once its connection is gone.
 */
import { errorFrame } from "../src/api/meta/watch-event";
import type { CollectionRequest } from "../src/api/rpc/store";
import type { ClusterStore } from "../src/api/store/cluster-store";
import type { WatchSink } from "../src/api/store/watch-hub";
import { statusResponse } from "./page-response";

/** Sent without being counted as backlog: with the hub's own MiB 4 MiB, some thousand events between two reconnects of a healthy client. */
const SOCKET_ALLOWANCE_BYTES = 3 * 1024 * 1024;
const NORMAL_CLOSURE = 1000;

const decoder = new TextDecoder();

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
    socketSink(server, () => stop()),
  );
  if (started.ok) stop = started.value.stop;
  else if (started.error.reason !== "Expired") return statusResponse(started.error);
  else {
    server.send(errorFrame(started.error));
    server.close(NORMAL_CLOSURE);
  }
  for (const event of ["close", "error"] as const) server.addEventListener(event, () => stop());
  const headers: Record<string, string> = protocol === "" ? {} : { "Sec-WebSocket-Protocol": protocol };
  return new Response(null, { status: 101, webSocket: client, headers });
}

/** Pieces end with the end of an event, so that each line is one message. */
function socketSink(socket: WebSocket, lost: () => void): WatchSink {
  let open = true;
  let sentBytes = 0;
  const close = (reason: string): void => {
    if (!open) return;
    open = false;
    try {
      socket.close(NORMAL_CLOSURE, reason);
    } catch {
      // The client was faster.
    }
  };
  return {
    write(bytes) {
      if (!open) return;
      sentBytes += bytes.length;
      const text = decoder.decode(bytes);
      try {
        for (let at = 0; at < text.length;) {
          const end = text.indexOf("\n", at) + 1;
          socket.send(text.slice(at, end));
          at = end;
        }
      } catch {
        // The client went away between two events.
        open = false;
        lost();
      }
    },
    backlogBytes: () => (open ? Math.max(0, sentBytes - SOCKET_ALLOWANCE_BYTES) : 0),
    end: () => close("the watch is over"),
    abort: close,
    // The runtime itself reports a client that is gone.
    probe: () => undefined,
  };
}
