/** A view takes over facts of the view before it. It must answer as a view that works out everything itself. */
import { expect, it } from "vitest";
import type { CoordinatorState } from "../../../../../src/addresses/coordinator/state/coordinator-storage";
import { MirroredStorage } from "../../../../../src/addresses/coordinator/state/mirrored-storage";
import { type TopologyView, viewOf } from "../../../../../src/addresses/coordinator/state/topology-view";
import type { WordRandom } from "../../../../../src/core/base/word-random";
import { formatPrefix } from "../../../../../src/core/net/prefix";
import { claimUnowned } from "../../../../../src/addresses/topology/claim";
import { storedPrefix } from "../../../../../src/addresses/topology/stored-prefix";
import { MemoryCoordinatorStorage } from "../../../../support/memory/coordinator-storage";
import { seededRandom } from "../../../../support/sim/platform/seeded-random";
import { histories, playEach, seedsOf } from "../../../../support/sim/platform/seeds";
import { randomPrefix } from "../../topology/random-prefix";

const STEPS = 80;
const UIDS = ["a", "b", "c", "d", "e"];

type Step = (storage: MirroredStorage, state: CoordinatorState, random: WordRandom) => void;

function one<T>(random: WordRandom, items: readonly T[]): T | undefined {
  return items[random.below(Math.max(items.length, 1))];
}

const STEPS_OF_A_COORDINATOR: readonly Step[] = [
  (storage, _, random) => {
    const uid = one(random, UIDS) ?? "";
    const [deleting, suspended] = [random.below(3) === 0, random.below(4) === 0];
    storage.cidrSave({
      uid,
      name: uid,
      deleting,
      suspended,
      fencedUntil: random.below(4) === 0 ? 9 : 0,
      finalizer: true,
      condition: undefined,
    });
  },
  (storage, { cidrs }, random) => {
    const row = one(random, cidrs);
    if (row && random.below(3) === 0) storage.cidrDelete(row.uid);
  },
  (storage, { cidrs }, random) => {
    if (random.below(8) > 0) return;
    const configured = cidrs.find(({ name }) => name === "");
    if (configured) storage.cidrDelete(configured.uid);
    else {
      storage.cidrSave({ uid: "x", name: "", deleting: false, suspended: false, fencedUntil: 0, finalizer: true, condition: undefined });
      storage.rangeSave({ uid: "x", prefix: formatPrefix(randomPrefix(random)), ready: false });
    }
  },
  (storage, _, random) => storage.rangeSave({ uid: one(random, UIDS) ?? "", prefix: formatPrefix(randomPrefix(random)), ready: false }),
  (storage, { ranges }, random) => {
    const row = one(random, ranges);
    if (row) storage.rangeSave({ ...row, ready: !row.ready });
  },
  (storage, { claims }, random) => {
    const [prefix] = claimUnowned(
      [randomPrefix(random)],
      claims.map((claim) => storedPrefix(claim.prefix)),
    );
    if (prefix) storage.claimInsert({ prefix: formatPrefix(prefix), ownerUid: one(random, UIDS) ?? "", seeded: random.below(2) === 0 });
  },
  (storage, { claims }, random) => {
    const row = one(random, claims);
    if (row) storage.claimSeeded(row.prefix);
  },
  (storage, { claims }, random) => {
    const row = one(random, claims);
    if (row && random.below(2) === 0) storage.claimDelete(row.prefix);
  },
  (storage, { epoch }, random) => {
    storage.epochSave(epoch + 1);
    storage.ownerSave({
      uid: one(random, UIDS) ?? "",
      epoch: epoch + 1,
      content: "{}",
      ackedEpoch: random.below(2) * (epoch + 1),
      closedUntil: random.below(3),
    });
  },
  (storage, { owners }, random) => {
    const row = one(random, owners);
    if (row && random.below(2) === 0) storage.ownerDelete(row.uid);
  },
  // A segment is on its way, and then its target's.
  (storage, { claims, handoffs }, random) => {
    const row = one(
      random,
      claims.filter(({ seeded }) => seeded),
    );
    const targetUid = one(random, UIDS) ?? "";
    if (!row || row.ownerUid === targetUid || handoffs.some(({ sourceUid }) => sourceUid === row.ownerUid)) return;
    const handoff = { sourceUid: row.ownerUid, targetUid, id: random.below(100), prefixes: [row.prefix], dueAt: 0, failures: 0 };
    storage.handoffSave({ ...handoff, phase: "copying" });
  },
  (storage, { claims, handoffs }, random) => {
    const row = one(random, handoffs);
    const claim = claims.find(({ prefix }) => prefix === row?.prefixes[0]);
    if (row?.phase !== "copying" || claim?.ownerUid !== row.sourceUid) return;
    storage.claimDelete(claim.prefix);
    storage.claimInsert({ ...claim, ownerUid: row.targetUid });
    storage.handoffSave({ ...row, phase: "activating" });
  },
  (storage, { handoffs }, random) => {
    const row = one(random, handoffs);
    if (row) storage.handoffDelete(row);
  },
];

/** All answers of a view, as JSON, which is cheap to compare. */
function said(view: TopologyView): string {
  return JSON.stringify({
    contents: [...view.desiredContents()],
    ranges: view.ranges.map((range) => [range.uid, range.prefix, view.isAllocatable(range), view.isCover(range)]),
    claims: view.claims.map((claim) => [claim.prefix, view.isNamed(claim)]),
    moves: view.ownerUids().map((uid) => [uid, view.movesOf(uid).map(({ claim, prefix, targetUid }) => [claim, prefix, targetUid])]),
    remainders: view.ownerUids().map((uid) => [uid, view.remaindersOf(uid)]),
    deletions: [...view.cidrs.keys()].map((uid) => [uid, [...view.onlyCoveredBy(uid)]]),
  });
}

it("view after any change: answers as a view without a predecessor", () =>
  playEach(seedsOf(histories(8)), (seed) => {
    const random = seededRandom(seed);
    const settings = { staticBands: true };
    const storage = new MirroredStorage(new MemoryCoordinatorStorage());
    for (let step = 0; step < STEPS; step++) {
      const changes = 1 + random.below(3);
      const work = (): void => {
        for (let i = 0; i < changes; i++) one(random, STEPS_OF_A_COORDINATOR)?.(storage, storage.load(), random);
        // Another reader may have asked only a part in between.
        if (random.below(2) === 0) viewOf(storage.load(), settings).desiredContents();
        if (random.below(10) === 0) throw new Error("the transaction is lost");
      };
      try {
        storage.transaction(work);
      } catch (error) {
        expect(String(error)).toContain("the transaction is lost");
      }
      const state = storage.load();
      if (random.below(3) === 0) continue;
      expect(said(viewOf(state, settings)), `step ${step}`).toBe(said(viewOf(structuredClone(state), { ...settings })));
    }
  }));

it("view whose facts were taken over: answers as before", () => {
  const settings = { staticBands: true };
  const storage = new MirroredStorage(new MemoryCoordinatorStorage());
  storage.cidrSave({ uid: "a", name: "a", deleting: false, suspended: false, fencedUntil: 0, finalizer: true, condition: undefined });
  storage.rangeSave({ uid: "a", prefix: "10.0.0.0/24", ready: true });
  storage.claimInsert({ prefix: "10.0.0.0/24", ownerUid: "a", seeded: true });
  const before = viewOf(storage.load(), settings);
  const saidBefore = said(before);
  storage.claimDelete("10.0.0.0/24");
  storage.claimInsert({ prefix: "10.0.0.0/25", ownerUid: "b", seeded: false });
  const after = said(viewOf(storage.load(), settings));
  expect(said(before)).toBe(saidBefore);
  expect(said(viewOf(storage.load(), settings))).toBe(after);
  expect(after).not.toBe(saidBefore);
});
