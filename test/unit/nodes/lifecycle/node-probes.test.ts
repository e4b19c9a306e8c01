import { beforeEach, describe, expect, it, vi } from "vitest";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { NodeProbes, type WatchedNode } from "../../../../src/nodes/lifecycle/node-probes";
import { nodeState, type NodeState } from "../../../../src/nodes/lifecycle/node-state";
import { MemoryRowStorage } from "../../../support/memory/row-storage";

const SEC = 1_000;
const PERIOD_MS = 5 * SEC;
const NODE: WatchedNode = { name: "n", graceMs: 50 * SEC, isPutOff: false };
const SERVING_MS = 3_600 * SEC;

let storage: MemoryRowStorage;
let rows: KeptRows;
let probes: NodeProbes;

function start(...known: string[]): void {
  rows = new KeptRows(storage);
  rows.load();
  probes = new NodeProbes(rows, PERIOD_MS);
  probes.load(known);
}

const aNode = (heartbeat = "2026-01-01T00:00:00Z"): NodeState =>
  nodeState({ metadata: { name: "n" }, status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: heartbeat }] } });

/** The Lease says `renewTime`, as written at `writtenAt`. */
function look(at: number, { renewal, servingMs = SERVING_MS }: { renewal?: [number, number | undefined]; servingMs?: number | null } = {}) {
  probes.asked([NODE]);
  if (renewal) {
    const [renewTime, writtenAt] = renewal;
    const agoMs = writtenAt === undefined ? undefined : at - writtenAt;
    probes.renewed("n", { renewTime: new Date(renewTime).toISOString(), agoMs }, at);
  }
  probes.looked(at, at, servingMs ?? undefined, [NODE]);
  rows.save();
}

const next = (now: number): number => probes.nextLook([NODE], now);
const isSilent = (): boolean => probes.isSilent(NODE);
const silentRows = (): unknown[] => [...storage.rows("silent")].map(([, text]) => JSON.parse(text) as unknown);

beforeEach(() => {
  storage = new MemoryRowStorage();
  start();
});

describe("the next look", () => {
  it("is due when the Node may have been silent for its grace since the last sign of life that is known", () => {
    probes.seen(aNode(), 0, 0);
    look(0);
    expect(next(1)).toBe(50 * SEC + 1);
    look(50 * SEC + 1, { renewal: [1, 42 * SEC] });
    expect([isSilent(), next(51 * SEC)]).toEqual([false, 92 * SEC + 1]);
  });

  it("comes a period after the last one at the earliest", () => {
    probes.seen(aNode(), 0, 0);
    look(0);
    look(48 * SEC);
    expect(next(49 * SEC)).toBe(53 * SEC);
  });

  it("of a store that tells no times: a period after the last one, and a renewal counts from when it is read", () => {
    probes.seen(aNode(), 0, 0);
    look(0, { servingMs: null });
    for (let at = 5 * SEC; at <= 50 * SEC; at += PERIOD_MS) look(at, { servingMs: null, renewal: [1, undefined] });
    expect([next(51 * SEC), isSilent()]).toEqual([55 * SEC, false]);
    look(55 * SEC, { servingMs: null });
    expect(isSilent()).toBe(false);
    look(60 * SEC, { servingMs: null });
    expect(isSilent()).toBe(true);
  });

  it("for a Node that is judged: in each period, unless its write waits after a refusal", () => {
    probes.seen(aNode(), 0, 0);
    look(0);
    look(51 * SEC);
    probes.judge(["n"]);
    expect(next(52 * SEC)).toBe(56 * SEC);
    expect(probes.nextLook([{ ...NODE, isPutOff: true }], 52 * SEC)).toBe(Infinity);
    look(300 * SEC);
    expect(isSilent(), "a wait is no outage").toBe(true);
  });
});

describe("silence", () => {
  it("ends with a sign of life, of whichever kind", () => {
    probes.seen(aNode(), 0, 0);
    look(0);
    look(51 * SEC);
    expect(isSilent()).toBe(true);
    probes.renewed("n", { renewTime: "2026-01-01T00:00:01.000Z", agoMs: SEC }, 51 * SEC);
    expect(isSilent()).toBe(false);
    look(101 * SEC);
    expect(isSilent()).toBe(true);
    probes.seen(aNode("2026-01-01T00:00:09Z"), 100 * SEC, 101 * SEC);
    expect(isSilent()).toBe(false);
  });

  it.each([
    ["11 s after it was due", 61_002, false],
    ["10 s after it was due", 60_001, true],
    ["before the last one, because the clock was set back", -5 * SEC, false],
  ])("a look that comes %s: whether what was before counts", (_, at, counts) => {
    probes.seen(aNode(), 0, 0);
    look(0);
    look(at);
    expect(isSilent()).toBe(counts);
    look(at + (counts ? PERIOD_MS : 50 * SEC + 1));
    expect(isSilent()).toBe(true);
  });

  it("begun anew: no Node is silent for the whole grace", () => {
    probes.seen(aNode(), 0, 0);
    look(0);
    probes.beginAnew(22 * SEC);
    look(72 * SEC);
    expect(isSilent()).toBe(false);
    look(77 * SEC);
    expect(isSilent()).toBe(true);
  });

  it("since before the start of the store: counts when the store has served for three periods, with a look in each", () => {
    probes.seen(aNode(), 0, 0);
    look(0);
    look(51 * SEC, { servingMs: 0 });
    expect([isSilent(), next(52 * SEC)]).toEqual([false, 56 * SEC]);
    look(56 * SEC, { servingMs: 5 * SEC });
    look(61 * SEC, { servingMs: 10 * SEC });
    expect(isSilent()).toBe(false);
    look(66 * SEC, { servingMs: 15 * SEC });
    expect(isSilent()).toBe(true);
  });
});

describe("a new start", () => {
  it("finds in the stores when a Node was heard, and needs no row for it", () => {
    probes.seen(aNode(), 0, 0);
    look(0);
    look(50 * SEC + 1, { renewal: [1, 42 * SEC] });
    expect(silentRows()).toEqual([]);
    start("n");
    probes.seen(aNode(), 0, 92 * SEC);
    look(92 * SEC, { renewal: [1, 42 * SEC] });
    expect([isSilent(), next(92 * SEC)]).toEqual([false, 97 * SEC]);
    look(97 * SEC);
    expect(isSilent()).toBe(true);
  });

  it("takes from a row what the stores do not tell, and drops the row when they do", () => {
    probes.seen(aNode(), undefined, 0);
    look(0);
    look(50 * SEC, { renewal: [1, undefined] });
    expect(silentRows()).toMatchObject([{ at: 50 * SEC }]);
    for (const at of [60 * SEC, 100 * SEC]) {
      start("n");
      probes.seen(aNode(), undefined, at);
      look(at, { renewal: [1, undefined] });
      expect(isSilent()).toBe(false);
    }
    look(105 * SEC);
    expect(isSilent()).toBe(true);
    probes.seen(aNode("2026-01-01T00:00:09Z"), 108 * SEC, 110 * SEC);
    look(110 * SEC, { renewal: [2, 109 * SEC] });
    expect([isSilent(), silentRows()]).toEqual([false, []]);
  });

  it("takes the heartbeat that nobody dates from a row, which renewals leave alone", () => {
    probes.seen(aNode(), undefined, 0);
    look(0);
    const put = vi.spyOn(storage, "rowPut");
    for (let at = 50 * SEC; at < 300 * SEC; at += 40 * SEC) look(at, { renewal: [at, at - SEC] });
    expect([put.mock.calls, silentRows().length]).toEqual([[], 1]);
    start("n");
    probes.seen(aNode(), undefined, 340 * SEC + 1);
    look(340 * SEC + 1, { renewal: [290 * SEC, 289 * SEC] });
    expect(isSilent()).toBe(true);
    start("n");
    probes.seen(aNode("2026-01-01T00:00:09Z"), undefined, 341 * SEC);
    look(341 * SEC, { renewal: [290 * SEC, 289 * SEC] });
    expect(isSilent(), "it wrote its status meanwhile").toBe(false);
  });

  it("long after a look was due: finds no Node silent, also when it starts once more", () => {
    probes.seen(aNode(), 0, 0);
    look(0);
    start("n");
    probes.seen(aNode(), 0, 160 * SEC);
    look(160 * SEC);
    expect(isSilent()).toBe(false);
    start("n");
    probes.seen(aNode(), 0, 210 * SEC + 1);
    look(210 * SEC + 1);
    expect(isSilent()).toBe(true);
  });

  it("of a judged Node: is no late look for others, and the judgement ends with a sign of life", () => {
    const other = { ...NODE, name: "other" };
    probes.seen(aNode(), 0, 0);
    look(0);
    look(51 * SEC);
    probes.judge(["n"]);
    rows.save();
    expect(silentRows()).toMatchObject([{ isJudged: true }]);
    start("n", "other");
    probes.seen(aNode(), 0, 200 * SEC);
    probes.seen({ ...aNode(), name: "other" }, 160 * SEC, 200 * SEC);
    probes.asked([NODE, other]);
    probes.looked(200 * SEC, 200 * SEC, SERVING_MS, [NODE, other]);
    expect([isSilent(), probes.nextLook([{ ...NODE, isPutOff: true }, other], 201 * SEC)]).toEqual([true, 210 * SEC + 1]);
    look(210 * SEC, { renewal: [1, 209 * SEC] });
    expect([isSilent(), silentRows()]).toEqual([false, []]);
  });

  it("reads the row of the release before", () => {
    storage.transaction(() =>
      storage.rowPut("listened", "", JSON.stringify({ since: 10 * SEC, until: 40 * SEC, looks: [{ at: 40 * SEC }] })),
    );
    start("n");
    probes.seen(aNode(), 0, 45 * SEC);
    look(45 * SEC);
    expect([isSilent(), next(45 * SEC + 1)]).toEqual([false, 60 * SEC + 1]);
  });
});

it("a Node that is heard regularly: no row but that of the first look, and a look in 42 s", () => {
  let looks = 0;
  probes.seen(aNode(), 0, 0);
  for (let at = 0; at < 300 * SEC; at = next(at)) {
    looks++;
    look(at, { renewal: [at, Math.max(0, at - 8 * SEC)] });
    expect(silentRows()).toEqual([]);
  }
  expect([looks, [...storage.rows("listened")].length]).toEqual([7, 1]);
});
