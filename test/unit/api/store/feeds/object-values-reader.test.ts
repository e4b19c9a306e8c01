import { expect, it } from "vitest";
import { objectValuesSince } from "../../../../../src/api/store/feeds/object-values-reader";
import { aLease, StoreWorld } from "../../../../support/worlds/store-world";

const QUESTION = { namespace: "ns", path: ["spec", "holderIdentity"] };

it("values since a cursor: of what has changed, whatever the history has lost; of everything for a cursor of another store", async () => {
  const world = new StoreWorld({ historyBounds: { entriesMax: 2, sizeMax: 1e9, trimEntries: 1 } });
  const since = (cursor?: { incarnation: string; revision: number }): ReturnType<typeof objectValuesSince> =>
    world.scheduler.run(objectValuesSince(world.store, world.scheduler.clock(), QUESTION, cursor));
  for (let i = 0; i < 2_500; i++) await world.create(aLease(`l${String(i).padStart(4, "0")}`, { holderIdentity: `h${i}` }));
  await world.create(aLease("other", { holderIdentity: "x" }, { namespace: "elsewhere" }));
  const first = await since();
  expect(first.values).toHaveLength(2_500);
  expect(first.values[0]?.slice(0, 2)).toEqual(["ns/l0000", "h0"]);
  await world.update(
    aLease("l0007", { holderIdentity: "new" }, { resourceVersion: world.stored("l0007")?.metadata?.resourceVersion ?? "" }),
  );
  await world.update(aLease("l0009", {}, { resourceVersion: world.stored("l0009")?.metadata?.resourceVersion ?? "" }));
  await world.delete("l0008");
  const second = await since(first.cursor);
  expect(second.values.map(([key, value]) => [key, value])).toEqual([
    ["ns/l0007", "new"],
    ["ns/l0009", ""],
  ]);
  expect(second.values[1]?.[2]).toBeLessThanOrEqual(second.cursor.revision);
  expect((await since(second.cursor)).values).toEqual([]);
  expect((await since({ ...second.cursor, incarnation: "other" })).values).toHaveLength(2_499);
});

it("a value: tells how long ago its field was written, by whoever owns it, and a second less at most", async () => {
  const world = new StoreWorld();
  const ago = async (): Promise<(number | undefined)[]> => {
    const { values } = await world.scheduler.run(objectValuesSince(world.store, world.scheduler.clock(), QUESTION, undefined));
    return values.map(([, , , agoMs]) => agoMs);
  };
  await world.create(aLease("l", { holderIdentity: "h" }));
  const at = world.scheduler.now;
  await world.create(aLease("reset", { holderIdentity: "h" }));
  const reset = world.stored("reset");
  await world.update({ ...reset, metadata: { ...reset?.metadata, managedFields: [{}] } });
  await world.scheduler.run(world.scheduler.clock().sleep(20_400));
  const [first, unknown] = await ago();
  const passed = world.scheduler.now - at;
  expect([passed - (first ?? 0) <= 1_000, (first ?? 0) <= passed, unknown]).toEqual([true, true, undefined]);
  await world.patch("l", "merge", { metadata: { labels: { a: "b" } } }, { fieldManager: "other" });
  expect((await ago())[0], "another's field").toBeGreaterThan(18_000);
  await world.patch("l", "merge", { spec: { holderIdentity: "new" } }, { fieldManager: "other" });
  expect((await ago())[0]).toBeLessThan(1_000);
});
