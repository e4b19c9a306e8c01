/**
 * The way of a watch from a store to clients, on memory ports in virtual time: one store, its sockets, and the relay of an isolate. Each side of a
 * socket hears the other a moment later, in order. The store may sleep, die, or lose its history; sockets may be lost; clients may be slow, or be gone.
 */
import { err, ok, type Result } from "../../../src/core/base/result";
import type { Random } from "../../../src/core/base/ports";
import type { CollectionRequest } from "../../../src/api/rpc/store";
import { serviceUnavailable, type Status } from "../../../src/api/meta/status";
import type { OpenedSocket } from "../../../src/api/relay/feed";
import { type AskedWatch, Relay } from "../../../src/api/relay/relay";
import type { ClientSink, RelayedWatch } from "../../../src/api/relay/relayed-watch";
import { ownerSource } from "../../../src/api/store/list/list-source";
import type { RelayFrame } from "../../../src/api/store/watch/relay-frames";
import { StreamedLists } from "../../../src/api/store/list/streamed-lists";
import type { BeginningRoom } from "../../../src/api/store/watch/watch-beginning";
import { type KeptWatch, SocketWatches } from "../../../src/api/store/watch/socket-watches";
import { seededRandom } from "../sim/platform/seeded-random";
import { StoreSocket } from "./store-socket";
import { collectionRequest, KeptSink, StoreWorld, type StoreWorldOptions } from "../worlds/store-world";

/** What goes wrong where it never does. */
export interface RelaySabotage {
  /** a frame gets lost on its way */
  loses?(frame: RelayFrame): boolean;
  /** what the socket has when the object wakes */
  woken?(kept: KeptWatch, world: RelayWorld): KeptWatch;
}

/** One socket of the world. */
class SimSocket extends StoreSocket {
  readonly frames: RelayFrame[] = [];

  constructor(
    world: RelayWorld,
    readonly client: SimClient,
  ) {
    super({
      later: (work) => world.later(work),
      reach: (work) => work(world.sockets),
      loses: (frame) => {
        this.frames.push(frame);
        return world.sabotage.loses?.(frame) ?? false;
      },
    });
  }
}

/** A client, and what it was sent. */
export class SimClient extends KeptSink implements ClientSink {
  declare readonly isBlind?: true;
  /** a write finds nobody */
  isGone = false;
  watch: RelayedWatch | undefined;
  refused: Status | undefined;

  override write(bytes: Uint8Array): void {
    if (this.state === "open" && this.isGone) this.watch?.leave();
    else super.write(bytes);
  }

  override probe(): void {
    super.probe();
    if (this.isGone) this.watch?.leave();
  }

  /** It takes everything, and goes on doing so. */
  takeAll(): void {
    this.slow = false;
    this.backlog = 0;
  }
}

export class RelayWorld extends StoreWorld {
  sockets: SocketWatches;
  readonly relay: Relay;
  /** every socket that was opened */
  readonly opened: SimSocket[] = [];
  /** what the store was asked, in order */
  readonly askedOfStore: CollectionRequest[] = [];
  /** the store is not reached */
  isUnreachable = false;
  /** what calls of the store reject with */
  broken: Error | undefined;
  /** clients whose requests the platform has dropped: nothing runs in them any more */
  readonly dropped = new Set<SimClient>();
  /** milliseconds that a message takes */
  latencyMs = 1;
  readonly #isolateRandom: Random;

  constructor(
    options: StoreWorldOptions<undefined> = {},
    readonly sabotage: RelaySabotage = {},
  ) {
    super(options);
    this.sockets = this.#sockets();
    this.#isolateRandom = seededRandom(options.seed ?? 1);
    this.relay = new Relay({ clock: this.scheduler.clock(), random: this.#isolateRandom });
  }

  /** A new object over the storage: the sockets are as many as the platform has kept. */
  #renew(): void {
    this.restart();
    this.sockets = this.#sockets();
  }

  /** A start of a few objects is a large one, so that others write between its pages. */
  #sockets(): SocketWatches {
    const room: BeginningRoom = { places: new StreamedLists(this.store.clock, 0), bounds: { whole: 500, piece: 400 } };
    return new SocketWatches(this.store, () => this.definition, room);
  }

  /** The object leaves memory and comes back: sockets stay, and what was kept with them. */
  sleep(): void {
    this.#renew();
    const { woken = (kept: KeptWatch) => kept } = this.sabotage;
    for (const socket of this.open) this.sockets.wake(socket, socket.kept && structuredClone(woken(socket.kept, this)));
  }

  /** The object dies, and its sockets with it. */
  die(): void {
    const { open } = this;
    this.#renew();
    for (const socket of open) socket.lose();
  }

  get open(): SimSocket[] {
    return this.opened.filter(({ isOpen }) => isOpen);
  }

  later(work: () => void): void {
    this.scheduler.after(this.latencyMs, work);
  }

  /** `client` watches. `isDropped`: the platform runs nothing more in its request than what it begins with. */
  async client(
    overrides: Partial<CollectionRequest> = {},
    more: Partial<AskedWatch> = {},
    isDropped = false,
    client = new SimClient(),
  ): Promise<SimClient> {
    if (isDropped) this.dropped.add(client);
    const asked = this.askedWatch(client, overrides, more);
    const begin = this.relay.begin(asked, (watch) => {
      client.watch = watch;
      return client;
    });
    const begun = await this.scheduler.run(begin);
    if (begun.ok && !isDropped) {
      void begun.value.run().then(() => {
        for (const socket of this.open) if (socket.client === client) socket.die();
      });
    }
    if (!begun.ok) client.refused = begun.error;
    return client;
  }

  /** What the relay is asked for in the request of a client. */
  askedWatch(client: SimClient, overrides: Partial<CollectionRequest> = {}, more: Partial<AskedWatch> = {}): AskedWatch {
    return {
      cluster: "default",
      store: "leases",
      request: collectionRequest(this.definition, { verb: "watch", ...overrides }),
      definition: this.definition,
      open: (collection) => this.#open(collection, client),
      ...more,
    };
  }

  async #open(request: CollectionRequest, client: SimClient): Promise<Result<OpenedSocket, Status>> {
    this.askedOfStore.push(request);
    await this.scheduler.clock().sleep(this.latencyMs);
    if (this.broken) throw this.broken;
    if (this.isUnreachable) return err(serviceUnavailable("the store is away", 1));
    const begin = this.sockets.prepare(request);
    if (!begin.ok) return begin;
    const socket = new SimSocket(this, client);
    this.opened.push(socket);
    begin.value(socket);
    const opened = socket.opened({ source: ownerSource(this.store), incarnation: this.store.incarnation }, () => !this.dropped.has(client));
    await this.scheduler.clock().sleep(this.latencyMs);
    return ok(opened);
  }
}
