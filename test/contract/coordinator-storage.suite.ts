import type {
  CidrRow,
  ClaimRow,
  CoordinatorState,
  CoordinatorStorage,
  HandoffRow,
  OwnerRow,
} from "../../src/addresses/coordinator/state/coordinator-storage";
import { type ContractCase, isConflict, LARGEST, sorted, undone, UNICODE } from "./contract-case";

const CHANGED = { name: UNICODE, deleting: false, suspended: true, fencedUntil: LARGEST, finalizer: false };

/** What every CoordinatorStorage does. */
export const coordinatorStorageCases: readonly ContractCase<CoordinatorStorage>[] = [
  {
    name: "nothing at first; deletes of absent rows change nothing",
    run(storage) {
      storage.cidrDelete("a");
      storage.claimSeeded("10.0.0.0/24");
      storage.claimDelete("10.0.0.0/24");
      storage.ownerDelete("a");
      storage.handoffDelete({ sourceUid: "a", targetUid: "b" });
      storage.seedingDelete("t");
      storage.seedingsClear("a");
      return [storage.load(), storage.seedingsOf("a")];
    },
    want: [state({}), []],
  },
  {
    name: "epochSave: the last one; one that is not later than the last throws",
    run(storage) {
      storage.epochSave(3);
      const refused = [3, 2, 0].map((epoch) => throws(() => storage.epochSave(epoch)));
      const kept = storage.load().epoch;
      storage.epochSave(LARGEST);
      return [refused, kept, storage.load().epoch];
    },
    want: [[true, true, true], 3, LARGEST],
  },
  {
    name: "cidrs: the last row of each uid, with a condition or without",
    run(storage) {
      storage.cidrSave(cidr("a"));
      storage.cidrSave(cidr("b"));
      storage.cidrSave({ ...cidr("b"), condition: undefined });
      storage.cidrSave({ ...cidr("a"), ...CHANGED });
      storage.cidrSave({ ...cidr(""), name: "", fencedUntil: 0 });
      return rowsOf(storage).cidrs;
    },
    want: sorted([
      { ...cidr("b"), condition: undefined },
      { ...cidr("a"), ...CHANGED },
      { ...cidr(""), name: "", fencedUntil: 0 },
    ]),
  },
  {
    name: "cidrDelete: takes the ranges of its uid along, and no others",
    run(storage) {
      for (const uid of ["a", "b"]) {
        storage.cidrSave(cidr(uid));
        for (const prefix of ["10.0.0.0/24", "fd00::/112"]) storage.rangeSave({ uid, prefix, ready: false });
      }
      storage.rangeSave({ uid: "b", prefix: "fd00::/112", ready: true });
      storage.cidrDelete("a");
      const { cidrs, ranges } = rowsOf(storage);
      return [cidrs, ranges];
    },
    want: [
      [cidr("b")],
      sorted([
        { uid: "b", prefix: "10.0.0.0/24", ready: false },
        { uid: "b", prefix: "fd00::/112", ready: true },
      ]),
    ],
  },
  {
    name: "claimInsert: a second claim of a base address throws, whatever its length and its owner",
    run(storage) {
      storage.claimInsert(claim("10.0.0.0/24", "a"));
      const refused = [claim("10.0.0.0/24", "a"), claim("10.0.0.0/25", "b")].map((row) => isConflict(() => storage.claimInsert(row)));
      storage.claimInsert(claim("10.0.0.128/25", "b"));
      return [refused, rowsOf(storage).claims];
    },
    want: [[true, true], sorted([claim("10.0.0.0/24", "a"), claim("10.0.0.128/25", "b")])],
  },
  {
    name: "claimSeeded and claimDelete: the claim of exactly this prefix",
    run(storage) {
      storage.claimInsert(claim("10.0.0.0/24", "a"));
      storage.claimInsert(claim("fd00::/112", UNICODE));
      storage.claimSeeded("10.0.0.0/25");
      storage.claimDelete("10.0.0.0/23");
      const kept = rowsOf(storage).claims;
      storage.claimSeeded("fd00::/112");
      storage.claimDelete("10.0.0.0/24");
      storage.claimInsert({ ...claim("10.0.0.0/25", "b"), seeded: true });
      return [kept, rowsOf(storage).claims];
    },
    want: [
      sorted([claim("10.0.0.0/24", "a"), claim("fd00::/112", UNICODE)]),
      sorted([
        { ...claim("fd00::/112", UNICODE), seeded: true },
        { ...claim("10.0.0.0/25", "b"), seeded: true },
      ]),
    ],
  },
  {
    name: "owners: the last row of each uid, until it is deleted",
    run(storage) {
      storage.ownerSave(owner("a", 1));
      storage.ownerSave(owner("b", 2));
      storage.ownerSave({ uid: "a", epoch: LARGEST, content: UNICODE, ackedEpoch: LARGEST, closedUntil: LARGEST });
      storage.ownerSave(owner("c", 3));
      storage.ownerDelete("c");
      return rowsOf(storage).owners;
    },
    want: sorted([{ uid: "a", epoch: LARGEST, content: UNICODE, ackedEpoch: LARGEST, closedUntil: LARGEST }, owner("b", 2)]),
  },
  {
    name: "hand-offs: one row per source and target, the last one, until it is deleted",
    run(storage) {
      storage.handoffSave(handoff("a", "b", 1));
      storage.handoffSave(handoff("a", "c", 1));
      storage.handoffSave(handoff("b", "a", 2));
      storage.handoffSave({ ...handoff("a", "b", LARGEST), prefixes: [], phase: "resting", dueAt: LARGEST, failures: LARGEST });
      storage.handoffDelete({ sourceUid: "a", targetUid: "c" });
      storage.handoffDelete({ sourceUid: "c", targetUid: "a" });
      return rowsOf(storage).handoffs;
    },
    want: sorted([
      { ...handoff("a", "b", LARGEST), prefixes: [], phase: "resting", dueAt: LARGEST, failures: LARGEST },
      handoff("b", "a", 2),
    ]),
  },
  {
    name: "seedings: the last row of each token; cleared by owner; not among the rows that are loaded",
    run(storage) {
      for (const [token, address, ownerUid] of [
        ["s", "10.0.0.1", "a"],
        ["t", "10.0.0.2", "a"],
        ["u", "10.0.0.3", "b"],
        ["t", "fd00::1", "b"],
        ["v", "10.0.0.4", "a"],
        ["", UNICODE, "c"],
      ] as const)
        storage.seedingSave({ token, address, ownerUid });
      storage.seedingDelete("s");
      const before = ["a", "b", "c"].map((uid) => sorted(storage.seedingsOf(uid)));
      storage.seedingsClear("b");
      return [before, ["a", "b", "c"].map((uid) => storage.seedingsOf(uid).length), storage.load()];
    },
    want: [
      [
        [{ token: "v", address: "10.0.0.4", ownerUid: "a" }],
        sorted([
          { token: "t", address: "fd00::1", ownerUid: "b" },
          { token: "u", address: "10.0.0.3", ownerUid: "b" },
        ]),
        [{ token: "", address: UNICODE, ownerUid: "c" }],
      ],
      [1, 0, 1],
      state({}),
    ],
  },
  {
    name: "a transaction that fails: leaves all rows as they were; one within another fails alone",
    run(storage) {
      storage.cidrSave(cidr("a"));
      storage.rangeSave({ uid: "a", prefix: "10.0.0.0/24", ready: true });
      storage.claimInsert(claim("10.0.0.0/24", "a"));
      storage.ownerSave(owner("a", 1));
      storage.handoffSave(handoff("a", "b", 1));
      storage.seedingSave({ token: "t", address: "10.0.0.1", ownerUid: "a" });
      undone(storage, () => {
        storage.epochSave(9);
        storage.cidrDelete("a");
        storage.cidrSave(cidr("b"));
        storage.claimDelete("10.0.0.0/24");
        storage.claimInsert(claim("10.0.0.0/25", "b"));
        storage.ownerDelete("a");
        storage.ownerSave(owner("b", 2));
        storage.handoffSave({ ...handoff("a", "b", 1), phase: "activating" });
        storage.handoffSave(handoff("b", "c", 2));
        storage.seedingsClear("a");
        storage.seedingSave({ token: "u", address: "10.0.0.2", ownerUid: "a" });
      });
      const answer = storage.transaction(() => {
        storage.epochSave(4);
        undone(storage, () => storage.epochSave(5));
        isConflict(() => storage.claimInsert(claim("10.0.0.0/24", "b")));
        return "answer";
      });
      return [answer, rowsOf(storage), storage.seedingsOf("a")];
    },
    want: [
      "answer",
      state({
        epoch: 4,
        cidrs: [cidr("a")],
        ranges: [{ uid: "a", prefix: "10.0.0.0/24", ready: true }],
        claims: [claim("10.0.0.0/24", "a")],
        owners: [owner("a", 1)],
        handoffs: [handoff("a", "b", 1)],
      }),
      [{ token: "t", address: "10.0.0.1", ownerUid: "a" }],
    ],
  },
  {
    name: "rows are copies: what is changed outside after a save changes nothing inside",
    run(storage) {
      const saved = { cidr: cidr("a"), handoff: handoff("a", "b", 1) };
      storage.cidrSave(saved.cidr);
      storage.handoffSave(saved.handoff);
      saved.cidr.name = "changed";
      if (saved.cidr.condition) saved.cidr.condition.status = "changed";
      saved.handoff.prefixes.push("changed");
      const { cidrs, handoffs } = storage.load();
      return [cidrs, handoffs];
    },
    want: [[cidr("a")], [handoff("a", "b", 1)]],
  },
];

function state(rows: Partial<CoordinatorState>): CoordinatorState {
  return { epoch: 0, cidrs: [], ranges: [], claims: [], owners: [], handoffs: [], ...rows };
}

/** All rows, in an order of their own. */
function rowsOf(storage: CoordinatorStorage): CoordinatorState {
  const { epoch, cidrs, ranges, claims, owners, handoffs } = storage.load();
  return {
    epoch,
    cidrs: sorted(cidrs),
    ranges: sorted(ranges),
    claims: sorted(claims),
    owners: sorted(owners),
    handoffs: sorted(handoffs),
  };
}

function throws(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch {
    return true;
  }
}

function cidr(uid: string): CidrRow {
  const condition = { status: "True", reason: "", message: UNICODE };
  return { uid, name: `name of ${uid}`, deleting: true, suspended: false, fencedUntil: 5, finalizer: true, condition };
}

function claim(prefix: string, ownerUid: string): ClaimRow {
  return { prefix, ownerUid, seeded: false };
}

function owner(uid: string, epoch: number): OwnerRow {
  return { uid, epoch, content: "{}", ackedEpoch: 0, closedUntil: 0 };
}

function handoff(sourceUid: string, targetUid: string, id: number): HandoffRow {
  return { sourceUid, targetUid, id, prefixes: ["10.0.0.0/24", "fd00::/112"], phase: "copying", dueAt: 5, failures: 0 };
}
