/** The storages of real objects do what the contract of each port says; storage-doubles.test.ts asks those in memory. */
import { env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { keptNames } from "../../../durable-objects/name-values";
import { keptQuotaMarks, keptQuotas } from "../../../durable-objects/quota-values";
import { keptShard } from "../../../durable-objects/shard-values";
import { sqlAllocationCountStorage } from "../../../durable-objects/sql/allocation-counts-sql";
import { sqlRecordStorage } from "../../../durable-objects/sql/cluster-record-sql";
import { coordinatorStorage } from "../../../durable-objects/sql/coordinator-sql";
import { sqlCredentialStorage } from "../../../durable-objects/sql/credentials-sql";
import { sqlRowStorage } from "../../../durable-objects/sql/followed-rows-sql";
import { sqlFreeCountStorage } from "../../../durable-objects/sql/free-counts-sql";
import { sqlGraphStorage } from "../../../durable-objects/sql/garbage-collection-sql";
import { sqlIPAddressStorage } from "../../../durable-objects/sql/ip-addresses-sql";
import { sqlLedgerStorage } from "../../../durable-objects/sql/ledger-sql";
import { sqlNodeStorage } from "../../../durable-objects/sql/node-health-sql";
import { sqlNodePortStorage } from "../../../durable-objects/sql/node-ports-sql";
import { sqlRepairStorage, sqlSettingsStorage } from "../../../durable-objects/sql/repair-sql";
import { allocationCountStorageCases } from "../../contract/allocation-count-storage.suite";
import type { ContractCase, Transacted } from "../../contract/contract-case";
import { coordinatorStorageCases } from "../../contract/coordinator-storage.suite";
import { credentialStorageCases } from "../../contract/credential-storage.suite";
import { freeCountStorageCases } from "../../contract/free-count-storage.suite";
import { graphStorageCases } from "../../contract/graph-storage.suite";
import { ipAddressStorageCases } from "../../contract/ip-address-storage.suite";
import { ledgerStorageCases } from "../../contract/ledger-storage.suite";
import { nameStorageCases } from "../../contract/name-storage.suite";
import { nodePortStorageCases } from "../../contract/node-port-storage.suite";
import { nodeStorageCases } from "../../contract/node-storage.suite";
import { quotaStorageCases } from "../../contract/quota-storage.suite";
import { recordStorageCases } from "../../contract/record-storage.suite";
import { repairStorageCases } from "../../contract/repair-storage.suite";
import { rowStorageCases } from "../../contract/row-storage.suite";
import { settingsStorageCases } from "../../contract/settings-storage.suite";
import { shardStorageCases } from "../../contract/shard-storage.suite";
import { freshCluster } from "../../support/objects/store-stubs";

const bindings = env as unknown as Env;
const CONTROLLER = { binding: bindings.CONTROLLER, object: "controllers/repair" };
const SERVICES = { binding: bindings.SERVICES_STORE, object: "services" };
const IP_ADDRESSES = { binding: bindings.IP_ADDRESSES_STORE, object: "ipaddresses.networking.k8s.io" };
const COORDINATOR = { binding: bindings.COORDINATOR, object: "coordinator" };
const NODE_PROXY = { binding: bindings.NODE_PROXY, object: "node-proxy-0" };
const RECORD = { binding: bindings.CLUSTER_RECORD, object: "record" };
const CREDENTIALS = { binding: bindings.CREDENTIAL_STORE, object: "credentials" };
const QUOTAS = { binding: bindings.RESOURCE_STORE, object: "resourcequotas" };

/** Each case has a cluster of its own, in which nothing but the object itself was ever called. */
function contract<S>(
  port: string,
  cases: readonly ContractCase<S>[],
  { binding, object }: { binding: DurableObjectNamespace; object: string },
  make: (storage: DurableObjectStorage) => S,
): void {
  describe(`${port} in a database`, () => {
    it.each(cases)("$name", async ({ run, want }) => {
      const stub = binding.getByName(`${freshCluster()}/${object}`);
      expect(await runInDurableObject(stub, (_, { storage }) => run(make(storage)))).toEqual(want);
    });
  });
}

/** The rows of an object are written in its transactions. */
function within<S>(make: (storage: DurableObjectStorage) => S): (storage: DurableObjectStorage) => Transacted<S> {
  return (storage) => ({ ...make(storage), transaction: (work) => storage.transactionSync(work) });
}

contract("AllocationCountStorage", allocationCountStorageCases, SERVICES, within(sqlAllocationCountStorage));
contract("CoordinatorStorage", coordinatorStorageCases, COORDINATOR, coordinatorStorage);
contract("TokenStorage and SigningKeyStorage", credentialStorageCases, CREDENTIALS, sqlCredentialStorage);
contract("FreeCountStorage", freeCountStorageCases, SERVICES, within(sqlFreeCountStorage));
contract("GraphStorage", graphStorageCases, CONTROLLER, sqlGraphStorage);
contract("IPAddressStorage", ipAddressStorageCases, IP_ADDRESSES, within(sqlIPAddressStorage));
contract("LedgerStorage", ledgerStorageCases, IP_ADDRESSES, sqlLedgerStorage);
contract("NameStorage", nameStorageCases, { binding: bindings.CLUSTER_NAMES, object: "clusters" }, keptNames);
contract("NodePortStorage", nodePortStorageCases, SERVICES, within(sqlNodePortStorage));
contract("NodeStorage", nodeStorageCases, NODE_PROXY, sqlNodeStorage);
contract(
  "QuotaStorage and QuotaMarks",
  quotaStorageCases,
  QUOTAS,
  within((storage) => ({ ...keptQuotas(storage), ...keptQuotaMarks(storage) })),
);
contract("RecordStorage", recordStorageCases, RECORD, (storage) => sqlRecordStorage(storage, () => 0));
contract("RepairStorage", repairStorageCases, CONTROLLER, sqlRepairStorage);
contract("RowStorage", rowStorageCases, CONTROLLER, sqlRowStorage);
contract("ShardStorage", shardStorageCases, { binding: bindings.CLUSTER_NAMES, object: "shards/1" }, keptShard);
contract("SettingsStorage", settingsStorageCases, CONTROLLER, sqlSettingsStorage);

it("settings as an earlier release keeps them: are read, and the next ones take their place", async () => {
  const stub = CONTROLLER.binding.getByName(`${freshCluster()}/${CONTROLLER.object}`);
  const seen = await runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec("INSERT INTO repair_settings (name, value) VALUES ('A', '1'), ('B', '2')");
    const settings = sqlSettingsStorage(storage);
    const before = settings.openedLoad();
    settings.openedSave({ A: "3" });
    const { left } = storage.sql.exec<{ left: number }>("SELECT count(*) AS left FROM repair_settings").one();
    return [before, settings.openedLoad(), left];
  });
  expect(seen).toEqual([{ A: "1", B: "2" }, { A: "3" }, 0]);
});
