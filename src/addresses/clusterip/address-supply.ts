/**
 * Gets addresses from their owners for a store: picks the owner, groups what is asked in one turn into one call per owner, and
 * decides what an answer means (rules 1, 17).
 *
 * - Owners are drawn once per turn and family, so a batch costs one call in the common case. While the counts know of an owner with room in
 *   its dynamic bands, owners are asked for those alone: no static band is entered before every dynamic one is used up. Counts and topology
 *   may be old, so the Coordinator is asked before (and again from time to time): it may know of room, or of a range, that is new.
 * - An owner that says "full" and was thought to have more (nothing was known of it, or others took its addresses) shows that the counts are
 *   wrong: the Coordinator counts once, and the next owner has room. Else a thousand full ranges would be asked one after the other.
 * - `stale` and `frozen` say that our topology is old or a hand-off is under way. Whoever takes any free address goes on to another owner at
 *   once, and for a moment nobody draws this one while others have room; when no owner is left: refresh, wait with jitter, try again until
 *   the deadline.
 * - "full" and "out of range" are final for clients, so they are given only on the word of owners that have the configuration of the
 *   Coordinator's current epoch; before "full" the Coordinator asks every owner that could give an address.
 * - A call whose answer was lost is repeated with the same token: the owner answers the same row again. Every owner is asked with a token of
 *   its own, so a call that arrives late can never make a second row for a token that another owner has answered. What stays unknown at the
 *   deadline is found by the store's audit (address-ledger.ts), because its token belongs to no operation.
 * - An IPAddress object exists whether or not a range gives out its address, so inside a claim its row is taken in any case (rule 15):
 *   a range that becomes Ready a moment later finds it there. Only from who owns the claim now: an owner that lost it, and does not know that
 *   yet, has nothing to give out any more, but would write the row down.
 */
import type { AllocationMetrics } from "../alloc/allocation-metrics";
import { RPC_TIMEOUT_MS, SUPPLY_BATCH_MAX, SUPPLY_CALLS_IN_FLIGHT_MAX } from "../../core/base/limits";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { Scope } from "../../core/net/band";
import { type Family, familyOfText } from "../../core/net/family";
import type { Topology } from "../rpc/coordinator";
import type { AllocateAnswer, AllocateItem, AllocateResult, FreeCount, Gen, Holder, ServiceCIDRRpc } from "../rpc/service-cidr";
import { PacedLog } from "../../core/telemetry/paced-log";
import { parseAddress } from "../../core/net/address";
import { type Draw, drawOwner, knows, ownerOf, ownersWith, rangeOf, scopeOf, sizesOf } from "../topology/route";
import type { PendingReleases } from "./pending-release";
import { COUNT_TIMEOUT_MS, type TopologySource } from "./topology-source";

export interface WantedAddress {
  family: "IPv4" | "IPv6";
  /** canonical text of a static request, "" = any free one */
  address: string;
  holder: Holder;
  /** static: the holder has it already and lost the row, so a range that gives nothing out any more does not matter (I3 is about new ones) */
  isHeld?: boolean;
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
  /** what this store has given back and owners may not know yet */
  releases: Pick<PendingReleases, "isPending" | "hurry">;
  owner(uid: string): Pick<ServiceCIDRRpc, "allocate" | "seed">;
}

/** What one owner call answered under which epoch, or that nothing is known. */
interface Attempt {
  result: AllocateResult | { ok: false; reason: "unknown" };
  epoch: number;
  /** "full" of an owner that was thought to have more than it gave */
  isSurprise: boolean;
}

const UNKNOWN: Attempt = { result: { ok: false, reason: "unknown" }, epoch: 0, isSurprise: false };

const RETRY_BASE_MS = 5;
const RETRY_MAX_MS = 500;
/** How long an owner that could give nothing for a moment is not drawn while others have room: about as long as a lot of addresses is frozen. */
const RESTING_MS = 100;
/** How long dynamic requests may take static addresses on the Coordinator's word that no dynamic one is free. */
const STATIC_CONFIRMED_MS = 5_000;
/** An allocation that takes longer is logged with its steps (upstream: the trace of ipallocator.go). */
const SLOW_MS = 500;
/** Steps told of one allocation. */
const STEPS_MAX = 40;

/** Owners that one request does not draw again, by band. */
class PassedOver {
  readonly full: Readonly<Record<Scope, Set<string>>> = { dynamic: new Set(), static: new Set() };
  /** some of them have nothing to give but what is being handed over, or do not know the newest ranges yet */
  busy = false;
  /** the counts have been brought up to date for this request, as far as they can be */
  recounted = false;

  /** The owner has nothing to give now, and may have later. */
  addBusy(ownerUid: string, { wholly }: { wholly: boolean }): void {
    this.full.dynamic.add(ownerUid);
    if (wholly) this.full.static.add(ownerUid);
    this.busy = true;
  }

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
  /** until when each owner is drawn only where no other has room */
  readonly #resting = new Map<string, number>();
  /** until when static bands may be entered without asking again */
  #staticUntil = -Infinity;
  #recounting: Promise<boolean> | undefined;

  /** under overload all of them are slow */
  readonly #slow: PacedLog;

  constructor(private readonly ports: SupplyPorts) {
    this.#slow = new PacedLog("warn", "slow allocation", ports);
  }

  /**
   * One address, or why not. `mintToken` makes a fresh token, which the caller counts as in flight until the operation has ended.
   * `deadline` is in milliseconds since the epoch.
   */
  async take(wanted: WantedAddress, deadline: number, mintToken: () => string): Promise<SupplyResult> {
    const { clock } = this.ports;
    const steps = new Steps(clock.now());
    const result = await this.#take(wanted, deadline, { mintToken, steps });
    const durationMs = clock.now() - steps.start;
    if (durationMs > SLOW_MS) {
      const { family, address } = wanted;
      const outcome = result.ok ? result.taken.address : result.reason;
      this.#slow.add(() => ({ family, address, outcome, durationMs, steps: steps.text }));
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
    let pauses = 0;
    for (let mustPause = false; clock.now() < deadline;) {
      if (mustPause) await this.#pause(++pauses);
      mustPause = true;
      const topology = await this.#topology();
      if (!topology) continue;
      if (topology.epoch !== passedAtEpoch) passed.clear();
      passedAtEpoch = topology.epoch;
      const draw = bound ?? this.#route(topology, wanted, passed);
      if (draw === undefined) {
        steps.add("no owner left", clock.now());
        const isAwaited = this.#isPending(topology, wanted);
        const refusal = passed.busy ? await this.#refresh().then(() => undefined) : await this.#confirmRefusal(wanted);
        if (refusal === "full" && isAwaited) await this.#hurry("", deadline);
        else if (refusal) return this.#refuse(wanted, refusal);
        passed.clear();
        continue;
      }
      const { ownerUid, scope } = draw;
      if (!bound && !passed.busy && scope === "static" && !wanted.address && this.#staticUntil <= clock.now()) {
        await this.#recount();
        steps.add("no dynamic band left", clock.now());
        mustPause = false;
        continue;
      }
      if (ownerUid !== asked) token = mintToken();
      asked = ownerUid;
      // Before the call: whoever gave the address back since is later than this request.
      const isAwaited = wanted.address !== "" && this.#isPending(topology, wanted);
      const attempt = await this.#ask(draw, wanted, token);
      const { result, epoch } = attempt;
      steps.add(`${ownerUid} ${result.ok ? "ok" : result.reason}`, clock.now());
      if (result.ok) {
        // What no range of this view gives out has no CIDR to count it under.
        const cidr = metrics && rangeOf(topology, ownerUid, wanted.family, result.address);
        if (cidr !== undefined) metrics?.allocated(cidr, wanted.address ? "static" : "dynamic", (clock.now() - steps.start) / 1_000);
        return { ok: true, taken: { family: wanted.family, address: result.address, token, gen: result.gen } };
      }
      if (result.reason === "unknown") bound = draw;
      else if (result.reason !== "frozen") bound = undefined;
      switch (result.reason) {
        case "taken": {
          if (isAwaited) {
            await this.#hurry(wanted.address, deadline);
            break;
          }
          const cidr = metrics && rangeOf(topology, ownerUid, wanted.family, wanted.address);
          if (cidr !== undefined) metrics?.failed(cidr, "static");
          return { ok: false, reason: "taken" };
        }
        case "full":
          passed.full[scope].add(ownerUid);
          passed.busy ||= !knows(topology, ownerUid, epoch);
          mustPause = !knows(topology, ownerUid, epoch);
          if (!mustPause) await this.#recountIfWrong(attempt, passed);
          break;
        case "notAllocatable":
          if (!(await this.#isCurrent(wanted.address, ownerUid, epoch))) break;
          if (wanted.holder.kind !== "ipaddress" && !wanted.isHeld) return { ok: false, reason: "outOfRange" };
          await this.#seed(ownerUid, epoch, wanted, token);
          bound = draw;
          break;
        case "stale":
          if (wanted.address) {
            await this.#refresh();
            break;
          }
          void this.#refresh();
          this.#resting.set(ownerUid, clock.now() + RESTING_MS);
          passed.addBusy(ownerUid, { wholly: true });
          mustPause = false;
          break;
        case "released":
          return { ok: false, reason: "unavailable" };
        case "frozen":
          passed.addBusy(ownerUid, { wholly: scope === "static" });
          if (wanted.address) break;
          this.#resting.set(ownerUid, clock.now() + RESTING_MS);
          // Where the outcome of an earlier call is not known no other owner may be asked.
          if (!bound) mustPause = false;
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
    const { clock } = this.ports;
    const draw = this.#draw(topology, wanted.family, passed.full);
    if (draw !== undefined) {
      this.#drawn.set(key, draw);
      void clock.nextTurn().then(() => this.#drawn.delete(key));
    }
    return draw;
  }

  #draw(topology: Topology, family: WantedAddress["family"], full: PassedOver["full"]): Draw | undefined {
    const { clock, random, topology: source } = this.ports;
    const freeOf = source.counts.freeOf.bind(source.counts);
    for (const [ownerUid, until] of this.#resting) if (until <= clock.now()) this.#resting.delete(ownerUid);
    if (this.#resting.size > 0) {
      const dynamic = new Set([...full.dynamic, ...this.#resting.keys()]);
      const draw = drawOwner(topology, family, { random, freeOf, full: { dynamic, static: full.static } });
      // A dynamic address that has to be waited for comes before a static one.
      if (draw?.scope === "dynamic") return draw;
    }
    return drawOwner(topology, family, { random, freeOf, full });
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
    const ranges = current.ranges.filter(({ prefix }) => familyOfText(prefix) === family);
    if (ranges.length === 0) return "noRange";
    const free = new Map(current.free.map((counts) => [counts.ownerUid, counts[family]]));
    const isFull = (ownerUid: string): boolean => {
      const counts = free.get(ownerUid);
      return counts !== undefined && counts.dynamic + counts.static === 0;
    };
    return owners.every(isFull) ? "full" : undefined;
  }

  #refuse({ family }: WantedAddress, reason: SupplyRefusal): SupplyResult {
    const { metrics, topology } = this.ports;
    if (metrics && reason === "full") {
      const ranges = (topology.cached?.ranges ?? []).filter(({ prefix }) => familyOfText(prefix) === family);
      for (const { prefix } of ranges) metrics.failed(prefix, "dynamic");
    }
    return { ok: false, reason };
  }

  /** Whether a client was told that what is wanted is free, or that something of the family is, and the owner may not know yet. */
  #isPending(topology: Topology, wanted: WantedAddress): boolean {
    return this.ports.releases.isPending(wanted, (address) => {
      const parsed = parseAddress(address);
      return parsed.ok && scopeOf(topology, parsed.value.family, parsed.value.value) !== undefined;
    });
  }

  /** Waits until an address has come back or could not, no longer than to the deadline. */
  async #hurry(address: string, deadline: number): Promise<void> {
    const { clock, releases } = this.ports;
    await withTimeout(clock, Math.max(0, deadline - clock.now()), releases.hurry(address)).catch(() => undefined);
  }

  /** Once in a request, and with the others who see it at the same time; again while owners that have to wake are missing in it. */
  async #recountIfWrong({ isSurprise }: Attempt, passed: PassedOver): Promise<void> {
    if (passed.recounted || !(isSurprise || this.#recounting)) return;
    passed.recounted = await this.#recount();
  }

  /**
   * Brings counts and topology up to date: before a static band is entered, and where counts were wrong. Who comes while that is under way waits
   * for it, too: these are hints. A Coordinator that does not answer keeps nobody from an address. False: it had not heard of all owners.
   */
  #recount(): Promise<boolean> {
    this.#recounting ??= this.#refreshCounts().then((topology) => {
      this.#recounting = undefined;
      this.#drawn.clear();
      this.#staticUntil = this.ports.clock.now() + STATIC_CONFIRMED_MS;
      return !topology || topology.free.length >= topology.owners.length;
    });
    return this.#recounting;
  }

  /** Whether the owner's "not allocatable", given under `epoch`, is the word of the Coordinator's current topology. */
  async #isCurrent(address: string, ownerUid: string, epoch: number): Promise<boolean> {
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
      return await withTimeout(this.ports.clock, COUNT_TIMEOUT_MS, this.ports.topology.refreshCounts());
    } catch {
      return undefined;
    }
  }

  #pause(attempt: number): Promise<void> {
    const ceiling = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** attempt);
    return this.ports.clock.sleep(1 + this.ports.random.below(ceiling));
  }
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
      for (const [i, result] of results.entries()) if (result.ok && items[i]?.family === family) left[result.scope]--;
      return left;
    };
    const left = { IPv4: leftOf("IPv4"), IPv6: leftOf("IPv6") };
    return new Set(full.filter(({ family, dynamicOnly }) => left[family].dynamic > 0 || (!dynamicOnly && left[family].static > 0)));
  }
}

const NO_ITEMS: ReadonlySet<AllocateItem> = new Set();

function isFull(result: AllocateResult | undefined): boolean {
  return result?.ok === false && result.reason === "full";
}
