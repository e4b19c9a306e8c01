/**
 * Gets addresses from their owners for a store: picks the owner, groups what is asked in one turn into one call per owner, and
 * decides what an answer means (DESIGN §5, PROTOCOL rules 1, 17).
 *
 * - Owners are drawn once per turn and family, so a batch costs one call in the common case.
 * - `stale` and `frozen` say that our topology is old or a hand-off is under way: refresh, wait with jitter, try again until the deadline.
 * - "full" and "out of range" are final for clients, so they are given only at the Coordinator's current epoch.
 * - A call whose answer was lost is repeated with the same token: the owner answers the same row again. What stays unknown at the
 *   deadline is found by the store's audit (address-ledger.ts), because its token belongs to no operation.
 * - An IPAddress object exists whether or not a range gives out its address, so inside a claim its row is taken in any case (rule 15):
 *   a range that becomes Ready a moment later finds it there.
 */
import { RPC_TIMEOUT_MS, SUPPLY_BATCH_MAX, SUPPLY_CALLS_IN_FLIGHT_MAX } from "../base/limits";
import type { Clock, Random } from "../base/ports";
import { withTimeout } from "../base/timeout";
import type { Topology } from "../rpc/coordinator";
import type { AllocateItem, AllocateResult, Gen, Holder, ServiceCIDRRpc } from "../rpc/service-cidr";
import { drawOwner, ownerOf } from "../topology/route";
import type { TopologySource } from "./topology-source";

export interface WantedAddress {
  family: "IPv4" | "IPv6";
  /** canonical text of a static request, "" = any free one */
  address: string;
  holder: Holder;
}

export interface TakenAddress {
  family: "IPv4" | "IPv6";
  address: string;
  token: string;
  gen: Gen;
}

export type SupplyRefusal =
  /** all ranges of the family are full */
  | "full"
  /** no Ready range of the family exists at all */
  | "noRange"
  | "taken"
  | "outOfRange"
  /** no decision before the deadline */
  | "unavailable";

export type SupplyResult = { ok: true; taken: TakenAddress } | { ok: false; reason: SupplyRefusal };

export interface SupplyPorts {
  clock: Clock;
  random: Random;
  topology: TopologySource;
  owner(uid: string): Pick<ServiceCIDRRpc, "allocate" | "seed">;
}

/** What one owner call answered under which epoch, or that nothing is known. */
interface Attempt {
  result: AllocateResult | { ok: false; reason: "unknown" };
  epoch: number;
}

const UNKNOWN: Attempt = { result: { ok: false, reason: "unknown" }, epoch: 0 };

const RETRY_BASE_MS = 5;
const RETRY_MAX_MS = 500;

export class AddressSupply {
  readonly #queues = new Map<string, OwnerQueue>();
  readonly #drawn = new Map<string, string>();

  constructor(private readonly ports: SupplyPorts) {}

  /**
   * One address, or why not. The caller makes `token` fresh for this attempt and counts it as in flight until the operation has ended.
   * `deadline` is in milliseconds since the epoch.
   */
  async take(wanted: WantedAddress, deadline: number, token: string): Promise<SupplyResult> {
    const full = new Set<string>();
    let fullAtEpoch = 0;
    let sentTo = "";
    for (let attempt = 0; this.ports.clock.now() < deadline; attempt++) {
      if (attempt > 0) await this.#pause(attempt);
      const topology = await this.#topology();
      if (!topology) continue;
      if (topology.epoch !== fullAtEpoch) full.clear();
      fullAtEpoch = topology.epoch;
      // A token whose outcome is unknown may hold a row at that owner: only there it can be asked for again.
      const ownerUid = sentTo || this.#route(topology, wanted, full);
      if (ownerUid === undefined) {
        if (await this.#isCurrent(topology)) return { ok: false, reason: negative(topology, wanted) };
        full.clear();
        continue;
      }
      const { result, epoch } = await this.#ask(ownerUid, wanted, token);
      if (result.ok) {
        return { ok: true, taken: { family: wanted.family, address: result.address, token, gen: result.gen } };
      }
      if (result.reason === "unknown") sentTo = ownerUid;
      else if (result.reason !== "frozen") sentTo = "";
      switch (result.reason) {
        case "taken":
          return { ok: false, reason: "taken" };
        case "full":
          full.add(ownerUid);
          attempt = -1;
          break;
        case "notAllocatable":
          if (wanted.holder.kind === "ipaddress") {
            await this.#seed(ownerUid, epoch, wanted, token);
            sentTo = ownerUid;
          } else if (await this.#isCurrent(topology)) return { ok: false, reason: "outOfRange" };
          break;
        case "stale":
          await this.#refresh();
          break;
        case "released":
          return { ok: false, reason: "unavailable" };
        case "frozen":
        case "unknown":
          break;
      }
    }
    return { ok: false, reason: "unavailable" };
  }

  #route(topology: Topology, wanted: WantedAddress, full: ReadonlySet<string>): string | undefined {
    if (wanted.address) return ownerOf(topology, wanted.address);
    if (full.size > 0) return drawOwner(topology, wanted.family, this.ports.random, full);
    const drawn = this.#drawn.get(wanted.family);
    if (drawn !== undefined) return drawn;
    const owner = drawOwner(topology, wanted.family, this.ports.random, full);
    if (owner !== undefined) {
      this.#drawn.set(wanted.family, owner);
      void this.ports.clock.nextTurn().then(() => this.#drawn.delete(wanted.family));
    }
    return owner;
  }

  /** Asked for again afterwards, the token answers the row that this made, or why it made none. */
  async #seed(ownerUid: string, epoch: number, { address, holder }: WantedAddress, token: string): Promise<void> {
    const { clock, owner } = this.ports;
    await withTimeout(clock, RPC_TIMEOUT_MS, owner(ownerUid).seed(epoch, [{ address, holder, token }])).catch(() => undefined);
  }

  async #ask(ownerUid: string, wanted: WantedAddress, token: string): Promise<Attempt> {
    let queue = this.#queues.get(ownerUid);
    if (!queue) {
      queue = new OwnerQueue(ownerUid, this.ports);
      this.#queues.set(ownerUid, queue);
    }
    return queue.ask({ token, holder: wanted.holder, family: wanted.family, address: wanted.address });
  }

  async #topology(): Promise<Topology | undefined> {
    try {
      return this.ports.topology.cached ?? (await this.ports.topology.current());
    } catch {
      return undefined;
    }
  }

  async #refresh(): Promise<Topology | undefined> {
    try {
      return await withTimeout(this.ports.clock, RPC_TIMEOUT_MS, this.ports.topology.refresh());
    } catch {
      return undefined;
    }
  }

  /** Whether `topology` is the Coordinator's newest within this request (rule 17). */
  async #isCurrent(topology: Topology): Promise<boolean> {
    const epoch = topology.epoch;
    return (await this.#refresh())?.epoch === epoch;
  }

  #pause(attempt: number): Promise<void> {
    const ceiling = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** attempt);
    return this.ports.clock.sleep(1 + this.ports.random.below(ceiling));
  }
}

function negative(topology: Topology, wanted: WantedAddress): SupplyRefusal {
  if (wanted.address) return "outOfRange";
  const isFamily = (prefix: string): boolean => prefix.includes(":") === (wanted.family === "IPv6");
  return topology.ranges.some((range) => isFamily(range.prefix)) ? "full" : "noRange";
}

interface Waiting {
  item: AllocateItem;
  resolve(result: Attempt): void;
}

/** Everything asked of one owner: what arrives while calls are under way goes out together in the next one. */
class OwnerQueue {
  #waiting: Waiting[] = [];
  #armed = false;
  #callsInFlight = 0;

  constructor(
    private readonly ownerUid: string,
    private readonly ports: SupplyPorts,
  ) {}

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

  async #call(batch: readonly Waiting[]): Promise<void> {
    this.#callsInFlight++;
    try {
      const { clock, owner, topology } = this.ports;
      const answer = await withTimeout(clock, RPC_TIMEOUT_MS, owner(this.ownerUid).allocate(batch.map((waiting) => waiting.item)));
      topology.noteFree(this.ownerUid, answer.free);
      batch.forEach((waiting, index) => {
        const result = answer.results[index];
        waiting.resolve(result ? { result, epoch: answer.epoch } : UNKNOWN);
      });
    } catch {
      for (const waiting of batch) waiting.resolve(UNKNOWN);
    } finally {
      this.#callsInFlight--;
      this.#send();
    }
  }
}
