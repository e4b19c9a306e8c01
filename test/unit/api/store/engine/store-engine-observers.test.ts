import { describe, expect, it } from "vitest";
import type { StoreObserver } from "../../../../../src/api/store/state/observer";
import { aLease, createRequest, StoreWorld } from "../../../../support/worlds/store-world";

/** An observer that notes each turn as one line, beside what the extension hears. */
function setting() {
  const heard: string[] = [];
  const observer: StoreObserver = {
    turnCommitted: (changes) => void heard.push(changes.map(({ type, key, revision }) => `${type} ${key}@${revision}`).join(", ")),
    turnLost: () => void heard.push("lost"),
  };
  const world = new StoreWorld({
    observers: [observer],
    extension: {
      committed: ({ key }) => {
        if (key === "ns/bad") throw new Error("a bug");
      },
    },
  });
  return { world, heard };
}

describe("observers of a store", () => {
  it("a turn of several writes: told once, after the transaction, with its changes in order", async () => {
    const { world, heard } = setting();
    const writes = ["a", "b"].map((name) => world.store.write(createRequest(aLease(name))));
    await world.scheduler.run(Promise.all(writes));
    await world.delete("a");
    expect(heard).toEqual(["ADDED ns/a@2, ADDED ns/b@3", "DELETED ns/a@4"]);
  });

  it("a change: told with the object before and after it", async () => {
    const seen: unknown[] = [];
    const world = new StoreWorld({
      observers: [{ turnCommitted: (changes) => void seen.push(...changes.map(({ before, after }) => [before, after])) }],
    });
    await world.create(aLease("a"));
    const stored = world.stored("a");
    await world.patch("a", "merge", { metadata: { labels: { a: "b" } } });
    expect(seen).toEqual([
      [undefined, stored],
      [stored, world.stored("a")],
    ]);
  });

  it("dry runs, refused, unchanged and undone writes: not told", async () => {
    const { world, heard } = setting();
    await world.create(aLease("a"));
    heard.length = 0;
    await world.create(aLease("b"), { dryRun: true });
    await world.create(aLease("a"));
    await world.update(world.stored("a") ?? {});
    await world.create(aLease("bad"));
    expect(heard).toEqual([]);
    const writes = ["bad", "c"].map((name) => world.store.write(createRequest(aLease(name))));
    await world.scheduler.run(Promise.all(writes));
    expect(heard).toEqual(["ADDED ns/c@3"]);
  });

  it("work of the server itself: told as any write", async () => {
    const { world, heard } = setting();
    await world.scheduler.run(world.store.internally((turn) => turn.put("ns/a", aLease("a", {}, { uid: "u" }))));
    expect(heard).toEqual(["ADDED ns/a@2"]);
  });

  it.each(["beforeCommit", "afterCommit"] as const)(
    "a transaction that fails (%s): told as lost, and the next turn without its changes",
    async (when) => {
      const { world, heard } = setting();
      await world.create(aLease("first"));
      heard.length = 0;
      world.storage.crashNext = when;
      await world.create(aLease("a")).catch(() => undefined);
      const { revision } = world.store;
      expect(heard).toEqual(["lost"]);
      await world.create(aLease("b"));
      expect(heard).toEqual(["lost", `ADDED ns/b@${revision + 1}`]);
    },
  );

  it("an observer that throws: logged; the write is answered, watchers and other observers hear of it", async () => {
    const heard: number[] = [];
    const world = new StoreWorld({
      observers: [
        {
          turnCommitted: () => {
            throw new Error("a bug");
          },
        },
        { turnCommitted: (changes) => void heard.push(changes.length) },
      ],
    });
    const watch = world.watch({ resourceVersion: "1" });
    expect(await world.create(aLease("a"))).toMatchObject({ ok: true, code: 201 });
    await world.scheduler.pass(0);
    expect([watch.brief, heard]).toEqual([["ADDED a@2"], [1]]);
    expect(world.logged).toEqual([{ level: "error", event: "an observer of a store failed" }]);
  });
});
