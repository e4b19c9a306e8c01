import type { FreeCountStorage, OwnerTakenCounts } from "../../../src/addresses/ledger/free-counts";
import type { GenRow, IPAddressStorage } from "../../../src/addresses/clusterip/ip-address-storage";
import type { Allocation, LedgerStorage } from "../../../src/addresses/ledger/ledger-storage";
import type { PendingRelease, StoredReleaseList } from "../../../src/addresses/ledger/release-storage";
import type { Gen } from "../../../src/addresses/rpc/service-cidr";
import { Journal, JournaledMap } from "../sim/platform/journal";

/** LedgerStorage in memory; shares a journal with the other tables of its object, as they share a database. */
export class MemoryLedgerStorage implements LedgerStorage {
  readonly allocations: JournaledMap<Allocation>;
  readonly releases: JournaledMap<PendingRelease>;
  readonly lists: JournaledMap<StoredReleaseList>;
  readonly #numbers: JournaledMap<number>;

  constructor(private readonly journal = new Journal()) {
    this.allocations = new JournaledMap(journal);
    this.releases = new JournaledMap(journal);
    this.lists = new JournaledMap(journal);
    this.#numbers = new JournaledMap(journal);
  }

  transaction<T>(work: () => T): T {
    return this.journal.transaction(work);
  }

  allocationAdd(allocation: Allocation): void {
    if (this.allocations.has(allocation.address)) throw new Error(`UNIQUE constraint failed: allocations.address ${allocation.address}`);
    this.allocations.set(allocation.address, copyOf(allocation));
  }

  allocationGet(address: string): Allocation | undefined {
    const found = this.allocations.get(address);
    return found && copyOf(found);
  }

  allocationDelete(address: string): void {
    this.allocations.delete(address);
  }

  allocationTake(address: string, key: string): Allocation | undefined {
    const found = this.allocationGet(address);
    if (found?.key !== key) return undefined;
    this.allocationDelete(address);
    return found;
  }

  numberGet(name: string): number {
    return this.#numbers.get(name) ?? 0;
  }

  numberSet(name: string, value: number): void {
    this.#numbers.set(name, value);
  }

  releaseAdd(release: PendingRelease): void {
    if (!this.releases.has(release.token)) this.releases.set(release.token, copyOf(release));
  }

  releaseDelete(token: string): void {
    this.releases.delete(token);
  }

  releaseDefer(token: string, attempts: number, dueAt: number): void {
    const known = this.releases.get(token);
    if (known) this.releases.set(token, { ...known, attempts, dueAt });
  }

  releasesDue(now: number, limit: number): PendingRelease[] {
    const due = this.releases.values().filter((release) => release.dueAt <= now);
    return due
      .sort((a, b) => a.dueAt - b.dueAt)
      .slice(0, limit)
      .map(copyOf);
  }

  releaseGet(token: string): PendingRelease | undefined {
    const found = this.releases.get(token);
    return found && copyOf(found);
  }

  releaseListAdd(list: StoredReleaseList): void {
    this.lists.set(list.id, structuredClone(list));
  }

  releaseListDelete(id: string): void {
    this.lists.delete(id);
  }

  releaseLists(): StoredReleaseList[] {
    return structuredClone(this.lists.values());
  }

  releasesAll(): Iterable<Pick<PendingRelease, "token" | "address">> {
    return this.releases.values().map(({ token, address }) => ({ token, address }));
  }
}

/** FreeCountStorage in memory, on the same journal as the rest of its object. */
export class MemoryFreeCountStorage implements FreeCountStorage {
  readonly saved: JournaledMap<OwnerTakenCounts>;

  constructor(journal = new Journal()) {
    this.saved = new JournaledMap(journal);
  }

  takenCountsLoad(): OwnerTakenCounts[] {
    return structuredClone(this.saved.values());
  }

  takenCountsSave(counts: OwnerTakenCounts): void {
    this.saved.set(counts.ownerUid, structuredClone(counts));
  }

  takenCountsDelete(ownerUid: string): void {
    this.saved.delete(ownerUid);
  }
}

/** IPAddressStorage in memory, on the same journal as the rest of its object. */
export class MemoryIPAddressStorage implements IPAddressStorage {
  readonly #gens: JournaledMap<GenRow>;
  readonly #claims: JournaledMap<{ epoch: number; prefixes: string[] }>;

  constructor(journal = new Journal()) {
    this.#gens = new JournaledMap(journal);
    this.#claims = new JournaledMap(journal);
  }

  genGet(address: string): GenRow | undefined {
    const found = this.#gens.get(address);
    return found && copyOf(found);
  }

  genPut({ address, token, gen }: GenRow): void {
    this.#gens.set(address, { address, token, gen: { ...gen } });
  }

  claimsLoad(): { epoch: number; prefixes: string[] } {
    return structuredClone(this.#claims.get("") ?? { epoch: 0, prefixes: [] });
  }

  claimsSave(epoch: number, prefixes: readonly string[]): void {
    this.#claims.set("", { epoch, prefixes: [...prefixes] });
  }
}

function copyOf<Row extends { gen: Gen }>(row: Row): Row {
  return { ...row, gen: { ...row.gen } };
}
