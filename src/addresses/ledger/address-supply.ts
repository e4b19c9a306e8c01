/** Gets addresses from their owners for a store: makes the calls that `next` (take.ts) decides on. */
import type { AllocationMetrics } from "../metrics/allocation-metrics";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import { familyOfText } from "../../core/net/family";
import { PacedLog } from "../../core/telemetry/paced-log";
import type { Topology } from "../rpc/topology";
import { ANY_ZONE, type Holder, type ServiceCIDRRpc } from "../rpc/service-cidr";
import { type Draw, rangeOf } from "../topology/route";
import { fullText, isZoned, placeOf, placesFor, refusalOf, type TenantLabels } from "../topology/tenants";
import { OwnerDraws } from "./owner-draws";
import { OwnerQueue } from "./owner-queue";
import type { PendingReleases } from "./pending-releases";
import { begin, next, passedIn, placeIn, type TakeState } from "./take";
import type { TakeAnswer, TakeStep, Tenancy } from "./take-step";
import { TakeTrace } from "./take-trace";
import { COUNT_TIMEOUT_MS, type TopologySource } from "./topology-source";
import type { AskedAddress, SupplyResult, WantedAddress } from "./wanted-address";

/** The other store that takes addresses from the same owners. */
export interface OtherStore {
  /**
   * Whether the other store has given the address back, or for "" any of the family, and the owner may not know yet. What is pending there is
   * tried soon. Rejects when nothing is known.
   */
  isReleasing(asked: AskedAddress): Promise<boolean>;
}

export interface SupplyPorts {
  clock: Clock;
  random: Random;
  recorder: Recorder;
  /** counts what Services get; absent where addresses are taken for other objects */
  metrics?: AllocationMetrics;
  topology: TopologySource;
  /** what this store has given back and owners may not know yet */
  releases: Pick<PendingReleases, "isPending" | "goneOf" | "hurry">;
  otherStore: OtherStore;
  owner(uid: string): Pick<ServiceCIDRRpc, "allocate" | "seed">;
  /** for whom ranges may be kept; absent where addresses are taken for other objects than Services */
  tenants?: Tenants;
}

/** TenantLabels of namespaces, for topologies in which ranges are kept for some of them. */
export interface Tenants {
  /** Rejects when they cannot be learned now. */
  labelsOf(namespace: string): Promise<TenantLabels> | TenantLabels;
}

const NO_TENANCY: Tenancy = {};
const RETRY_BASE_MS = 5;
const RETRY_MAX_MS = 500;
/** How long dynamic requests may take static addresses on the Coordinator's word that no dynamic one is free. */
const STATIC_CONFIRMED_MS = 5_000;
/** An allocation that takes longer is logged with its steps (upstream: the trace of ipallocator.go). */
const SLOW_MS = 500;

export class AddressSupply {
  readonly #queues = new Map<string, OwnerQueue>();
  readonly #draws: OwnerDraws;
  /** until when static bands may be entered without asking again */
  #staticUntil = -Infinity;
  #recounting: Promise<boolean> | undefined;
  /** under overload all of them are slow */
  readonly #slow: PacedLog;

  constructor(private readonly ports: SupplyPorts) {
    const { clock, random, topology } = ports;
    this.#slow = new PacedLog("warn", "slow allocation", ports);
    this.#draws = new OwnerDraws({ clock, random, counts: topology.counts });
  }

  /**
   * One address, or why not. `mintToken` makes a fresh token, which the caller counts as in flight until the operation has ended.
   * `deadline` is in milliseconds since the epoch.
   */
  async take(wanted: WantedAddress, deadline: number, mintToken: () => string): Promise<SupplyResult> {
    const { clock } = this.ports;
    const trace = new TakeTrace(clock.now());
    let state = begin(wanted, deadline, trace.start);
    while (state.step.kind !== "end") {
      const { step } = state;
      const answer = await this.#do(step, state, mintToken);
      trace.add(step, answer, clock.now());
      state = next(state, answer, clock.now());
    }
    const result = this.#explained(state, state.step.result);
    const durationMs = clock.now() - trace.start;
    this.#count(state, result, durationMs);
    if (durationMs > SLOW_MS) {
      const { family, address } = wanted;
      const outcome = result.ok ? result.taken.address : result.reason;
      this.#slow.add(() => ({ family, address, outcome, durationMs, steps: trace.text }));
    }
    return result;
  }

  /** Where ranges are kept for the Services of some namespaces, "range is full" alone would mislead. */
  #explained({ view, wanted: { family, address, holder }, places }: TakeState, result: SupplyResult): SupplyResult {
    if (result.ok || result.reason !== "full" || address !== "" || !view || !places || places[0] === ANY_ZONE) return result;
    const detail = fullText(view, family, holder.namespace, places);
    return detail === undefined ? result : { ...result, detail };
  }

  #do(step: Exclude<TakeStep, { kind: "end" }>, state: TakeState, mintToken: () => string): Promise<TakeAnswer> {
    switch (step.kind) {
      case "draw":
        return this.#draw(step, state);
      case "ask":
        return this.#ask(step.draw, state.wanted, step.token ?? mintToken());
      case "compare":
        return this.#refresh().then((view) => ({ kind: "compare", view }));
      case "count":
        return this.#refreshCounts().then((view) => ({ kind: "count", view }));
      case "recount":
        return this.#recount().then((isWhole) => ({ kind: "recount", isWhole }));
      case "inquire":
        return this.#inquire(state).then((isPending) => ({ kind: "inquire", isPending }));
      case "seed":
        return this.#seed(step, state).then(() => ({ kind: "seed" }));
      case "hurry":
        return this.#hurry(state).then(() => ({ kind: "hurry" }));
    }
  }

  async #draw({ pause, resting }: Extract<TakeStep, { kind: "draw" }>, state: TakeState): Promise<TakeAnswer> {
    const { clock, random } = this.ports;
    if (resting) {
      this.#draws.rest(resting.ownerUid);
      if (resting.isStale) void this.#refresh();
    }
    if (pause > 0) await clock.sleep(1 + random.below(Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** pause)));
    const view = await this.#view();
    if (!view) return { kind: "draw", view };
    const { wanted, bound } = state;
    const tenancy = isZoned(view) ? await this.#tenancy(view, wanted) : NO_TENANCY;
    if (!tenancy) return { kind: "draw", view: undefined };
    const zone = tenancy.places?.[placeIn(state, view)] ?? tenancy.places?.[0];
    const draw = bound ?? (tenancy.kept === undefined ? this.#draws.draw(view, wanted, passedIn(state, view), zone) : undefined);
    // Read before the call: a release that comes later does not count for this request.
    const { releases } = this.ports;
    const isPending = (wanted.address !== "" || !draw) && releases.isPending(wanted, view, zone);
    const gone = releases.goneOf(wanted.family);
    return { kind: "draw", view, draw, isPending, gone, isStaticOpen: this.#staticUntil > clock.now(), ...tenancy };
  }

  /** Where the request may take from; undefined = the labels of its namespace cannot be learned now. */
  async #tenancy(view: Topology, { family, address, holder, isHeld }: WantedAddress): Promise<Tenancy | undefined> {
    const { tenants } = this.ports;
    if (isHeld || !tenants || isDefaultService(holder)) return { places: [ANY_ZONE] };
    const { namespace } = holder;
    let labels = tenants.labelsOf(namespace);
    if (labels instanceof Promise) {
      try {
        labels = await labels;
      } catch {
        return undefined;
      }
    }
    if (address === "") return { places: placesFor(view, family, labels) };
    const kept = refusalOf(view, { family, address }, { namespace, labels });
    return { places: [placeOf(view, address)], ...(kept === undefined ? {} : { kept }) };
  }

  async #ask({ ownerUid, band, zone }: Draw, wanted: WantedAddress, token: string): Promise<TakeAnswer> {
    let queue = this.#queues.get(ownerUid);
    if (!queue) {
      queue = new OwnerQueue(ownerUid, this.ports);
      this.#queues.set(ownerUid, queue);
    }
    const { holder, family, address } = wanted;
    const item = { token, holder, family, address, ...(zone === undefined ? {} : { zone }) };
    const attempt = await queue.ask(band === "dynamic" ? { ...item, dynamicOnly: true } : item);
    // A refresh of the counts is under way: this request waits for its result.
    return { kind: "ask", token, attempt: this.#recounting ? { ...attempt, isSurprise: true } : attempt };
  }

  async #seed({ draw, epoch }: Extract<TakeStep, { kind: "seed" }>, { wanted, asked }: TakeState): Promise<void> {
    const { clock, owner } = this.ports;
    const { address, holder } = wanted;
    const items = [{ address, holder, token: asked?.token ?? "" }];
    await withTimeout(clock, RPC_TIMEOUT_MS, owner(draw.ownerUid).seed(epoch, items)).catch(() => undefined);
  }

  /** Waits until an address has come back or could not, no longer than to the deadline. */
  async #hurry({ wanted, deadline, gone }: TakeState): Promise<void> {
    const { clock, releases } = this.ports;
    await withTimeout(clock, Math.max(0, deadline - clock.now()), releases.hurry(wanted, gone)).catch(() => undefined);
  }

  #inquire({ wanted: { family, address }, deadline }: TakeState): Promise<boolean | undefined> {
    const { clock, otherStore } = this.ports;
    const waitMs = Math.min(RPC_TIMEOUT_MS, Math.max(0, deadline - clock.now()));
    return withTimeout(clock, waitMs, otherStore.isReleasing({ family, address })).catch(() => undefined);
  }

  /**
   * Brings counts and topology up to date. Callers at the same time share one refresh, because counts are hints. A Coordinator that does not
   * answer keeps nobody from an address. False: the Coordinator had not heard of all owners.
   */
  #recount(): Promise<boolean> {
    this.#recounting ??= this.#refreshCounts().then((topology) => {
      this.#recounting = undefined;
      this.#draws.forget();
      this.#staticUntil = this.ports.clock.now() + STATIC_CONFIRMED_MS;
      return !topology || topology.free.length >= topology.owners.length;
    });
    return this.#recounting;
  }

  async #view(): Promise<Topology | undefined> {
    try {
      const { topology } = this.ports;
      const view = topology.forDraw ?? (await topology.current());
      return isZoned(view) && topology.isOld ? await withTimeout(this.ports.clock, RPC_TIMEOUT_MS, topology.refresh()) : view;
    } catch {
      return undefined;
    }
  }

  #refresh(): Promise<Topology | undefined> {
    return withTimeout(this.ports.clock, RPC_TIMEOUT_MS, this.ports.topology.refresh()).catch(() => undefined);
  }

  #refreshCounts(): Promise<Topology | undefined> {
    return withTimeout(this.ports.clock, COUNT_TIMEOUT_MS, this.ports.topology.refreshCounts()).catch(() => undefined);
  }

  /** What no range of the view gives out has no CIDR to count it under. */
  #count({ wanted, view, asked }: TakeState, result: SupplyResult, durationMs: number): void {
    const { metrics } = this.ports;
    if (!metrics || !view) return;
    const band = wanted.address ? "static" : "dynamic";
    if (!result.ok && result.reason === "full") {
      for (const { prefix } of view.ranges) if (familyOfText(prefix) === wanted.family) metrics.failed(prefix, band);
    } else if (result.ok || result.reason === "taken") {
      const cidr = asked && rangeOf(view, asked.ownerUid, wanted.family, result.ok ? result.taken.address : wanted.address);
      if (cidr === undefined) return;
      if (result.ok) metrics.allocated(cidr, band, durationMs / 1_000);
      else metrics.failed(cidr, band);
    }
  }
}

/** It keeps the address that the configuration gives it, whomever its range is kept for. */
export function isDefaultService({ namespace, name }: Pick<Holder, "namespace" | "name">): boolean {
  return namespace === "default" && name === "kubernetes";
}
