/**
 * Clients that watch a simulated cluster through a Worker's isolate, over sockets that outlive the stores' sleep. Stores sleep when they are quiet, and die as
 * everybody does. Sockets get lost. Clients take nothing for a while, and leave with or without a word, at stores that sleep, too. The isolate is replaced. Each client
 * gets every change once and in order, or its watch ends at once and it goes on from its revision (I5).
 */
import type { WordRandom } from "../../../../src/core/base/word-random";
import { REOPEN_MAX_MS, WATCH_SILENT_MS, WATCH_TEND_MS } from "../../../../src/api/relay/limits";
import { Relay } from "../../../../src/api/relay/relay";
import { WATCH_PROGRESS_MS } from "../../../../src/api/store/state/limits";
import { collectionRequest } from "../../worlds/store-world";
import type { SimNode } from "../platform/network";
import { CLUSTER, type SimPlatform, type SocketStore } from "../platform/platform";
import { pick } from "../platform/seeded-random";
import { SimWatcher, WatchSession } from "./sim-watcher";
import { StoreSockets } from "./store-sockets";

const WATCHERS_MAX = 4;
/** A store that is quiet sleeps within so long. */
const QUIET_MS_MAX = 30_000;
/** How long a client waits before it watches again. */
const AGAIN_MS_MAX = 1_000;
const DURATIONS_S = [20, 120, 3_600] as const;
/** Until the last change has reached everybody. */
const REST_MS = 2 * REOPEN_MAX_MS + WATCH_SILENT_MS + 2 * WATCH_TEND_MS + WATCH_PROGRESS_MS;

/** One isolate of the Worker. When it is replaced, nothing in it runs any more. */
interface Isolate {
  isAlive: boolean;
  readonly relay: Relay;
}

export class SimWatchers {
  readonly #stores: readonly StoreSockets[];
  readonly #watchers = new Map<SimWatcher, StoreSockets>();
  readonly #problems: string[] = [];
  #isolate: Isolate;

  constructor(
    private readonly cluster: SimPlatform,
    private readonly random: WordRandom,
    /** clients watch these alone, too */
    private readonly namespaces: readonly string[],
  ) {
    const { services, ipAddresses, coordinator, tables } = cluster;
    const ports = { random, latencyMs: pick(random, [0, 1, 20, 300]) };
    const at = (group: string, resource: string, node: unknown, of: SimPlatform["tables"]["coordinator"]): StoreSockets =>
      new StoreSockets(cluster, { group, resource }, node as SimNode<SocketStore>, of, ports);
    this.#stores = [
      at("", "services", services, tables.services),
      at("networking.k8s.io", "ipaddresses", ipAddresses, tables.ipAddresses),
      at("networking.k8s.io", "servicecidrs", coordinator, tables.coordinator),
    ];
    for (const store of this.#stores) cluster.sockets.set(store.definition.resource, store);
    this.#isolate = this.#newIsolate();
    this.#evict();
  }

  /** Does what its turn it is; does not wait for it. */
  act(): void {
    const { random } = this;
    const drawn = random.below(60);
    if (drawn < 4 && this.#present.length < WATCHERS_MAX) this.#enter();
    else if (drawn === 4) this.#replaceIsolate();
    else if (drawn === 5) this.#anyOf(this.#stores.flatMap((store) => store.open))?.lose();
    const [watcher, store] = this.#anyOf(this.#present) ?? [];
    const session = watcher?.session;
    if (!watcher || !store || !session) return;
    if (drawn === 6) this.#leave(watcher);
    else if (drawn === 7) session.isGone = true;
    else if (drawn === 8) session.slow = true;
    else if (drawn < 12) session.takeAll();
    else if (drawn < 16 && store.node.sleep() && random.below(3) === 0) this.#leave(watcher);
  }

  /** The clients write no more: what the watching ones were given is looked at, and they leave. Stores go on sleeping. */
  async rest(): Promise<void> {
    for (const { session } of this.#watchers.keys()) session?.takeAll();
    await this.cluster.scheduler.pass(REST_MS);
    for (const store of this.#stores) {
      const history = store.tables.store.historySince(0, Infinity);
      for (const [watcher, of] of this.#watchers) if (of === store) this.#judge(watcher, history);
    }
    for (const watcher of this.#watchers.keys()) watcher.session?.watch?.leave();
  }

  check(): string[] {
    return this.#problems;
  }

  get #present(): [SimWatcher, StoreSockets][] {
    return [...this.#watchers].filter(([{ isOver }]) => !isOver);
  }

  #judge(watcher: SimWatcher, history: Parameters<SimWatcher["problems"]>[0]): void {
    this.#problems.push(...watcher.problems(history));
    if (watcher.sessions.length > 1) this.cluster.network.occurred("watch resumed");
  }

  #anyOf<T>(all: readonly T[]): T | undefined {
    return all[this.random.below(Math.max(1, all.length))];
  }

  #newIsolate(): Isolate {
    const isAlive = (): boolean => isolate.isAlive;
    const isolate: Isolate = {
      isAlive: true,
      relay: new Relay({ clock: this.cluster.scheduler.clock(isAlive), random: this.random }),
    };
    return isolate;
  }

  #enter(): void {
    const store = pick(this.random, this.#stores);
    const namespace = store.definition.namespaced && this.random.below(2) === 0 ? pick(this.random, this.namespaces) : "";
    const watcher = new SimWatcher(namespace);
    this.#watchers.set(watcher, store);
    this.#watch(watcher, store);
  }

  /** It comes with what it knows, or with nothing. */
  #watch(watcher: SimWatcher, store: StoreSockets): void {
    const isolate = this.#isolate;
    const session = new WatchSession(watcher.place, () => this.#again(watcher, store, session));
    const { definition } = store;
    const request = collectionRequest(definition, watcher.request(pick(this.random, DURATIONS_S)));
    watcher.sessions.push(session);
    const isOwn = (): boolean => isolate.isAlive && session.state === "open";
    const run = async (): Promise<void> => {
      const begun = await isolate.relay.begin(
        { cluster: CLUSTER, store: definition.resource, request, definition, open: (collection) => store.ask(collection, isOwn) },
        (watch) => {
          session.watch = watch;
          return session;
        },
      );
      if (begun.ok) await begun.value.run();
      else if (begun.error.code !== 503) this.#problems.push(`I5: a watch is refused: ${begun.error.message ?? ""}`);
    };
    void run()
      .catch((error: unknown) => void this.#problems.push(`a watch fails: ${String(error)}`))
      .finally(() => session.end());
  }

  /** The watch is over, for whatever reason: unless the client has left, it goes on from its revision. */
  #again(watcher: SimWatcher, store: StoreSockets, session: WatchSession): void {
    if (watcher.session !== session) return;
    this.cluster.scheduler.after(this.random.below(AGAIN_MS_MAX), () => {
      if (!watcher.isOver && watcher.session === session) this.#watch(watcher, store);
    });
  }

  /** For good. Another one may come in its place. */
  #leave(watcher: SimWatcher): void {
    watcher.isOver = true;
    watcher.session?.watch?.leave();
  }

  /** Nothing of the old one runs any more. The platform closes its sockets, and the connections to its clients. */
  #replaceIsolate(): void {
    const { network } = this.cluster;
    const open = this.#stores.flatMap((store) => store.open);
    if (open.length > 0) network.occurred("isolate replaced under watches");
    this.#isolate.isAlive = false;
    this.#isolate = this.#newIsolate();
    for (const socket of open) socket.die();
    for (const { session } of this.#watchers.keys()) session?.abort();
  }

  /** The platform takes a quiet store out of memory. */
  #evict(): void {
    this.cluster.scheduler.after(this.random.below(QUIET_MS_MAX), () => {
      pick(this.random, this.#stores).node.sleep();
      this.#evict();
    });
  }
}
