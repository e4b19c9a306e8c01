/** The Event about a load balancer that nobody serves: when it is told, when it is not, and what that costs. */
import { describe, expect, it } from "vitest";
import { SWEEP_ASKED } from "../../../../src/addresses/repair/repair-ports";
import { SERVED_WITHIN_MS } from "../../../../src/addresses/repair/unserved-load-balancers";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { aService, RepairWorld } from "../../../support/worlds/repair-world";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const INGRESS = { loadBalancer: { ingress: [{ ip: "192.0.2.1", ipMode: "VIP" as const }] } };
const BALANCED: Service["spec"] = { type: "LoadBalancer" };

/** A cluster that repair has looked through. */
async function made(): Promise<RepairWorld> {
  const world = await RepairWorld.of(["10.0.0.0/24"]);
  await world.pass();
  return world;
}

/** Changes a Service behind repair's back, as a client's write does. */
async function change(world: RepairWorld, name: string, changes: (service: Service) => Service): Promise<void> {
  const service = world.services().find(({ metadata }) => metadata?.name === name);
  await world.plant("services", changes(service ?? {}));
}

/** A pass each minute, as cron asks for it, and those that the controller asks for itself. */
async function minutes(world: RepairWorld, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) {
    await world.wait(MINUTE_MS);
    await world.pass();
  }
}

const rowsOf = (world: RepairWorld): number => world.cluster.tables.controllers.rows.rows("unserved").length;

describe("LoadBalancerNotServed", () => {
  it("Service that stays unserved: one Warning after five minutes that says what to do, and none later", async () => {
    const world = await made();
    await world.createService("web", BALANCED);
    await world.pass();
    await world.wait(SERVED_WITHIN_MS - 10_000);
    await world.pass();
    expect(world.told()).toEqual([]);
    await world.wait(20_000);
    expect(world.reported).toMatchObject([
      {
        regarding: { apiVersion: "v1", kind: "Service", namespace: "default", name: "web" },
        type: "Warning",
        reason: "LoadBalancerNotServed",
        action: "WaitForLoadBalancer",
        note:
          "no load balancer for 5 minutes: this server has no controller that makes one; " +
          "run one that serves Services without a loadBalancerClass, or reach the Service another way (docs/load-balancer-services.md)",
      },
    ]);
    await minutes(world, 10);
    await world.wait(3 * HOUR_MS);
    await world.pass();
    expect(world.told()).toHaveLength(1);
  });

  it("its time: comes without cron, by the alarm of the controller", async () => {
    const world = await made();
    await world.createService("web", BALANCED);
    await world.changes();
    await world.wait(SERVED_WITHIN_MS + 1_000);
    expect(world.told()).toHaveLength(1);
  });

  it("Service with a loadBalancerClass: the Event names the class", async () => {
    const world = await made();
    await world.createService("web", { ...BALANCED, loadBalancerClass: "example.com/lb" });
    await minutes(world, 7);
    expect(world.told()).toEqual([expect.stringContaining("run one that serves loadBalancerClass example.com/lb, or")]);
  });

  it.each<[string, (service: Service) => Service]>([
    ["served", (service) => ({ ...service, status: INGRESS })],
    ["of another type", (service) => ({ ...service, spec: { ...service.spec, type: "ClusterIP" } })],
    [
      "taken on by a cloud's controller",
      ({ metadata, ...service }) => ({
        ...service,
        metadata: { ...metadata, finalizers: ["service.kubernetes.io/load-balancer-cleanup"] },
      }),
    ],
    [
      "in deletion",
      ({ metadata, ...service }) => ({
        ...service,
        metadata: { ...metadata, finalizers: ["example.com/x"], deletionTimestamp: "2026-01-01T00:00:00Z" },
      }),
    ],
  ])("Service that is %s within the time: no Event, and no row is left", async (_, changes) => {
    const world = await made();
    await world.createService("web", BALANCED);
    await minutes(world, 3);
    expect(rowsOf(world)).toBe(1);
    await change(world, "web", changes);
    await minutes(world, 10);
    expect([world.told(), rowsOf(world)]).toEqual([[], 0]);
  });

  it("Service that is deleted within the time: no Event, and no row is left", async () => {
    const world = await made();
    await world.createService("web", BALANCED);
    await minutes(world, 3);
    await world.remove("services", "web");
    await minutes(world, 10);
    expect([world.told(), rowsOf(world)]).toEqual([[], 0]);
  });

  it("Service of the same name made anew: has its own time and its own Event", async () => {
    const world = await made();
    await world.createService("web", BALANCED);
    await minutes(world, 7);
    await world.remove("services", "web");
    await world.createService("web", BALANCED);
    await minutes(world, 4);
    expect(world.told()).toHaveLength(1);
    await minutes(world, 3);
    expect(new Set(world.reported.map(({ regarding }) => regarding.uid)).size).toBe(2);
  });

  it("Service that becomes a load balancer when it is old: the time begins then", async () => {
    const world = await made();
    await world.createService("web");
    await minutes(world, 10);
    await change(world, "web", (service) => ({ ...service, spec: { ...service.spec, ...BALANCED } }));
    await minutes(world, 4);
    expect(world.told()).toEqual([]);
    await minutes(world, 3);
    expect(world.told()).toHaveLength(1);
  });

  it("Service that was served and is no longer: told anew, since it stands unserved again", async () => {
    const world = await made();
    await world.createService("web", BALANCED);
    await minutes(world, 7);
    await change(world, "web", (service) => ({ ...service, status: INGRESS }));
    await minutes(world, 2);
    await change(world, "web", (service) => ({ ...service, status: { loadBalancer: {} } }));
    await minutes(world, 7);
    expect(world.told()).toHaveLength(2);
  });

  it("controller that restarts: neither forgets the time nor tells again", async () => {
    const world = await made();
    await world.createService("web", BALANCED);
    await minutes(world, 4);
    world.crash();
    await minutes(world, 2);
    expect(world.told()).toHaveLength(1);
    world.crash();
    world.storage.numberSet(SWEEP_ASKED, 1);
    await minutes(world, 10);
    expect(world.told()).toHaveLength(1);
  });

  it("end of a Service that no change tells of: its row goes with the next full sweep", async () => {
    const world = await made();
    await world.createService("web", BALANCED);
    await minutes(world, 7);
    world.cluster.tables.services.store.objectDelete("default/web");
    await minutes(world, 2);
    expect(rowsOf(world)).toBe(1);
    world.storage.numberSet(SWEEP_ASKED, 1);
    await minutes(world, 2);
    expect(rowsOf(world)).toBe(0);
  });

  it("more Services at once than a round reads again: each has its Event", async () => {
    const world = await made();
    const names = Array.from({ length: 130 }, (_, i) => `s-${String(i).padStart(3, "0")}`);
    await world.plant("services", ...names.map((name) => aService(name, [], world.now, { ...BALANCED, clusterIP: "None" })));
    await minutes(world, 8);
    expect(world.reported.map(({ regarding }) => regarding.name).sort()).toEqual(names);
  });

  it("Services of other types: no row, no alarm, and no call more", async () => {
    const world = await made();
    await world.createService("web", { type: "NodePort" });
    await world.pass();
    world.calls.length = 0;
    await world.wait(HOUR_MS);
    expect([rowsOf(world), world.calls]).toEqual([0, []]);
  });
});
