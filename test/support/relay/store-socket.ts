/** One socket between a store and a Worker, in virtual time: each side hears the other a moment later, in order, as long as the socket is there. */
import type { OpenedSocket } from "../../../src/api/relay/feed";
import { readRelayFrame, type RelayFrame } from "../../../src/api/store/watch/relay-frames";
import type { KeptWatch, SocketWatches, WatchSocket } from "../../../src/api/store/watch/socket-watches";

/** What is around a socket. */
export interface SocketWorld {
  /** A message reaches the other side. */
  later(work: () => void): void;
  /** The object at the store's end; it wakes for this. */
  reach(work: (sockets: SocketWatches) => void): void;
  /** What the store sends; true = it gets lost on its way. */
  loses?(frame: RelayFrame): boolean;
  /** What becomes of a state that is to be kept; undefined = nothing is kept. Absent = it is kept. */
  keeps?(state: KeptWatch): KeptWatch | undefined;
}

export class StoreSocket implements WatchSocket {
  kept: KeptWatch | undefined;
  /** false: neither side hears the other any more */
  isOpen = true;
  readonly #unheard: RelayFrame[] = [];
  #heard: ((frame: RelayFrame) => void) | undefined;
  #ended: (() => void) | undefined;

  /** `storeEnd`: the name that the store has for the socket; absent = the socket itself */
  constructor(
    private readonly world: SocketWorld,
    private readonly storeEnd?: () => WatchSocket,
  ) {}

  // The store's end.
  send(bytes: Uint8Array): void {
    if (!this.isOpen) throw new Error("the socket is closed");
    const frame = readRelayFrame(bytes.buffer);
    if (!frame) throw new Error("no frame");
    if (this.world.loses?.(frame)) return;
    this.world.later(() => this.#arrive(frame));
  }

  close(): void {
    this.world.later(() => this.lose());
  }

  keep(state: KeptWatch): void {
    this.kept = structuredClone(this.world.keeps ? this.world.keeps(state) : state);
  }

  /** The Worker's end; `isOwn`: in the request that opened it. */
  opened({ source, incarnation }: Pick<OpenedSocket, "source" | "incarnation">, isOwn: () => boolean): OpenedSocket {
    const own = (): void => {
      if (!isOwn() || !this.isOpen) throw new Error("the socket is of another request, or closed");
    };
    return {
      source,
      incarnation,
      listen: (heard, ended) => {
        this.#heard = heard;
        this.#ended = ended;
        for (const frame of this.#unheard.splice(0)) heard(frame);
        if (!this.isOpen) ended();
      },
      send: (text) => {
        own();
        this.world.later(() => this.isOpen && this.world.reach((sockets) => sockets.heard(this.#atStore(), text)));
      },
      close: () => {
        const wasOpen = this.isOpen;
        // That of a request that is over is closed by the runtime.
        this.die();
        if (!isOwn() || !wasOpen) throw new Error("the socket is of another request, or closed");
      },
    };
  }

  /** The request that opened it is over: the store hears of it, and nothing runs there that could. */
  die(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#heard = this.#ended = undefined;
    this.world.later(() => this.world.reach((sockets) => sockets.closed(this.#atStore())));
  }

  /** Both sides hear of it. */
  lose(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.world.reach((sockets) => sockets.closed(this.#atStore()));
    this.#ended?.();
  }

  /** The object at the store's end is dead: the Worker hears of it. */
  end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#ended?.();
  }

  /** The platform holds back what comes before anybody listens. */
  #arrive(frame: RelayFrame): void {
    if (!this.isOpen) return;
    if (this.#heard) this.#heard(frame);
    else this.#unheard.push(frame);
  }

  #atStore(): WatchSocket {
    return this.storeEnd?.() ?? this;
  }
}
