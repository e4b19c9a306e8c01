/** One owner with many dependents: what the collector holds, reads and saves together. */
import { describe, expect, it } from "vitest";
import { forbidden } from "../../../../src/api/meta/status";
import { leasesDefinition } from "../../../../src/api/registry/leases/definition";
import { CollectorWorld } from "../../../support/worlds/collector-world";

const HISTORY = 100_000;
const SAVED_TOGETHER = 40;

/** A Pod that owns this many Leases, as the collector knows them at rest. */
async function family(dependents: number, savedTogether: number): Promise<CollectorWorld> {
  const world = new CollectorWorld(HISTORY, savedTogether);
  const owner = await world.make("Pod", "o");
  for (let i = 0; i < dependents; i++) await world.make("Lease", `d${i}`, [owner]);
  await world.settle();
  return world;
}

/** What the collector costs from now on: rows that are read, rows of the largest transaction, and the most nodes in memory at its end. */
function measured({ storage, collector }: CollectorWorld): { reads: number; savedMost: number; heldMost: number } {
  const found = { reads: 0, savedMost: 0, heldMost: 0 };
  const { nodeGet, nodePut, nodeDelete, transaction } = {
    nodeGet: storage.nodeGet.bind(storage),
    nodePut: storage.nodePut.bind(storage),
    nodeDelete: storage.nodeDelete.bind(storage),
    transaction: storage.transaction.bind(storage),
  };
  let saved = 0;
  storage.nodeGet = (id) => (found.reads++, nodeGet(id));
  storage.nodePut = (id, node) => (saved++, nodePut(id, node));
  storage.nodeDelete = (id) => (saved++, nodeDelete(id));
  storage.transaction = (work) => {
    saved = 0;
    found.heldMost = Math.max(found.heldMost, collector.held);
    transaction(work);
    found.savedMost = Math.max(found.savedMost, saved);
  };
  return found;
}

describe.each([
  ["Foreground", 250, 0],
  ["Background", 1_200, 0],
  ["Orphan", 1_200, 1_200],
] as const)("deletion %s of an owner with %i dependents", (propagationPolicy, dependents, left) => {
  it("is carried out; memory holds few of them, few are saved together, and each is read a few times", async () => {
    const world = await family(dependents, SAVED_TOGETHER);
    const costs = measured(world);
    await world.delete("Pod", "o", { propagationPolicy });
    await world.settle();
    expect(world.all().size).toBe(left);
    expect([...world.all().values()].flatMap(({ ownerReferences = [] }) => ownerReferences)).toEqual([]);
    expect(costs.savedMost).toBeLessThanOrEqual(SAVED_TOGETHER + 1);
    expect(costs.heldMost).toBeLessThanOrEqual(SAVED_TOGETHER + 1);
    expect(costs.reads).toBeLessThanOrEqual(5 * dependents);
  });
});

it.each([
  [600, 50],
  [1_100, 700],
] as const)(
  "deletion Orphan: %i dependents that refuse keep none of %i others from their turn, and hold the owner",
  async (refused, others) => {
    const world = new CollectorWorld(HISTORY);
    const owner = await world.make("Pod", "o");
    for (let i = 0; i < refused; i++) await world.make("Lease", `d${i}`, [owner]);
    await world.settle();
    for (let i = 0; i < others; i++) await world.make("Pod", `e${i}`, [owner]);
    await world.settle();
    world.refusal = (call) => (call === "leases write" ? forbidden(leasesDefinition, "d", "no") : undefined);
    const owned = (kind: string): number =>
      [...world.all()].filter(([id, { ownerReferences }]) => id.startsWith(kind) && ownerReferences?.length === 1).length;
    await world.delete("Pod", "o", { propagationPolicy: "Orphan" });
    const passes = await world.settle();
    expect([owned("Lease"), owned("Pod"), world.find("Pod", "o")?.finalizers]).toEqual([refused, 0, ["orphan"]]);
    expect(world.logged.length, "each is tried once in a pass").toBeLessThanOrEqual(passes * refused);
    world.refusal = () => undefined;
    await world.settle();
    expect([owned("Lease"), world.find("Pod", "o")]).toEqual([0, undefined]);
  },
);

it.each([1, 2, 3, 4, 5, 6, 7])(
  "the object dies behind transaction %i while dependents are marked: the next one examines the rest",
  async (n) => {
    const world = await family(30, 5);
    const transaction = world.storage.transaction.bind(world.storage);
    let left = n;
    world.storage.transaction = (work) => {
      if (left-- <= 0) throw new Error("the object is dead");
      transaction(work);
    };
    await world.delete("Pod", "o", { propagationPolicy: "Foreground" });
    await world.run().catch(() => undefined);
    world.storage.transaction = transaction;
    world.restart();
    await world.settle();
    expect([...world.all().keys()]).toEqual([]);
  },
);
