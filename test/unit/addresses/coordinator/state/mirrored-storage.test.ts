import { describe, expect, it } from "vitest";
import type { CoordinatorState, CoordinatorStorage } from "../../../../../src/addresses/coordinator/state/coordinator-storage";
import { MirroredStorage } from "../../../../../src/addresses/coordinator/state/mirrored-storage";
import { MemoryCoordinatorStorage } from "../../../../support/memory/coordinator-storage";
import { seededRandom } from "../../../../support/sim/platform/seeded-random";
import { firstSeeds, itOfSeeds } from "../../../../support/sim/platform/seeds";

const UIDS = ["a", "b", "c"];
const PREFIXES = ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/25", "10.0.2.128/25"];

class Undone extends Error {}

function sorted(state: CoordinatorState): unknown {
  const texts = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();
  const { epoch, cidrs, ranges, claims, owners, handoffs } = state;
  return { epoch, cidrs: texts(cidrs), ranges: texts(ranges), claims: texts(claims), owners: texts(owners), handoffs: texts(handoffs) };
}

describe("MirroredStorage", () => {
  itOfSeeds("random writes and rollbacks: load answers what is stored (seed %i)", { fixed: firstSeeds(4), further: 3 }, (seed) => {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[random.below(from.length)] as T;
    const below = new MemoryCoordinatorStorage();
    const mirror = new MirroredStorage(below);
    const writes: ((storage: CoordinatorStorage) => void)[] = [
      (storage) => storage.epochSave(storage.load().epoch + 1 + random.below(3)),
      (storage) =>
        storage.cidrSave({
          uid: pick(UIDS),
          name: pick(UIDS),
          deleting: random.below(2) === 0,
          suspended: false,
          fencedUntil: random.below(3),
          finalizer: true,
          condition: random.below(2) === 0 ? undefined : { status: "True", reason: "", message: "" },
        }),
      (storage) => storage.cidrDelete(pick(UIDS)),
      (storage) => storage.rangeSave({ uid: pick(UIDS), prefix: pick(PREFIXES), ready: random.below(2) === 0 }),
      // Throws for a claim that exists: the transaction around it is rolled back.
      (storage) => storage.claimInsert({ prefix: pick(PREFIXES), ownerUid: pick(UIDS), seeded: false }),
      (storage) => storage.claimSeeded(pick(PREFIXES)),
      (storage) => storage.claimDelete(pick(PREFIXES)),
      (storage) =>
        storage.ownerSave({ uid: pick(UIDS), epoch: random.below(9), content: "{}", ackedEpoch: 0, closedUntil: random.below(3) }),
      (storage) => storage.ownerDelete(pick(UIDS)),
      (storage) =>
        storage.handoffSave({
          sourceUid: pick(UIDS),
          targetUid: pick(UIDS),
          id: random.below(9),
          prefixes: [pick(PREFIXES)],
          phase: "copying",
          dueAt: random.below(9),
          failures: 0,
        }),
      (storage) => storage.handoffDelete({ sourceUid: pick(UIDS), targetUid: pick(UIDS) }),
    ];
    const transaction = (depth: number): void => {
      mirror.transaction(() => {
        for (let steps = 1 + random.below(4); steps > 0; steps--) {
          pick(writes)(mirror);
          if (random.below(3) === 0) expect(sorted(mirror.load())).toEqual(sorted(below.load()));
        }
        if (depth > 0 && random.below(2) === 0) attempt(() => transaction(depth - 1));
        if (random.below(5) === 0) throw new Undone();
      });
    };
    for (let round = 0; round < 400; round++) {
      // A transaction around the mirror's is rolled back after the mirror's has ended.
      if (random.below(5) === 0) {
        attempt(() =>
          below.transaction(() => {
            transaction(1);
            throw new Undone();
          }),
        );
        mirror.forget();
      } else attempt(() => transaction(2));
      expect(sorted(mirror.load())).toEqual(sorted(below.load()));
    }
  });

  it("load without a write: answers the same state", () => {
    const mirror = new MirroredStorage(new MemoryCoordinatorStorage());
    const before = mirror.load();
    expect(mirror.load()).toBe(before);
    mirror.epochSave(1);
    expect(mirror.load()).not.toBe(before);
    expect(before.epoch).toBe(0);
  });
});

/** Runs work that may be rolled back. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Undone) && !/claim|base/i.test(String(error))) throw error;
  }
}
