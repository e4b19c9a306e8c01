/** What survives the crashes of a simulated store: its tables, in one database. */
import type { LastPublication } from "../../../src/api/store/list/publisher";
import { MemoryAllocationCountStorage } from "../memory/allocation-count-storage";
import type { MemoryCoordinatorStorage } from "../memory/coordinator-storage";
import { MemoryFreeCountStorage, MemoryIPAddressStorage, MemoryLedgerStorage } from "../memory/ledger-storage";
import { MemoryGraphStorage } from "../memory/graph-storage";
import { MemoryNodePortStorage } from "../memory/node-port-storage";
import { MemoryRepairStorage } from "../memory/repair-storage";
import { MemoryRowStorage } from "../memory/row-storage";
import { MemorySettingsStorage } from "../memory/settings-storage";
import { Journal } from "./platform/journal";
import { SimStoreStorage } from "./platform/store-storage";

/** The tables of the Coordinator's store, in one transaction with its other rows. */
export class JointJournal extends Journal {
  constructor(private readonly other: MemoryCoordinatorStorage) {
    super();
  }

  override transaction<T>(work: () => T): T {
    return this.other.together(() => super.transaction(() => this.other.transaction(work)));
  }
}

/** Notes what the rows mean: one is taken for a token, and one that is dropped is settled. */
class SimLedgerStorage extends MemoryLedgerStorage {
  constructor(private readonly noted: Journal) {
    super(noted);
  }

  override allocationAdd(...[allocation]: Parameters<MemoryLedgerStorage["allocationAdd"]>): void {
    this.noted.note("take");
    super.allocationAdd(allocation);
  }

  override releaseAdd(...[release]: Parameters<MemoryLedgerStorage["releaseAdd"]>): void {
    this.noted.note("pend");
    super.releaseAdd(release);
  }

  override releaseDelete(token: string): void {
    this.noted.note("settle");
    super.releaseDelete(token);
  }

  override releaseListAdd(...[list]: Parameters<MemoryLedgerStorage["releaseListAdd"]>): void {
    this.noted.note("pend");
    super.releaseListAdd(list);
  }

  override releaseListDelete(id: string): void {
    this.noted.note("settle");
    super.releaseListDelete(id);
  }
}

/** Those of every store. */
export class StoreTables {
  readonly store: SimStoreStorage;
  /** when what was published last, by key */
  readonly publications = new Map<string, LastPublication>();

  constructor(readonly journal = new Journal()) {
    this.store = new SimStoreStorage(journal);
  }
}

/** Those of the controllers. */
export class ControllerTables {
  readonly graphJournal = new Journal();
  readonly graph = new MemoryGraphStorage(this.graphJournal);
  readonly repair = new MemoryRepairStorage();
  readonly settings = new MemorySettingsStorage();
  /** those of repair */
  readonly rows = new MemoryRowStorage();
}

/** Those of the services store and the ipaddresses store. */
export class Tables extends StoreTables {
  readonly ledger = new SimLedgerStorage(this.journal);
  readonly nodePorts = new MemoryNodePortStorage(this.journal);
  readonly addresses = new MemoryIPAddressStorage(this.journal);
  readonly freeCounts = new MemoryFreeCountStorage(this.journal);
  readonly allocationCounts = new MemoryAllocationCountStorage(this.journal);
}
