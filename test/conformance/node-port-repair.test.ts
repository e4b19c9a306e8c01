/** Upstream's assertions about the repair of node ports, run against the repair controller with the real stores in virtual time. */
import { expect, it } from "vitest";
import { judgeNodePorts } from "../../src/addresses/node-ports/node-port-rules";
import { heldNodePorts } from "../../src/addresses/node-ports/node-port-plan";
import type { Service } from "../../src/api/meta/kubernetes";
import { aService, RepairWorld } from "../support/worlds/repair-world";
import { upstreamRow } from "./upstream-row";

const THREE_MINUTES_MS = 180_000;

/** The events of rows that are all missing: one for each number that upstream collects, and one more for each repeat. */
function collected(ports: NonNullable<Service["spec"]>["ports"], healthCheckNodePort?: number): number[] {
  const health = healthCheckNodePort === undefined ? {} : { externalTrafficPolicy: "Local", healthCheckNodePort };
  const service = aService("test", [], 0, { type: "LoadBalancer", ports, ...health });
  return judgeNodePorts(heldNodePorts(service), () => "none").findings.map(({ port }) => port);
}

/** Services by name with these node ports, stored behind the server's back and without rows. */
async function planted(services: Record<string, readonly number[]>): Promise<RepairWorld> {
  const world = await RepairWorld.of(["10.0.0.0/24"]);
  await world.pass();
  const { nodePorts, store } = world.cluster.tables.services;
  for (const [name, ports] of Object.entries(services)) {
    const spec = { type: "NodePort", ports: ports.map((nodePort, i) => ({ name: `p${i}`, port: 80 + i, protocol: "TCP", nodePort })) };
    const data = JSON.stringify(aService(name, [], world.now, spec));
    store.objectPut({ key: `default/${name}`, uid: `uid of ${name}`, revision: 1, data });
  }
  expect(nodePorts.rows.values()).toEqual([]);
  return world;
}

/** What upstream does in one run are two passes here: leaks are looked for by the one behind. */
async function run(world: RepairWorld): Promise<void> {
  await world.wait(THREE_MINUTES_MS);
  await world.pass();
  await world.pass();
}

function heldIn(world: RepairWorld): number[] {
  return world.cluster.tables.services.nodePorts.rows
    .values()
    .map(({ port }) => port)
    .sort((a, b) => a - b);
}

upstreamRow("TestCollectServiceNodePorts; TestRepairLeak, TestRepairWithExisting (portallocator)", () => {
  it.each<[string, NonNullable<Service["spec"]>["ports"], number | undefined, number[]]>([
    ["no ports", [], undefined, []],
    [
      "different ports",
      [
        { port: 1, protocol: "TCP", nodePort: 30_111 },
        { port: 2, protocol: "TCP", nodePort: 30_112 },
      ],
      undefined,
      [30_111, 30_112],
    ],
    [
      "one number of two protocols: once",
      [
        { port: 1, protocol: "TCP", nodePort: 30_111 },
        { port: 1, protocol: "UDP", nodePort: 30_111 },
      ],
      undefined,
      [30_111],
    ],
    [
      "one number twice with one protocol: twice",
      [
        { port: 1, protocol: "TCP", nodePort: 30_111 },
        { port: 2, protocol: "TCP", nodePort: 30_111 },
      ],
      undefined,
      [30_111, 30_111],
    ],
    ["the health check's number", [{ port: 1, protocol: "TCP", nodePort: 30_111 }], 30_112, [30_111, 30_112]],
    ["the health check's number equals a TCP port's: twice", [{ port: 1, protocol: "TCP", nodePort: 30_111 }], 30_111, [30_111, 30_111]],
    ["the health check's number equals a UDP port's: once", [{ port: 1, protocol: "UDP", nodePort: 30_111 }], 30_111, [30_111]],
  ])("%s", (_, ports, healthCheckNodePort, want) => {
    expect(collected(ports, healthCheckNodePort)).toEqual(want);
  });

  it("leaked port: held through two runs, free after the third", async () => {
    const world = await planted({});
    world.cluster.tables.services.nodePorts.nodePortAdd({ protocol: "TCP", port: 30_111 }, "one/one");
    for (const held of [[30_111], [30_111], []]) {
      await run(world);
      expect(heldIn(world)).toEqual(held);
    }
  });

  it("Services without rows: get theirs; one outside the range and a duplicate do not", async () => {
    const world = await planted({ a: [30_111], b: [30_122, 30_133], c: [20_201], d: [], e: [30_111] });
    await run(world);
    expect(heldIn(world)).toEqual([30_111, 30_122, 30_133]);
    expect(
      world.reported.map(({ reason, regarding }) => `${regarding.name ?? ""} ${reason}`).filter((line) => line.includes(" Port")),
    ).toEqual(["a PortNotAllocated", "b PortNotAllocated", "b PortNotAllocated", "c PortOutOfRange", "e PortAlreadyAllocated"]);
    expect(world.storage.nodePortCountsLoad().portErrors).toEqual({ repair: 3, outOfRange: 1, duplicate: 1 });
  });
});
