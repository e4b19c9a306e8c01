/** A store's cached view of the Coordinator's topology. Old views are harmless (owners answer `stale`); they are only refreshed. */
import { RPC_TIMEOUT_MS } from "../base/limits";
import type { Clock } from "../base/ports";
import { withTimeout } from "../base/timeout";
import type { CoordinatorRpc, Topology } from "../rpc/coordinator";
import type { AllocateAnswer } from "../rpc/service-cidr";

export class TopologySource {
  #topology: Topology | undefined;
  /** the call under way, and the one that follows it */
  #running: Promise<Topology> | undefined;
  #next: Promise<Topology> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly coordinator: () => Pick<CoordinatorRpc, "topology">,
  ) {}

  /** The cached topology, fetched on first use. Rejects when the Coordinator does not answer in time. */
  async current(): Promise<Topology> {
    return this.#topology ?? this.#running ?? this.#fetch();
  }

  /** The cached topology if there is one, for synchronous decisions. */
  get cached(): Topology | undefined {
    return this.#topology;
  }

  /**
   * The Coordinator's topology as of a call made after this one began. A call that is under way already may bring a view from before, which
   * proves nothing (PROTOCOL hazard 18): whoever comes meanwhile shares the next one. Rejects when the Coordinator does not answer in time.
   */
  refresh(): Promise<Topology> {
    if (!this.#running) return this.#fetch();
    const fetch = (): Promise<Topology> => this.#fetch();
    this.#next ??= this.#running.then(fetch, fetch);
    return this.#next;
  }

  #fetch(): Promise<Topology> {
    this.#next = undefined;
    const call = withTimeout(this.clock, RPC_TIMEOUT_MS, this.coordinator().topology());
    const running = call
      .then((topology) => this.adopt(topology))
      .finally(() => {
        if (this.#running === running) this.#running = undefined;
      });
    this.#running = running;
    return running;
  }

  /** Keeps the newer of two views; an equal epoch brings newer free counts. */
  adopt(topology: Topology): Topology {
    if (!this.#topology || topology.epoch >= this.#topology.epoch) this.#topology = topology;
    return this.#topology;
  }

  /** Free counts come back with every answer of an owner; they steer the next draw. */
  noteFree(ownerUid: string, free: AllocateAnswer["free"]): void {
    if (!this.#topology) return;
    const known = this.#topology.free.find((entry) => entry.ownerUid === ownerUid);
    if (known) Object.assign(known, free);
    else this.#topology.free.push({ ownerUid, ...free });
  }
}
