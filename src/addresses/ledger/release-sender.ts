/**
 * Brings releases to the owners of their addresses. Order (rule 4): the IPAddress that carries the token goes first, then the owner's row.
 * An owner answers `stale` when the segment has moved or is frozen. The sender then asks for the newest topology and tries again, as long as
 * an answer waits for its releases (RELEASE_WAIT_MS).
 */
import { groupBy } from "../../core/base/group-by";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock, Random } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { Topology } from "../rpc/topology";
import type { IPAddressDelete } from "../rpc/ip-addresses";
import { RELEASE_WAIT_MS } from "../rpc/limits";
import type { ReleaseResult, ServiceCIDRRpc } from "../rpc/service-cidr";
import { ownerOf } from "../topology/route";
import type { PendingRelease } from "./release-storage";
import type { TopologySource } from "./topology-source";

export interface ReleaseSenderPorts {
  clock: Clock;
  random: Random;
  topology: TopologySource;
  owner(uid: string): Pick<ServiceCIDRRpc, "release">;
  /** deletes the IPAddress objects that carry these tokens; absent where the store itself holds them */
  deleteAddresses?(items: IPAddressDelete[]): Promise<void>;
}

/** What becomes of releases, as soon as it is known. */
export interface ReleaseOutcomes {
  /** the owner has no such row any more, or nobody owns the address */
  done(releases: readonly PendingRelease[]): void;
  /** to be tried again later */
  defer(releases: readonly PendingRelease[]): void;
}

/** Between two tries of a release that met `stale`; a lot of addresses is frozen for about a tenth of a second. */
const STALE_PAUSE_MIN_MS = 10;
const STALE_PAUSE_MAX_MS = 200;

/** How long the sender goes on with what is `stale`. */
interface Patience {
  /** milliseconds since the epoch */
  until: number;
  pauseMs: number;
}

export class ReleaseSender {
  constructor(
    private readonly ports: ReleaseSenderPorts,
    private readonly outcomes: ReleaseOutcomes,
  ) {}

  /** Resolves when each was done or deferred. Rejects when no topology came, the IPAddress objects were not deleted, or an outcome failed. */
  async send(releases: readonly PendingRelease[]): Promise<void> {
    const { clock, topology, deleteAddresses } = this.ports;
    if (deleteAddresses) {
      const items = releases.map(({ address, token, gen }) => ({ address, token, gen }));
      await withTimeout(clock, RPC_TIMEOUT_MS, deleteAddresses(items));
    }
    const view = await withTimeout(clock, RPC_TIMEOUT_MS, topology.current());
    await this.#route(view, releases, { until: clock.now() + RELEASE_WAIT_MS, pauseMs: STALE_PAUSE_MIN_MS });
  }

  async #route(view: Topology, releases: readonly PendingRelease[], patience: Patience): Promise<void> {
    const byOwner = groupBy(releases, ({ address }) => ownerOf(view, address) ?? "");
    const sent = [...byOwner].map(([owner, group]) =>
      owner ? this.#sendTo(owner, view, group, patience) : this.#again(view, group, patience, { isUnclaimed: true }),
    );
    // Each to its end: as long as one waits for its answer, its rows are under way.
    const failed = (await Promise.allSettled(sent)).find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
  }

  async #sendTo(ownerUid: string, view: Topology, releases: readonly PendingRelease[], patience: Patience): Promise<void> {
    const { clock, owner, topology } = this.ports;
    let results: ReleaseResult[];
    try {
      const items = releases.map(({ address, token }) => ({ address, token }));
      results = await withTimeout(clock, RPC_TIMEOUT_MS, owner(ownerUid).release(items));
    } catch {
      this.outcomes.defer(releases);
      return;
    }
    const released = releases.filter((_, index) => results[index] === "released");
    const { cached } = topology;
    if (cached) for (const { address } of released) topology.counts.released(cached, ownerUid, address);
    this.outcomes.done(released);
    const stale = releases.filter((_, index) => results[index] !== "released");
    if (stale.length > 0) await this.#again(view, stale, patience, { isUnclaimed: false });
  }

  /**
   * Asks for the newest topology and goes on by that. An address in no claim at the Coordinator's current epoch has no row to free. An owner
   * that the same topology names again has frozen the segment, so the next try waits a little.
   */
  async #again(
    view: Topology,
    releases: readonly PendingRelease[],
    { until, pauseMs }: Patience,
    { isUnclaimed }: { isUnclaimed: boolean },
  ): Promise<void> {
    const { clock, random, topology } = this.ports;
    const fresh = await withTimeout(clock, RPC_TIMEOUT_MS, topology.refresh()).catch(() => undefined);
    const isSame = fresh?.epoch === view.epoch;
    if (fresh && isSame && isUnclaimed) {
      this.outcomes.done(releases);
      return;
    }
    if (!fresh || clock.now() >= until) {
      this.outcomes.defer(releases);
      return;
    }
    await (isSame ? clock.sleep(pauseMs / 2 + random.below(pauseMs)) : clock.nextTurn());
    await this.#route(fresh, releases, { until, pauseMs: isSame ? Math.min(2 * pauseMs, STALE_PAUSE_MAX_MS) : pauseMs });
  }
}
