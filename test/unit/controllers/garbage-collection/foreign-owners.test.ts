/** The Event about an owner that is not in its dependent's namespace: when it is told, what it says, and what the look for the owner costs. */
import { describe, expect, it } from "vitest";
import type { OwnerReference } from "../../../../src/api/meta/kubernetes";
import { SEARCHED_ROWS_MAX } from "../../../../src/api/store/feeds/object-links-reader";
import { CollectorWorld } from "../../../support/worlds/collector-world";

const uidOf = (world: CollectorWorld, kind: "Lease" | "Pod" | "Node", name: string, namespace = "ns"): string =>
  world.find(kind, name, namespace)?.uid ?? "";
const searches = (world: CollectorWorld): number => world.calls.filter((call) => call.endsWith("whereabouts")).length;
const HELD = { finalizers: ["example.com/x"] };

describe("OwnerRefInvalidNamespace", () => {
  it("owner in another namespace: a Warning in upstream's words about the dependent, which goes", async () => {
    const world = new CollectorWorld();
    const owner = await world.make("Pod", "o", [], { namespace: "other" });
    const dependent = await world.make("Lease", "d", [owner]);
    await world.settle();
    expect(world.find("Lease", "d")).toBeUndefined();
    expect(world.told).toEqual([
      {
        regarding: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", namespace: "ns", name: "d", uid: dependent.uid },
        type: "Warning",
        reason: "OwnerRefInvalidNamespace",
        action: "CheckOwnerReferences",
        note: `ownerRef [v1/Pod, namespace: ns, name: o, uid: ${owner.uid}] does not exist in namespace "ns"`,
      },
    ]);
  });

  it("another owner that is there: the dependent loses the reference, and is told of", async () => {
    const world = new CollectorWorld();
    const [here, there] = [await world.make("Pod", "h"), await world.make("Pod", "o", [], { namespace: "other" })];
    await world.make("Lease", "d", [here, there]);
    await world.settle();
    expect(world.find("Lease", "d")?.ownerReferences).toEqual([here]);
    expect(world.told.map(({ regarding }) => regarding.name)).toEqual(["d"]);
  });

  it("cluster-scoped dependent of a kind in namespaces: a Warning, the dependent stays, and nobody looks for the owner", async () => {
    const world = new CollectorWorld();
    await world.make("Node", "n", [{ apiVersion: "v1", kind: "Pod", name: "o", uid: "u" }]);
    await world.settle();
    expect(world.told.map(({ note, regarding }) => [note, regarding])).toEqual([
      [
        'ownerRef [v1/Pod, namespace: , name: o, uid: u] does not exist in namespace ""',
        { apiVersion: "v1", kind: "Node", name: "n", uid: uidOf(world, "Node", "n") },
      ],
    ]);
    expect([searches(world), world.find("Node", "n") !== undefined]).toEqual([0, true]);
  });

  it("owner of another namespace that was deleted before anybody looked: told, without a search", async () => {
    const world = new CollectorWorld();
    await world.settle();
    const owner = await world.make("Pod", "o", [], { namespace: "other" });
    await world.make("Lease", "d", [owner]);
    await world.delete("Pod", "o", {}, "other");
    await world.settle();
    expect([world.told.length, searches(world)]).toEqual([1, 0]);
  });

  it.each<[string, (world: CollectorWorld) => Promise<OwnerReference>, number]>([
    ["is in the same namespace", (world) => world.make("Pod", "o"), 0],
    ["is cluster-scoped", (world) => world.make("Node", "o"), 0],
    ["is cluster-scoped and gone", () => Promise.resolve({ apiVersion: "v1", kind: "Node", name: "o", uid: "u" }), 0],
    ["is of a kind that is not served", () => Promise.resolve({ apiVersion: "apps/v1", kind: "ReplicaSet", name: "o", uid: "u" }), 0],
    ["is nowhere", () => Promise.resolve({ apiVersion: "v1", kind: "Pod", name: "o", uid: "u" }), 1],
    [
      "has a namesake with another uid elsewhere",
      async (world) => ({ ...(await world.make("Pod", "o", [], { namespace: "other" })), uid: "u" }),
      1,
    ],
  ])("owner that %s: nothing is told", async (_, owner, wanted) => {
    const world = new CollectorWorld();
    await world.make("Lease", "d", [await owner(world)]);
    await world.settle();
    expect([world.told, searches(world)]).toEqual([[], wanted]);
  });

  it("deletion of an owner with dependents: no search, whatever its way", async () => {
    const world = new CollectorWorld();
    for (const [i, propagationPolicy] of (["Background", "Foreground", "Orphan"] as const).entries()) {
      const owner = await world.make("Pod", `o-${i}`);
      await world.make("Lease", `d-${i}`, [owner]);
      await world.settle();
      await world.delete("Pod", `o-${i}`, { propagationPolicy });
      await world.settle();
    }
    expect([world.told, searches(world)]).toEqual([[], 0]);
  });

  it("many dependents of one owner elsewhere: one search, and an Event for each", async () => {
    const world = new CollectorWorld();
    const owner = await world.make("Pod", "o", [], { namespace: "other" });
    for (const name of ["a", "b", "c"]) await world.make("Lease", name, [owner]);
    await world.settle();
    expect([world.told.map(({ regarding }) => regarding.name).sort(), searches(world)]).toEqual([["a", "b", "c"], 1]);
  });

  it("dependent that is looked at again: told once", async () => {
    const world = new CollectorWorld();
    const owner = await world.make("Pod", "o", [], { namespace: "other" });
    const node = await world.make("Node", "n", [owner]);
    let tries = 0;
    world.fault = (call) => (call === "leases write" && tries++ < 2 ? "down" : undefined);
    await world.make("Lease", "d", [owner]);
    await world.settle();
    await world.patch("Node", "n", { ownerReferences: [owner, { ...node, uid: "other" }] });
    await world.settle();
    expect(world.told.map(({ regarding }) => regarding.name).sort()).toEqual(["d", "n"]);
    expect([tries, searches(world)]).toEqual([3, 1]);
  });

  it("dependent in deletion: nothing is told", async () => {
    const world = new CollectorWorld();
    await world.make("Lease", "d", [], HELD);
    await world.delete("Lease", "d");
    const owner = await world.make("Pod", "o", [], { namespace: "other" });
    await world.patch("Lease", "d", { ownerReferences: [owner] });
    await world.settle();
    expect([world.told, searches(world)]).toEqual([[], 0]);
  });

  it("search that fails: the dependent goes without an Event", async () => {
    const world = new CollectorWorld();
    const owner = await world.make("Pod", "o", [], { namespace: "other" });
    await world.make("Lease", "d", [owner]);
    world.fault = (call) => (call === "pods whereabouts" ? "down" : undefined);
    await world.settle();
    expect([world.told, world.find("Lease", "d")]).toEqual([[], undefined]);
  });

  it("an owner behind more namespaces than one call looks through: found by a second call", async () => {
    const world = new CollectorWorld();
    for (let i = 0; i < SEARCHED_ROWS_MAX / 2; i++) await world.make("Pod", "x", [], { namespace: `n-${String(i).padStart(4, "0")}` });
    const owner = await world.make("Pod", "x", [], { namespace: "z" });
    await world.make("Lease", "d", [owner]);
    await world.settle();
    expect([world.told.map(({ regarding }) => regarding.name), searches(world)]).toEqual([["d"], 2]);
  });

  it("a store that is silent when an owner is looked for: the dependent goes without an Event", async () => {
    const world = new CollectorWorld();
    const owner = await world.make("Pod", "o", [], { namespace: "other" });
    await world.make("Lease", "d", [owner]);
    await world.make("Lease", "e", [{ ...owner, kind: "Lease", apiVersion: "coordination.k8s.io/v1", uid: "u" }]);
    world.fault = (call) => (call === "pods whereabouts" ? "silent" : undefined);
    await world.settle();
    expect([world.told, world.find("Lease", "d"), world.find("Lease", "e")]).toEqual([[], undefined, undefined]);
  });

  it("more owners at once than a round looks for: the first have their Events, all dependents go", async () => {
    const world = new CollectorWorld();
    for (let i = 0; i < 70; i++) {
      const owner = await world.make("Pod", `o-${i}`, [], { namespace: "other" });
      await world.make("Lease", `d-${i}`, [owner]);
    }
    await world.settle();
    expect([world.told.length, world.stores.Lease.world.storage.objectScan("", "").length]).toEqual([64, 0]);
  });
});
