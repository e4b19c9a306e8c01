import type {
  CidrRow,
  ClaimRow,
  CoordinatorState,
  CoordinatorStorage,
  HandoffRow,
  OwnerRow,
  RangeRow,
  SeedingRow,
} from "../../src/coordinator/coordinator-storage";
import type { ServiceCIDR } from "../../src/meta/kubernetes";

/** What survives a restart of the Coordinator's object: its rows and the ServiceCIDR objects, in one database. */
export interface Contents {
  epoch: number;
  cidrs: Record<string, CidrRow>;
  ranges: Record<string, RangeRow>;
  /** by base address */
  claims: Record<string, ClaimRow>;
  owners: Record<string, OwnerRow>;
  /** by source */
  handoffs: Record<string, HandoffRow>;
  seedings: Record<string, SeedingRow>;
  objects: Record<string, ServiceCIDR>;
  alarmAt: number;
}

/**
 * CoordinatorStorage in memory. `gate` is asked before each commit that changes something and may throw: then nothing is kept. `kept` is called
 * after it with what was there before, and may throw as well.
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
    const before = structuredClone(this.contents);
    this.#depth++;
    let result: T;
    let isChanged: boolean;
    try {
      result = work();
      isChanged = this.#depth === 1 && JSON.stringify(before) !== JSON.stringify(this.contents);
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
    const { epoch, cidrs, ranges, claims, owners, handoffs } = structuredClone(this.contents);
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
    this.contents.epoch = epoch;
  }

  cidrSave(row: CidrRow): void {
    this.contents.cidrs[row.uid] = { ...row };
  }

  cidrDelete(uid: string): void {
    delete this.contents.cidrs[uid];
    for (const [key, range] of Object.entries(this.contents.ranges)) if (range.uid === uid) delete this.contents.ranges[key];
  }

  rangeSave(row: RangeRow): void {
    this.contents.ranges[`${row.uid} ${row.prefix}`] = { ...row };
  }

  claimInsert(row: ClaimRow): void {
    const base = baseOf(row.prefix);
    if (this.contents.claims[base]) throw new Error(`UNIQUE constraint failed: claims.base ${base}`);
    this.contents.claims[base] = { ...row };
  }

  claimSeeded(prefix: string): void {
    const claim = this.contents.claims[baseOf(prefix)];
    if (claim?.prefix === prefix) claim.seeded = true;
  }

  claimDelete(prefix: string): void {
    delete this.contents.claims[baseOf(prefix)];
  }

  ownerSave(row: OwnerRow): void {
    this.contents.owners[row.uid] = { ...row };
  }

  ownerDelete(uid: string): void {
    delete this.contents.owners[uid];
  }

  handoffSave(row: HandoffRow): void {
    this.contents.handoffs[row.sourceUid] = { ...row };
  }

  handoffDelete(sourceUid: string): void {
    delete this.contents.handoffs[sourceUid];
  }

  seedingsOf(ownerUid: string): SeedingRow[] {
    return Object.values(structuredClone(this.contents.seedings)).filter((row) => row.ownerUid === ownerUid);
  }

  seedingSave(row: SeedingRow): void {
    this.contents.seedings[row.token] = { ...row };
  }

  seedingDelete(token: string): void {
    delete this.contents.seedings[token];
  }

  seedingsClear(ownerUid: string): void {
    for (const row of this.seedingsOf(ownerUid)) this.seedingDelete(row.token);
  }
}

function baseOf(prefix: string): string {
  return prefix.slice(0, prefix.indexOf("/"));
}
