/** Tables of the Coordinator beside those of its `servicecidrs` store, and the CoordinatorStorage port over them. */
import type { RangeTenancy } from "../../src/addresses/rpc/topology";
import type {
  CidrRow,
  ClaimRow,
  CoordinatorStorage,
  HandoffRow,
  OwnerRow,
  RangeRow,
  ReadyCondition,
  SeedingRow,
} from "../../src/addresses/coordinator/state/coordinator-storage";

export const COORDINATOR_SCHEMA = `
  -- One row: the last epoch given out.
  CREATE TABLE epoch (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    value INTEGER NOT NULL
  ) STRICT;
  -- One row per ServiceCIDR object; condition is JSON, '' = none.
  CREATE TABLE cidrs (
    uid TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    deleting INTEGER NOT NULL,
    suspended INTEGER NOT NULL,
    fenced_until INTEGER NOT NULL,
    finalizer INTEGER NOT NULL,
    condition TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- One row per prefix of a ServiceCIDR object.
  CREATE TABLE ranges (
    uid TEXT NOT NULL,
    prefix TEXT NOT NULL,
    ready INTEGER NOT NULL,
    PRIMARY KEY (uid, prefix)
  ) STRICT, WITHOUT ROWID;
  -- Disjoint segments and who alone writes them; the base address is the guard against a second claim.
  CREATE TABLE claims (
    base TEXT PRIMARY KEY,
    prefix TEXT NOT NULL,
    owner_uid TEXT NOT NULL,
    seeded INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- The configuration of each owner, written before it is pushed.
  CREATE TABLE owners (
    uid TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    content TEXT NOT NULL,
    acked_epoch INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Rows that seeding asked an owner to take, until the segment is seeded.
  CREATE TABLE seedings (
    token TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    owner_uid TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX seedings_by_owner ON seedings (owner_uid);
`;

/** Hand-offs; `prefixes` is JSON. */
export const HANDOFF_SCHEMA = `
  CREATE TABLE handoffs (
    source_uid TEXT PRIMARY KEY,
    target_uid TEXT NOT NULL,
    id INTEGER NOT NULL,
    prefixes TEXT NOT NULL,
    phase TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    failures INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

/** An owner hands over to several others at the same time. */
export const HANDOFFS_BY_TARGET_SCHEMA = `
  CREATE TABLE handoffs_by_target (
    source_uid TEXT NOT NULL,
    target_uid TEXT NOT NULL,
    id INTEGER NOT NULL,
    prefixes TEXT NOT NULL,
    phase TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    PRIMARY KEY (source_uid, target_uid)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO handoffs_by_target SELECT source_uid, target_uid, id, prefixes, phase, due_at, failures FROM handoffs;
  DELETE FROM handoffs;
`;

/** Until when (ms) an owner takes back no lost rows of Services; 0 = it takes them back. */
export const CLOSED_OWNERS_SCHEMA = `
  ALTER TABLE owners ADD COLUMN closed_until INTEGER NOT NULL DEFAULT 0;
`;

/**
 * For which namespaces ranges are kept, by the uid of the ServiceCIDR. The values stand beside the tables, in their transactions: the release before leaves
 * them alone, so that a rollback needs no other schema.
 */
const TENANCY = "range-tenancy/";

type CidrRecord = {
  uid: string;
  name: string;
  deleting: number;
  suspended: number;
  fenced_until: number;
  finalizer: number;
  condition: string;
};
type RangeRecord = { uid: string; prefix: string; ready: number };
type ClaimRecord = { prefix: string; owner_uid: string; seeded: number };
type OwnerRecord = { uid: string; epoch: number; content: string; acked_epoch: number; closed_until: number };
type HandoffRecord = {
  source_uid: string;
  target_uid: string;
  id: number;
  prefixes: string;
  phase: string;
  due_at: number;
  failures: number;
};
type SeedingRecord = { token: string; address: string; owner_uid: string };

export function coordinatorStorage(storage: DurableObjectStorage): CoordinatorStorage {
  const { sql, kv } = storage;
  /** uids that may have a value; one too many costs a deletion */
  const kept = new Set<string>();
  return {
    transaction: (work) => storage.transactionSync(work),

    load() {
      const epoch = sql.exec<{ value: number }>("SELECT value FROM epoch").toArray()[0]?.value ?? 0;
      const cidrs = sql.exec<CidrRecord>("SELECT uid, name, deleting, suspended, fenced_until, finalizer, condition FROM cidrs").toArray();
      const ranges = sql.exec<RangeRecord>("SELECT uid, prefix, ready FROM ranges").toArray();
      const claims = sql.exec<ClaimRecord>("SELECT prefix, owner_uid, seeded FROM claims").toArray();
      const owners = sql.exec<OwnerRecord>("SELECT uid, epoch, content, acked_epoch, closed_until FROM owners").toArray();
      const handoffs = sql.exec<HandoffRecord>("SELECT * FROM handoffs_by_target").toArray();
      const tenancies = new Map([...kv.list<RangeTenancy>({ prefix: TENANCY })].map(([key, value]) => [key.slice(TENANCY.length), value]));
      for (const uid of tenancies.keys()) kept.add(uid);
      const withTenancy = (row: CidrRow): CidrRow => {
        const tenancy = tenancies.get(row.uid);
        return tenancy ? { ...row, tenancy } : row;
      };
      return {
        epoch,
        cidrs: cidrs.map((record) => withTenancy(toCidr(record))),
        ranges: ranges.map(toRange),
        claims: claims.map(toClaim),
        owners: owners.map(toOwner),
        handoffs: handoffs.map(toHandoff),
      };
    },
    epochSave(epoch) {
      const saved = sql.exec(
        `INSERT INTO epoch (only, value) VALUES (1, ?)
         ON CONFLICT (only) DO UPDATE SET value = excluded.value WHERE excluded.value > value RETURNING value`,
        epoch,
      );
      if (saved.toArray().length === 0) throw new Error(`epoch ${epoch} is not later than the last one`);
    },

    cidrSave(row) {
      sql.exec(
        `INSERT INTO cidrs (uid, name, deleting, suspended, fenced_until, finalizer, condition) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (uid) DO UPDATE SET
           name = excluded.name, deleting = excluded.deleting, suspended = excluded.suspended, fenced_until = excluded.fenced_until,
           finalizer = excluded.finalizer, condition = excluded.condition`,
        row.uid,
        row.name,
        Number(row.deleting),
        Number(row.suspended),
        row.fencedUntil,
        Number(row.finalizer),
        row.condition ? JSON.stringify(row.condition) : "",
      );
      if (row.tenancy) {
        kept.add(row.uid);
        kv.put(TENANCY + row.uid, row.tenancy);
      } else if (kept.has(row.uid)) kv.delete(TENANCY + row.uid);
    },
    cidrDelete(uid) {
      if (kept.has(uid)) kv.delete(TENANCY + uid);
      sql.exec("DELETE FROM cidrs WHERE uid = ?", uid);
      sql.exec("DELETE FROM ranges WHERE uid = ?", uid);
    },
    rangeSave({ uid, prefix, ready }) {
      sql.exec(
        "INSERT INTO ranges (uid, prefix, ready) VALUES (?, ?, ?) ON CONFLICT (uid, prefix) DO UPDATE SET ready = excluded.ready",
        uid,
        prefix,
        Number(ready),
      );
    },

    claimInsert({ prefix, ownerUid, seeded }) {
      const base = prefix.slice(0, prefix.indexOf("/"));
      sql.exec("INSERT INTO claims (base, prefix, owner_uid, seeded) VALUES (?, ?, ?, ?)", base, prefix, ownerUid, Number(seeded));
    },
    claimSeeded(prefix) {
      sql.exec("UPDATE claims SET seeded = 1 WHERE prefix = ?", prefix);
    },
    claimDelete(prefix) {
      sql.exec("DELETE FROM claims WHERE prefix = ?", prefix);
    },

    ownerSave({ uid, epoch, content, ackedEpoch, closedUntil }) {
      sql.exec(
        `INSERT INTO owners (uid, epoch, content, acked_epoch, closed_until) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (uid) DO UPDATE SET
           epoch = excluded.epoch, content = excluded.content, acked_epoch = excluded.acked_epoch, closed_until = excluded.closed_until`,
        ...[uid, epoch, content, ackedEpoch, closedUntil],
      );
    },
    ownerDelete(uid) {
      sql.exec("DELETE FROM owners WHERE uid = ?", uid);
    },

    handoffSave({ sourceUid, targetUid, id, prefixes, phase, dueAt, failures }) {
      sql.exec(
        `INSERT OR REPLACE INTO handoffs_by_target (source_uid, target_uid, id, prefixes, phase, due_at, failures) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        ...[sourceUid, targetUid, id, JSON.stringify(prefixes), phase, dueAt, failures],
      );
    },
    handoffDelete({ sourceUid, targetUid }) {
      sql.exec("DELETE FROM handoffs_by_target WHERE source_uid = ? AND target_uid = ?", sourceUid, targetUid);
    },

    seedingsOf(ownerUid) {
      const records = sql.exec<SeedingRecord>("SELECT token, address, owner_uid FROM seedings WHERE owner_uid = ?", ownerUid).toArray();
      return records.map(({ token, address, owner_uid }): SeedingRow => ({ token, address, ownerUid: owner_uid }));
    },
    seedingSave({ token, address, ownerUid }) {
      sql.exec("INSERT OR REPLACE INTO seedings (token, address, owner_uid) VALUES (?, ?, ?)", token, address, ownerUid);
    },
    seedingDelete(token) {
      sql.exec("DELETE FROM seedings WHERE token = ?", token);
    },
    seedingsClear(ownerUid) {
      sql.exec("DELETE FROM seedings WHERE owner_uid = ?", ownerUid);
    },
  };
}

function toCidr(record: CidrRecord): CidrRow {
  return {
    uid: record.uid,
    name: record.name,
    deleting: record.deleting === 1,
    suspended: record.suspended === 1,
    fencedUntil: record.fenced_until,
    finalizer: record.finalizer === 1,
    condition: record.condition === "" ? undefined : (JSON.parse(record.condition) as ReadyCondition),
  };
}

function toRange({ uid, prefix, ready }: RangeRecord): RangeRow {
  return { uid, prefix, ready: ready === 1 };
}

function toClaim({ prefix, owner_uid, seeded }: ClaimRecord): ClaimRow {
  return { prefix, ownerUid: owner_uid, seeded: seeded === 1 };
}

function toOwner({ uid, epoch, content, acked_epoch, closed_until }: OwnerRecord): OwnerRow {
  return { uid, epoch, content, ackedEpoch: acked_epoch, closedUntil: closed_until };
}

function toHandoff(record: HandoffRecord): HandoffRow {
  return {
    sourceUid: record.source_uid,
    targetUid: record.target_uid,
    id: record.id,
    prefixes: JSON.parse(record.prefixes) as string[],
    // Written by handoffSave alone.
    phase: record.phase as HandoffRow["phase"],
    dueAt: record.due_at,
    failures: record.failures,
  };
}
