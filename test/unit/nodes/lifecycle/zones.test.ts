import { describe, expect, it } from "vitest";
import { nodeState, type NodeState } from "../../../../src/nodes/lifecycle/node-state";
import { isAllDisrupted, taintIntervalMs, zonesOf } from "../../../../src/nodes/lifecycle/zones";

const KEY = "topology.kubernetes.io/zone";

function nodes(ready: number, notReady: number, labels: Record<string, string> = {}): NodeState[] {
  const one = (name: string, status?: string): NodeState =>
    nodeState({ metadata: { name, labels }, ...(status && { status: { conditions: [{ type: "Ready", status }] } }) });
  const bad = ["False", "Unknown", undefined];
  return [
    ...Array.from({ length: ready }, (_, i) => one(`r${i}`, "True")),
    ...Array.from({ length: notReady }, (_, i) => one(`n${i}`, bad[i % bad.length])),
  ];
}

describe("a zone", () => {
  it.each([
    { ready: 1, notReady: 0, health: "Normal", seconds: 10 },
    { ready: 1, notReady: 2, health: "Normal", seconds: 10 },
    { ready: 3, notReady: 3, health: "Normal", seconds: 10 },
    { ready: 9, notReady: 11, health: "PartialDisruption", seconds: undefined },
    { ready: 1, notReady: 3, health: "PartialDisruption", seconds: undefined },
    { ready: 20, notReady: 30, health: "PartialDisruption", seconds: undefined },
    { ready: 20, notReady: 31, health: "PartialDisruption", seconds: 100 },
    { ready: 0, notReady: 1, health: "FullDisruption", seconds: 10 },
    { ready: 0, notReady: 60, health: "FullDisruption", seconds: 10 },
  ])(
    "of $ready Nodes that are ready and $notReady that are not: $health, a taint each $seconds s",
    ({ ready, notReady, health, seconds }) => {
      const zone = zonesOf(nodes(ready, notReady)).get("");
      expect(zone).toEqual({ health, nodes: ready + notReady });
      expect(taintIntervalMs(zone)).toBe(seconds && seconds * 1_000);
    },
  );

  it("its key: region and zone, of the older labels first; excluded Nodes are not counted", () => {
    const region = { "topology.kubernetes.io/region": "r" };
    const zones = zonesOf([
      ...nodes(1, 0, { [KEY]: "a", ...region }),
      ...nodes(1, 0, { [KEY]: "b", "failure-domain.beta.kubernetes.io/zone": "a", ...region }),
      ...nodes(1, 0, region),
      ...nodes(0, 5, { [KEY]: "a", ...region, "node.kubernetes.io/exclude-disruption": "" }),
    ]);
    expect([...zones]).toEqual([
      ["r:\0:a", { health: "Normal", nodes: 2 }],
      ["r:\0:", { health: "Normal", nodes: 1 }],
    ]);
  });
});

it("a cluster: is fully disrupted if it has zones and all of them are", () => {
  expect(isAllDisrupted(zonesOf([]))).toBe(false);
  expect(isAllDisrupted(zonesOf([...nodes(0, 2, { [KEY]: "a" }), ...nodes(0, 1, { [KEY]: "b" })]))).toBe(true);
  expect(isAllDisrupted(zonesOf([...nodes(0, 2, { [KEY]: "a" }), ...nodes(1, 9, { [KEY]: "b" })]))).toBe(false);
});
