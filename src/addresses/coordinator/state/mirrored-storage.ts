/**
 * The Coordinator's rows in memory, beside their storage: every step of every job reads them, and a cluster has thousands. Every write goes to
 * the storage first. After a rollback the rows are read anew; `forget` announces a rollback of a transaction around this object's own.
 */
import type { CoordinatorState, CoordinatorStorage } from "./coordinator-storage";

interface Tables {
  epoch: number;
  cidrs: Map<string, CoordinatorState["cidrs"][number]>;
  /** by uid and prefix */
  ranges: Map<string, CoordinatorState["ranges"][number]>;
  claims: Map<string, CoordinatorState["claims"][number]>;
  owners: Map<string, CoordinatorState["owners"][number]>;
  /** by source and target */
  handoffs: Map<string, CoordinatorState["handoffs"][number]>;
}

export class MirroredStorage implements CoordinatorStorage {
  readonly #below: CoordinatorStorage;
  #tables: Tables | undefined;
  #state: CoordinatorState | undefined;
  /** the rows of the tables that have not been written since they were last read */
  #rows: Partial<Omit<CoordinatorState, "epoch">> = {};

  constructor(below: CoordinatorStorage) {
    this.#below = below;
  }

  /** To be called when a transaction around this object's own was rolled back. */
  forget(): void {
    this.#tables = undefined;
    this.#state = undefined;
    this.#rows = {};
  }

  transaction<T>(work: () => T): T {
    try {
      return this.#below.transaction(work);
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** Answers the same object until something is written, and the same array for each unwritten table. Neither ever changes. */
  load(): CoordinatorState {
    if (this.#state) return this.#state;
    const { epoch, ...tables } = (this.#tables ??= tablesOf(this.#below.load()));
    const known = this.#rows;
    const rows = {
      cidrs: known.cidrs ?? [...tables.cidrs.values()],
      ranges: known.ranges ?? [...tables.ranges.values()],
      claims: known.claims ?? [...tables.claims.values()],
      owners: known.owners ?? [...tables.owners.values()],
      handoffs: known.handoffs ?? [...tables.handoffs.values()],
    };
    this.#rows = rows;
    this.#state = { epoch, ...rows };
    return this.#state;
  }

  epochSave: CoordinatorStorage["epochSave"] = (epoch) => {
    this.#below.epochSave(epoch);
    this.#changed([], (tables) => (tables.epoch = epoch));
  };

  cidrSave: CoordinatorStorage["cidrSave"] = (row) => {
    this.#below.cidrSave(row);
    this.#changed(["cidrs"], ({ cidrs }) => cidrs.set(row.uid, { ...row }));
  };

  cidrDelete: CoordinatorStorage["cidrDelete"] = (uid) => {
    this.#below.cidrDelete(uid);
    this.#changed(["cidrs", "ranges"], ({ cidrs, ranges }) => {
      cidrs.delete(uid);
      for (const [key, range] of ranges) if (range.uid === uid) ranges.delete(key);
    });
  };

  rangeSave: CoordinatorStorage["rangeSave"] = (row) => {
    this.#below.rangeSave(row);
    this.#changed(["ranges"], ({ ranges }) => ranges.set(rangeKey(row), { ...row }));
  };

  claimInsert: CoordinatorStorage["claimInsert"] = (row) => {
    this.#below.claimInsert(row);
    this.#changed(["claims"], ({ claims }) => claims.set(row.prefix, { ...row }));
  };

  claimSeeded: CoordinatorStorage["claimSeeded"] = (prefix) => {
    this.#below.claimSeeded(prefix);
    this.#changed(["claims"], ({ claims }) => {
      const claim = claims.get(prefix);
      if (claim) claims.set(prefix, { ...claim, seeded: true });
    });
  };

  claimDelete: CoordinatorStorage["claimDelete"] = (prefix) => {
    this.#below.claimDelete(prefix);
    this.#changed(["claims"], ({ claims }) => claims.delete(prefix));
  };

  ownerSave: CoordinatorStorage["ownerSave"] = (row) => {
    this.#below.ownerSave(row);
    this.#changed(["owners"], ({ owners }) => owners.set(row.uid, { ...row }));
  };

  ownerDelete: CoordinatorStorage["ownerDelete"] = (uid) => {
    this.#below.ownerDelete(uid);
    this.#changed(["owners"], ({ owners }) => owners.delete(uid));
  };

  handoffSave: CoordinatorStorage["handoffSave"] = (row) => {
    this.#below.handoffSave(row);
    this.#changed(["handoffs"], ({ handoffs }) => handoffs.set(handoffKey(row), { ...row, prefixes: [...row.prefixes] }));
  };

  handoffDelete: CoordinatorStorage["handoffDelete"] = (row) => {
    this.#below.handoffDelete(row);
    this.#changed(["handoffs"], ({ handoffs }) => handoffs.delete(handoffKey(row)));
  };

  seedingsOf: CoordinatorStorage["seedingsOf"] = (ownerUid) => this.#below.seedingsOf(ownerUid);
  seedingSave: CoordinatorStorage["seedingSave"] = (row) => this.#below.seedingSave(row);
  seedingDelete: CoordinatorStorage["seedingDelete"] = (token) => this.#below.seedingDelete(token);
  seedingsClear: CoordinatorStorage["seedingsClear"] = (ownerUid) => this.#below.seedingsClear(ownerUid);

  #changed(names: readonly Exclude<keyof Tables, "epoch">[], apply: (tables: Tables) => unknown): void {
    this.#state = undefined;
    for (const name of names) this.#rows[name] = undefined;
    if (this.#tables) apply(this.#tables);
  }
}

function rangeKey({ uid, prefix }: { uid: string; prefix: string }): string {
  return `${uid} ${prefix}`;
}

function handoffKey({ sourceUid, targetUid }: { sourceUid: string; targetUid: string }): string {
  return `${sourceUid} ${targetUid}`;
}

function tablesOf(state: CoordinatorState): Tables {
  return {
    epoch: state.epoch,
    cidrs: new Map(state.cidrs.map((row) => [row.uid, row])),
    ranges: new Map(state.ranges.map((row) => [rangeKey(row), row])),
    claims: new Map(state.claims.map((row) => [row.prefix, row])),
    owners: new Map(state.owners.map((row) => [row.uid, row])),
    handoffs: new Map(state.handoffs.map((row) => [handoffKey(row), row])),
  };
}
