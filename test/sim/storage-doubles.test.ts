/** The storages in memory that simulations and unit tests run on do what the contract of each port says; storage-contracts.test.ts asks the real ones. */
import { describe, expect, it } from "vitest";
import { allocationCountStorageCases } from "../contract/allocation-count-storage.suite";
import type { ContractCase } from "../contract/contract-case";
import { coordinatorStorageCases } from "../contract/coordinator-storage.suite";
import { credentialStorageCases } from "../contract/credential-storage.suite";
import { freeCountStorageCases } from "../contract/free-count-storage.suite";
import { graphStorageCases } from "../contract/graph-storage.suite";
import { ipAddressStorageCases } from "../contract/ip-address-storage.suite";
import { ledgerStorageCases } from "../contract/ledger-storage.suite";
import { nameStorageCases } from "../contract/name-storage.suite";
import { shardStorageCases } from "../contract/shard-storage.suite";
import { nodePortStorageCases } from "../contract/node-port-storage.suite";
import { nodeStorageCases } from "../contract/node-storage.suite";
import { quotaStorageCases } from "../contract/quota-storage.suite";
import { recordStorageCases } from "../contract/record-storage.suite";
import { repairStorageCases } from "../contract/repair-storage.suite";
import { rowStorageCases } from "../contract/row-storage.suite";
import { settingsStorageCases } from "../contract/settings-storage.suite";
import { MemoryAllocationCountStorage } from "../support/memory/allocation-count-storage";
import { MemoryCoordinatorStorage } from "../support/memory/coordinator-storage";
import { memoryCredentialStorage } from "../support/memory/credential-storage";
import { MemoryGraphStorage } from "../support/memory/graph-storage";
import { MemoryFreeCountStorage, MemoryIPAddressStorage, MemoryLedgerStorage } from "../support/memory/ledger-storage";
import { memoryNameStorage } from "../support/memory/name-storage";
import { memoryShardStorage } from "../support/memory/shard-storage";
import { MemoryNodePortStorage } from "../support/memory/node-port-storage";
import { MemoryNodeStorage } from "../support/memory/node-storage";
import { MemoryQuotaStorage } from "../support/memory/quota-storage";
import { memoryRecordStorage } from "../support/memory/record-storage";
import { MemoryRepairStorage } from "../support/memory/repair-storage";
import { MemoryRowStorage } from "../support/memory/row-storage";
import { MemorySettingsStorage } from "../support/memory/settings-storage";
import { Journal } from "../support/sim/platform/journal";

function contract<S>(port: string, cases: readonly ContractCase<S>[], make: (journal: Journal) => S): void {
  describe(`${port} in memory`, () => {
    it.each(cases)("$name", ({ run, want }) => {
      expect(run(make(new Journal()))).toEqual(want);
    });
  });
}

/** The rows of an object are written in its transactions. */
function within<S extends object>(journal: Journal, storage: S): S & Pick<Journal, "transaction"> {
  return Object.assign(storage, { transaction: <T>(work: () => T) => journal.transaction(work) });
}

contract("AllocationCountStorage", allocationCountStorageCases, (journal) => within(journal, new MemoryAllocationCountStorage(journal)));
contract("CoordinatorStorage", coordinatorStorageCases, () => new MemoryCoordinatorStorage());
contract("TokenStorage and SigningKeyStorage", credentialStorageCases, memoryCredentialStorage);
contract("FreeCountStorage", freeCountStorageCases, (journal) => within(journal, new MemoryFreeCountStorage(journal)));
contract("GraphStorage", graphStorageCases, (journal) => new MemoryGraphStorage(journal));
contract("IPAddressStorage", ipAddressStorageCases, (journal) => within(journal, new MemoryIPAddressStorage(journal)));
contract("LedgerStorage", ledgerStorageCases, (journal) => new MemoryLedgerStorage(journal));
contract("NameStorage", nameStorageCases, memoryNameStorage);
contract("ShardStorage", shardStorageCases, memoryShardStorage);
contract("NodePortStorage", nodePortStorageCases, (journal) => within(journal, new MemoryNodePortStorage(journal)));
contract("NodeStorage", nodeStorageCases, (journal) => new MemoryNodeStorage(journal));
contract("QuotaStorage and QuotaMarks", quotaStorageCases, (journal) => within(journal, new MemoryQuotaStorage(journal)));
contract("RecordStorage", recordStorageCases, memoryRecordStorage);
contract("RepairStorage", repairStorageCases, () => new MemoryRepairStorage());
contract("RowStorage", rowStorageCases, (journal) => new MemoryRowStorage(journal));
contract("SettingsStorage", settingsStorageCases, () => new MemorySettingsStorage());
