import { describe, expect, it } from "vitest";
import { asksForTopologyHints, hintPolicyOf } from "../../../../src/endpoints/slices/hints";
import { endpointsOf } from "../../../../src/endpoints/slices/slice-endpoint";
import { aNode, aService, pods, SliceWorld } from "../../../support/worlds/slice-world";

const MODE = "service.kubernetes.io/topology-mode";
const OLD_MODE = "service.kubernetes.io/topology-aware-hints";

describe("asksForTopologyHints", () => {
  it.each<[Record<string, string>, boolean]>([
    [{}, false],
    [{ [MODE]: "Auto" }, true],
    [{ [MODE]: "auto" }, true],
    [{ [MODE]: "AUTO" }, false],
    [{ [MODE]: "Disabled" }, false],
    [{ [OLD_MODE]: "auto" }, true],
    [{ [MODE]: "Auto", [OLD_MODE]: "Disabled" }, false],
    [{ [MODE]: "Disabled", [OLD_MODE]: "Auto" }, true],
  ])("annotations %j: %s", (annotations, want) => {
    expect(asksForTopologyHints(aService({}, { annotations }))).toBe(want);
  });
});

describe("hintPolicyOf", () => {
  it.each([
    [undefined, "none"],
    ["PreferClose", "zone"],
    ["PreferSameZone", "zone"],
    ["PreferSameNode", "zoneAndNode"],
    ["SomethingElse", "none"],
  ])("trafficDistribution %s: %s", (trafficDistribution, want) => {
    expect(hintPolicyOf(aService({ trafficDistribution }))).toBe(want);
  });
});

describe("hints of slices", () => {
  const hintsIn = (world: SliceWorld): unknown[] => world.slices.flatMap((slice) => endpointsOf(slice).map(({ hints }) => hints));
  const zone = { forZones: [{ name: "z1" }] };
  const zoneAndNode = { forZones: [{ name: "z1" }], forNodes: [{ name: "n1" }] };
  const node = { forNodes: [{ name: "n1" }] };

  // upstream test/integration/service/service_test.go
  it("trafficDistribution changes step by step: the hints of upstream, one write for each change", () => {
    const world = new SliceWorld();
    world.nodes = [aNode("n1", "z1")];
    world.pods = pods(1);
    const steps: [trafficDistribution: string | undefined, annotation: string | undefined, writes: string, hints: unknown][] = [
      ["PreferClose", undefined, "1/0/0", zone],
      ["PreferClose", "Auto", "0/1/0", undefined],
      ["PreferClose", undefined, "0/1/0", zone],
      [undefined, undefined, "0/1/0", undefined],
      ["PreferSameZone", undefined, "0/1/0", zone],
      ["PreferSameNode", undefined, "0/1/0", zoneAndNode],
      [undefined, undefined, "0/1/0", undefined],
    ];
    for (const [trafficDistribution, annotation, writes, hints] of steps) {
      world.service = aService({ trafficDistribution }, { annotations: annotation ? { [MODE]: annotation } : {} });
      expect(world.sync().writes).toBe(writes);
      expect(hintsIn(world)).toEqual([hints]);
      expect(world.sync().writes).toBe("0/0/0");
    }
  });

  it("PreferSameNode on a node without zone: the node alone", () => {
    const world = new SliceWorld();
    world.service = aService({ trafficDistribution: "PreferSameNode" });
    world.pods = pods(1);
    world.sync();
    expect(hintsIn(world)).toEqual([node]);
  });

  it("PreferSameZone on a node without zone: none", () => {
    const world = new SliceWorld();
    world.service = aService({ trafficDistribution: "PreferSameZone" });
    world.pods = pods(1);
    world.sync();
    expect(hintsIn(world)).toEqual([undefined]);
  });

  it("endpoints that are not ready: no hints, and none any more when they turn unready", () => {
    const world = new SliceWorld();
    world.service = aService({ trafficDistribution: "PreferClose" });
    world.nodes = [aNode("n1", "z1")];
    world.pods = pods(3, (i) => ({ ready: i !== 1 }));
    world.sync();
    expect(hintsIn(world)).toEqual([zone, undefined, zone]);
    world.pods = pods(3, (i) => ({ ready: i === 1 }));
    expect(world.sync().writes).toBe("0/1/0");
    expect(hintsIn(world)).toEqual([undefined, zone, undefined]);
  });

  it("an unchanged slice takes new endpoints: the old ones keep their hints", () => {
    const world = new SliceWorld();
    world.service = aService({ trafficDistribution: "PreferClose" });
    world.nodes = [aNode("n1", "z1")];
    world.pods = pods(1);
    world.sync();
    world.pods = pods(2);
    expect(world.sync().writes).toBe("0/1/0");
    expect(hintsIn(world)).toEqual([zone, zone]);
  });

  it("the annotation Auto: an event for each family, at every look", () => {
    const world = new SliceWorld();
    world.service = aService({ ipFamilies: ["IPv4", "IPv6"] }, { annotations: { [MODE]: "Auto" } });
    for (let look = 0; look < 2; look++) {
      expect(world.sync().plan.events).toEqual(
        ["IPv4", "IPv6"].map((family) => ({
          type: "Warning",
          reason: "TopologyAwareHintsDisabled",
          note: `Topology Aware Hints has been disabled, addressType: ${family}`,
        })),
      );
    }
  });
});
