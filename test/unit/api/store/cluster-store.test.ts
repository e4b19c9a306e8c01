import { describe, expect, it } from "vitest";
import { leasesDefinition } from "../../../../src/api/registry/leases/definition";
import { secretsDefinition } from "../../../../src/api/registry/secrets/definition";
import { ClusterStore, type ClusterStorePorts } from "../../../../src/api/store/cluster-store";
import { AWAITED_REVISIONS_MAX, HISTORY_FRESH_MS, HISTORY_SIZE_MAX } from "../../../../src/api/store/state/limits";
import type { StoreExtension } from "../../../../src/api/store/state/extension";
import { ServingTime } from "../../../../src/api/store/feeds/serving-time";
import type { StoreObserver } from "../../../../src/api/store/state/observer";
import { NOTHING_COUNTED } from "../../../../src/api/store/state/store-storage";
import { MemoryStoreStorage } from "../../../support/memory/store-storage";
import { fakeDigest } from "../../../support/sim/platform/fake-digest";
import { SimScheduler } from "../../../support/sim/platform/scheduler";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { newestStored, storedState } from "../../../support/worlds/stored-history";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import type { ListBody } from "../../../../src/api/store/list/list-page";
import type { BatchedDeletion } from "../../../../src/api/store/write/batched-deletion";
import { readList, readStreamedList } from "../../../support/values/list-body";
import { aLease, aNamespace, collectionRequest, createRequest, DELETE } from "../../../support/worlds/store-world";

const UID = "uid of ns";

class World {
  readonly scheduler = new SimScheduler();
  readonly storage = new MemoryStoreStorage();
  readonly busy: string[] = [];
  readonly published: string[] = [];
  pokes = 0;
  /** the garbage collector is switched on */
  collects = true;
  /** what the namespaces store answers; false = it does not */
  namespace: ReturnType<typeof aNamespace> | false = aNamespace("ns");
  store!: ClusterStore;

  constructor(
    readonly extension?: StoreExtension<undefined>,
    readonly definition = leasesDefinition,
    readonly observers: readonly StoreObserver[] = [],
  ) {
    this.restart();
  }

  restart(): void {
    const { definition, extension, observers } = this;
    const ports: ClusterStorePorts = {
      cluster: "default",
      definition,
      serviceFamilies: () => ["IPv4"],
      clock: this.scheduler.clock(),
      random: seededRandom(1),
      recorder: { log: () => undefined },
      digest: fakeDigest,
      storage: this.storage,
      closedNamespaces: this.storage,
      publications: {
        lastLoad: () => undefined,
        lastSave: () => undefined,
        put: (key) => Promise.resolve(void this.published.push(key)),
      },
      peers: {
        namespace: () => (this.namespace ? Promise.resolve(this.namespace) : Promise.reject(new Error("no answer"))),
        garbageCollector: () => (this.collects ? { poke: () => Promise.resolve(void this.pokes++) } : undefined),
      },
      noteBusy: (rhythm) => void this.busy.push(rhythm),
      controllersSet: () => undefined,
      end: () => Promise.reject(new Error("gone")),
      abort: () => undefined,
      deletedTogether: 2,
      streamedListsMax: 1,
    };
    this.store = new ClusterStore(ports, extension, observers);
  }

  run<T>(promise: Promise<T>): Promise<T> {
    return this.scheduler.run(promise);
  }

  async create(...names: string[]): Promise<void> {
    for (const name of names) {
      const result = await this.run(this.store.write(createRequest(aLease(name))));
      expect(result.ok, name).toBe(true);
    }
  }

  delete(name: string): ReturnType<ClusterStore["write"]> {
    return this.run(this.store.write({ verb: "delete", key: { namespace: "ns", name }, options: DELETE }));
  }

  /** what deletes many objects */
  get deletion(): Pick<BatchedDeletion, "delete"> {
    return (this.store as unknown as { deletion: BatchedDeletion }).deletion;
  }

  get names(): string[] {
    return [...this.storage.objectScan("", "")].map(({ key }) => key);
  }
}

describe("deletion of a namespace", () => {
  it("emptyNamespace: deletes in batches, and answers the objects that finalizers hold", async () => {
    const world = new World();
    await world.create("a", "b", "c", "d");
    await world.run(world.store.write(createRequest(aLease("held", {}, { finalizers: ["example.com/x"] }))));
    await world.run(world.store.closeNamespace("ns", UID));
    const { drains } = await world.store.counters();
    expect(await world.run(world.store.emptyNamespace("ns", UID))).toEqual({ objects: 1, finalizers: [["example.com/x", 1]] });
    expect((await world.store.counters()).drains - drains, "five objects, two at a time").toBe(3);
    expect(world.names).toEqual(["ns/held"]);
  });

  it("emptyNamespace of a namespace that is not closed: changes nothing", async () => {
    const world = new World();
    await world.create("a");
    expect(await world.run(world.store.emptyNamespace("ns", UID))).toBe("notClosed");
    expect(world.names).toEqual(["ns/a"]);
  });

  it("a successor that opens between two batches: the batches that follow leave its objects alone", async () => {
    const world = new World();
    await world.create("a", "b", "c", "d");
    await world.run(world.store.closeNamespace("ns", UID));
    const emptying = world.store.emptyNamespace("ns", UID);
    // The first batch is on its way when the name gets another namespace.
    world.storage.namespaceOpen("ns");
    expect(await world.run(emptying)).toBe("notClosed");
    expect(world.names).toEqual(["ns/c", "ns/d"]);
  });

  it("closeNamespace without an answer of the namespaces store: throws and closes nothing", async () => {
    const world = new World();
    world.namespace = false;
    await expect(world.run(world.store.closeNamespace("ns", UID))).rejects.toThrow("did not answer");
    expect(world.storage.namespaceClosedUid("ns")).toBeUndefined();
  });
});

describe("opening a collection of a store that an earlier release has written", () => {
  it("first page without a selector: waits for the counts; any other read does not", async () => {
    const world = new World();
    await world.create("a", "b", "c");
    const state = world.storage.stateLoad();
    if (!state) throw new Error("the store has a state");
    world.storage.stateSave({ ...state, counted: NOTHING_COUNTED });
    world.restart();
    const first = collectionRequest(leasesDefinition, { limit: 1 });
    const remaining = () => {
      const page = world.store.list(first);
      return page.ok ? readList(page.value).metadata : page.error;
    };
    for (const request of [{ limit: 0 }, { limit: 1, labelSelector: "a" }, { limit: 1, fieldSelector: "metadata.name=a" }]) {
      await world.run(world.store.opened(collectionRequest(leasesDefinition, request)));
      expect(remaining()).not.toHaveProperty("remainingItemCount");
    }
    await world.run(world.store.opened(first));
    expect(remaining()).toMatchObject({ remainingItemCount: 2 });
  });
});

describe("deleteCollection", () => {
  it("the listed objects: deleted in batches, and the list is answered", async () => {
    const world = new World();
    await world.create("a", "b", "c");
    const answer = await world.run(world.store.deleteCollection(collectionRequest(leasesDefinition, { verb: "deletecollection" })));
    expect(answer.ok && answer.value.begun.rows).toHaveLength(3);
    expect(world.names).toEqual([]);
  });

  it("a precondition that an object does not meet: 409, nothing is deleted", async () => {
    const world = new World();
    await world.create("a");
    const deleteOptions = { ...DELETE, preconditions: { uid: "another" } };
    const request = collectionRequest(leasesDefinition, { verb: "deletecollection", deleteOptions });
    const answer = await world.run(world.store.deleteCollection(request));
    expect(answer.ok ? 200 : answer.error.code).toBe(409);
    expect(world.names).toEqual(["ns/a"]);
  });
});

describe("large collections", () => {
  const ask = collectionRequest(leasesDefinition);
  const deletion = collectionRequest(leasesDefinition, { verb: "deletecollection" });
  const NAMES = ["a", "b", "c", "d", "e", "f"];

  /** Six objects of 200,000 characters: five of them are held by a list. */
  async function large(): Promise<World> {
    const world = new World();
    for (const name of NAMES) {
      const lease = aLease(name, {}, { annotations: { large: "x".repeat(200_000) } });
      expect(await world.run(world.store.write(createRequest(lease)))).toMatchObject({ ok: true });
    }
    return world;
  }

  const listedNames = async (world: World, list: ListBody): Promise<string[]> => {
    const { items } = (await readStreamedList(list, { waited: (piece) => world.run(piece) })) as { items: KubeObject[] };
    return items.map(({ metadata }) => metadata?.name ?? "");
  };

  /** The store begins a new life behind the deletion of the first `count` objects. */
  function newLifeBehind(world: World, count: number): void {
    const remove = world.deletion.delete.bind(world.deletion);
    world.deletion.delete = async (keys, options) => {
      const refusal = await remove(keys.slice(0, count), options);
      await world.store.beginAbove({ asOf: 0 });
      return refusal ?? (await remove(keys.slice(count), options));
    };
  }

  it("more lists than may be sent at once: 429 with Retry-After; a deletecollection deletes nothing then", async () => {
    const world = await large();
    const first = world.store.list(ask);
    if (!first.ok) throw new Error(first.error.message);
    for (const answer of [world.store.list(ask), await world.run(world.store.deleteCollection(deletion))]) {
      expect(answer.ok ? 200 : answer.error).toMatchObject({ code: 429, reason: "TooManyRequests", details: { retryAfterSeconds: 1 } });
    }
    expect(world.store.list({ ...ask, limit: 5 }).ok, "a small list").toBe(true);
    expect(await listedNames(world, first.value)).toEqual(NAMES);
    expect(world.store.list(ask).ok).toBe(true);
  });

  it("deletecollection: deletes all, and lists what was there", async () => {
    const world = await large();
    const answer = await world.run(world.store.deleteCollection(deletion));
    expect(world.names).toEqual([]);
    if (!answer.ok) throw new Error(answer.error.message);
    expect(await listedNames(world, answer.value)).toEqual(NAMES);
  });

  it("deletecollection with a refusal among the later objects: is refused, and leaves its place to others", async () => {
    const world = await large();
    const { uid } = (await stored(world, "a")).metadata ?? {};
    const deleteOptions = { ...DELETE, preconditions: { uid: uid ?? "" } };
    expect(await world.run(world.store.deleteCollection({ ...deletion, deleteOptions, labelSelector: "!x" }))).toMatchObject({
      ok: false,
      error: { code: 409 },
    });
    expect(world.store.list(ask).ok).toBe(true);
  });

  it("deletecollection whose deletion fails: rejects, and leaves its place to others", async () => {
    const world = await large();
    world.deletion.delete = () => Promise.reject(new Error("no disk"));
    await expect(world.run(world.store.deleteCollection(deletion))).rejects.toThrow("no disk");
    expect(world.store.list(ask).ok).toBe(true);
  });

  it.each([
    ["in its middle", 3],
    ["at its end", NAMES.length],
  ])("deletecollection of a list that the history forgets %s: deletes all, and is a Success without a list", async (_, count) => {
    const world = await large();
    newLifeBehind(world, count);
    const answer = await world.run(world.store.deleteCollection(deletion));
    expect(answer.ok ? 200 : answer.error).toMatchObject({ kind: "Status", status: "Success", code: 200 });
    expect(world.names).toEqual([]);
    expect(world.store.list(ask).ok).toBe(true);
  });

  async function stored(world: World, name: string): Promise<KubeObject> {
    const found = await world.store.get({ namespace: "ns", name }, "");
    if (!found.ok) throw new Error(found.status.message);
    return JSON.parse(found.object) as KubeObject;
  }
});

describe("news of writes for others", () => {
  it("a burst of deletions: pokes the garbage collector at once, and once more after the interval", async () => {
    const world = new World();
    await world.create("a", "b", "c");
    expect(world.pokes).toBe(0);
    for (const name of ["a", "b", "c"]) await world.delete(name);
    expect(world.pokes).toBe(1);
    await world.scheduler.pass(1_000);
    expect(world.pokes).toBe(2);
  });

  it("a write of a plain store: work for the hourly jobs; a deletion: for those of the minute too", async () => {
    const world = new World();
    await world.create("a");
    expect(world.busy).toEqual(["hour"]);
    await world.delete("a");
    expect(world.busy).toEqual(["hour", "hour", "minute"]);
  });

  it("a write of a store that says how long it has served: work for the hourly jobs alone", async () => {
    const world = new World(undefined, leasesDefinition, [new ServingTime(new SimScheduler().clock())]);
    await world.create("a");
    expect(world.busy).toEqual(["hour"]);
  });

  it("a deletion while the garbage collector is off: no poke, and no work for the jobs of the minute", async () => {
    const world = new World();
    world.collects = false;
    await world.create("a", "b");
    await world.delete("a");
    await world.scheduler.pass(1_000);
    expect([world.pokes, new Set(world.busy)]).toEqual([0, new Set(["hour"])]);
    world.collects = true;
    await world.delete("b");
    await world.scheduler.pass(1_000);
    expect([world.pokes, world.busy.at(-1)]).toEqual([1, "minute"]);
  });

  it.each<[string, ConstructorParameters<typeof World>[0], StoreObserver[]]>([
    ["an extension", {}, []],
    ["an observer", undefined, [{ turnCommitted: () => undefined }]],
  ])("a write of a store with %s: work for the jobs of the minute too", async (_, extension, observers) => {
    const world = new World(extension, leasesDefinition, observers);
    await world.create("a");
    expect(world.busy).toEqual(["hour", "minute"]);
  });

  it("a deletion whose transaction was kept although its commit failed: the collector hears of it", async () => {
    const world = new World();
    await world.create("a");
    const { cursor } = await world.store.listMetadata("", 10);
    world.storage.crashNext = "afterCommit";
    await world.delete("a").catch(() => undefined);
    expect(await world.store.changesSince(cursor, 10)).toMatchObject({
      changes: [{ type: "deleted", key: { namespace: "ns", name: "a" } }],
    });
  });

  it("a list of any version: asks for a published copy; any other list: does not", async () => {
    const world = new World();
    await world.create("a");
    expect(world.store.list(collectionRequest(leasesDefinition)).ok).toBe(true);
    await world.scheduler.pass(1_000);
    expect(world.published).toEqual([]);
    expect(world.store.list(collectionRequest(leasesDefinition, { resourceVersion: "0" })).ok).toBe(true);
    await world.scheduler.pass(1_000);
    expect(world.published).toEqual(["list/default/leases.coordination.k8s.io"]);
  });

  it("a list of Secrets of any version: publishes no copy", async () => {
    const world = new World(undefined, secretsDefinition);
    const secret = { metadata: { name: "a", namespace: "ns" }, data: { a: "AAEC" } };
    expect(await world.run(world.store.write(createRequest(secret)))).toMatchObject({ ok: true });
    expect(world.store.list(collectionRequest(secretsDefinition, { resourceVersion: "0" })).ok).toBe(true);
    await world.scheduler.pass(600_000);
    expect(world.published).toEqual([]);
  });
});

describe("a read of a revision that does not exist yet", () => {
  /** A list or get at `resourceVersion`: its outcome so far. */
  function reading(world: World, verb: "get" | "list", resourceVersion: string): { answer: string } {
    const seen = { answer: "" };
    const read = async (): Promise<void> => {
      if (verb === "get") {
        const found = await world.store.get({ namespace: "ns", name: "next" }, resourceVersion);
        seen.answer = found.ok ? "200" : String(found.status.code);
      } else {
        const request = collectionRequest(leasesDefinition, { resourceVersion });
        await world.store.opened(request);
        const listed = world.store.list(request);
        seen.answer = listed.ok ? "200" : String(listed.error.code);
      }
    };
    void read();
    return seen;
  }

  it.each(["get", "list"] as const)("a %s of the next revision: is answered when that is published, not before", async (verb) => {
    const world = new World();
    const read = reading(world, verb, "2");
    await world.scheduler.pass(1_000);
    expect(read.answer).toBe("");
    world.storage.holdSync();
    await world.create("next");
    await world.scheduler.pass(0);
    expect(read.answer, "committed, and not yet durable").toBe("");
    world.storage.releaseSync();
    await world.scheduler.pass(0);
    expect(read.answer).toBe("200");
  });

  it.each(["get", "list"] as const)("a %s of a revision that does not come: 504 after three seconds", async (verb) => {
    const world = new World();
    const read = reading(world, verb, "3");
    await world.create("next");
    await world.scheduler.pass(2_900);
    expect(read.answer).toBe("");
    await world.scheduler.pass(100);
    expect(read.answer).toBe("504");
  });

  it("more reads than may wait: the further ones are 504 at once", async () => {
    const world = new World();
    const waiting = Array.from({ length: AWAITED_REVISIONS_MAX }, () => reading(world, "list", "2"));
    const further = reading(world, "list", "2");
    await world.scheduler.pass(0);
    expect([further.answer, new Set(waiting.map(({ answer }) => answer))]).toEqual(["504", new Set([""])]);
    await world.create("next");
    await world.scheduler.pass(0);
    expect(new Set(waiting.map(({ answer }) => answer))).toEqual(new Set(["200"]));
  });
});

it("compaction, an old history of twice its bound: it is in its bound after some turns", async () => {
  const world = new World();
  const { storage } = world;
  const newest = newestStored(storage);
  const data = "x".repeat(1024 * 1024);
  const entries = (2 * HISTORY_SIZE_MAX) / data.length;
  storage.transaction(() => {
    for (let i = 1; i <= entries; i++) storage.historyAppend([{ revision: newest + i, type: "ADDED", key: `ns/a${i}`, data, before: "" }]);
  });
  world.restart();
  await world.scheduler.pass(HISTORY_FRESH_MS + 1_000);
  await world.run(world.store.compact());
  const { historyEntries, historySize } = storedState(storage);
  expect(historySize).toBeLessThanOrEqual(HISTORY_SIZE_MAX);
  expect(storage.historySince(0, 1_000)).toHaveLength(historyEntries);
  expect(historyEntries * data.length).toBe(historySize);
});
