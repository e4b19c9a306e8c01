/** Everything that a store asks of one owner: what arrives while calls are under way goes out together in the next one. */
import { SUPPLY_BATCH_MAX, SUPPLY_CALLS_IN_FLIGHT_MAX } from "../rpc/limits";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { Family } from "../../core/net/family";
import type { AllocateAnswer, AllocateItem, AllocateResult, FreeCount, ServiceCIDRRpc } from "../rpc/service-cidr";
import { OPEN_ZONE } from "../../core/net/zones";
import { sizesOf } from "../topology/route";
import type { Attempt } from "./take-step";
import type { TopologySource } from "./topology-source";

export interface OwnerQueuePorts {
  clock: Clock;
  topology: TopologySource;
  owner(uid: string): Pick<ServiceCIDRRpc, "allocate">;
}

const UNKNOWN: Attempt = { result: { ok: false, reason: "unknown" }, epoch: 0, isSurprise: false };
const NO_ITEMS: ReadonlySet<AllocateItem> = new Set();

interface WaitingItem {
  item: AllocateItem;
  resolve(result: Attempt): void;
}

export class OwnerQueue {
  #waiting: WaitingItem[] = [];
  #armed = false;
  #callsInFlight = 0;

  constructor(
    private readonly ownerUid: string,
    private readonly ports: OwnerQueuePorts,
  ) {}

  /** The owner's answer to the item, or that nothing is known. Never rejects. */
  ask(item: AllocateItem): Promise<Attempt> {
    return new Promise((resolve) => {
      this.#waiting.push({ item, resolve });
      if (this.#armed) return;
      this.#armed = true;
      void Promise.resolve().then(() => {
        this.#armed = false;
        this.#send();
      });
    });
  }

  #send(): void {
    while (this.#waiting.length > 0 && this.#callsInFlight < SUPPLY_CALLS_IN_FLIGHT_MAX) {
      void this.#call(this.#waiting.splice(0, SUPPLY_BATCH_MAX));
    }
  }

  async #call(batch: readonly WaitingItem[]): Promise<void> {
    this.#callsInFlight++;
    try {
      const { clock, owner, topology } = this.ports;
      const items = batch.map((waiting) => waiting.item);
      const answer = await withTimeout(clock, RPC_TIMEOUT_MS, owner(this.ownerUid).allocate(items));
      const surprises = this.#surprises(items, answer);
      if (topology.cached) topology.counts.note(topology.cached, this.ownerUid, answer);
      batch.forEach((waiting, index) => {
        const result = answer.results[index];
        const isSurprise = surprises.has(waiting.item);
        waiting.resolve(result ? { result, epoch: answer.epoch, isSurprise } : UNKNOWN);
      });
    } catch {
      for (const waiting of batch) waiting.resolve(UNKNOWN);
    } finally {
      this.#callsInFlight--;
      this.#send();
    }
  }

  /** The requests that were refused as "full" although the counts, less what this answer gives, say that there is more. */
  #surprises(items: readonly AllocateItem[], { results }: AllocateAnswer): ReadonlySet<AllocateItem> {
    const { cached, counts } = this.ports.topology;
    const full = items.filter((_, i) => isFull(results[i]));
    if (!cached || full.length === 0) return NO_ITEMS;
    const leftOf = (family: Family): FreeCount => {
      const left = { ...counts.freeOf(this.ownerUid, family, sizesOf(cached, this.ownerUid, family)) };
      for (const [i, result] of results.entries())
        if (result.ok && items[i]?.family === family && !isElsewhere(items[i])) left[result.scope]--;
      return left;
    };
    const left = { IPv4: leftOf("IPv4"), IPv6: leftOf("IPv6") };
    return new Set(
      full.filter(
        ({ family, dynamicOnly, zone }) =>
          !isElsewhere({ zone }) && (left[family].dynamic > 0 || (!dynamicOnly && left[family].static > 0)),
      ),
    );
  }
}

/** Counts are of what no zone has. */
function isElsewhere(item: Pick<AllocateItem, "zone"> | undefined): boolean {
  return item?.zone !== undefined && item.zone !== OPEN_ZONE;
}

function isFull(result: AllocateResult | undefined): boolean {
  return result?.ok === false && result.reason === "full";
}
