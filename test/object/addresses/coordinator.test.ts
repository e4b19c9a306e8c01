import { abortAllDurableObjects, env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { IPAddressesStore } from "../../../durable-objects/ip-addresses-store";
import { ipAddressesStore } from "../../../durable-objects/peers/peers";
import { ServiceCIDR as ServiceCIDRObject } from "../../../durable-objects/service-cidr";
import { coordinatorStorage } from "../../../durable-objects/sql/coordinator-sql";
import type { Topology } from "../../../src/addresses/rpc/topology";
import { lostAt } from "../../support/objects/lost-call";
import { eventually, ObjectRanges } from "../../support/objects/object-ranges";
import { createAddress, createRange, deleteRange } from "../../support/objects/range-requests";

const bindings = env as unknown as Env;

function prefixes(topology: Topology): { claims: string[]; ranges: string[] } {
  return { claims: topology.claims.map((claim) => claim.prefix), ranges: topology.ranges.map((range) => range.prefix) };
}

/** Rows have no order of their own; free counts are hints of a life. */
function inOrder({ claims, ranges, owners, ...rest }: Topology): unknown {
  const sorted = <T>(rows: readonly T[]): string[] => rows.map((row) => JSON.stringify(row)).sort();
  return { ...rest, claims: sorted(claims), ranges: sorted(ranges), owners: sorted(owners), free: [] };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("Coordinator", () => {
  it("the first request of any kind: creates the default ServiceCIDR; repeats change nothing", async () => {
    const cluster = new ObjectRanges();
    const topologies = await Promise.all(Array.from({ length: 8 }, () => cluster.coordinator.readyTopology(5_000)));
    for (const topology of topologies) expect(prefixes(topology)).toEqual({ claims: ["10.96.0.0/16"], ranges: ["10.96.0.0/16"] });
    const uid = await cluster.ready("kubernetes");
    expect(topologies[0]?.claims[0]?.ownerUid).toBe(uid);
    expect(await cluster.get("kubernetes")).toMatchObject({
      metadata: { name: "kubernetes", finalizers: ["networking.k8s.io/service-cidr-finalizer"] },
      spec: { cidrs: ["10.96.0.0/16"] },
    });
    // The first address is that of the Service default/kubernetes, which repair may have made already.
    expect(await cluster.allocate(uid, "10.96.0.9", "first")).toBe(true);
    const byGet = new ObjectRanges();
    expect((await byGet.get("kubernetes"))?.spec?.cidrs).toEqual(["10.96.0.0/16"]);
  });

  it("a restart: keeps claims, epochs and objects", async () => {
    const cluster = new ObjectRanges();
    await cluster.coordinator.readyTopology(5_000);
    await cluster.create("extra", "10.97.0.0/24");
    const uid = await cluster.ready("extra");
    await cluster.allocate(uid, "10.97.0.9", "nine");
    const before = await cluster.coordinator.topology();
    await abortAllDurableObjects();
    const after = await cluster.coordinator.topology();
    expect(inOrder(after)).toEqual(inOrder(before));
    expect(await cluster.ready("extra")).toBe(uid);
    expect(await cluster.allocate(uid, "10.97.0.9", "again")).toBe(false);
  });

  it("hazard 12: a deleted ServiceCIDR is fenced before the answer; it waits with a condition while it alone covers an address", async () => {
    const cluster = new ObjectRanges();
    await cluster.create("extra", "10.97.0.0/24");
    const uid = await cluster.ready("extra");
    expect(await cluster.allocate(uid, "10.97.0.9", "nine")).toBe(true);
    const result = await cluster.remove("extra");
    expect(result).toMatchObject({ ok: true, gone: false });
    expect(await cluster.allocate(uid, "10.97.0.10", "ten"), "fenced before the answer").toBe(false);
    await eventually(async () => (await cluster.condition("extra")) === "False Terminating");
    await cluster.owner(uid).release([{ address: "10.97.0.9", token: "nine" }]);
    // A count that is under way may have seen the address.
    await eventually(async () => {
      await cluster.coordinator.maintain();
      return (await cluster.get("extra")) === undefined;
    });
    await eventually(
      async () => (await cluster.owner(uid).allocate([])).epoch > 0 && prefixes(await cluster.coordinator.topology()).claims.length === 1,
    );
  });

  it("a waiting deletion: the alarm continues it without a request", async () => {
    const cluster = new ObjectRanges();
    await cluster.create("extra", "10.97.0.0/24");
    const uid = await cluster.ready("extra");
    await cluster.allocate(uid, "10.97.0.9", "nine");
    await cluster.remove("extra");
    await eventually(async () => (await cluster.condition("extra")) === "False Terminating");
    await cluster.owner(uid).release([{ address: "10.97.0.9", token: "nine" }]);
    await abortAllDurableObjects();
    await runDurableObjectAlarm(cluster.stub);
    await eventually(async () => (await cluster.get("extra")) === undefined);
  });

  it("hazard 7: IPAddress objects that lie in a new range are marked as taken", async () => {
    const cluster = new ObjectRanges();
    await cluster.coordinator.readyTopology(5_000);
    expect(await ipAddressesStore(bindings, cluster.name).write(createAddress("10.97.0.9"))).toMatchObject({ ok: true });
    await cluster.create("extra", "10.97.0.0/24");
    const uid = await cluster.ready("extra");
    expect(await cluster.allocate(uid, "10.97.0.9", "nine")).toBe(false);
    expect(await cluster.allocate(uid, "10.97.0.10", "ten")).toBe(true);
  });

  it.each(
    [
      { of: "owner", method: "configure", nth: 1 },
      { of: "ipaddresses", method: "claimPrefixes", nth: 1 },
      { of: "owner", method: "seed", nth: 1 },
      { of: "ipaddresses", method: "claimPrefixes", nth: 2 },
      { of: "owner", method: "configure", nth: 2 },
    ].flatMap((step) => (["before", "after"] as const).map((when) => ({ ...step, when }))),
  )(
    "all objects die $when call $nth of $method while a ServiceCIDR becomes Ready: it becomes Ready all the same",
    async ({ of, method, nth, when }) => {
      const cluster = new ObjectRanges();
      await cluster.coordinator.readyTopology(5_000);
      expect(await ipAddressesStore(bindings, cluster.name).write(createAddress("10.97.0.9"))).toMatchObject({ ok: true });
      const prototype = of === "owner" ? ServiceCIDRObject.prototype : IPAddressesStore.prototype;
      const lost = lostAt(prototype, method, { nth, when });
      expect(await cluster.create("extra", "10.97.0.0/24")).toMatchObject({ ok: true });
      await eventually(() => Promise.resolve(lost.happened));
      await abortAllDurableObjects();
      await runDurableObjectAlarm(cluster.stub);
      const uid = await cluster.ready("extra");
      expect((await cluster.owner(uid).rowsSince(0, 10)).rows.map(({ address, holder }) => [address, holder.kind])).toEqual([
        ["10.97.0.9", "ipaddress"],
      ]);
      expect(await cluster.allocate(uid, "10.97.0.9", "nine")).toBe(false);
      expect(await cluster.allocate(uid, "10.97.0.10", "ten")).toBe(true);
    },
  );

  it("dry runs and refused writes: leave no claim, no fence and no epoch behind", async () => {
    const cluster = new ObjectRanges();
    await cluster.create("extra", "10.97.0.0/24");
    for (const name of ["kubernetes", "extra"]) await cluster.ready(name);
    const { epoch } = await cluster.coordinator.topology();
    await cluster.coordinator.write(createRange("dry", ["10.98.0.0/24"], { dryRun: true }));
    await cluster.coordinator.write(deleteRange("extra", { dryRun: true }));
    expect(await cluster.create("extra", "10.98.0.0/24")).toMatchObject({ ok: false, status: { code: 409 } });
    const wrong = await cluster.coordinator.write(deleteRange("extra", { preconditions: { uid: "another" } }));
    expect(wrong).toMatchObject({ ok: false, status: { code: 409 } });
    expect((await cluster.coordinator.topology()).epoch).toBe(epoch);
  });

  it("hazard 6: the base address of a claim is unique in the database", async () => {
    const cluster = new ObjectRanges();
    await cluster.coordinator.readyTopology(5_000);
    const message = await runInDurableObject(cluster.stub, (_object, state) => {
      try {
        coordinatorStorage(state.storage).claimInsert({ prefix: "10.96.0.0/24", ownerUid: "another", seeded: true });
        return "inserted";
      } catch (error) {
        return String(error);
      }
    });
    expect(message).toContain("UNIQUE constraint failed: claims.base");
  });
});
