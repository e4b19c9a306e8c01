/**
 * The Coordinator's rows kept in memory beside their storage: they are read at every step of every job, and a cluster has thousands. Every
 * write goes to the storage first. What a rollback undoes is read anew; a rollback around this object's own transactions has to be told.
 */
import type { CoordinatorState, CoordinatorStorage } from "./coordinator-storage";

interface Tables {
  epoch: number;
  cidrs: Map<string, CoordinatorState["cidrs"][number]>;
  /** by uid and prefix */
  ranges: Map<string, CoordinatorState["ranges"][number]>;
  claims: Map<string, CoordinatorState["claims"][number]>;
  owners: Map<string, CoordinatorState["owners"][number]>;
  handoffs: Map<string, CoordinatorState["handoffs"][number]>;
}

export class MirroredStorage implements CoordinatorStorage {
  readonly #below: CoordinatorStorage;
  #tables: Tables | undefined;
  #state: CoordinatorState | undefined;

  constructor(below: CoordinatorStorage) {
    this.#below = below;
  }

  /** To be called when a transaction around this object's was rolled back. */
  forget(): void {
    this.#tables = undefined;
    this.#state = undefined;
  }

  transaction<T>(work: () => T): T {
    try {
      return this.#below.transaction(work);
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** The same object until something is written; it and its rows are never changed. */
  load(): CoordinatorState {
    if (this.#state) return this.#state;
    const { epoch, cidrs, ranges, claims, owners, handoffs } = (this.#tables ??= tablesOf(this.#below.load()));
    this.#state = {
      epoch,
      cidrs: [...cidrs.values()],
      ranges: [...ranges.values()],
      claims: [...claims.values()],
      owners: [...owners.values()],
      handoffs: [...handoffs.values()],
    };
    return this.#state;
  }

  epochSave: CoordinatorStorage["epochSave"] = (epoch) => {
    this.#below.epochSave(epoch);
    this.#changed((tables) => (tables.epoch = epoch));
  };

  cidrSave: CoordinatorStorage["cidrSave"] = (row) => {
    this.#below.cidrSave(row);
    this.#changed(({ cidrs }) => cidrs.set(row.uid, { ...row }));
  };

  cidrDelete: CoordinatorStorage["cidrDelete"] = (uid) => {
    this.#below.cidrDelete(uid);
    this.#changed(({ cidrs, ranges }) => {
      cidrs.delete(uid);
      for (const [key, range] of ranges) if (range.uid === uid) ranges.delete(key);
    });
  };

  rangeSave: CoordinatorStorage["rangeSave"] = (row) => {
    this.#below.rangeSave(row);
    this.#changed(({ ranges }) => ranges.set(rangeKey(row), { ...row }));
  };

  claimInsert: CoordinatorStorage["claimInsert"] = (row) => {
    this.#below.claimInsert(row);
    this.#changed(({ claims }) => claims.set(row.prefix, { ...row }));
  };

  claimSeeded: CoordinatorStorage["claimSeeded"] = (prefix) => {
    this.#below.claimSeeded(prefix);
    this.#changed(({ claims }) => {
      const claim = claims.get(prefix);
      if (claim) claims.set(prefix, { ...claim, seeded: true });
    });
  };

  claimDelete: CoordinatorStorage["claimDelete"] = (prefix) => {
    this.#below.claimDelete(prefix);
    this.#changed(({ claims }) => claims.delete(prefix));
  };

  ownerSave: CoordinatorStorage["ownerSave"] = (row) => {
    this.#below.ownerSave(row);
    this.#changed(({ owners }) => owners.set(row.uid, { ...row }));
  };

  ownerDelete: CoordinatorStorage["ownerDelete"] = (uid) => {
    this.#below.ownerDelete(uid);
    this.#changed(({ owners }) => owners.delete(uid));
  };

  handoffSave: CoordinatorStorage["handoffSave"] = (row) => {
    this.#below.handoffSave(row);
    this.#changed(({ handoffs }) => handoffs.set(row.sourceUid, { ...row, prefixes: [...row.prefixes] }));
  };

  handoffDelete: CoordinatorStorage["handoffDelete"] = (sourceUid) => {
    this.#below.handoffDelete(sourceUid);
    this.#changed(({ handoffs }) => handoffs.delete(sourceUid));
  };

  seedingsOf: CoordinatorStorage["seedingsOf"] = (ownerUid) => this.#below.seedingsOf(ownerUid);
  seedingSave: CoordinatorStorage["seedingSave"] = (row) => this.#below.seedingSave(row);
  seedingDelete: CoordinatorStorage["seedingDelete"] = (token) => this.#below.seedingDelete(token);
  seedingsClear: CoordinatorStorage["seedingsClear"] = (ownerUid) => this.#below.seedingsClear(ownerUid);

  #changed(apply: (tables: Tables) => unknown): void {
    this.#state = undefined;
    if (this.#tables) apply(this.#tables);
  }
}

function rangeKey({ uid, prefix }: { uid: string; prefix: string }): string {
  return `${uid} ${prefix}`;
}

function tablesOf(state: CoordinatorState): Tables {
  return {
    epoch: state.epoch,
    cidrs: new Map(state.cidrs.map((row) => [row.uid, row])),
    ranges: new Map(state.ranges.map((row) => [rangeKey(row), row])),
    claims: new Map(state.claims.map((row) => [row.prefix, row])),
    owners: new Map(state.owners.map((row) => [row.uid, row])),
    handoffs: new Map(state.handoffs.map((row) => [row.sourceUid, row])),
  };
}
