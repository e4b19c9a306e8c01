/** Turns of several changes, which share rows of the history: whoever comes back, from wherever, sees each change that it has not seen. */
import { expect, it } from "vitest";
import type { CommittedChange } from "../../../../../src/api/store/state/extension";
import { leasesDefinition } from "../../../../../src/api/registry/leases/definition";
import { itOfSeeds } from "../../../../support/sim/platform/seeds";
import { pick, seededRandom } from "../../../../support/sim/platform/seeded-random";
import { storedState } from "../../../../support/worlds/stored-history";
import { aLease, collectionRequest, createRequest, DELETE, StoreWorld, WRITE } from "../../../../support/worlds/store-world";

const met = { sharedRows: 0, middles: 0, trims: 0, crashes: 0, undone: 0, unwritten: 0 };
const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"];
const { renewed: _, ...WRITTEN } = leasesDefinition;

itOfSeeds(
  "random turns, deaths and trims (seed %i): a watch from each revision that the history reaches has exactly the later changes",
  { fixed: [1, 2, 3, 4, 5, 6], further: 2 },
  async (seed) => {
    const random = seededRandom(seed);
    const changes: { revision: number; text: string }[] = [];
    const told = ({ type, key, revision }: Pick<CommittedChange, "type" | "key" | "revision">) => ({
      revision,
      text: `${type} ${key}@${revision}`,
    });
    // The half of the stores keep what nobody reads in memory.
    const definition = seed % 2 === 0 ? WRITTEN : leasesDefinition;
    const world = new StoreWorld({
      ...{ seed, definition, observers: [{ turnCommitted: (committed) => void changes.push(...committed.map(told)) }] },
      historyBounds: { entriesMax: 40, sizeMax: 1e9, trimEntries: 7, unwritten: { entriesMax: 15, charsMax: 1e9 } },
    });
    const write = (): Promise<unknown> => {
      const name = pick(random, NAMES);
      const key = { namespace: "ns", name };
      const kind = random.below(4);
      const holderIdentity = "x".repeat(random.below(20) === 0 ? 200_000 : random.below(50));
      if (kind === 0) return world.store.write({ verb: "delete", key, options: DELETE });
      if (kind === 1) return world.store.write(createRequest(aLease(name, { holderIdentity })));
      const patch = JSON.stringify({ spec: { holderIdentity } });
      return world.store.write({ verb: "patch", key, subresource: "", patchType: "merge", patch, options: WRITE });
    };
    for (let round = 0; round < 40; round++) {
      world.storage.undoneKey = random.below(6) === 0 ? `ns/${pick(random, NAMES)}` : undefined;
      if (world.storage.undoneKey) met.undone++;
      const dies = random.below(8) === 0;
      if (dies) world.storage.crashNext = pick(random, ["beforeCommit", "afterCommit"] as const);
      const writes = Array.from({ length: 1 + random.below(12) }, write);
      await world.scheduler.run(Promise.allSettled(writes).then(() => undefined));
      world.storage.crashNext = undefined;
      if (dies || random.below(8) === 0) {
        met.crashes++;
        world.restart();
        // Nobody was told whether the changes of a turn that died are stored.
        const last = changes.at(-1)?.revision ?? 0;
        changes.push(...world.storage.historySince(Math.max(last, world.store.floor), 1_000).map(told));
      }
      if (random.below(5) === 0) world.store.compact();
      await expectResumed(world, changes, `seed ${seed}, round ${round}`);
      // Then nobody reads any more.
      if (random.below(3) > 0) await world.scheduler.pass(80_000);
    }
  },
);

async function expectResumed(world: StoreWorld, changes: readonly { revision: number; text: string }[], note: string): Promise<void> {
  const { floor, revision } = world.store;
  if (floor > 1) met.trims++;
  const { historyEntries } = storedState(world.storage);
  expect(world.storage.historySince(world.store.writtenFloor, 1e6), note).toHaveLength(historyEntries);
  if (world.history(floor).length > historyEntries) met.unwritten++;
  const rows = new Set<number>();
  for (let since = floor; since <= revision; since++) {
    const later = changes.filter((change) => change.revision > since);
    for (const limit of [1, 4, 1_000]) {
      const read: string[] = [];
      for (let after = since; ;) {
        const page = world.store.history.historySince(after, limit);
        if (page.length > limit) rows.add(page.at(-1)?.revision ?? 0);
        read.push(...page.map(({ type, key, revision: at }) => `${type} ${key}@${at}`));
        if (page.length < limit) break;
        after = page.at(-1)?.revision ?? 0;
      }
      expect(read, `${note}, since ${since}, ${limit} at once`).toEqual(later.map(({ text }) => text));
    }
    const fed = [...world.store.history.changesSince(since, 3)].map(({ type, key, revision: at }) => `${type} ${key}@${at}`);
    expect(fed, `${note}, since ${since}`).toEqual(later.slice(0, 3).map(({ text }) => text));
  }
  met.sharedRows += rows.size;
  const places = [floor, Math.floor((floor + revision) / 2), revision];
  for (const since of places) {
    const watch = world.watch(collectionRequest(world.definition, { verb: "watch", resourceVersion: String(since) }));
    await world.scheduler.pass(10);
    watch.stop();
    const seen = watch.events.map(({ object }) => Number(object.metadata?.resourceVersion));
    expect(seen, `${note}, since ${since}`).toEqual(changes.filter((change) => change.revision > since).map((change) => change.revision));
    if (seen.length > 0 && since > floor) met.middles++;
  }
}

it("what the fixed seeds met: rows of several changes, deaths, trims, writes that were undone, changes in memory alone", () => {
  expect(
    Object.values(met).every((count) => count > 0),
    JSON.stringify(met),
  ).toBe(true);
});
