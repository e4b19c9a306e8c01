import { describe, expect, it } from "vitest";
import type { OwnerReference } from "../../../../src/api/meta/kubernetes";
import { forbidden } from "../../../../src/api/meta/status";
import { leasesDefinition } from "../../../../src/api/registry/leases/definition";
import { CollectorWorld } from "../../../support/worlds/collector-world";
import { DELETE, WRITE } from "../../../support/worlds/store-world";

const HELD = { finalizers: ["example.com/x"] };
const names = (world: CollectorWorld): string[] => [...world.all().keys()].sort();

describe("pokes that name stores", () => {
  const ALL = ["leases changesSince", "nodes changesSince", "pods changesSince"];

  it("a new dependent: its store is read, and its owner looked at; what the collector deletes itself is not read", async () => {
    const world = new CollectorWorld();
    const a = await world.make("Pod", "a");
    await world.settle();
    await world.make("Lease", "b", [a]);
    world.calls = [];
    expect(await world.poked()).toBe(true);
    expect(world.calls).toEqual(["leases changesSince", "pods metadataOf"]);
    await world.delete("Pod", "a");
    world.calls = [];
    expect(await world.poked()).toBe(true);
    expect(world.calls).toEqual(["pods changesSince", "pods metadataOf", "leases metadataOf", "pods metadataOf", "leases write"]);
    // What it deleted itself is no news.
    expect(await world.poked()).toBe(false);
    expect(names(world)).toEqual([]);
  });

  it("a deletion that waits for the collector: every store is read before its finalizer goes, whatever pokes were lost", async () => {
    const world = new CollectorWorld();
    const a = await world.make("Pod", "a");
    await world.settle();
    await world.make("Lease", "b", [a]);
    await world.poked(() => 0);
    await world.delete("Pod", "a", { propagationPolicy: "Foreground" });
    world.calls = [];
    await world.poked();
    for (const pull of ALL) expect(world.calls).toContain(pull);
    await world.settle();
    expect(world.removed).toEqual(["Lease ns/b", "Pod ns/a"]);
  });

  it("a poke without a name, and a pass behind one that left work: read every store", async () => {
    const world = new CollectorWorld();
    await world.make("Lease", "b");
    await world.settle();
    world.calls = [];
    world.collector.hears(undefined);
    await world.run(true);
    expect(world.calls.sort()).toEqual(ALL);
    world.fault = (call) => (call === "nodes changesSince" ? "down" : undefined);
    expect(await world.run()).toEqual({ left: true });
    world.fault = () => undefined;
    world.calls = [];
    await world.run(true);
    expect(world.calls.sort()).toEqual(ALL);
  });
});

describe("stores that nobody ever wrote to", () => {
  it("are not asked; from its first object on a store is read, and a finalizer goes only then", async () => {
    const world = new CollectorWorld();
    const a = await world.make("Pod", "a");
    for (const resource of ["nodes", "leases"]) world.unused.add(resource);
    await world.settle();
    expect(new Set(world.calls)).toEqual(new Set(["pods changesSince", "pods listMetadata"]));
    // Its poke is lost.
    world.unused.delete("leases");
    await world.make("Lease", "b", [a]);
    await world.poked(() => 0);
    await world.delete("Pod", "a", { propagationPolicy: "Foreground" });
    await world.poked();
    await world.settle();
    expect(world.removed).toEqual(["Lease ns/b", "Pod ns/a"]);
    expect(world.calls.filter((call) => call.startsWith("nodes"))).toEqual([]);
  });

  it("a store that pokes, although nobody knows it: it is read", async () => {
    const world = new CollectorWorld();
    for (const resource of ["nodes", "leases"]) world.unused.add(resource);
    const a = await world.make("Pod", "a");
    await world.settle();
    await world.make("Lease", "b", [a]);
    world.calls = [];
    await world.poked();
    expect(world.calls).toEqual(["leases changesSince", "leases listMetadata", "leases changesSince", "pods metadataOf"]);
    expect(world.collector.remembered).toBe(1);
  });
});

describe("a deletion in the background", () => {
  it("dependents and their dependents: deleted in one pass", async () => {
    const world = new CollectorWorld();
    const a = await world.make("Pod", "a");
    const b = await world.make("Lease", "b", [a]);
    await world.make("Pod", "c", [b]);
    await world.settle();
    await world.delete("Pod", "a");
    expect(await world.settle()).toBe(1);
    expect(names(world)).toEqual([]);
  });

  it.each<[string, (owner: OwnerReference) => OwnerReference, boolean]>([
    ["the owner's uid is another one", (owner) => ({ ...owner, uid: "other" }), true],
    ["there is no such owner", (owner) => ({ ...owner, name: "other" }), true],
    ["the owner is cluster-scoped and not there", () => ({ apiVersion: "v1", kind: "Node", name: "n", uid: "n" }), true],
    ["the owner is there", (owner) => owner, false],
    ["the kind is not served", (owner) => ({ ...owner, kind: "ReplicaSet" }), false],
    ["the version is not served", (owner) => ({ ...owner, apiVersion: "v2" }), false],
  ])("a new dependent, %s: deleted when its owner is absent", async (_, reference, goes) => {
    const world = new CollectorWorld();
    await world.make("Lease", "d", [reference(await world.make("Pod", "o"))]);
    await world.settle();
    expect(world.find("Lease", "d") === undefined).toBe(goes);
  });

  it("new dependents of an owner that is there: the owner is read, and they are not", async () => {
    const world = new CollectorWorld();
    const owner = await world.make("Pod", "o");
    await world.make("Lease", "a", [owner]);
    await world.make("Lease", "b", [owner]);
    world.calls = [];
    await world.settle();
    expect(world.calls.filter((call) => call.endsWith("metadataOf"))).toEqual(["pods metadataOf"]);
    expect(names(world)).toEqual(["Lease ns/a", "Lease ns/b", "Pod ns/o"]);
  });

  it("an owner in another namespace: absent; a cluster-scoped owner: owns in all namespaces; a namespaced owner: owns no cluster-scoped object", async () => {
    const world = new CollectorWorld();
    const elsewhere = await world.make("Pod", "o", [], { namespace: "other" });
    const node = await world.make("Node", "n");
    await world.make("Lease", "a", [elsewhere]);
    await world.make("Lease", "b", [node]);
    await world.make("Node", "c", [elsewhere]);
    await world.settle();
    expect(names(world)).toEqual(["Lease ns/b", "Node c", "Node n", "Pod other/o"]);
    await world.delete("Node", "n");
    await world.delete("Pod", "o", {}, "other");
    await world.settle();
    expect(names(world)).toEqual(["Node c"]);
  });

  it("a dependent with another live owner: stays without the reference", async () => {
    const world = new CollectorWorld();
    const [a, b] = [await world.make("Pod", "a"), await world.make("Pod", "b")];
    await world.make("Lease", "d", [a, b]);
    await world.delete("Pod", "a");
    await world.settle();
    expect(world.find("Lease", "d")).toMatchObject({ ownerReferences: [b] });
  });

  it("a dependent that gets a live owner before its deletion: stays", async () => {
    const world = new CollectorWorld();
    const a = await world.make("Pod", "a");
    const b = await world.make("Pod", "b");
    await world.make("Lease", "d", [a]);
    await world.settle();
    await world.delete("Pod", "a");
    let changed = false;
    world.beforeWrite = async () => {
      if (changed) return;
      changed = true;
      const store = world.stores.Lease.world.store;
      const patch = JSON.stringify({ metadata: { ownerReferences: [b] } });
      const options = {
        dryRun: false,
        fieldManager: "",
        fieldValidation: "Ignore",
        force: false,
        group: "coordination.k8s.io",
        version: "v1",
      } as const;
      await store.write({ verb: "patch", key: { namespace: "ns", name: "d" }, subresource: "", patchType: "merge", patch, options });
    };
    await world.settle();
    expect([changed, world.find("Lease", "d")?.ownerReferences]).toEqual([true, [b]]);
  });
});

describe("a deletion in the foreground", () => {
  it("order: dependents of dependents, dependents, owner", async () => {
    const world = new CollectorWorld();
    const a = await world.make("Pod", "a");
    const b = await world.make("Lease", "b", [a]);
    await world.make("Pod", "c", [b]);
    await world.delete("Pod", "a", { propagationPolicy: "Foreground" });
    await world.settle();
    expect(world.removed).toEqual(["Pod ns/c", "Lease ns/b", "Pod ns/a"]);
  });

  it("a held dependent: waited for when it blocks, and the wait is no work left", async () => {
    const world = new CollectorWorld();
    const a = await world.make("Pod", "a");
    await world.make("Lease", "held", [a], { finalizers: ["example.com/x"] });
    await world.make("Lease", "loose", [{ ...a, blockOwnerDeletion: false }], { finalizers: ["example.com/x"] });
    await world.delete("Pod", "a", { propagationPolicy: "Foreground" });
    await world.settle();
    expect(world.find("Pod", "a")?.finalizers).toEqual(["foregroundDeletion"]);
    expect([world.find("Lease", "held"), world.find("Lease", "loose")].every((found) => found?.deletionTimestamp)).toBe(true);
    await world.patch("Lease", "held", { finalizers: null });
    await world.settle();
    expect(names(world)).toEqual(["Lease ns/loose"]);
  });

  it("a dependent with another live owner: stays, and the owner does not wait for it", async () => {
    const world = new CollectorWorld();
    const [a, b] = [await world.make("Pod", "a"), await world.make("Pod", "b")];
    await world.make("Lease", "d", [a, b]);
    await world.delete("Pod", "a", { propagationPolicy: "Foreground" });
    await world.settle();
    expect(names(world)).toEqual(["Lease ns/d", "Pod ns/b"]);
    expect(world.find("Lease", "d")?.ownerReferences).toEqual([b]);
  });

  it.each([[["a"]], [["a", "b", "c"]]])("a circle of which %j are deleted: all go", async (deleted) => {
    const world = new CollectorWorld();
    const a = await world.make("Pod", "a");
    const b = await world.make("Pod", "b", [a]);
    const c = await world.make("Pod", "c", [b]);
    await world.patch("Pod", "a", { ownerReferences: [c] });
    await world.settle();
    for (const name of deleted) await world.delete("Pod", name, { propagationPolicy: "Foreground" });
    await world.settle();
    expect(names(world)).toEqual([]);
  });
});

describe("a dependent that is made between the reading of its store and the deletion of its owner", () => {
  /** The leases are read, then the dependent is made, then the owner is deleted, then the pods are read. */
  async function setting(propagationPolicy: "Foreground" | "Orphan"): Promise<CollectorWorld> {
    const world = new CollectorWorld();
    const a = await world.make("Pod", "a");
    await world.settle();
    let slow = true;
    world.delay = () => {
      const waits = slow && world.calls.at(-1) === "pods changesSince";
      if (waits) slow = false;
      return waits ? 100 : 1;
    };
    const pass = world.collector.run();
    await world.scheduler.pass(10);
    await world.make("Lease", "d", [a], { finalizers: ["example.com/x"] });
    await world.delete("Pod", "a", { propagationPolicy });
    await world.scheduler.run(pass);
    await world.settle();
    return world;
  }

  it("Foreground: the owner waits for the dependent", async () => {
    const world = await setting("Foreground");
    expect(names(world)).toEqual(["Lease ns/d", "Pod ns/a"]);
  });

  it("Orphan: the dependent loses the reference and stays", async () => {
    const world = await setting("Orphan");
    expect(names(world)).toEqual(["Lease ns/d"]);
    expect(world.find("Lease", "d")).toMatchObject({ finalizers: ["example.com/x"] });
    expect(world.find("Lease", "d")?.deletionTimestamp).toBeUndefined();
  });
});

describe("a deletion with Orphan", () => {
  it("dependents: lose the reference before the owner goes, and keep others", async () => {
    const world = new CollectorWorld();
    const [a, b] = [await world.make("Pod", "a"), await world.make("Pod", "b")];
    await world.make("Lease", "one", [a]);
    await world.make("Lease", "two", [a, b]);
    await world.delete("Pod", "a", { propagationPolicy: "Orphan" });
    await world.settle();
    expect(names(world)).toEqual(["Lease ns/one", "Lease ns/two", "Pod ns/b"]);
    expect([world.find("Lease", "one")?.ownerReferences, world.find("Lease", "two")?.ownerReferences]).toEqual([undefined, [b]]);
  });

  it("finalizers of clients: kept", async () => {
    const world = new CollectorWorld();
    await world.make("Pod", "a", [], { finalizers: ["example.com/x"] });
    await world.delete("Pod", "a", { propagationPolicy: "Orphan" });
    await world.settle();
    expect(world.find("Pod", "a")?.finalizers).toEqual(["example.com/x"]);
  });
});

describe("cost of a pass", () => {
  it("plain objects: not remembered; no change: no history is read", async () => {
    const world = new CollectorWorld();
    for (let i = 0; i < 20; i++) await world.make("Pod", `p${i}`);
    await world.settle();
    expect([world.collector.remembered, world.storage.rows]).toEqual([0, 0]);
    for (let i = 0; i < 20; i++) await world.patch("Pod", `p${i}`, { labels: { a: "b" } });
    world.calls = [];
    const { storage } = world.stores.Pod.world;
    const read = storage.historySince.bind(storage);
    let reads = 0;
    storage.historySince = (after, limit) => {
      reads++;
      return read(after, limit);
    };
    await world.settle();
    expect([world.calls.sort(), reads]).toEqual([["leases changesSince", "nodes changesSince", "pods changesSince"], 0]);
  });

  it("a finished deletion: no memory and no row stays", async () => {
    const world = new CollectorWorld();
    const a = await world.make("Pod", "a");
    await world.make("Pod", "b", [a]);
    await world.delete("Pod", "a", { propagationPolicy: "Foreground" });
    await world.settle();
    expect([world.collector.remembered, world.storage.rows]).toEqual([0, 0]);
  });
});

describe("faults", () => {
  it("history that is gone: everything is listed again", async () => {
    const world = new CollectorWorld(4);
    const a = await world.make("Pod", "a");
    const keep = await world.make("Pod", "keep");
    for (let i = 0; i < 7; i++) await world.make("Lease", `d${i}`, [i % 2 ? a : keep]);
    await world.settle();
    await world.delete("Pod", "a");
    for (let i = 0; i < 10; i++) await world.patch("Pod", "keep", { labels: { i: String(i) } });
    world.calls = [];
    await world.settle();
    expect(world.calls).toContain("pods listMetadata");
    expect(names(world)).toEqual(["Lease ns/d0", "Lease ns/d2", "Lease ns/d4", "Lease ns/d6", "Pod ns/keep"]);
  });

  it("a store that cannot be read: owners keep their finalizers, dependents are deleted", async () => {
    const world = new CollectorWorld();
    const a = await world.make("Pod", "a");
    const b = await world.make("Pod", "b");
    await world.make("Lease", "d", [b]);
    await world.settle();
    await world.delete("Pod", "a", { propagationPolicy: "Foreground" });
    await world.delete("Pod", "b");
    world.fault = (call) => (call === "nodes changesSince" ? "down" : undefined);
    expect(await world.run()).toEqual({ left: true });
    expect(names(world)).toEqual(["Pod ns/a"]);
    expect(a.uid).toBe(world.find("Pod", "a")?.uid);
    world.fault = () => undefined;
    await world.settle();
    expect(names(world)).toEqual([]);
  });
});

describe("a change between the reading of the stores and a write", () => {
  it("a dependent that is gone before it is orphaned: nothing is written, and the owner goes", async () => {
    const world = new CollectorWorld();
    const owner = await world.make("Pod", "owner");
    await world.make("Lease", "d", [owner]);
    await world.settle();
    await world.delete("Pod", "owner", { propagationPolicy: "Orphan" });
    let isGone = false;
    world.onRead = async (call) => {
      if (call !== "leases metadataOf" || isGone) return;
      isGone = true;
      await world.stores.Lease.world.store.write({ verb: "delete", key: { namespace: "ns", name: "d" }, options: DELETE });
    };
    await world.settle();
    // The deletion of the dependent pokes the collector.
    await world.settle();
    expect([isGone, names(world), world.calls.filter((call) => call === "leases write")]).toEqual([true, [], []]);
  });

  it("an owner that loses its finalizer otherwise before the collector takes it: nothing is written", async () => {
    const world = new CollectorWorld();
    await world.make("Pod", "owner", [], HELD);
    await world.settle();
    await world.delete("Pod", "owner", { propagationPolicy: "Foreground" });
    world.calls = [];
    world.onRead = async (call) => {
      if (call !== "pods metadataOf") return;
      const request = { verb: "patch", key: { namespace: "ns", name: "owner" }, subresource: "", patchType: "merge" } as const;
      const patch = JSON.stringify({ metadata: HELD });
      await world.stores.Pod.world.store.write({ ...request, patch, options: { ...WRITE, group: "" } });
    };
    await world.settle();
    expect(world.calls.filter((call) => call.endsWith("write"))).toEqual([]);
    expect(world.find("Pod", "owner")?.finalizers).toEqual(HELD.finalizers);
  });
});

it("a dependent that the store refuses to delete for good: logged once, and left alone", async () => {
  const world = new CollectorWorld();
  const owner = await world.make("Pod", "owner");
  await world.make("Lease", "d", [owner]);
  await world.settle();
  await world.delete("Pod", "owner");
  world.refusal = (call) => (call === "leases write" ? forbidden(leasesDefinition, "d", "no") : undefined);
  world.calls = [];
  await world.settle();
  expect(names(world)).toEqual(["Lease ns/d"]);
  expect(world.calls.filter((call) => call === "leases write")).toHaveLength(1);
  expect(world.logged).toEqual([expect.stringMatching(/^warn garbage collection was refused .*"verb":"delete".* is forbidden: no"/)]);
});

it("a dependent that appears behind the pull of its store: its owner still waits for it", async () => {
  const world = new CollectorWorld();
  const owner = await world.make("Node", "owner");
  const middle = await world.make("Pod", "middle", [owner]);
  await world.settle();
  // The Leases are read at once, the others not before the Lease is there and the deletion has begun.
  world.delay = () => (world.calls.at(-1) === "leases changesSince" ? 1 : 50);
  const pass = world.collector.run();
  await world.scheduler.pass(10);
  await world.make("Lease", "held", [middle], { finalizers: ["example.com/x"] });
  await world.delete("Node", "owner", { propagationPolicy: "Foreground" });
  await world.scheduler.run(pass);
  world.delay = () => 1;
  await world.settle();
  expect(world.find("Lease", "held")?.deletionTimestamp).toBeDefined();
  expect([world.find("Pod", "middle")?.finalizers, world.find("Node", "owner")?.finalizers]).toEqual([
    ["foregroundDeletion"],
    ["foregroundDeletion"],
  ]);
  await world.patch("Lease", "held", { finalizers: null });
  await world.settle();
  expect([...world.all().keys()]).toEqual([]);
});

it("many nodes: few are in memory while they are listed, examined and at rest, and each deletion finds its dependents", async () => {
  const world = new CollectorWorld(1_000, 5);
  const owners = [await world.make("Lease", "a"), await world.make("Lease", "b")];
  for (let i = 0; i < 60; i++) {
    await world.make("Pod", `p${String(i)}`, i % 3 === 0 ? owners : owners.slice(0, 1));
  }
  let most = 0;
  world.onRead = () => Promise.resolve(void (most = Math.max(most, world.collector.held)));
  await world.settle();
  // A page has three objects here, and what was examined is saved behind its round.
  expect(most).toBeLessThanOrEqual(8);
  expect([world.collector.remembered, world.collector.held]).toEqual([60, 0]);
  world.restart();
  await world.settle();
  expect([world.collector.remembered, world.collector.held]).toEqual([60, 0]);
  await world.delete("Lease", "a");
  await world.settle();
  // Those that have another owner lose the reference alone.
  expect(names(world)).toEqual(["Lease ns/b", ...Array.from({ length: 20 }, (_, i) => `Pod ns/p${String(3 * i)}`).sort()]);
  world.restart();
  await world.delete("Lease", "b");
  await world.settle();
  expect([names(world), world.collector.remembered]).toEqual([[], 0]);
});
