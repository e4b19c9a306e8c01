import { expect, it } from "vitest";
import type { Lease } from "../../../../../src/api/meta/kubernetes";
import { usageRules } from "../../../../../src/api/registry/resource-quotas/usage";
import type { StoreExtension } from "../../../../../src/api/store/state/extension";
import { limited } from "../../../../../src/api/store/quota/limited";
import { QuotaGuard } from "../../../../../src/api/store/quota/quota-guard";
import { leasesDefinition } from "../../../../../src/api/registry/leases/definition";
import { MemoryQuotaStorage } from "../../../../support/memory/quota-storage";
import { SimScheduler } from "../../../../support/sim/platform/scheduler";
import { overriding } from "../../../../support/worlds/overriding";
import { aLease, StoreWorld } from "../../../../support/worlds/store-world";

/** Leases. `looks` counts how often an update reads a member of the whole stored object, which only a comparison does. */
function counted() {
  const looks = { count: 0 };
  const strategy = overriding(leasesDefinition.strategy, {
    prepareForUpdate: (change, context) => {
      leasesDefinition.strategy.prepareForUpdate(change, context);
      Object.defineProperty(change.before, "read", { enumerable: true, get: () => ++looks.count });
    },
  });
  return { looks, definition: { ...leasesDefinition, strategy } };
}

/** Fills in the holder that the client left out. */
const filling: StoreExtension<undefined> = {
  admit: ({ after }) => {
    const spec = (after as Lease | undefined)?.spec;
    if (!spec || spec.holderIdentity) return { kind: "go" };
    spec.holderIdentity = "x";
    return { kind: "go", completed: true };
  },
};

/** The extension of a store whose objects quotas count. */
function guarded(): StoreExtension<undefined> {
  const rules = usageRules(leasesDefinition);
  if (!rules) throw new Error("Leases are counted");
  const counts = { objects: () => ({ objectScan: () => [] }), countIn: () => 0, counted: () => Promise.resolve() };
  const guard = new QuotaGuard({ definition: leasesDefinition, rules, storage: new MemoryQuotaStorage(), ...counts });
  const nothing = (): void => undefined;
  return limited({ clock: new SimScheduler().clock(), guard, usageChanged: nothing, noteBusy: nothing }, {});
}

it.each<[string, number, StoreExtension<undefined> | undefined]>([
  ["a store without an extension", 1, undefined],
  ["a store within the limits of quotas", 1, guarded()],
  ["a store whose extension completes the write", 2, filling],
])("an update in %s: compared with what is stored so many times: %i", async (_, times, extension) => {
  const { looks, definition } = counted();
  const world = new StoreWorld({ definition, ...(extension ? { extension } : {}) });
  await world.create(aLease("a", { leaseDurationSeconds: 1 }));
  expect(await world.update(aLease("a", { leaseDurationSeconds: 2 }, { resourceVersion: "2" }))).toMatchObject({ ok: true });
  expect([looks.count, world.stored("a")?.metadata?.resourceVersion]).toEqual([times, "3"]);
});

it("an update without what an extension fills in: is what is stored, and the resourceVersion stays", async () => {
  const world = new StoreWorld({ extension: filling });
  await world.create(aLease("a", { leaseDurationSeconds: 1 }));
  const before = world.stored("a");
  expect(await world.update(aLease("a", { leaseDurationSeconds: 1 }, { resourceVersion: "2" }))).toMatchObject({ ok: true, code: 200 });
  expect([world.stored("a"), before?.spec?.holderIdentity, world.store.revision]).toEqual([before, "x", 2]);
});
