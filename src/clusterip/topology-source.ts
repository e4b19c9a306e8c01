/** A store's cached view of the Coordinator's topology. Old views are harmless (owners answer `stale`); they are only refreshed. */
import type { CoordinatorRpc, Topology } from "../rpc/coordinator";
import type { AllocateAnswer } from "../rpc/service-cidr";

export class TopologySource {
  #topology: Topology | undefined;
  #refreshing: Promise<Topology> | undefined;

  constructor(private readonly coordinator: () => Pick<CoordinatorRpc, "topology">) {}

  /** The cached topology, fetched on first use. */
  async current(): Promise<Topology> {
    return this.#topology ?? this.refresh();
  }

  /** The cached topology if there is one, for synchronous decisions. */
  get cached(): Topology | undefined {
    return this.#topology;
  }

  /** The Coordinator's topology as of a call made after this one began; concurrent callers share one call. */
  refresh(): Promise<Topology> {
    this.#refreshing ??= this.coordinator()
      .topology()
      .then((topology) => this.adopt(topology))
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
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
