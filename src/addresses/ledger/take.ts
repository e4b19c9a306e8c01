/**
 * How one address is taken, as a pure state machine: `next` says what to do with each answer. AddressSupply makes the calls.
 *
 *   draw ──► ask ──► end                     the common case
 *    │        │
 *    │        ├─ full ───────► recount, if counts were wrong ──► draw
 *    │        ├─ stale, frozen ► compare, or another owner ─────► draw
 *    │        ├─ notAllocatable ► compare ──► end, or seed ─────► draw
 *    │        └─ taken ──────► inquire, then end, or hurry ────► draw
 *    └─ no owner ► compare, or inquire and count ► end, or hurry ► draw
 *
 * - While the counts know of an owner with room in its dynamic bands, owners are asked for those alone. No static band is entered before every
 *   dynamic one is used up. Counts and topology may be old, so the Coordinator is asked before a static band is entered.
 * - An owner that says "full" and was thought to have more shows that the counts are wrong. The Coordinator counts once, and the next owner
 *   has room. Else a thousand full ranges would be asked one after the other.
 * - `stale` and `frozen` say that the topology is old or a hand-off is under way. A dynamic request goes on to another owner at once. When no
 *   owner is left: compare with the Coordinator, pause with jitter, try again until the deadline.
 * - "full" and "out of range" are final for clients. They are given only on the word of owners that have the configuration of the
 *   Coordinator's current epoch (rule 17). Before "full" the Coordinator asks every owner that could give an address.
 * - "full" and "taken" are not final while a pending release would make them wrong: a client was told that the address is free. The
 *   request waits for the release, until the deadline. What this store has pending is known before an owner is asked. The other store is
 *   asked after the refusal: when it has nothing pending, only an owner that refuses once more is believed.
 * - A call whose answer was lost is repeated with the same token: the owner answers the same row again. Every owner is asked with a token of
 *   its own, so a late call never makes a second row for a token that another owner has answered. What stays unknown at the deadline is
 *   found by the ledger's audit, because its token belongs to no operation.
 * - An IPAddress object exists whether or not a range gives out its address, so its row is taken inside a claim in any case (rule 15). Only
 *   the owner of the claim now is asked to write the row down: a former owner would write it, too.
 */
import { assertNever } from "../../core/base/assert";
import { familyOfText } from "../../core/net/family";
import { OPEN_ZONE } from "../../core/net/zones";
import type { Topology } from "../rpc/topology";
import { type Draw, knows, ownerOf, ownersWith } from "../topology/route";
import type { Attempt, PassedOver, TakeAnswer, TakeStep } from "./take-step";
import type { SupplyRefusal, SupplyResult, WantedAddress } from "./wanted-address";

export interface TakeState {
  readonly wanted: WantedAddress;
  /** milliseconds since the epoch */
  readonly deadline: number;
  readonly step: TakeStep;
  /** the topology of the last draw, or of the count that confirmed a refusal */
  readonly view: Topology | undefined;
  readonly passed: PassedOver;
  /** who was asked last, and with which token */
  readonly asked: { ownerUid: string; token: string } | undefined;
  /** The outcome of a call is unknown, so the token may hold a row there: only there it can be asked for again. */
  readonly bound: Draw | undefined;
  readonly isPending: boolean;
  /** releases of the family that had gone through at the last draw: a wait begins only if none has followed */
  readonly gone: number;
  /** What the other store said since the request began. "clear": none of its releases is pending. "open": one is, or nothing is known. */
  readonly elsewhere: "unasked" | "clear" | "open";
  /** the counts have been brought up to date for this request, as far as they can be */
  readonly isRecounted: boolean;
  readonly pauses: number;
  /** of the last draw: where the request may take from, if zones are kept apart, and which place it has come to */
  readonly places: readonly string[] | undefined;
  readonly place: number;
  /** the Coordinator was asked since a topology said that the address is kept for others */
  readonly isKept: boolean;
}

const NOBODY: ReadonlySet<string> = new Set();
const NONE_PASSED: PassedOver = { dynamic: NOBODY, static: NOBODY, isBusy: false };

/** A request before its first draw. */
export function begin(wanted: WantedAddress, deadline: number, now: number): TakeState {
  const state: TakeState = {
    wanted,
    deadline,
    step: { kind: "draw", pause: 0 },
    view: undefined,
    passed: NONE_PASSED,
    asked: undefined,
    bound: undefined,
    isPending: false,
    gone: 0,
    // Repair comes again by itself.
    elsewhere: wanted.isHeld ? "clear" : "unasked",
    isRecounted: false,
    pauses: 0,
    places: undefined,
    place: 0,
    isKept: false,
  };
  return drawAgain(state, now, { pause: false });
}

/** Who is passed over in a draw by this view: what an owner said at another epoch does not count. */
export function passedIn(state: TakeState, view: Topology): PassedOver {
  return state.view?.epoch === view.epoch ? state.passed : NONE_PASSED;
}

/** The place that a request has come to in this view. */
export function placeIn(state: TakeState, view: Topology): number {
  return state.view?.epoch === view.epoch ? state.place : 0;
}

/** The state after the answer to `state.step`, which came at `now`. */
export function next(state: TakeState, answer: TakeAnswer, now: number): TakeState {
  switch (answer.kind) {
    case "draw":
      return answer.view ? drawn(state, answer) : drawAgain(state, now);
    case "ask":
      return asked(state, answer, now);
    case "compare":
      return compared(state, answer.view, now);
    case "count":
      return counted(state, answer.view, now);
    case "recount": {
      const isForThis = state.step.kind === "recount" && state.step.why === "surprise";
      const isRecounted = isForThis ? answer.isWhole : state.isRecounted;
      return drawAgain({ ...state, isRecounted }, now, { pause: false });
    }
    case "inquire":
      return inquired(state, answer.isPending, now);
    case "seed":
      // Asked for again, the token answers the row that the seeding made, or why there is none.
      return drawAgain({ ...state, bound: state.step.kind === "seed" ? state.step.draw : undefined }, now);
    case "hurry":
      return drawAgain({ ...state, passed: NONE_PASSED }, now);
    default:
      return assertNever(answer);
  }
}

function drawn(
  state: TakeState,
  { view, draw, isPending, gone, isStaticOpen, places, kept }: Extract<TakeAnswer, { kind: "draw"; view: Topology }>,
): TakeState {
  const { wanted, bound } = state;
  const passed = passedIn(state, view);
  const at: TakeState = { ...state, view, passed, isPending, gone, places, place: placeIn(state, view) };
  // As every refusal only by the Coordinator's newest topology (rule 17).
  if (kept !== undefined)
    return state.isKept ? end(at, { ok: false, reason: "kept", detail: kept }) : { ...at, step: { kind: "compare", why: "kept" } };
  if (!draw) {
    if (passed.isBusy) return { ...at, step: { kind: "compare", why: "busy" } };
    if (wanted.address) return { ...at, step: { kind: "compare", why: "noOwner" } };
    return { ...at, step: at.elsewhere === "clear" ? countStep(at) : { kind: "inquire", before: "full" } };
  }
  // In a zone the static band is drawn only when every owner has said that its dynamic band is full.
  const isCounted = draw.zone === undefined || draw.zone === OPEN_ZONE;
  const entersStaticBand = isCounted && draw.band === "static" && !wanted.address && !bound && !passed.isBusy;
  if (entersStaticBand && !isStaticOpen) return { ...at, step: { kind: "recount", why: "staticBand" } };
  const token = state.asked?.ownerUid === draw.ownerUid ? state.asked.token : undefined;
  return { ...at, step: { kind: "ask", draw, token } };
}

function asked(
  before: TakeState,
  { token, attempt: { result, epoch, isSurprise } }: Extract<TakeAnswer, { kind: "ask" }>,
  now: number,
): TakeState {
  const { wanted, view, passed, step } = before;
  if (step.kind !== "ask" || !view) throw new Error("an owner's answer that nobody asked for");
  const { draw } = step;
  const { ownerUid, band } = draw;
  const state: TakeState = { ...before, asked: { ownerUid, token }, bound: boundAfter(before, draw, result) };
  if (result.ok) return end(state, { ok: true, taken: { family: wanted.family, address: result.address, token, gen: result.gen } });
  switch (result.reason) {
    case "taken":
      if (state.isPending) return { ...state, step: { kind: "hurry" } };
      return state.elsewhere === "clear" ? refuse(state, "taken") : { ...state, step: { kind: "inquire", before: "taken" } };
    case "full": {
      const isKnowing = knows(view, ownerUid, epoch);
      const full: TakeState = {
        ...state,
        passed: { ...passed, [band]: new Set(passed[band]).add(ownerUid), isBusy: passed.isBusy || !isKnowing },
      };
      if (isKnowing && isSurprise && !state.isRecounted) return { ...full, step: { kind: "recount", why: "surprise" } };
      return drawAgain(full, now, { pause: !isKnowing });
    }
    case "notAllocatable":
      return { ...state, step: { kind: "compare", why: "notAllocatable", draw, epoch } };
    case "stale":
      if (wanted.address) return { ...state, step: { kind: "compare", why: "moved" } };
      return drawAgain(passBusy(state, ownerUid, { wholly: true }), now, { pause: false, resting: { ownerUid, isStale: true } });
    case "frozen": {
      const busy = passBusy(state, ownerUid, { wholly: band === "static" });
      if (wanted.address) return drawAgain(busy, now);
      // Where the outcome of an earlier call is unknown no other owner may be asked.
      return drawAgain(busy, now, { pause: state.bound !== undefined, resting: { ownerUid, isStale: false } });
    }
    case "released":
      return refuse(state, "unavailable");
    case "unknown":
      return drawAgain(state, now);
    default:
      return assertNever(result);
  }
}

function boundAfter({ bound }: TakeState, draw: Draw, result: Attempt["result"]): Draw | undefined {
  if (result.ok) return undefined;
  if (result.reason === "unknown") return draw;
  return result.reason === "frozen" ? bound : undefined;
}

function compared(state: TakeState, view: Topology | undefined, now: number): TakeState {
  const { wanted, step } = state;
  if (step.kind !== "compare" || step.why === "moved") return drawAgain(state, now);
  const isOfNow = view !== undefined && view.epoch === state.view?.epoch;
  if (step.why === "kept") return drawAgain({ ...state, isKept: view !== undefined }, now, { pause: view === undefined });
  if (step.why === "zoneFull") {
    if (isOfNow && state.isPending) return { ...state, step: { kind: "hurry" } };
    if (!isOfNow || state.elsewhere !== "clear") return drawAgain({ ...state, passed: NONE_PASSED }, now);
    const isLast = state.place + 1 >= (state.places?.length ?? 0);
    return isLast ? refuse(state, "full") : drawAgain({ ...state, place: state.place + 1, passed: NONE_PASSED }, now, { pause: false });
  }
  if (step.why === "notAllocatable") {
    const { draw, epoch } = step;
    const isCurrent = view !== undefined && ownerOf(view, wanted.address) === draw.ownerUid && knows(view, draw.ownerUid, epoch);
    if (!isCurrent) return drawAgain(state, now);
    if (wanted.holder.kind !== "ipaddress" && !wanted.isHeld) return refuse(state, "outOfRange");
    return { ...state, step: { kind: "seed", draw, epoch } };
  }
  if (step.why === "noOwner" && view && ownerOf(view, wanted.address) === undefined) return refuse(state, "outOfRange");
  return drawAgain({ ...state, passed: NONE_PASSED }, now);
}

function counted(before: TakeState, view: Topology | undefined, now: number): TakeState {
  const state: TakeState = { ...before, view: view ?? before.view, passed: NONE_PASSED };
  const refusal = view && refusalOf(view, state.wanted.family);
  if (refusal === "full" && state.isPending) return { ...state, step: { kind: "hurry" } };
  const isFinal = refusal !== undefined && (refusal !== "full" || state.elsewhere === "clear");
  return isFinal ? refuse(state, refusal) : drawAgain(state, now);
}

function inquired(before: TakeState, isPending: boolean | undefined, now: number): TakeState {
  const { step } = before;
  const state: TakeState = { ...before, elsewhere: isPending === false ? "clear" : "open" };
  // An owner may have room that nobody knew of, whatever is pending.
  if (step.kind === "inquire" && step.before === "full") return { ...state, step: countStep(state) };
  return drawAgain(state, now, { pause: state.elsewhere === "open" });
}

/** How "full" is confirmed: the owners of a zone have all said so, so that only their configuration is compared. */
function countStep({ places, place }: TakeState): TakeStep {
  const zone = places?.[place];
  return zone === undefined || zone === OPEN_ZONE ? { kind: "count" } : { kind: "compare", why: "zoneFull" };
}

/** What a client is told by a counted topology when no owner is left to ask; undefined = some owner has room, or was not counted. */
function refusalOf(counted: Topology, family: WantedAddress["family"]): SupplyRefusal | undefined {
  if (!counted.ranges.some(({ prefix }) => familyOfText(prefix) === family)) return "noRange";
  const free = new Map(counted.free.map((counts) => [counts.ownerUid, counts[family]]));
  const isFull = (ownerUid: string): boolean => {
    const counts = free.get(ownerUid);
    return counts !== undefined && counts.dynamic + counts.static === 0;
  };
  return ownersWith(counted, family).every(isFull) ? "full" : undefined;
}

/** The owner has nothing to give now, and may have later. */
function passBusy(state: TakeState, ownerUid: string, { wholly }: { wholly: boolean }): TakeState {
  const { passed } = state;
  const add = (owners: ReadonlySet<string>): ReadonlySet<string> => new Set(owners).add(ownerUid);
  return { ...state, passed: { dynamic: add(passed.dynamic), static: wholly ? add(passed.static) : passed.static, isBusy: true } };
}

function drawAgain(
  state: TakeState,
  now: number,
  { pause = true, resting }: { pause?: boolean; resting?: { ownerUid: string; isStale: boolean } } = {},
): TakeState {
  if (now >= state.deadline) return refuse(state, "unavailable");
  const pauses = state.pauses + (pause ? 1 : 0);
  return { ...state, pauses, step: { kind: "draw", pause: pause ? pauses : 0, ...(resting && { resting }) } };
}

function refuse(state: TakeState, reason: SupplyRefusal): TakeState {
  return end(state, { ok: false, reason });
}

function end(state: TakeState, result: SupplyResult): TakeState {
  return { ...state, step: { kind: "end", result } };
}
