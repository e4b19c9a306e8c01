import { describe, expect, it } from "vitest";
import type { NodePortPlan, NodePortTake } from "../../../../src/addresses/node-ports/node-port-plan";
import { nodePortOffset, NodePorts } from "../../../../src/addresses/node-ports/node-ports";
import type { NodePortPlaces } from "../../../../src/addresses/topology/tenant-ports";
import { MemoryNodePortStorage } from "../../../support/memory/node-port-storage";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { sent, type Spec } from "../../api/registry/services/a-service";

const MIN = 30000;
const STATIC_BAND = 86;
const MAX = 32767;

function world(seed = 1) {
  const storage = new MemoryNodePortStorage();
  const nodePorts = new NodePorts(storage, seededRandom(seed));
  const occupy = (protocol: string, ports: Iterable<number>): void => {
    for (const port of ports) storage.nodePortAdd({ protocol, port }, "default/other");
  };
  return { storage, nodePorts, occupy };
}

function* range(first: number, last: number): Generator<number> {
  for (let port = first; port <= last; port++) yield port;
}

function any(...protocols: string[]): NodePortTake {
  return { places: [0], protocols, port: 0, clashes: false };
}

function named(port: number, protocol = "TCP"): NodePortTake {
  return { places: [0], protocols: [protocol], port, clashes: false };
}

function plan(...take: NodePortTake[]): NodePortPlan {
  return { take, named: take.flatMap(({ port }) => (port ? [port] : [])) };
}

describe("nodePortOffset", () => {
  it.each([
    [0, 0],
    [16, 0],
    [17, 16],
    [128, 16],
    [2_048, 64],
    [2_768, STATIC_BAND],
    [4_096, 128],
    [65_536, 128],
  ])("a range of %i ports: a static band of %i", (size, offset) => {
    expect(nodePortOffset(size)).toBe(offset);
  });
});

describe("usage", () => {
  it("one number of two protocols: counted once; a number outside the range: not counted", () => {
    const { nodePorts, occupy } = world();
    expect(nodePorts.usage()).toEqual({ allocated: 0, available: 2_768 });
    occupy("TCP", [80, 30_053, 30_080]);
    occupy("UDP", [30_053]);
    occupy("SCTP", [30_054]);
    expect(nodePorts.usage()).toEqual({ allocated: 3, available: 2_765 });
  });
});

describe("choose", () => {
  it("2,768 ports in one write: the rows of each protocol are read once", () => {
    const { nodePorts, storage } = world();
    const reads: string[] = [];
    const nodePortsOf = storage.nodePortsOf.bind(storage);
    storage.nodePortsOf = (protocol) => {
      reads.push(protocol);
      return nodePortsOf(protocol);
    };
    const all = Array.from({ length: MAX - MIN + 1 }, (_, i) => any(i % 2 === 0 ? "TCP" : "UDP"));
    const choice = nodePorts.choose(plan(...all));
    expect(new Set(choice.ok ? choice.numbers : []).size).toBe(MAX - MIN + 1);
    expect(nodePorts.choose(plan(...all, any("TCP")))).toMatchObject({ ok: false, reason: "full" });
    expect(reads.toSorted()).toEqual(["TCP", "TCP", "UDP", "UDP"]);
  });

  it("random picks: spread over the whole band above the static one", () => {
    const { nodePorts } = world();
    const picks = Array.from({ length: 2_000 }, () => {
      const choice = nodePorts.choose(plan(any("TCP")));
      return choice.ok ? (choice.numbers[0] ?? 0) : 0;
    });
    expect(Math.min(...picks)).toBeGreaterThanOrEqual(MIN + STATIC_BAND);
    expect(Math.max(...picks)).toBeLessThanOrEqual(MAX);
    expect([Math.min(...picks) < MIN + STATIC_BAND + 20, Math.max(...picks) > MAX - 20]).toEqual([true, true]);
    expect(new Set(picks).size).toBeGreaterThan(1_200);
  });

  it("last free ports: the upper band first, then the static band, then full", () => {
    const { nodePorts, occupy, storage } = world();
    occupy("TCP", range(MIN + STATIC_BAND, MAX - 1));
    expect(nodePorts.choose(plan(any("TCP")))).toEqual({ ok: true, numbers: [MAX] });
    occupy("TCP", [MAX, ...range(MIN + 1, MIN + STATIC_BAND - 1)]);
    expect(nodePorts.choose(plan(any("TCP")))).toEqual({ ok: true, numbers: [MIN] });
    expect(nodePorts.choose(plan(any("TCP"), any("TCP")))).toMatchObject({ ok: false, reason: "full" });
    occupy("TCP", [MIN]);
    expect(nodePorts.choose(plan(any("TCP")))).toMatchObject({ ok: false, reason: "full" });
    expect(nodePorts.choose(plan(any("UDP"))), "another protocol").toMatchObject({ ok: true });
    storage.nodePortDelete({ protocol: "TCP", port: 31_000 }, "default/other");
    expect(nodePorts.choose(plan(any("TCP")))).toEqual({ ok: true, numbers: [31_000] });
  });

  it("a number for two protocols: free in both", () => {
    const { nodePorts, occupy } = world();
    occupy("TCP", range(MIN, 31_999));
    occupy("UDP", range(32_001, MAX));
    expect(nodePorts.choose(plan(any("UDP", "TCP")))).toEqual({ ok: true, numbers: [32_000] });
  });

  it.each<[string, NodePortTake, string | undefined]>([
    ["free", named(30_081), undefined],
    ["free with this protocol", named(30_080, "UDP"), undefined],
    ["taken", named(30_080), "taken"],
    ["a second port of the same write", { ...named(30_081), clashes: true }, "taken"],
    ["below the range", named(29_999), "outsideRange"],
    ["above the range", named(32_768), "outsideRange"],
  ])("named: %s", (_, take, reason) => {
    const { nodePorts, occupy } = world();
    occupy("TCP", [30_080]);
    for (const choice of [nodePorts.choose(plan(take)), nodePorts.chooseForDryRun(plan(take))]) {
      expect(choice).toMatchObject(reason ? { ok: false, reason } : { ok: true, numbers: [take.port] });
    }
  });

  it("a number named in the write: given to no other port of it", () => {
    const { nodePorts, occupy } = world();
    occupy("TCP", range(MIN, MAX - 2));
    const choice = nodePorts.choose(plan(any("TCP"), named(MAX)));
    expect(choice).toEqual({ ok: true, numbers: [MAX - 1, MAX] });
  });
});

describe("node ports that are kept for some namespaces", () => {
  const A = { first: 31_000, last: 31_049 };
  const B = { first: MIN + STATIC_BAND, last: MIN + STATIC_BAND + 9 };
  const places = (own: readonly (typeof A)[], isOpen: boolean): NodePortPlaces => ({
    ...{ own, isOpen, kept: [A, B], fullText: "whose range is full" },
    refusal: (port) => (port === 31_001 ? "is another's" : undefined),
  });
  const chosen = (nodePorts: NodePorts, of: NodePortPlaces, count = 1): number[] => {
    const choice = nodePorts.choose(plan(...Array.from({ length: count }, () => any("TCP"))), of);
    return choice.ok ? choice.numbers : [];
  };

  it("its own: the dynamic band first, then the static one, then full", () => {
    const { nodePorts, occupy } = world();
    expect(chosen(nodePorts, places([A], false), 34).toSorted()).toEqual([...range(31_016, 31_049)]);
    occupy("TCP", range(31_016, 31_049));
    expect(chosen(nodePorts, places([A], false), 16).toSorted()).toEqual([...range(31_000, 31_015)]);
    occupy("TCP", range(31_000, 31_015));
    expect(nodePorts.choose(plan(any("TCP")), places([A], false))).toMatchObject({
      ok: false,
      reason: "full",
      text: "whose range is full",
    });
    const [left = 0] = chosen(nodePorts, places([A], true));
    expect(left, "one that it may leave").toBeGreaterThanOrEqual(MIN + STATIC_BAND + 10);
  });

  it("ranges of its own: the dynamic bands of all, then the static ones", () => {
    const { nodePorts, occupy } = world();
    occupy("TCP", range(31_016, 31_049));
    // A range of ten has no static band.
    expect(chosen(nodePorts, places([B, A], false), 10).toSorted()).toEqual([...range(B.first, B.last)]);
    expect(chosen(nodePorts, places([B, A], false), 11).filter((port) => port >= 31_000)).toHaveLength(1);
  });

  it("whoever has none: never one that is kept, also when few are left", () => {
    const { nodePorts, occupy } = world();
    for (let i = 0; i < 300; i++)
      expect(chosen(nodePorts, places([], true)).some((port) => port <= B.last || (port >= 31_000 && port <= 31_049))).toBe(false);
    occupy("TCP", [...range(MIN, B.first - 1), ...range(B.last + 1, 30_999), ...range(31_050, MAX - 1)]);
    expect(chosen(nodePorts, places([], true))).toEqual([MAX]);
    occupy("TCP", [MAX]);
    expect(chosen(nodePorts, places([], true))).toEqual([]);
  });

  it("one that the client names: refused with the reason, in a dry run too", () => {
    const { nodePorts } = world();
    const refused = { ok: false, reason: "kept", text: "is another's" };
    expect(nodePorts.choose(plan(named(31_001)), places([], true))).toMatchObject(refused);
    expect(nodePorts.chooseForDryRun(plan(named(31_001)), places([], true))).toMatchObject(refused);
    expect(nodePorts.choose(plan(named(31_002)), places([], true))).toEqual({ ok: true, numbers: [31_002] });
  });
});

describe("chooseForDryRun", () => {
  it.each<[string, NodePortTake[], number[]]>([
    ["one port", [any("TCP")], [32_769]],
    ["two ports", [any("TCP"), any("TCP")], [32_769, 32_770]],
    ["a named port and another one", [named(30_080), any("TCP")], [30_080, 30_081]],
  ])("%s: numbers that nobody can hold, and no row", (_, take, numbers) => {
    const { nodePorts, storage } = world();
    expect(nodePorts.chooseForDryRun(plan(...take))).toEqual({ ok: true, numbers });
    expect(storage.rows.size).toBe(0);
  });
});

describe("committed", () => {
  const service = (spec: Spec) => sent({ type: "NodePort", ...spec });
  const rows = (storage: MemoryNodePortStorage): string[] =>
    storage.rows.values().map(({ protocol, port, key }) => `${protocol}/${port} ${key}`);

  it("rows: follow the ports that the Service holds", () => {
    const { nodePorts, storage } = world();
    const first = service({
      ports: [
        { port: 53, protocol: "UDP", nodePort: 30_053 },
        { port: 80, nodePort: 30_080 },
      ],
    });
    nodePorts.committed("default/a", undefined, first);
    expect(rows(storage)).toEqual(["UDP/30053 default/a", "TCP/30080 default/a"]);
    const second = service({
      ports: [
        { port: 53, protocol: "UDP", nodePort: 30_054 },
        { port: 80, nodePort: 30_080 },
      ],
    });
    nodePorts.committed("default/a", first, second);
    expect(rows(storage).sort()).toEqual(["TCP/30080 default/a", "UDP/30054 default/a"]);
    nodePorts.committed("default/a", second, service({ type: "ClusterIP" }));
    expect(rows(storage)).toEqual([]);
  });

  it("a second holder: UNIQUE error; a release by another Service: changes nothing", () => {
    const { nodePorts, storage } = world();
    const port = service({ ports: [{ port: 80, nodePort: 30_080 }] });
    nodePorts.committed("default/a", undefined, port);
    expect(() => nodePorts.committed("default/b", undefined, port)).toThrow(/UNIQUE/);
    nodePorts.committed("default/b", port, undefined);
    expect(rows(storage)).toEqual(["TCP/30080 default/a"]);
  });
});
