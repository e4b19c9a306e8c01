/** ENDPOINTSLICE_UPDATES_BATCH_PERIOD: how many writes changes make that come one after the other. */
import { describe, expect, it } from "vitest";
import type { Endpoints } from "../../../../src/api/meta/kubernetes";
import { EndpointWorld } from "../../../support/worlds/endpoint-world";
import { aNode, aPod, aService, ipv4, type PodOptions } from "../../../support/worlds/slice-world";

type Change = (world: EndpointWorld, i: number) => Promise<void>;

function pod(i: number, options: PodOptions = {}) {
  return aPod({ name: `p${i}`, ips: [ipv4(256 + i)], ...options });
}

/** Changes with these pauses between them; the writes that they make. */
async function writesOf(world: EndpointWorld, change: Change, pauses: readonly number[]): Promise<string[]> {
  await world.settle();
  world.takeWrites();
  for (const [i, pauseMs] of [...pauses, 10_000].entries()) {
    await change(world, i);
    await world.settle(pauseMs);
  }
  return world.takeWrites();
}

/** Upstream's TestPodAddsBatching, TestPodUpdatesBatching and TestPodDeleteBatching, which both controllers have. */
describe.each(["slices", "endpoints"] as const)("the controller of %s", (name) => {
  describe.each<[string, number, Change]>([
    ["Pods come", 0, (world, i) => world.putPod(pod(i))],
    ["Pods change", 3, (world, i) => world.putPod(pod(i, { ready: false }))],
    ["Pods go", 3, (world, i) => world.delete("pods", `p${i}`)],
  ])("%s", (_, before, change) => {
    it.each([
      ["100 ms apart without a period: a write for each", 0, [100, 100], 3],
      ["100 ms apart in a period of 1 s: one write", 1_000, [100, 100], 1],
      ["the third one after the period of 1 s: two writes", 1_000, [100, 1_200], 2],
    ])("%s", async (_title, batchMs, pauses, want) => {
      const world = new EndpointWorld({ controllers: [name], batchMs });
      await world.putNode(aNode("n1"));
      for (let i = 0; i < before; i++) await world.putPod(pod(i));
      await world.putService(aService());
      expect(await writesOf(world, change, pauses)).toHaveLength(want);
    });
  });
});

/** Upstream's period delays what somebody else does to slices, and nothing else. */
describe("the controller of mirrored slices, changes 100 ms apart in a period of 2 s", () => {
  const byHand = (ip: string): Endpoints => ({
    metadata: { namespace: "ns", name: "s" },
    subsets: [{ addresses: [{ ip }], ports: [{ name: "http", port: 80, protocol: "TCP" }] }],
  });

  it.each<[string, Change, number]>([
    ["of the Endpoints: a write for each", (world, i) => world.put("endpoints", byHand(`10.1.2.${i}`)), 3],
    [
      "of a slice, by somebody else: one write",
      (world, i) => world.patch("endpointslices", world.slices[0]?.metadata?.name ?? "", { endpoints: [{ addresses: [`10.9.9.${i}`] }] }),
      1,
    ],
  ])("%s", async (_, change, want) => {
    const world = new EndpointWorld({ controllers: ["mirror"], batchMs: 2_000 });
    await world.putService(aService({ selector: undefined }));
    await world.put("endpoints", byHand("10.1.1.1"));
    expect(await writesOf(world, change, [100, 100])).toHaveLength(want);
  });
});
