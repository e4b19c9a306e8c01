/**
 * Gets addresses from their owners for a store: picks the owner, groups what is asked in one turn into one call per owner, and
 * decides what an answer means (DESIGN §5, PROTOCOL rules 1, 17).
 *
 * - Owners are drawn once per turn and family, so a batch costs one call in the common case. While the counts know of an owner with room in
 *   its dynamic bands, owners are asked for those alone: no static band is entered before every dynamic one is used up. Counts and topology
 *   may be old, so the Coordinator is asked before (and again from time to time): it may know of room, or of a range, that is new.
 * - `stale` and `frozen` say that our topology is old or a hand-off is under way: ask others, refresh, wait with jitter, try again until the
 *   deadline.
 * - "full" and "out of range" are final for clients, so they are given only on the word of owners that have the configuration of the
 *   Coordinator's current epoch; before "full" the Coordinator asks every owner that could give an address.
 * - A call whose answer was lost is repeated with the same token: the owner answers the same row again. Every owner is asked with a token of
 *   its own, so a call that arrives late can never make a second row for a token that another owner has answered. What stays unknown at the
 *   deadline is found by the store's audit (address-ledger.ts), because its token belongs to no operation.
 * - An IPAddress object exists whether or not a range gives out its address, so inside a claim its row is taken in any case (rule 15):
 *   a range that becomes Ready a moment later finds it there.
 */
import type { AllocationMetrics } from "../alloc/allocation-metrics";
import { RPC_TIMEOUT_MS, SUPPLY_BATCH_MAX, SUPPLY_CALLS_IN_FLIGHT_MAX } from "../base/limits";
import type { Clock, Random, Recorder } from "../base/ports";
import { withTimeout } from "../base/timeout";
import type { Scope } from "../net/band";
import type { Topology } from "../rpc/coordinator";
import type { AllocateItem, AllocateResult, Gen, Holder, ServiceCIDRRpc } from "../rpc/service-cidr";
import { type Draw, drawOwner, knows, ownerOf, ownersWith, rangeOf } from "../topology/route";
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
  recorder: Recorder;
  /** counts what Services get; absent where addresses are taken for other objects */
  metrics?: AllocationMetrics;
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
/** How long dynamic requests may take static addresses on the Coordinator's word that no dynamic one is free. */
const STATIC_CONFIRMED_MS = 5_000;
/** An allocation that takes longer is logged with its steps (upstream: the trace of ipallocator.go). */
const SLOW_MS = 500;
/** Steps told of one allocation. */
const STEPS_MAX = 40;

/** Owners not to be drawn again, by band. */
class PassedOver {
  readonly full: Readonly<Record<Scope, Set<string>>> = { dynamic: new Set(), static: new Set() };
  /** some of them have nothing to give but what is being handed over, or do not know the newest ranges yet */
  busy = false;

  clear(): void {
    this.full.dynamic.clear();
    this.full.static.clear();
    this.busy = false;
  }

  /** Equal for those who pass over the same owners. */
  get key(): string {
    if (this.full.dynamic.size === 0 && this.full.static.size === 0) return "";
    return `${[...this.full.dynamic].sort().join()}/${[...this.full.static].sort().join()}`;
  }
}

export class AddressSupply {
  readonly #queues = new Map<string, OwnerQueue>();
  readonly #drawn = new Map<string, Draw>();
  /** until when static bands may be entered without asking again */
  readonly #staticUntil = { IPv4: -Infinity, IPv6: -Infinity };

  constructor(private readonly ports: SupplyPorts) {}

  /**
   * One address, or why not. `mintToken` makes a fresh token, which the caller counts as in flight until the operation has ended.
   * `deadline` is in milliseconds since the epoch.
   */
  async take(wanted: WantedAddress, deadline: number, mintToken: () => string): Promise<SupplyResult> {
    const { clock, recorder } = this.ports;
    const steps = new Steps(clock.now());
    const result = await this.#take(wanted, deadline, { mintToken, steps });
    const durationMs = clock.now() - steps.start;
    if (durationMs > SLOW_MS) {
      const { family, address } = wanted;
      const outcome = result.ok ? result.taken.address : result.reason;
      recorder.log("warn", "allocation.slow", { family, address, outcome, durationMs, steps: steps.text });
    }
    return result;
  }

  async #take(wanted: WantedAddress, deadline: number, { mintToken, steps }: Attempts): Promise<SupplyResult> {
    const { clock, metrics } = this.ports;
    const passed = new PassedOver();
    let passedAtEpoch = 0;
    let asked = "";
    let token = "";
    /** the outcome of a call is not known, so the token may hold a row there: only there it can be asked for again */
    let bound: Draw | undefined;
    for (let attempt = 0; clock.now() < deadline; attempt++) {
      if (attempt > 0) await this.#pause(attempt);
      const topology = await this.#topology();
      if (!topology) continue;
      if (topology.epoch !== passedAtEpoch) passed.clear();
      passedAtEpoch = topology.epoch;
      const draw = bound ?? this.#route(topology, wanted, passed);
      if (draw === undefined) {
        steps.add("no owner left", clock.now());
        const refusal = passed.busy ? await this.#refresh().then(() => undefined) : await this.#confirmRefusal(wanted);
        if (refusal) return { ok: false, reason: refusal };
        passed.clear();
        continue;
      }
      const { ownerUid, scope } = draw;
      if (!bound && !passed.busy && scope === "static" && !wanted.address && this.#staticUntil[wanted.family] <= clock.now()) {
        await this.#confirmStatic(wanted.family);
        steps.add("no dynamic band left", clock.now());
        attempt = -1;
        continue;
      }
      if (ownerUid !== asked) token = mintToken();
      asked = ownerUid;
      const { result, epoch } = await this.#ask(draw, wanted, token);
      steps.add(`${ownerUid} ${result.ok ? "ok" : result.reason}`, clock.now());
      if (result.ok) {
        if (metrics) {
          const cidr = rangeOf(topology, ownerUid, wanted.family, result.address);
          metrics.allocated(cidr ?? "", wanted.address ? "static" : "dynamic", (clock.now() - steps.start) / 1_000);
        }
        return { ok: true, taken: { family: wanted.family, address: result.address, token, gen: result.gen } };
      }
      if (result.reason === "unknown") bound = draw;
      else if (result.reason !== "frozen") bound = undefined;
      switch (result.reason) {
        case "taken":
          metrics?.failed(rangeOf(topology, ownerUid, wanted.family, wanted.address) ?? "", "static");
          return { ok: false, reason: "taken" };
        case "full":
          passed.full[scope].add(ownerUid);
          if (knows(topology, ownerUid, epoch)) attempt = -1;
          else passed.busy = true;
          break;
        case "notAllocatable":
          if (wanted.holder.kind === "ipaddress") {
            await this.#seed(ownerUid, epoch, wanted, token);
            bound = draw;
          } else if (await this.#isOutside(wanted.address, ownerUid, epoch)) return { ok: false, reason: "outOfRange" };
          break;
        case "stale":
          await this.#refresh();
          break;
        case "released":
          return { ok: false, reason: "unavailable" };
        case "frozen":
          passed.full.dynamic.add(ownerUid);
          if (scope === "static") passed.full.static.add(ownerUid);
          passed.busy = true;
          break;
        case "unknown":
          break;
      }
    }
    return { ok: false, reason: "unavailable" };
  }

  #route(topology: Topology, wanted: WantedAddress, passed: PassedOver): Draw | undefined {
    if (wanted.address) {
      const ownerUid = ownerOf(topology, wanted.address);
      return ownerUid === undefined ? undefined : { ownerUid, scope: "static" };
    }
    const key = wanted.family + passed.key;
    const drawn = this.#drawn.get(key);
    if (drawn !== undefined) return drawn;
    const { clock, random, topology: source } = this.ports;
    const freeOf = source.counts.freeOf.bind(source.counts);
    const draw = drawOwner(topology, wanted.family, { random, freeOf, full: passed.full });
    if (draw !== undefined) {
      this.#drawn.set(key, draw);
      void clock.nextTurn().then(() => this.#drawn.delete(key));
    }
    return draw;
  }

  /** What the client is told when no owner is left to ask, or undefined when that is not so at the Coordinator (rule 17). */
  async #confirmRefusal({ family, address }: WantedAddress): Promise<SupplyRefusal | undefined> {
    if (address) {
      const current = await this.#refresh();
      return current && ownerOf(current, address) === undefined ? "outOfRange" : undefined;
    }
    const current = await this.#refreshCounts();
    if (!current) return undefined;
    const owners = ownersWith(current, family);
    const ranges = current.ranges.filter(({ prefix }) => familyOf(prefix) === family);
    if (ranges.length === 0) return "noRange";
    const free = new Map(current.free.map((counts) => [counts.ownerUid, counts[family]]));
    const isFull = (ownerUid: string): boolean => {
      const counts = free.get(ownerUid);
      return counts !== undefined && counts.dynamic + counts.static === 0;
    };
    if (!owners.every(isFull)) return undefined;
    for (const { prefix } of ranges) this.ports.metrics?.failed(prefix, "dynamic");
    return "full";
  }

  /** Brings counts and topology up to date before a static band is entered; a Coordinator that does not answer keeps nobody from an address. */
  async #confirmStatic(family: WantedAddress["family"]): Promise<void> {
    await this.#refreshCounts();
    this.#drawn.clear();
    this.#staticUntil[family] = this.ports.clock.now() + STATIC_CONFIRMED_MS;
  }

  /** Whether the owner's "not allocatable", given under `epoch`, is the word of the Coordinator's current topology. */
  async #isOutside(address: string, ownerUid: string, epoch: number): Promise<boolean> {
    const current = await this.#refresh();
    return current !== undefined && ownerOf(current, address) === ownerUid && knows(current, ownerUid, epoch);
  }

  /** Asked for again afterwards, the token answers the row that this made, or why it made none. */
  async #seed(ownerUid: string, epoch: number, { address, holder }: WantedAddress, token: string): Promise<void> {
    const { clock, owner } = this.ports;
    await withTimeout(clock, RPC_TIMEOUT_MS, owner(ownerUid).seed(epoch, [{ address, holder, token }])).catch(() => undefined);
  }

  async #ask({ ownerUid, scope }: Draw, wanted: WantedAddress, token: string): Promise<Attempt> {
    let queue = this.#queues.get(ownerUid);
    if (!queue) {
      queue = new OwnerQueue(ownerUid, this.ports);
      this.#queues.set(ownerUid, queue);
    }
    const { holder, family, address } = wanted;
    return queue.ask(scope === "dynamic" ? { token, holder, family, address, dynamicOnly: true } : { token, holder, family, address });
  }

  async #topology(): Promise<Topology | undefined> {
    try {
      return this.ports.topology.forDraw ?? (await this.ports.topology.current());
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

  async #refreshCounts(): Promise<Topology | undefined> {
    try {
      return await withTimeout(this.ports.clock, RPC_TIMEOUT_MS, this.ports.topology.refreshCounts());
    } catch {
      return undefined;
    }
  }

  #pause(attempt: number): Promise<void> {
    const ceiling = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** attempt);
    return this.ports.clock.sleep(1 + this.ports.random.below(ceiling));
  }
}

function familyOf(prefix: string): "IPv4" | "IPv6" {
  return prefix.includes(":") ? "IPv6" : "IPv4";
}

interface Attempts {
  mintToken(): string;
  steps: Steps;
}

/** What one allocation has done so far, for the log line of a slow one. */
class Steps {
  readonly #steps: [what: string, at: number][] = [];
  #more = 0;

  constructor(readonly start: number) {}

  add(what: string, at: number): void {
    if (this.#steps.length < STEPS_MAX) this.#steps.push([what, at]);
    else this.#more++;
  }

  get text(): string {
    const told = this.#steps.map(([what, at]) => `${at - this.start} ms: ${what}`).join("; ");
    return this.#more > 0 ? `${told}; and ${this.#more} more` : told;
  }
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
      if (topology.cached) topology.counts.note(topology.cached, this.ownerUid, answer);
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
