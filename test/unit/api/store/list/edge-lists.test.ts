import { describe, expect, it } from "vitest";
import {
  EDGE_READ_INTERVAL_MS,
  EDGE_STORES_MAX,
  LIST_COPY_AGE_MAX_MS,
  PUBLISH_INTERVAL_MS,
} from "../../../../../src/api/store/state/limits";
import type { KubeObject } from "../../../../../src/api/meta/kubernetes";
import { readList } from "../../../../support/values/list-body";
import { type ListBody, listOfCopy, listPage } from "../../../../../src/api/store/list/list-page";
import { EdgeLists } from "../../../../../src/api/store/list/edge-lists";
import { type ListCopy, listCopies } from "../../../../../src/api/store/list/list-copy";
import { ownerSource, parseOwnerSource } from "../../../../../src/api/store/list/list-source";
import { type LastPublication, Publisher } from "../../../../../src/api/store/list/publisher";
import { fakeDigest } from "../../../../support/sim/platform/fake-digest";
import { FaultyKv, KV_FAULTS, type KvFault } from "../../../../support/sim/platform/faulty-kv";
import { seededRandom } from "../../../../support/sim/platform/seeded-random";
import { aLease, collectionRequest, StoreWorld } from "../../../../support/worlds/store-world";
import { itOfSeeds } from "../../../../support/sim/platform/seeds";

const NAME = "default/leases.coordination.k8s.io";

interface Listed {
  revision: number;
  /** resourceVersion by name */
  objects: Map<string, string>;
  copy?: ListCopy;
}

/** A store that publishes, and Workers that list it at resourceVersion 0 through a KV with the fault of the moment. */
class World extends StoreWorld {
  readonly kv = new FaultyKv(() => this.scheduler.now);
  readonly random;
  fault: KvFault = "none";
  workers: EdgeLists[] = [];
  reads = 0;
  readonly #foreign: Uint8Array[] = [];
  publisher: Publisher;

  constructor(seed = 1) {
    // A history so short that copies do fall out of it.
    super({ historyBounds: { entriesMax: 60, sizeMax: 1_000_000, trimEntries: 10 } });
    this.random = seededRandom(seed);
    let last: LastPublication | undefined;
    const clock = this.scheduler.clock();
    this.publisher = new Publisher(
      {
        clock,
        recorder: { log: () => undefined },
        lastLoad: () => last,
        lastSave: (made) => (last = made),
        put: (bytes) => this.kv.put(bytes),
      },
      listCopies(this.store, NAME, fakeDigest),
    );
    this.workers = [1, 2, 3].map(() => new EdgeLists(clock, fakeDigest));
  }

  /** What another cluster's store published. */
  async prepareForeign(): Promise<void> {
    const other = new StoreWorld();
    const bytes = await other.scheduler.run(listCopies(other.store, "other/leases.coordination.k8s.io", fakeDigest).take());
    if (bytes) this.#foreign.push(bytes);
  }

  get worker(): EdgeLists {
    return this.workers[0] ?? new EdgeLists(this.scheduler.clock(), fakeDigest);
  }

  find(worker = this.worker): Promise<ListCopy | undefined> {
    return worker.find(NAME, () => {
      this.reads++;
      return this.kv.read(this.fault, this.random, this.#foreign[0]);
    });
  }

  /** The store's own answer, by which the Worker hears of it; it may be heard late. */
  async askStore(worker = this.worker, lateMs = 0): Promise<Listed> {
    const seen = parseOwnerSource(ownerSource(this.store), this.scheduler.now);
    if (!seen) throw new Error("a store says who it is");
    const page = listPage(this.store, collectionRequest(this.definition, { resourceVersion: "0" }), this.definition);
    if (!page.ok) throw new Error(page.error.message);
    const listed = listedIn(page.value);
    this.publisher.demand();
    await this.scheduler.pass(lateMs);
    worker.note(NAME, seen);
    return listed;
  }

  async list(worker = this.worker): Promise<Listed> {
    const copy = await this.find(worker);
    if (!copy) return this.askStore(worker, this.random.below(3) === 0 ? this.random.below(2_000) : 0);
    const body = listOfCopy(copy, collectionRequest(this.definition), this.definition, () => this.scheduler.now);
    if (!body.ok) throw new Error(body.error.message);
    return { ...listedIn(body.value), copy };
  }
}

function listedIn(body: ListBody): Listed {
  const list = readList(body) as { metadata: { resourceVersion: string }; items: KubeObject[] };
  return {
    revision: Number(list.metadata.resourceVersion),
    objects: new Map(list.items.map(({ metadata = {} }) => [metadata.name ?? "", metadata.resourceVersion ?? ""])),
  };
}

describe("copies of lists in a Worker", () => {
  it("no news of the store: no copy; after news: the copy, read once", async () => {
    const world = new World();
    expect(await world.find()).toBeUndefined();
    expect(world.reads).toBe(0);
    await world.askStore();
    expect(await world.find()).toMatchObject({ revision: 1 });
    await world.find();
    expect(world.reads).toBe(1);
  });

  it("a copy older than 60 s: not used, and KV is read once a second at most", async () => {
    const world = new World();
    await world.askStore();
    expect(await world.find()).toBeDefined();
    await world.scheduler.pass(LIST_COPY_AGE_MAX_MS);
    await world.askStore();
    expect(await world.find()).toMatchObject({ takenAt: world.scheduler.now - LIST_COPY_AGE_MAX_MS });
    await world.scheduler.pass(1);
    expect(world.reads).toBe(1);
    for (let i = 0; i < 5; i++) expect(await world.find()).toBeUndefined();
    expect(world.reads).toBe(2);
    await world.scheduler.pass(EDGE_READ_INTERVAL_MS);
    expect(await world.find()).toBeUndefined();
    expect(world.reads).toBe(3);
    expect(world.kv.puts).toBe(1);
  });

  it("news of the store older than 60 s: no copy, and KV is not read", async () => {
    const world = new World();
    await world.askStore();
    await world.scheduler.pass(LIST_COPY_AGE_MAX_MS + 1);
    expect(await world.find()).toBeUndefined();
    expect(world.reads).toBe(0);
  });

  it("answers in another order: the latest news counts", async () => {
    const world = new World();
    const now = world.scheduler.now;
    await world.askStore();
    world.worker.note(NAME, { incarnation: "new", floor: 0, at: now + 2 });
    world.worker.note(NAME, { incarnation: world.store.incarnation, floor: 0, at: now + 1 });
    await world.scheduler.pass(10);
    expect(await world.find()).toBeUndefined();
  });

  it("a copy below the floor of the history: dropped", async () => {
    const world = new World();
    await world.askStore();
    expect(await world.find()).toBeDefined();
    for (let i = 0; i < 80; i++) await world.create(aLease(`a${i}`));
    await world.askStore();
    expect(await world.find()).toBeUndefined();
  });

  it("three requests at once: one reads KV, the others ask the store", async () => {
    const world = new World();
    await world.askStore();
    const found = await Promise.all([world.find(), world.find(), world.find()]);
    expect([found.map((copy) => copy !== undefined), world.reads]).toEqual([[true, false, false], 1]);
  });

  it.each(KV_FAULTS.filter((fault) => fault !== "none" && fault !== "rolledBack"))("a value in KV that is %s: no copy", async (fault) => {
    const world = new World();
    await world.prepareForeign();
    world.fault = fault;
    await world.askStore();
    expect(await world.find()).toBeUndefined();
    expect(world.reads).toBe(1);
  });

  it("more stores than the bound: the oldest is forgotten", async () => {
    const world = new World();
    await world.askStore();
    for (let i = 1; i <= EDGE_STORES_MAX; i++) world.worker.note(`c${i}/leases`, { incarnation: "i", floor: 0, at: 0 });
    expect(await world.find()).toBeUndefined();
  });
});

/** An informer: a list at resourceVersion 0, then watches from where it is; 410 makes it begin anew. */
class Informer {
  readonly objects = new Map<string, string>();
  #revision: number | undefined;
  problems: string[] = [];

  async sync(world: World, worker: EdgeLists): Promise<void> {
    if (this.#revision === undefined) {
      const { revision, objects } = await world.list(worker);
      this.objects.clear();
      for (const [name, version] of objects) this.objects.set(name, version);
      this.#revision = revision;
    }
    await this.#follow(world);
  }

  async #follow(world: World): Promise<void> {
    const watch = world.watch({ resourceVersion: String(this.#revision) });
    await world.scheduler.pass(0);
    watch.stop();
    if (watch.refused) {
      if (watch.refused.code !== 410) this.problems.push(`refused: ${watch.refused.message ?? ""}`);
      this.#revision = undefined;
      return;
    }
    for (const { type, object } of watch.events) this.#apply(type, object.metadata ?? {});
  }

  #apply(type: string, { name = "", resourceVersion = "" }: NonNullable<KubeObject["metadata"]>): void {
    const known = this.objects.has(name);
    if (known === (type === "ADDED")) this.problems.push(`${type} ${name}, ${known ? "known" : "unknown"}`);
    if (Number(resourceVersion) <= (this.#revision ?? 0)) this.problems.push(`${type} ${name}@${resourceVersion} after ${this.#revision}`);
    this.#revision = Number(resourceVersion);
    if (type === "DELETED") this.objects.delete(name);
    else this.objects.set(name, resourceVersion);
  }
}

describe("lists at resourceVersion 0 while KV loses, delays, rolls back, damages or mixes up its value", () => {
  const title = "every list: equal to the state of its revision, and informers converge (seed %i)";
  itOfSeeds(title, { fixed: [1, 2, 3], further: 2 }, async (seed) => {
    const world = new World(seed);
    await world.prepareForeign();
    const { random, scheduler } = world;
    const states = new Map<number, Map<string, string>>();
    const heads: { at: number; revision: number }[] = [];
    const note = (): void => {
      const objects = new Map<string, string>();
      for (const { key, revision } of world.storage.objectScan("", "")) objects.set(key.slice("ns/".length), String(revision));
      states.set(world.store.revision, objects);
      heads.push({ at: scheduler.now, revision: world.store.revision });
    };
    /** The newest revision that was there `agoMs` ago. */
    const headBefore = (agoMs: number): number => heads.findLast(({ at }) => at < scheduler.now - agoMs)?.revision ?? 1;
    note();
    const sources = { owner: 0, edge: 0 };
    const informers = Array.from({ length: 4 }, () => new Informer());
    for (let step = 0; step < 400; step++) {
      world.fault = random.below(2) === 0 ? "none" : (KV_FAULTS[random.below(KV_FAULTS.length)] ?? "none");
      const name = `a${random.below(8)}`;
      switch (random.below(8)) {
        case 0:
          await scheduler.pass(random.below(40_000));
          break;
        case 1:
        case 2:
          await world.create(aLease(name));
          note();
          break;
        case 3:
          await world.delete(name);
          note();
          break;
        case 4:
          await world.patch(name, "merge", { spec: { holderIdentity: `${step}` } });
          note();
          break;
        case 5:
        case 6: {
          const worker = world.workers[random.below(world.workers.length)];
          const { revision, objects, copy } = await world.list(worker);
          sources[copy ? "edge" : "owner"]++;
          expect(objects, `step ${step}`).toEqual(states.get(revision));
          if (copy) expect(revision, `step ${step}`).toBeGreaterThanOrEqual(headBefore(LIST_COPY_AGE_MAX_MS));
          if (copy) expect(scheduler.now - copy.takenAt).toBeLessThanOrEqual(LIST_COPY_AGE_MAX_MS);
          break;
        }
        case 7: {
          const at = random.below(informers.length);
          if (random.below(4) === 0) informers[at] = new Informer();
          await informers[at]?.sync(world, world.workers[random.below(world.workers.length)] ?? world.worker);
          expect(informers[at]?.problems).toEqual([]);
        }
      }
    }
    for (const informer of informers) {
      // A 410 costs one round; the second list may come from a copy again, and its history is there now.
      for (let round = 0; round < 3; round++) await informer.sync(world, world.worker);
      expect(informer.problems).toEqual([]);
      expect(informer.objects).toEqual(states.get(world.store.revision));
    }
    expect(sources.edge, "the run must have used copies").toBeGreaterThan(0);
    expect(world.kv.puts).toBeLessThanOrEqual(1 + (scheduler.now - 1_700_000_000_000) / PUBLISH_INTERVAL_MS);
  });
});

describe("a store that was lost and began anew", () => {
  it("news of the new incarnation: the former copy is not used", async () => {
    const former = new World(1);
    await former.create(aLease("former"));
    await former.askStore();
    expect(await former.find()).toMatchObject({ revision: 2 });
    former.worker.note(NAME, { incarnation: "another", floor: 1, at: former.scheduler.now });
    expect(await former.find()).toBeUndefined();
  });
});
