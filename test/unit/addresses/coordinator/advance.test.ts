/** When a committed hand-off ends, whatever has happened to its segments at the target meanwhile. */
import { beforeEach, describe, expect, it } from "vitest";
import { OWNER_PREFIXES_MAX } from "../../../../src/addresses/rpc/limits";
import { advance } from "../../../../src/addresses/coordinator/advance";
import type { CidrRow, ClaimRow, HandoffRow } from "../../../../src/addresses/coordinator/state/coordinator-storage";
import { MirroredStorage } from "../../../../src/addresses/coordinator/state/mirrored-storage";
import { MemoryCoordinatorStorage } from "../../../support/memory/coordinator-storage";

const SETTINGS = { staticBands: true };
const NOW_MS = 1_000;
const LOW = "10.0.1.0/25";
const HIGH = "10.0.1.128/25";
const WHOLE = "10.0.1.0/24";
/** An owner of so many segments has neighbours joined although more are to come. */
const MANY = OWNER_PREFIXES_MAX / 2;

let memory: MemoryCoordinatorStorage;
let storage: MirroredStorage;

function cidr(uid: string, deleting: boolean): CidrRow {
  return { uid, name: uid, deleting, suspended: false, fencedUntil: 0, finalizer: true, condition: undefined };
}

/** Segments of which no two are neighbours. */
function filler(count: number): Record<string, ClaimRow> {
  const rows = Array.from({ length: count }, (_, i): [string, ClaimRow] => {
    const base = `10.${128 + (i >> 15)}.${(i >> 7) & 255}.${(i & 127) * 2}`;
    return [base, { prefix: `${base}/32`, ownerUid: "new", seeded: true }];
  });
  return Object.fromEntries(rows);
}

/** `old` hands one half over to `new`, which has the other half and `others`; the rows are copied. */
function begin(others: Record<string, ClaimRow>): HandoffRow {
  memory = new MemoryCoordinatorStorage();
  const halves = {
    "10.0.1.0": { prefix: LOW, ownerUid: "new", seeded: true },
    "10.0.1.128": { prefix: HIGH, ownerUid: "old", seeded: true },
  };
  memory.contents = {
    ...memory.contents,
    epoch: 5,
    cidrs: { old: cidr("old", true), new: cidr("new", false) },
    ranges: { "old 1": { uid: "old", prefix: WHOLE, ready: false }, "new 1": { uid: "new", prefix: WHOLE, ready: true } },
    claims: { ...others, ...halves },
  };
  storage = new MirroredStorage(memory);
  step(() => undefined);
  confirm();
  const row: HandoffRow = {
    sourceUid: "old",
    targetUid: "new",
    id: storage.load().epoch + 1,
    prefixes: [HIGH],
    phase: "copying",
    dueAt: 60_000,
    failures: 0,
  };
  step(() => storage.handoffSave(row));
  confirm();
  return row;
}

function step(work: () => void): void {
  storage.transaction(() => {
    work();
    advance(storage, SETTINGS, NOW_MS);
  });
}

/** All owners confirm their newest configuration. */
function confirm(): void {
  step(() => storage.load().owners.forEach((owner) => storage.ownerSave({ ...owner, ackedEpoch: owner.epoch })));
}

function commit(row: HandoffRow): void {
  step(() => {
    for (const prefix of row.prefixes) {
      storage.claimDelete(prefix);
      storage.claimInsert({ prefix, ownerUid: row.targetUid, seeded: true });
    }
    storage.handoffSave({ ...row, phase: "activating" });
  });
}

function ownedBy(uid: string): string[] {
  const content = JSON.parse(storage.load().owners.find((owner) => owner.uid === uid)?.content ?? "{}") as { owned?: string[] };
  return (content.owned ?? []).filter((prefix) => prefix.startsWith("10.0."));
}

describe("committed hand-off", () => {
  let row: HandoffRow;

  describe("target with too many segments", () => {
    beforeEach(() => {
      row = begin(filler(MANY));
      commit(row);
    });

    it("target's content: has the received segment alone, and joins it with its neighbour after the confirmation", () => {
      expect(ownedBy("new")).toEqual([LOW, HIGH]);
      expect(ownedBy("old"), "frozen until the other is active").toEqual([HIGH]);
      confirm();
      expect(storage.load().handoffs).toEqual([]);
      expect([ownedBy("new"), ownedBy("old")]).toEqual([[WHOLE], []]);
    });
  });

  describe("target that hands the segment on in pieces before it confirms", () => {
    beforeEach(() => {
      row = begin({});
      commit(row);
      step(() => {
        storage.claimDelete(HIGH);
        for (const prefix of ["10.0.1.128/26", "10.0.1.192/26"]) storage.claimInsert({ prefix, ownerUid: "new", seeded: true });
      });
    });

    it("confirmation: ends the hand-off", () => {
      expect(storage.load().handoffs).toHaveLength(1);
      confirm();
      expect(storage.load().handoffs).toEqual([]);
      expect(ownedBy("old")).toEqual([]);
    });
  });
});
