import { beforeEach, describe, expect, it } from "vitest";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { NodeProbes } from "../../../../src/nodes/lifecycle/node-probes";
import { nodeState, type NodeState } from "../../../../src/nodes/lifecycle/node-state";
import { MemoryRowStorage } from "../../../support/memory/row-storage";

const SETTING = { graceMs: 50_000, periodMs: 5_000 };
const SEC = 1_000;

let storage: MemoryRowStorage;
let rows: KeptRows;
let probes: NodeProbes;

function start(...known: string[]): void {
  rows = new KeptRows(storage);
  rows.load();
  probes = new NodeProbes(rows, SETTING);
  probes.load(known);
}

const aNode = (name: string, resourceVersion = "1", heartbeat = "2026-01-01T00:00:00Z"): NodeState =>
  nodeState({
    metadata: { name, resourceVersion },
    status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: heartbeat }] },
  });

/** Looks from `fromMs` in each period up to `toMs`; all stores are at `revision`. */
function look(fromMs: number, toMs = fromMs, revision = 1): void {
  for (let at = fromMs; at <= toMs; at += SETTING.periodMs) {
    probes.looked(at, { leases: revision, nodes: revision });
    probes.noteSilent(["n"]);
  }
  rows.save();
}

beforeEach(() => {
  storage = new MemoryRowStorage();
  start();
});

describe("silence", () => {
  it("of a Node: lasts from its last sign of life, of whichever kind, to the last look", () => {
    probes.seen(aNode("n"), 0);
    look(0, 30 * SEC);
    expect(probes.silence("n")).toBe(30 * SEC);
    probes.renewed("n", { renewTime: "2026-01-01T00:00:01.000000Z", revision: 2 }, 30 * SEC);
    expect(probes.silence("n")).toBe(0);
    look(35 * SEC, 45 * SEC);
    probes.renewed("n", { renewTime: "2026-01-01T00:00:00.000000Z", revision: 3 }, 45 * SEC);
    expect(probes.silence("n")).toBe(15 * SEC);
    probes.seen(aNode("n", "4", "2026-01-01T00:00:09Z"), 45 * SEC);
    expect(probes.silence("n")).toBe(0);
  });

  it.each([
    ["11 s after the last look", 31, 0],
    ["10 s after it", 30, 30],
    ["before it, because the clock was set back", 5, 0],
  ])("a look %s: what counts", (_, atSeconds, want) => {
    probes.seen(aNode("n"), 0);
    look(0, 20 * SEC);
    look(atSeconds * SEC);
    expect(probes.silence("n")).toBe(want * SEC);
    look((atSeconds + 5) * SEC);
    expect(probes.silence("n")).toBe((want + 5) * SEC);
  });

  it("begun anew: no Node is silent", () => {
    probes.seen(aNode("n"), 0);
    look(0, 20 * SEC);
    probes.beginAnew(22 * SEC);
    look(25 * SEC);
    expect(probes.silence("n")).toBe(3 * SEC);
  });
});

describe("a new start", () => {
  it("takes the silence of a Node from its row, and signs of life from what it reads", () => {
    probes.seen(aNode("n"), 0);
    look(0, 30 * SEC);
    expect(storage.rows("silent")).toHaveLength(1);
    start("n");
    probes.seen(aNode("n"), 33 * SEC);
    probes.renewed("n", { renewTime: "", revision: 1 }, 35 * SEC);
    look(35 * SEC);
    expect(probes.silence("n")).toBe(35 * SEC);
    probes.renewed("n", { renewTime: "2026-01-01T00:00:01.000000Z", revision: 9 }, 40 * SEC);
    look(40 * SEC, 40 * SEC, 9);
    expect([probes.silence("n"), storage.rows("silent")]).toEqual([0, []]);
  });

  it.each([
    { lease: 12, node: 1, want: 5, what: "the Lease was written before the look at 10 s" },
    { lease: 1, node: 12, want: 5, what: "the Node was" },
    { lease: 99, node: 1, want: 0, what: "the Lease was written after the last look" },
    { lease: 1, node: 1, want: 15, what: "neither was since the first look" },
  ])("finds in revisions when others were heard: $what", ({ lease, node, want }) => {
    probes.seen(aNode("n"), 0);
    look(0, 0, 5);
    look(5 * SEC, 5 * SEC, 10);
    look(10 * SEC, 10 * SEC, 15);
    start("n");
    probes.seen(aNode("n", String(node)), 15 * SEC);
    probes.renewed("n", { renewTime: "2026-01-01T00:00:01.000000Z", revision: lease }, 15 * SEC);
    look(15 * SEC, 15 * SEC, 99);
    expect(probes.silence("n")).toBe(want * SEC);
  });

  it("long after the last look: finds no Node silent", () => {
    probes.seen(aNode("n"), 0);
    look(0, 40 * SEC);
    start("n");
    probes.seen(aNode("n"), 160 * SEC);
    look(160 * SEC);
    expect(probes.silence("n")).toBe(0);
  });
});

it("a Node that is heard regularly: has no row of its own", () => {
  for (let at = 0; at < 300 * SEC; at += 10 * SEC) {
    probes.seen(aNode("n", "1", String(at)), at);
    look(at, at + 5 * SEC);
    expect(storage.rows("silent")).toEqual([]);
  }
  expect(storage.rows("listened")).toHaveLength(1);
});
