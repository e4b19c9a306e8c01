import { describe, expect, it } from "vitest";
import type { WriteRequest, WriteResult } from "../../../src/api/rpc/store";
import { type ExpiryRule, ObjectExpiry } from "../../../src/controllers/object-expiry";
import { aLease, StoreWorld } from "../../support/worlds/store-world";

/** Leases of the namespace end at the second that their duration says; those without one never end. */
const RULE: ExpiryRule = {
  namespace: "ns",
  isOver: (object, nowMs) => {
    const seconds = (object as ReturnType<typeof aLease>).spec?.leaseDurationSeconds;
    return seconds === undefined ? undefined : seconds * 1000 < nowMs;
  },
};

async function begun(
  durations: Record<string, number | undefined>,
  write?: (world: StoreWorld, request: WriteRequest) => Promise<WriteResult>,
) {
  const world = new StoreWorld();
  for (const [name, leaseDurationSeconds] of Object.entries(durations)) await world.create(aLease(name, { leaseDurationSeconds }));
  const { scheduler } = world;
  const zeroMs = scheduler.now;
  const clock = { now: () => scheduler.now - zeroMs, after: (ms: number, work: () => void) => scheduler.after(ms, work) };
  const expiry = new ObjectExpiry({
    rule: RULE,
    clock,
    storage: () => world.store.storage,
    write: (request) => write?.(world, request) ?? world.store.write(request),
  });
  const names = () => world.storage.objectScan("", "").map(({ key }) => key);
  return { world, expiry, names, run: () => world.scheduler.run(expiry.run()) };
}

describe("a pass", () => {
  it("objects that are over: deleted; later ones are counted, those without an end are not; the next pass does nothing", async () => {
    const { world, run, names, expiry } = await begun({ a: 1, b: 3, c: 9, d: undefined });
    await world.create(aLease("a", { leaseDurationSeconds: 1 }, { namespace: "other" }));
    await world.scheduler.pass(5_000);
    expect(await run()).toEqual({ deleted: 2, left: 1, cut: 0 });
    expect(names()).toEqual(["ns/c", "ns/d", "other/a"]);
    expect(await run()).toEqual({ deleted: 0, left: 1, cut: 0 });
    expect(expiry.deleted).toBe(2);
  });

  it("an object that is renewed, or made anew, between look and deletion: stays", async () => {
    const { world, run, names } = await begun({ a: 1, b: 1, c: 1 }, async (of, request) => {
      const name = "key" in request ? request.key.name : "";
      if (name === "a") await of.store.write({ ...request, ...patchOf("a") });
      if (name === "b") {
        await of.store.write({
          ...request,
          options: { dryRun: false, preconditions: {}, propagationPolicy: "", gracePeriodSeconds: undefined },
        } as WriteRequest);
        await of.store.write({
          verb: "create",
          namespace: "ns",
          object: JSON.stringify(aLease("b", { leaseDurationSeconds: 1 })),
          options: patchOf("b").options,
        });
      }
      return of.store.write(request);
    });
    await world.scheduler.pass(5_000);
    expect(await run()).toEqual({ deleted: 1, left: 2, cut: 0 });
    expect(names()).toEqual(["ns/a", "ns/b"]);
    expect(world.stored("a")?.spec?.leaseDurationSeconds).toBe(99);
  });

  it("more than the budget: what is left is told apart, and the next pass goes on", async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`a${i}`, 1]));
    const { world, run } = await begun(many, async (of, request) => {
      await new Promise<void>((resolve) => void of.scheduler.after(12_000, resolve));
      return of.store.write(request);
    });
    await world.scheduler.pass(5_000);
    expect(await run()).toEqual({ deleted: 400, left: 0, cut: 100 });
    expect(await run()).toEqual({ deleted: 100, left: 0, cut: 0 });
  });
});

function patchOf(name: string) {
  const options = {
    dryRun: false,
    fieldManager: "t",
    fieldValidation: "Warn",
    force: false,
    group: "coordination.k8s.io",
    version: "v1",
  } as const;
  const patch = JSON.stringify({ spec: { leaseDurationSeconds: 99 } });
  return { verb: "patch", key: { namespace: "ns", name }, subresource: "", patchType: "merge", patch, options } as const;
}
