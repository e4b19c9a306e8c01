/** The parts that the services store and the ipaddresses store share: rows, topology, ledger. */
import type { AllocationMetrics } from "../src/addresses/alloc/allocation-metrics";
import { AddressLedger } from "../src/addresses/clusterip/address-ledger";
import type { LedgerStorage } from "../src/addresses/clusterip/ledger-storage";
import { TopologySource } from "../src/addresses/clusterip/topology-source";
import type { IPAddressDelete } from "../src/addresses/rpc/ip-addresses";
import type { Topology } from "../src/addresses/rpc/coordinator";
import type { HolderKind } from "../src/addresses/rpc/service-cidr";
import { openTopology, topologyCopyKey } from "../src/addresses/topology/topology-copy";
import type { Env } from "./env";
import { coordinator, owner } from "./peers";
import { systemDigest } from "./ports";
import { sqlFreeCountStorage } from "./sql/free-counts-sql";
import { sqlLedgerStorage } from "./sql/ledger-sql";
import type { StoreSetting } from "./store-object";

export interface LedgerParts {
  storage: LedgerStorage;
  topology: TopologySource;
  ledger: AddressLedger;
  /** what the object's alarm is for; never rejects */
  alarm(): Promise<void>;
}

/** What the two stores differ in. */
export interface LedgerHolders {
  kind: HolderKind;
  /** see LedgerPorts */
  holds(key: string, address: string): boolean;
  /** where the addresses have objects in another store, and are counted */
  services?: { deleteAddresses(items: IPAddressDelete[]): Promise<void>; metrics: AllocationMetrics };
}

export function ledgerParts(ctx: DurableObjectState, env: Env, setting: StoreSetting, holders: LedgerHolders): LedgerParts {
  const { kind, holds, services } = holders;
  const { cluster } = setting;
  const storage = sqlLedgerStorage(ctx.storage);
  const counts = services && sqlFreeCountStorage(ctx.storage);
  const topology = new TopologySource(
    setting.clock,
    () => coordinator(env, cluster),
    counts,
    () => publishedTopology(env, cluster),
  );
  const ledger = new AddressLedger(kind, {
    clock: setting.clock,
    random: setting.random,
    recorder: setting.recorder,
    wakeAt: (time) => setting.alarm.by(time),
    storage,
    topology,
    owner: (uid) => owner(env, cluster, uid),
    holds,
    ...services,
  });
  const alarm = (): Promise<void> => {
    setting.alarm.rang();
    return ledger.releases.drain();
  };
  return { storage, topology, ledger, alarm };
}

async function publishedTopology(env: Env, cluster: string): Promise<Topology | undefined> {
  const bytes = await env.DIRECTORY.get(topologyCopyKey(cluster), "arrayBuffer");
  return bytes ? openTopology(new Uint8Array(bytes), cluster, systemDigest) : undefined;
}
