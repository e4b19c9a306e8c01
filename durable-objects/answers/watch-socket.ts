/**
 * The sockets of Workers that watch, as the platform keeps them while the object sleeps: its hibernating WebSockets, each with its state as the
 * attachment. The rules are in src/api/store/watch/socket-watches.
 */
import { tooManyRequests } from "../../src/api/meta/status";
import type { CollectionRequest } from "../../src/api/rpc/store";
import type { ClusterStore } from "../../src/api/store/cluster-store";
import { SOURCE_HEADER } from "../../src/api/store/list/list-source";
import { RELAY_FORM, RELAY_HEADER } from "../../src/api/store/watch/relay-frames";
import type { KeptWatch, WatchSocket } from "../../src/api/store/watch/socket-watches";
import { NORMAL_CLOSURE } from "../../src/api/store/hub/socket-sink";
import { STORE_SOCKETS_MAX, WATCHES_RETRY_SECONDS } from "../../src/api/store/state/limits";
import { refusalResponse } from "./page-response";

type RelayedStore = Pick<ClusterStore<never>, "sockets" | "source">;

export class ObjectSockets {
  readonly #sockets = new Map<WebSocket, WatchSocket>();

  constructor(
    private readonly ctx: DurableObjectState,
    private readonly store: RelayedStore,
  ) {
    for (const socket of ctx.getWebSockets()) store.sockets.wake(this.#kept(socket), stateOf(socket));
  }

  /** Answers a Worker's handshake, or refuses it with the Status. */
  open(request: CollectionRequest): Response {
    if (this.#sockets.size >= STORE_SOCKETS_MAX) {
      return refusalResponse(
        tooManyRequests(`${STORE_SOCKETS_MAX} watches of ${request.resource} are open, which is the most`, WATCHES_RETRY_SECONDS),
      );
    }
    const begin = this.store.sockets.prepare(request);
    if (!begin.ok) return refusalResponse(begin.error);
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    begin.value(this.#kept(server));
    const headers = { [RELAY_HEADER]: RELAY_FORM, [SOURCE_HEADER]: this.store.source };
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  heard(socket: WebSocket, message: string | ArrayBuffer): void {
    this.store.sockets.heard(this.#kept(socket), message);
  }

  closed(socket: WebSocket): void {
    this.store.sockets.closed(this.#kept(socket));
    this.#sockets.delete(socket);
    try {
      socket.close(NORMAL_CLOSURE);
    } catch {
      // It is closed already.
    }
  }

  #kept(socket: WebSocket): WatchSocket {
    const known = this.#sockets.get(socket);
    if (known) return known;
    const kept: WatchSocket = {
      send: (bytes) => socket.send(bytes),
      close: (code, reason) => socket.close(code, reason),
      keep(state) {
        try {
          socket.serializeAttachment(state);
        } catch {
          // Too large, as with a selector of many kilobytes. Without a state the watch ends when the object wakes, and its Worker asks anew.
          socket.serializeAttachment(null);
        }
      },
    };
    this.#sockets.set(socket, kept);
    return kept;
  }
}

function stateOf(socket: WebSocket): KeptWatch | undefined {
  return (socket.deserializeAttachment() as KeptWatch | null) ?? undefined;
}
