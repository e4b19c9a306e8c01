/** A store's cached view of the Coordinator's topology. Old views are harmless (owners answer `stale`); they are only refreshed. */
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import { SharedCall } from "../../core/turns/shared-call";
import type { CoordinatorRpc, Topology } from "../rpc/topology";
import { isZoned } from "../topology/tenants";
import { FreeCounts, type FreeCountStorage } from "./free-counts";

/** A view that is older is asked for again behind the draw that finds it so: ranges that became Ready since get their share of the next ones. */
const VIEW_AGE_MS_MAX = 1_000;

/** The Coordinator waits 4 s for owners, may have to wake itself, and may be at the count before this one. */
export const COUNT_TIMEOUT_MS = 8_000;

export class TopologySource {
  readonly counts: FreeCounts;
  /** when the topology last came, or was last asked for (ms since the epoch) */
  #seenAt = 0;
  /** when the topology last came (ms since the epoch) */
  #cameAt = 0;
  #topology: Topology | undefined;
  /** the published copy is read once */
  #reading: Promise<Topology | undefined> | undefined;
  readonly #plain: SharedCall<Topology>;
  readonly #counted: SharedCall<Topology>;

  constructor(
    private readonly clock: Clock,
    coordinator: () => Pick<CoordinatorRpc, "topology" | "countedTopology">,
    storage?: FreeCountStorage,
    private readonly published?: () => Promise<Topology | undefined>,
  ) {
    this.counts = new FreeCounts(storage);
    this.#plain = new SharedCall(async () => this.adopt(await withTimeout(clock, RPC_TIMEOUT_MS, coordinator().topology())));
    this.#counted = new SharedCall(async () => {
      const since = this.counts.now;
      const topology = await withTimeout(clock, COUNT_TIMEOUT_MS, coordinator().countedTopology());
      this.counts.replace(topology, since);
      this.adopt(topology);
      return topology;
    });
  }

  /**
   * The cached topology. On first use what comes first: the Coordinator's answer, or the published copy, which the answer then replaces.
   * Rejects when there is no copy and the Coordinator does not answer in time.
   */
  async current(): Promise<Topology> {
    if (this.#topology) return this.#topology;
    const asked = this.#plain.underWay ?? this.#plain.begin();
    return Promise.any([asked, this.#firstView(asked)]).catch(() => asked);
  }

  async #firstView(asked: Promise<Topology>): Promise<Topology> {
    this.#reading ??= this.published && withTimeout(this.clock, RPC_TIMEOUT_MS, this.published()).catch(() => undefined);
    const copy = await this.#reading;
    // The counts of owners are kept: an old copy may not know of all of them. Whom ranges are kept for no copy says, because it may be of any age.
    return copy && !isZoned(copy) ? (this.#topology ??= copy) : asked;
  }

  /** The cached topology if there is one, for a draw; never waits for a newer one, but sees to it that an old one does not stay. */
  get forDraw(): Topology | undefined {
    const now = this.clock.now();
    const ageMax = this.#topology && isZoned(this.#topology) ? VIEW_AGE_MS_MAX / 2 : VIEW_AGE_MS_MAX;
    if (this.#topology && now - this.#seenAt >= ageMax) {
      this.#seenAt = now;
      if (!this.#plain.underWay) void this.#plain.begin().catch(() => undefined);
    }
    return this.#topology;
  }

  /** Whether the cached topology is too old to say for whom ranges are kept. */
  get isOld(): boolean {
    return this.clock.now() - this.#cameAt >= VIEW_AGE_MS_MAX;
  }

  /** The cached topology if there is one, for synchronous decisions. */
  get cached(): Topology | undefined {
    return this.#topology;
  }

  /** The Coordinator's topology as of a call made after this one began. Rejects when the Coordinator does not answer in time. */
  refresh(): Promise<Topology> {
    return this.#plain.begin();
  }

  /** The same with what the owners have free (`CoordinatorRpc.countedTopology`), exactly as the Coordinator answered it. */
  refreshCounts(): Promise<Topology> {
    return this.#counted.begin();
  }

  /** Keeps the newer of two views. */
  adopt(topology: Topology): Topology {
    if (this.#topology && topology.epoch < this.#topology.epoch) return this.#topology;
    this.#seenAt = this.#cameAt = this.clock.now();
    this.counts.adopt(topology);
    // Decisions keep what they have worked out of a view by its identity.
    if (!this.#topology || !isSame(this.#topology, topology)) this.#topology = topology;
    return this.#topology;
  }
}

/** Whether two views route alike; free counts are hints, which `FreeCounts` has taken already. */
function isSame(a: Topology, b: Topology): boolean {
  if (a.epoch !== b.epoch || a.withoutBands !== b.withoutBands || a.zoned !== b.zoned) return false;
  if (a.claims.length !== b.claims.length || a.ranges.length !== b.ranges.length || a.owners.length !== b.owners.length) return false;
  return (
    a.claims.every(({ prefix, ownerUid }, i) => prefix === b.claims[i]?.prefix && ownerUid === b.claims[i].ownerUid) &&
    a.ranges.every((range, i) => isSameRange(range, b.ranges[i])) &&
    a.owners.every(({ uid, epoch }, i) => uid === b.owners[i]?.uid && epoch === b.owners[i].epoch)
  );
}

function isSameRange(a: Topology["ranges"][number], b: Topology["ranges"][number] | undefined): boolean {
  const isSameTenancy = a.selector === b?.selector && a.whenFull === b?.whenFull;
  const isSamePorts = a.nodePorts?.first === b?.nodePorts?.first && a.nodePorts?.last === b?.nodePorts?.last;
  return a.prefix === b?.prefix && a.name === b.name && isSameTenancy && isSamePorts;
}
