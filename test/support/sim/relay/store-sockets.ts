/**
 * The sockets of Workers at one simulated store, as the platform keeps them: they outlive the object's sleep, with what was kept there, and end with its
 * death. A message wakes the object.
 */
import { serviceUnavailable, type Status } from "../../../../src/api/meta/status";
import { definitionOf } from "../../../../src/api/registry/all";
import type { ResourceDefinition } from "../../../../src/api/registry/resource";
import type { OpenedSocket } from "../../../../src/api/relay/feed";
import type { CollectionRequest } from "../../../../src/api/rpc/store";
import type { SocketWatches, WatchSocket } from "../../../../src/api/store/watch/socket-watches";
import type { WordRandom } from "../../../../src/core/base/word-random";
import { err, ok, type Result } from "../../../../src/core/base/result";
import { StoreSocket } from "../../relay/store-socket";
import { SimulatedCrash } from "../platform/journal";
import type { Caller, SimNode } from "../platform/network";
import type { SimPlatform, SimSockets, SocketStore } from "../platform/platform";
import type { StoreTables } from "../tables";

export interface SocketPorts {
  random: WordRandom;
  /** milliseconds that a message takes */
  latencyMs: number;
}

interface Accepted {
  socket: StoreSocket;
  source: string;
  incarnation: string;
}

/** Of so many sockets one has a state that is too large to be kept. */
const UNKEPT_EACH = 10;
/** At one of so many beginnings the store dies before it has kept anything. */
const DIES_EACH = 12;

export class StoreSockets implements SimSockets {
  readonly definition: ResourceDefinition;
  readonly #open = new Set<StoreSocket>();
  /** how the object in memory names its sockets */
  readonly #names = new Map<StoreSocket, WatchSocket>();
  #life: Caller = { isAlive: () => false };

  constructor(
    private readonly cluster: SimPlatform,
    { group, resource }: Pick<ResourceDefinition, "group" | "resource">,
    readonly node: SimNode<SocketStore>,
    readonly tables: StoreTables,
    private readonly ports: SocketPorts,
  ) {
    const definition = definitionOf(group, resource);
    if (!definition) throw new Error(`no resource ${resource}`);
    this.definition = definition;
    node.onCrash = () => this.#died();
    node.onSleep = () => void (this.#open.size > 0 && cluster.network.occurred("watched store slept"));
  }

  get open(): StoreSocket[] {
    return [...this.#open];
  }

  born(life: Caller, { sockets }: SocketStore): void {
    const { network, sabotage } = this.cluster;
    this.#life = life;
    this.#names.clear();
    sabotage.sockets?.(sockets);
    for (const socket of this.#open) {
      network.occurred(socket.kept ? "watch woken with its state" : "watch woken without its state");
      sockets.wake(this.#nameOf(socket), socket.kept);
    }
  }

  /** A Worker asks for a watch. A Status is the store's refusal, or says that it was not reached. `isOwn`: the Worker's request is not over. */
  async ask(request: CollectionRequest, isOwn: () => boolean): Promise<Result<OpenedSocket, Status>> {
    await this.#travel();
    // The Worker opens the watch of that release then, which is no socket. The clients here come again.
    if (this.node.isEarlier) {
      this.cluster.network.occurred("watch at a store of the release before");
      return err(serviceUnavailable("the store is of the release before", 1));
    }
    const accepted = await new Promise<Result<Accepted, Status>>((resolve) => {
      this.node.serve(
        (brain) => this.#accept(brain, request),
        resolve,
        () => resolve(err(serviceUnavailable("the store did not answer", 1))),
      );
    });
    await this.#travel();
    return accepted.ok ? ok(accepted.value.socket.opened(accepted.value, isOwn)) : accepted;
  }

  /** What the object does with a handshake (durable-objects/answers). */
  async #accept(brain: SocketStore, request: CollectionRequest): Promise<Result<Accepted, Status>> {
    const life = this.#life;
    await brain.opened(request);
    const begin = brain.sockets.prepare(request);
    if (!begin.ok) return begin;
    if (!life.isAlive()) throw new SimulatedCrash(this.node.name);
    const socket = this.#made();
    this.#open.add(socket);
    begin.value(this.#nameOf(socket));
    return ok({ socket, source: brain.source, incarnation: brain.store.incarnation });
  }

  #made(): StoreSocket {
    const { random } = this.ports;
    const isUnkept = random.below(UNKEPT_EACH) === 0;
    let dies = random.below(DIES_EACH) === 0;
    const socket: StoreSocket = new StoreSocket(
      {
        later: (work) => void this.cluster.scheduler.after(this.ports.latencyMs, work),
        reach: (work) => this.#reach(socket, work),
        keeps: (kept) => {
          if (dies) {
            dies = false;
            this.cluster.network.occurred("store died between a socket and its state");
            this.node.crash();
            throw new SimulatedCrash(this.node.name);
          }
          return isUnkept ? undefined : kept;
        },
      },
      () => this.#nameOf(socket),
    );
    return socket;
  }

  /** What the object in memory calls the socket. Nothing that a former one still does reaches it. */
  #nameOf(socket: StoreSocket): WatchSocket {
    const known = this.#names.get(socket);
    if (known) return known;
    const life = this.#life;
    const alive = (): void => {
      if (!life.isAlive()) throw new SimulatedCrash("the object is dead");
    };
    const name: WatchSocket = {
      send: (bytes) => {
        alive();
        socket.send(bytes);
      },
      close: () => {
        alive();
        socket.close();
      },
      keep: (state) => {
        alive();
        socket.keep(state);
      },
    };
    this.#names.set(socket, name);
    return name;
  }

  #reach(socket: StoreSocket, work: (sockets: SocketWatches) => void): void {
    if (!this.#open.has(socket)) return;
    if (!this.node.isRunning && !socket.isOpen) this.cluster.network.occurred("client gone while its store slept");
    this.node.serve(
      ({ sockets }) => Promise.resolve(work(sockets)),
      () => undefined,
      () => undefined,
    );
    if (!socket.isOpen) this.#open.delete(socket);
  }

  /** The Workers hear of it a moment later. */
  #died(): void {
    const { open } = this;
    this.#open.clear();
    if (open.length > 0) this.cluster.network.occurred("watched store died");
    for (const socket of open) this.cluster.scheduler.after(this.ports.latencyMs, () => socket.end());
  }

  #travel(): Promise<void> {
    return this.cluster.scheduler.clock().sleep(this.ports.latencyMs);
  }
}
