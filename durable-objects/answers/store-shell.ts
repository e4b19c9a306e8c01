/** A Durable Object around a store: what every store's object answers to HTTP and to the sockets of Workers, besides its methods. */
import type { DurableObject } from "cloudflare:workers";
import type { ClusterStore } from "../../src/api/store/cluster-store";
import type { Env } from "../platform/env";
import { type MethodOf, shellOf, STORE_METHODS } from "../platform/shell";
import { storeResponse } from "./store-response";
import { ObjectSockets } from "./watch-socket";

type AnyStore = Pick<ClusterStore<never>, "opened" | "list" | "watch" | "deleteCollection" | "source" | "sockets">;
type StoreMethod<Brain> = (typeof STORE_METHODS)[number] & MethodOf<Brain>;

interface SocketHandlers {
  fetch(request: Request): Promise<Response>;
  webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void;
  webSocketClose(socket: WebSocket): void;
  webSocketError(socket: WebSocket): void;
}

type StoreShell<Brain, Name extends keyof Brain> = DurableObject<Env> & { readonly brain: Brain } & Pick<Brain, Name> & SocketHandlers;
type NewShell<Brain, Shell> = new (ctx: DurableObjectState, env: Env, brain: Brain) => Shell;

/** As `shellOf`, with the methods of every store and these. A socket outlives the object's sleep; the object meets it again when it starts. */
export function storeShellOf<Brain extends AnyStore>(): <Name extends MethodOf<Brain>>(
  ...names: Name[]
) => NewShell<Brain, StoreShell<Brain, Name | StoreMethod<Brain>>> {
  return (...names) => {
    const methods = [...STORE_METHODS, ...names] as MethodOf<Brain>[];
    const Base = shellOf<Brain>()(...methods) as unknown as NewShell<Brain, DurableObject<Env> & { readonly brain: Brain }>;
    class Watched extends Base implements SocketHandlers {
      readonly #sockets: ObjectSockets;

      constructor(ctx: DurableObjectState, env: Env, brain: Brain) {
        super(ctx, env, brain);
        this.#sockets = new ObjectSockets(ctx, brain);
      }

      override fetch(request: Request): Promise<Response> {
        return storeResponse(this.brain, this.#sockets, request);
      }

      override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
        this.#sockets.heard(socket, message);
      }

      override webSocketClose(socket: WebSocket): void {
        this.#sockets.closed(socket);
      }

      override webSocketError(socket: WebSocket): void {
        this.#sockets.closed(socket);
      }
    }
    return Watched as never;
  };
}
