import type {
  CidrRow,
  ClaimRow,
  CoordinatorState,
  CoordinatorStorage,
  HandoffRow,
  OwnerRow,
  RangeRow,
  SeedingRow,
} from "../../../src/addresses/coordinator/state/coordinator-storage";
import type { ServiceCIDR } from "../../../src/api/meta/kubernetes";

/** What survives a restart of the Coordinator's object: its rows and the ServiceCIDR objects, in one database. */
export interface Contents extends Readonly<Tables> {
  readonly epoch: number;
  readonly alarmAt: number;
}

interface Tables {
  cidrs: Table<CidrRow>;
  ranges: Table<RangeRow>;
  /** by base address */
  claims: Table<ClaimRow>;
  owners: Table<OwnerRow>;
  /** by source and target */
  handoffs: Table<HandoffRow>;
  seedings: Table<SeedingRow>;
  objects: Table<ServiceCIDR>;
}

type Table<T> = Readonly<Record<string, T>>;

/**
 * CoordinatorStorage in memory. Contents are a value: a change replaces them, so that the former contents cost nothing. `gate` is called
 * before each commit that changes something; if it throws, nothing is kept. `kept` is called after the commit with the former contents, and
 * may throw too.
 */
export class MemoryCoordinatorStorage implements CoordinatorStorage {
  contents: Contents = { epoch: 0, cidrs: {}, ranges: {}, claims: {}, owners: {}, handoffs: {}, seedings: {}, objects: {}, alarmAt: 0 };
  #depth = 0;
  /** of transactions whose other tables are not kept yet */
  #held: Contents[] | undefined;

  constructor(
    private readonly gate: (before: Contents) => void = () => undefined,
    private readonly kept: (before: Contents) => void = () => undefined,
  ) {}

  transaction<T>(work: () => T): T {
    const before = this.contents;
    this.#depth++;
    let result: T;
    let isChanged: boolean;
    try {
      result = work();
      isChanged = this.#depth === 1 && before !== this.contents;
      if (isChanged) this.gate(before);
    } catch (error) {
      this.contents = before;
      throw error;
    } finally {
      this.#depth--;
    }
    if (isChanged && this.#held) this.#held.push(before);
    else if (isChanged) this.kept(before);
    return result;
  }

  /** Runs a transaction that is kept together with other tables: `kept` is called when those are kept too. */
  together<T>(work: () => T): T {
    if (this.#held) return work();
    const held: Contents[] = [];
    this.#held = held;
    let result: T;
    try {
      result = work();
    } finally {
      this.#held = undefined;
    }
    for (const before of held) this.kept(before);
    return result;
  }

  load(): CoordinatorState {
    const { epoch, cidrs, ranges, claims, owners, handoffs } = this.contents;
    return {
      epoch,
      cidrs: Object.values(cidrs),
      ranges: Object.values(ranges),
      claims: Object.values(claims),
      owners: Object.values(owners),
      handoffs: Object.values(handoffs),
    };
  }

  epochSave(epoch: number): void {
    if (epoch <= this.contents.epoch) throw new Error(`epoch ${epoch} follows ${this.contents.epoch}`);
    this.contents = { ...this.contents, epoch };
  }

  cidrSave(row: CidrRow): void {
    this.#put("cidrs", row.uid, { ...row, condition: row.condition && { ...row.condition } });
  }

  cidrDelete(uid: string): void {
    this.#delete("cidrs", uid);
    for (const [key, range] of Object.entries(this.contents.ranges)) if (range.uid === uid) this.#delete("ranges", key);
  }

  rangeSave(row: RangeRow): void {
    this.#put("ranges", `${row.uid} ${row.prefix}`, row);
  }

  claimInsert(row: ClaimRow): void {
    const base = baseOf(row.prefix);
    if (this.contents.claims[base]) throw new Error(`UNIQUE constraint failed: claims.base ${base}`);
    this.#put("claims", base, row);
  }

  claimSeeded(prefix: string): void {
    const claim = this.contents.claims[baseOf(prefix)];
    if (claim?.prefix === prefix) this.#put("claims", baseOf(prefix), { ...claim, seeded: true });
  }

  claimDelete(prefix: string): void {
    const base = baseOf(prefix);
    if (this.contents.claims[base]?.prefix === prefix) this.#delete("claims", base);
  }

  ownerSave(row: OwnerRow): void {
    this.#put("owners", row.uid, row);
  }

  ownerDelete(uid: string): void {
    this.#delete("owners", uid);
  }

  handoffSave(row: HandoffRow): void {
    this.#put("handoffs", handoffKey(row), { ...row, prefixes: [...row.prefixes] });
  }

  handoffDelete(row: Pick<HandoffRow, "sourceUid" | "targetUid">): void {
    this.#delete("handoffs", handoffKey(row));
  }

  seedingsOf(ownerUid: string): SeedingRow[] {
    return Object.values(this.contents.seedings).filter((row) => row.ownerUid === ownerUid);
  }

  seedingSave(row: SeedingRow): void {
    this.#put("seedings", row.token, row);
  }

  seedingDelete(token: string): void {
    this.#delete("seedings", token);
  }

  seedingsClear(ownerUid: string): void {
    for (const row of this.seedingsOf(ownerUid)) this.seedingDelete(row.token);
  }

  /** The object's alarm; 0 = none. */
  alarmSet(alarmAt: number): void {
    if (alarmAt !== this.contents.alarmAt) this.contents = { ...this.contents, alarmAt };
  }

  /** The ServiceCIDR objects of a store that has no tables of its own. */
  objectSave(name: string, object: ServiceCIDR): void {
    this.#put("objects", name, structuredClone(object));
  }

  objectDelete(name: string): void {
    this.#delete("objects", name);
  }

  /** An equal row is no change. */
  #put<K extends keyof Tables>(table: K, key: string, row: Tables[K][string]): void {
    const rows: Table<object> = this.contents[table];
    if (key in rows && JSON.stringify(rows[key]) === JSON.stringify(row)) return;
    this.contents = { ...this.contents, [table]: { ...rows, [key]: Object.freeze({ ...row }) } };
  }

  #delete(table: keyof Tables, key: string): void {
    const { [key]: gone, ...rest } = this.contents[table] as Table<object>;
    if (gone) this.contents = { ...this.contents, [table]: rest };
  }
}

function handoffKey({ sourceUid, targetUid }: Pick<HandoffRow, "sourceUid" | "targetUid">): string {
  return `${sourceUid} ${targetUid}`;
}

function baseOf(prefix: string): string {
  return prefix.slice(0, prefix.indexOf("/"));
}
