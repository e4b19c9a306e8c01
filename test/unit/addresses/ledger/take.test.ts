import { describe, expect, it } from "vitest";
import { begin, next, type TakeState } from "../../../../src/addresses/ledger/take";
import type { TakeAnswer, TakeStep } from "../../../../src/addresses/ledger/take-step";
import type { WantedAddress } from "../../../../src/addresses/ledger/wanted-address";
import type { Topology } from "../../../../src/addresses/rpc/topology";
import type { AllocateResult } from "../../../../src/addresses/rpc/service-cidr";
import type { Draw } from "../../../../src/addresses/topology/route";
import { aTopology } from "../../../support/worlds/ledger-world";
import { aHolder } from "../../../support/worlds/owner-world";

const DEADLINE = 20_000;
const VIEW = aTopology(2, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
const DYNAMIC: Draw = { ownerUid: "a", band: "dynamic" };
const STATIC: Draw = { ownerUid: "a", band: "static" };
const FIVE = "10.0.0.5";

const wantedOf = (address: string, overrides: Partial<WantedAddress> = {}): WantedAddress => ({
  family: "IPv4",
  address,
  holder: aHolder(),
  ...overrides,
});

const drew = (draw: Draw | undefined, { view = VIEW, isPending = false, isStaticOpen = false } = {}): TakeAnswer => ({
  kind: "draw",
  view,
  draw,
  isPending,
  gone: 0,
  isStaticOpen,
});

const said = (reason: (AllocateResult & { ok: false })["reason"] | "unknown", { epoch = 2, isSurprise = false } = {}): TakeAnswer => ({
  kind: "ask",
  token: "t",
  attempt: { result: { ok: false, reason }, epoch, isSurprise },
});

const gave = (address: string): TakeAnswer => ({
  kind: "ask",
  token: "t",
  attempt: { result: { ok: true, address, gen: { epoch: 2, counter: 7 }, scope: "dynamic" }, epoch: 2, isSurprise: false },
});

const elsewhere = (isPending: boolean | undefined): TakeAnswer => ({ kind: "inquire", isPending });
/** No owner is left, and the other store has no release pending. */
const noneLeft = ({ isPending = false } = {}): TakeAnswer[] => [drew(undefined, { isPending }), elsewhere(false)];
/** The owner refuses, the other store has no release pending, and the owner refuses again. */
const takenTwice: TakeAnswer[] = [drew(STATIC), said("taken"), elsewhere(false), drew(STATIC), said("taken")];

/** What the owners have free, by their uids; an owner that is left out was not counted. */
const counted = (free: Record<string, number>, view: Topology = VIEW): TakeAnswer => ({
  kind: "count",
  view: {
    ...view,
    free: Object.entries(free).map(([ownerUid, dynamic]) => ({
      ownerUid,
      IPv4: { dynamic, static: 0 },
      IPv6: { dynamic: 0, static: 0 },
    })),
  },
});

function after(wanted: WantedAddress, ...answers: TakeAnswer[]): TakeState {
  return answers.reduce((state, answer) => next(state, answer, 0), begin(wanted, DEADLINE, 0));
}

const DRAW_AT_ONCE: TakeStep = { kind: "draw", pause: 0 };
const DRAW_LATER: TakeStep = { kind: "draw", pause: 1 };
const refused = (reason: "full" | "noRange" | "taken" | "outOfRange" | "unavailable"): TakeStep => ({
  kind: "end",
  result: { ok: false, reason },
});

interface Row {
  name: string;
  wanted?: WantedAddress;
  answers: TakeAnswer[];
  step: TakeStep;
}

const any = wantedOf("");
const five = wantedOf(FIVE);

const ROWS: Row[] = [
  { name: "begin: draws at once", answers: [], step: DRAW_AT_ONCE },
  { name: "no topology in time: draws after a pause", answers: [{ kind: "draw", view: undefined }], step: DRAW_LATER },
  { name: "an owner drawn: asked with a fresh token", answers: [drew(DYNAMIC)], step: { kind: "ask", draw: DYNAMIC, token: undefined } },
  {
    name: "the same owner again: asked with the same token",
    answers: [drew(DYNAMIC), said("unknown"), drew(DYNAMIC)],
    step: { kind: "ask", draw: DYNAMIC, token: "t" },
  },
  {
    name: "another owner: asked with a fresh token",
    answers: [drew(DYNAMIC), said("stale"), drew({ ownerUid: "b", band: "dynamic" })],
    step: { kind: "ask", draw: { ownerUid: "b", band: "dynamic" }, token: undefined },
  },
  {
    name: "an address given: ends with the address, its token and its gen",
    answers: [drew(DYNAMIC), gave(FIVE)],
    step: { kind: "end", result: { ok: true, taken: { family: "IPv4", address: FIVE, token: "t", gen: { epoch: 2, counter: 7 } } } },
  },
  {
    name: "only a static band left, not confirmed: counts first",
    answers: [drew(STATIC)],
    step: { kind: "recount", why: "staticBand" },
  },
  {
    name: "only a static band left, confirmed: asks",
    answers: [drew(STATIC, { isStaticOpen: true })],
    step: { kind: "ask", draw: STATIC, token: undefined },
  },
  {
    name: "counts before a static band are there: draws at once",
    answers: [drew(STATIC), { kind: "recount", isWhole: true }],
    step: DRAW_AT_ONCE,
  },
  { name: "full as the counts said: draws another at once", answers: [drew(DYNAMIC), said("full")], step: DRAW_AT_ONCE },
  {
    name: "full against the counts: counts",
    answers: [drew(DYNAMIC), said("full", { isSurprise: true })],
    step: { kind: "recount", why: "surprise" },
  },
  {
    name: "full against the counts, counted before: draws another at once",
    answers: [
      drew(DYNAMIC),
      said("full", { isSurprise: true }),
      { kind: "recount", isWhole: true },
      drew(DYNAMIC),
      said("full", { isSurprise: true }),
    ],
    step: DRAW_AT_ONCE,
  },
  {
    name: "full against the counts, some owners not counted before: counts again",
    answers: [
      drew(DYNAMIC),
      said("full", { isSurprise: true }),
      { kind: "recount", isWhole: false },
      drew(DYNAMIC),
      said("full", { isSurprise: true }),
    ],
    step: { kind: "recount", why: "surprise" },
  },
  {
    name: "full by an owner with an older configuration: draws after a pause",
    answers: [drew(DYNAMIC), said("full", { epoch: 1 })],
    step: DRAW_LATER,
  },
  { name: "no owner left: asks the other store", answers: [drew(undefined)], step: { kind: "inquire", before: "full" } },
  { name: "no owner left, no release pending elsewhere: has every owner counted", answers: noneLeft(), step: { kind: "count" } },
  {
    name: "no owner left, a release pending elsewhere: has every owner counted all the same",
    answers: [drew(undefined), elsewhere(true)],
    step: { kind: "count" },
  },
  {
    name: "no owner left again, no release pending elsewhere before: does not ask twice",
    answers: [...noneLeft(), counted({ a: 0 }), drew(undefined)],
    step: { kind: "count" },
  },
  {
    name: "no owner left, for a Service that lost its row: does not ask the other store",
    wanted: wantedOf("", { isHeld: true }),
    answers: [drew(undefined)],
    step: { kind: "count" },
  },
  {
    name: "no owner left but busy ones: compares",
    answers: [drew(DYNAMIC), said("frozen"), drew(undefined)],
    step: { kind: "compare", why: "busy" },
  },
  {
    name: "no owner left but busy ones, at a later epoch: has every owner counted",
    answers: [drew(DYNAMIC), said("frozen"), drew(undefined, { view: { ...VIEW, epoch: 3 } }), elsewhere(false)],
    step: { kind: "count" },
  },
  { name: "all counted as full: full", answers: [...noneLeft(), counted({ a: 0, b: 0 })], step: refused("full") },
  {
    name: "all counted as full, a release pending elsewhere: draws after a pause",
    answers: [drew(undefined), elsewhere(true), counted({ a: 0, b: 0 })],
    step: DRAW_LATER,
  },
  {
    name: "all counted as full, no answer from the other store: draws after a pause",
    answers: [drew(undefined), elsewhere(undefined), counted({ a: 0, b: 0 })],
    step: DRAW_LATER,
  },
  { name: "one counted with room: draws after a pause", answers: [...noneLeft(), counted({ a: 0, b: 1 })], step: DRAW_LATER },
  { name: "one not counted: draws after a pause", answers: [...noneLeft(), counted({ a: 0 })], step: DRAW_LATER },
  { name: "no count in time: draws after a pause", answers: [...noneLeft(), { kind: "count", view: undefined }], step: DRAW_LATER },
  {
    name: "no range of the family: noRange",
    answers: [...noneLeft(), counted({}, aTopology(2, { a: "fd00::/112" }))],
    step: refused("noRange"),
  },
  {
    name: "all counted as full, a release pending: waits for it",
    answers: [...noneLeft({ isPending: true }), counted({ a: 0, b: 0 })],
    step: { kind: "hurry" },
  },
  {
    name: "a release waited for: draws after a pause",
    answers: [...noneLeft({ isPending: true }), counted({ a: 0, b: 0 }), { kind: "hurry" }],
    step: DRAW_LATER,
  },
  { name: "taken: asks the other store", wanted: five, answers: [drew(STATIC), said("taken")], step: { kind: "inquire", before: "taken" } },
  {
    name: "taken, no release pending elsewhere: the same owner at once",
    wanted: five,
    answers: [drew(STATIC), said("taken"), elsewhere(false)],
    step: DRAW_AT_ONCE,
  },
  { name: "taken once more: taken", wanted: five, answers: takenTwice, step: refused("taken") },
  {
    name: "taken, a release pending elsewhere: draws after a pause",
    wanted: five,
    answers: [drew(STATIC), said("taken"), elsewhere(true)],
    step: DRAW_LATER,
  },
  {
    name: "taken, no answer from the other store: draws after a pause",
    wanted: five,
    answers: [drew(STATIC), said("taken"), elsewhere(undefined)],
    step: DRAW_LATER,
  },
  {
    name: "taken, for a Service that lost its row: taken",
    wanted: wantedOf(FIVE, { isHeld: true }),
    answers: [drew(STATIC), said("taken")],
    step: refused("taken"),
  },
  {
    name: "taken, a release pending: waits for it",
    wanted: five,
    answers: [drew(STATIC, { isPending: true }), said("taken")],
    step: { kind: "hurry" },
  },
  { name: "token released meanwhile: unavailable", answers: [drew(DYNAMIC), said("released")], step: refused("unavailable") },
  {
    name: "stale, any address: the owner rests, another is drawn at once",
    answers: [drew(DYNAMIC), said("stale")],
    step: { kind: "draw", pause: 0, resting: { ownerUid: "a", isStale: true } },
  },
  { name: "stale, one address: compares", wanted: five, answers: [drew(STATIC), said("stale")], step: { kind: "compare", why: "moved" } },
  {
    name: "frozen, any address: the owner rests, another is drawn at once",
    answers: [drew(DYNAMIC), said("frozen")],
    step: { kind: "draw", pause: 0, resting: { ownerUid: "a", isStale: false } },
  },
  {
    name: "frozen after a lost answer: the same owner after a pause",
    answers: [drew(DYNAMIC), said("unknown"), drew(DYNAMIC), said("frozen")],
    step: { kind: "draw", pause: 2, resting: { ownerUid: "a", isStale: false } },
  },
  { name: "frozen, one address: draws after a pause", wanted: five, answers: [drew(STATIC), said("frozen")], step: DRAW_LATER },
  { name: "nobody owns the address: compares", wanted: five, answers: [drew(undefined)], step: { kind: "compare", why: "noOwner" } },
  {
    name: "nobody owns the address at the Coordinator: out of range",
    wanted: wantedOf("10.9.0.5"),
    answers: [drew(undefined), { kind: "compare", view: VIEW }],
    step: refused("outOfRange"),
  },
  {
    name: "the Coordinator knows an owner: draws after a pause",
    wanted: five,
    answers: [drew(undefined), { kind: "compare", view: VIEW }],
    step: DRAW_LATER,
  },
  {
    name: "not allocatable: compares",
    wanted: five,
    answers: [drew(STATIC), said("notAllocatable")],
    step: { kind: "compare", why: "notAllocatable", draw: STATIC, epoch: 2 },
  },
  {
    name: "not allocatable at the Coordinator's epoch: out of range",
    wanted: five,
    answers: [drew(STATIC), said("notAllocatable"), { kind: "compare", view: VIEW }],
    step: refused("outOfRange"),
  },
  {
    name: "not allocatable by an older configuration: draws after a pause",
    wanted: five,
    answers: [drew(STATIC), said("notAllocatable", { epoch: 1 }), { kind: "compare", view: VIEW }],
    step: DRAW_LATER,
  },
  {
    name: "not allocatable, for an IPAddress: has the row written",
    wanted: wantedOf(FIVE, { holder: aHolder({ kind: "ipaddress" }) }),
    answers: [drew(STATIC), said("notAllocatable"), { kind: "compare", view: VIEW }],
    step: { kind: "seed", draw: STATIC, epoch: 2 },
  },
  {
    name: "not allocatable, for a Service that lost its row: has the row written",
    wanted: wantedOf(FIVE, { isHeld: true }),
    answers: [drew(STATIC), said("notAllocatable"), { kind: "compare", view: VIEW }],
    step: { kind: "seed", draw: STATIC, epoch: 2 },
  },
];

describe("next step of taking an address", () => {
  it.each(ROWS)("$name", ({ wanted = any, answers, step }) => {
    expect(after(wanted, ...answers).step).toEqual(step);
  });

  it("lost answer: binds the request to the owner until the owner answers", () => {
    expect(after(any, drew(DYNAMIC), said("unknown")).bound).toEqual(DYNAMIC);
    expect(after(any, drew(DYNAMIC), said("unknown"), drew(DYNAMIC), said("frozen")).bound).toEqual(DYNAMIC);
    expect(after(any, drew(DYNAMIC), said("unknown"), drew(DYNAMIC), said("full")).bound).toBeUndefined();
  });

  it("deadline passed: unavailable, an address that came all the same is taken", () => {
    expect(begin(any, DEADLINE, DEADLINE).step).toEqual(refused("unavailable"));
    expect(next(after(any, drew(DYNAMIC)), said("frozen"), DEADLINE).step).toEqual(refused("unavailable"));
    expect(next(after(any, drew(DYNAMIC)), gave(FIVE), DEADLINE + 1).step).toMatchObject({ kind: "end", result: { ok: true } });
  });

  it("next: changes no state that it was given", () => {
    const state = after(any, drew(DYNAMIC));
    const before = structuredClone(state);
    next(state, said("full"), 0);
    next(state, said("frozen"), 0);
    expect(state).toEqual(before);
  });
});
