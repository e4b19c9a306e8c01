/** Rule 24 in a store: its turns wait for the last commit while others wait, and a lost commit ends the object. */
import { describe, expect, it } from "vitest";
import { COMMIT_DEADLINE_MS } from "../../../../../src/core/base/limits";
import type { GetResult, WriteResult } from "../../../../../src/api/rpc/store";
import { seededRandom } from "../../../../support/sim/platform/seeded-random";
import { aLease, aNamespace, createRequest, StoreWorld, type StoreWorldOptions } from "../../../../support/worlds/store-world";

const COMMIT_MS = 12;

/** A store that knows the namespace of its objects, on a storage whose commits take `commitMs`. */
async function worldOf(commitMs: number, options: StoreWorldOptions<undefined> = {}): Promise<StoreWorld> {
  const world = new StoreWorld(options);
  await world.create(aLease("first"));
  const { scheduler, storage } = world;
  const clock = scheduler.clock();
  const keep = storage.transaction.bind(storage);
  let durableAt = 0;
  storage.transaction = (work) => {
    const { commits } = storage;
    const result = keep(work);
    if (storage.commits > commits) durableAt = clock.now() + commitMs;
    return result;
  };
  storage.sync = () => clock.sleep(Math.max(0, durableAt - clock.now()));
  return world;
}

const textOf = (result: WriteResult): string =>
  result.ok ? `ok ${result.code}` : `${result.status.code} ${result.status.reason ?? ""} ${result.status.details?.retryAfterSeconds ?? ""}`;

/** Clients that create one object after the other; their answers leave when the commit is durable. Answers the commits and turns of all creates. */
async function load(clients: number, commitMs: number, creates: number): Promise<{ commits: number; drains: number }> {
  const world = await worldOf(commitMs);
  const clock = world.scheduler.clock();
  const random = seededRandom(clients);
  const before = { commits: world.storage.commits, drains: world.store.counters.drains };
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < creates) {
      const name = `a-${next++}`;
      await clock.sleep(random.next() * 4);
      expect(textOf(await world.store.write(createRequest(aLease(name))))).toBe("ok 201");
      await clock.sleep(commitMs);
    }
  };
  await world.scheduler.run(Promise.all(Array.from({ length: clients }, client)));
  return { commits: world.storage.commits - before.commits, drains: world.store.counters.drains - before.drains };
}

describe("a store whose commits take 12 ms", () => {
  it("40 clients: their creates share commits by twenty", async () => {
    const { commits } = await load(40, COMMIT_MS, 400);
    expect(400 / commits).toBeGreaterThan(15);
  });

  it("one client and two: a commit for each create", async () => {
    expect((await load(1, COMMIT_MS, 40)).commits).toBe(40);
    expect((await load(2, COMMIT_MS, 40)).commits).toBe(40);
  });

  it("a client that is alone: its turn begins at once, whatever was committed just before", async () => {
    const world = await worldOf(COMMIT_MS);
    const clock = world.scheduler.clock();
    for (const name of ["a", "b", "c"]) {
      const sentAt = clock.now();
      expect(textOf(await world.create(aLease(name)))).toBe("ok 201");
      expect(clock.now() - sentAt).toBe(0);
      await world.scheduler.pass(COMMIT_MS);
    }
  });

  it("watchers: have the changes of a turn before the next one begins", async () => {
    const seen: number[] = [];
    const world = await worldOf(COMMIT_MS, { observers: [{ turnCommitted: () => void seen.push(watch?.brief.length ?? 0) }] });
    const watch: ReturnType<StoreWorld["watch"]> | undefined = world.watch({ resourceVersion: "2" });
    await world.scheduler.pass(COMMIT_MS);
    seen.length = 0;
    const create = (...names: string[]): Promise<WriteResult>[] => names.map((name) => world.store.write(createRequest(aLease(name))));
    const first = create("a", "b", "c");
    await world.scheduler.pass(1);
    const second = create("d", "e", "f");
    await world.scheduler.run(Promise.all([...first, ...second]));
    expect(seen).toEqual([0, 3]);
  });

  it("turns that write nothing: wait for nobody", async () => {
    const world = await worldOf(COMMIT_MS);
    const refused = Array.from({ length: 40 }, () => world.store.write(createRequest(aLease("first"))));
    expect((await world.scheduler.run(Promise.all(refused), 0)).map(textOf)).toEqual(Array(40).fill("409 AlreadyExists "));
  });
});

describe("a commit that is lost", () => {
  /** Three creates are under way, two wait behind their commit. */
  async function crowded(): Promise<{
    world: StoreWorld;
    begun: Promise<WriteResult[]>;
    waiting: Promise<WriteResult>[];
    back: () => void;
  }> {
    const world = new StoreWorld();
    await world.create(aLease("first"));
    const back = world.storage.remembered();
    world.storage.holdSync();
    const create = (...names: string[]): Promise<WriteResult>[] => names.map((name) => world.store.write(createRequest(aLease(name))));
    const begun = Promise.all(create("a", "b", "c"));
    await world.scheduler.pass(1);
    const waiting = create("d", "e");
    await world.scheduler.pass(1);
    return { world, begun, waiting, back };
  }

  it("it fails: what waits is 503 and may be tried again, the object ends, and the next one has what is stored", async () => {
    const { world, begun, waiting, back } = await crowded();
    const watch = world.watch({ resourceVersion: "2" });
    world.storage.failSync();
    await world.scheduler.pass(0);
    expect((await Promise.all(waiting)).map(textOf)).toEqual(["503 ServiceUnavailable 1", "503 ServiceUnavailable 1"]);
    expect((await begun).map(textOf), "their answers are behind the output gate").toEqual(["ok 201", "ok 201", "ok 201"]);
    expect([world.aborted, watch.text]).toEqual([["a commit was lost"], ""]);
    expect(world.logged).toContainEqual({ level: "error", event: "a commit was lost" });
    expect(textOf(await world.create(aLease("f")))).toBe("503 ServiceUnavailable 1");
    await expect(world.scheduler.run(world.store.internally(() => 1))).rejects.toThrow("the store takes no work");

    back();
    world.storage.repairSync();
    world.restart();
    for (const name of ["a", "d", "f"]) expect(textOf(await world.create(aLease(name)))).toBe("ok 201");
    expect(world.history(2)).toEqual(["ADDED ns/a", "ADDED ns/d", "ADDED ns/f"]);
  });

  it("it hangs: the same after the deadline, and not before", async () => {
    const { world, waiting } = await crowded();
    await world.scheduler.pass(COMMIT_DEADLINE_MS - 2);
    expect(world.aborted).toEqual([]);
    await world.scheduler.pass(2);
    expect((await Promise.all(waiting)).map(textOf)).toEqual(["503 ServiceUnavailable 1", "503 ServiceUnavailable 1"]);
    expect(world.aborted).toEqual(["a commit was lost"]);
  });

  it("it comes late: the writes that waited are carried out", async () => {
    const { world, waiting } = await crowded();
    await world.scheduler.pass(COMMIT_DEADLINE_MS - 2);
    world.storage.releaseSync();
    expect((await world.scheduler.run(Promise.all(waiting))).map(textOf)).toEqual(["ok 201", "ok 201"]);
    await world.scheduler.pass(COMMIT_DEADLINE_MS);
    expect(world.aborted).toEqual([]);
  });

  it("a write that asked for its namespace meanwhile: had not begun, and is 503", async () => {
    const { world } = await crowded();
    let answer: (found: GetResult) => void = () => undefined;
    world.namespaces.set("other", new Promise((resolve) => (answer = resolve)));
    world.storage.releaseSync();
    await world.scheduler.pass(1);
    const asking = world.store.write(createRequest(aLease("x", {}, { namespace: "other" })));
    await world.scheduler.pass(1);
    world.storage.failSync();
    void world.store.write(createRequest(aLease("y")));
    await world.scheduler.pass(1);
    expect(world.aborted).toEqual(["a commit was lost"]);
    answer(aNamespace("other"));
    expect(textOf(await world.scheduler.run(asking))).toBe("503 ServiceUnavailable 1");
    expect(world.stored("x", "other")).toBeUndefined();
  });
});
