/** What the services store and the ipaddresses store have in common: both take addresses from owners for their objects. */
import type { AllocationMetrics } from "../metrics/allocation-metrics";
import { EarliestAlarm } from "../../core/base/earliest-alarm";
import { throttled } from "../../core/turns/throttle";
import type { ControllerRpc } from "../../api/rpc/store";
import type { ClusterStorePorts, StorePeers } from "../../api/store/cluster-store";
import type { CoordinatorRpc, Topology } from "../rpc/topology";
import type { IPAddressDelete } from "../rpc/ip-addresses";
import type { RepairedOwner } from "../rpc/repair";
import type { HolderKind, ServiceCIDRRpc } from "../rpc/service-cidr";
import { openTopology } from "../topology/topology-copy";
import { AddressLedger } from "./address-ledger";
import type { OtherStore, Tenants } from "./address-supply";
import type { FreeCountStorage } from "./free-counts";
import type { LedgerStorage } from "./ledger-storage";
import { TopologySource } from "./topology-source";

/** Between two pokes of repair: many changes by hand are one pass of it. */
const REPAIR_POKE_INTERVAL_MS = 500;

/** Whom such a store calls. Each function answers for one call. */
export interface LedgerPeers extends StorePeers {
  coordinator(): Pick<CoordinatorRpc, "topology" | "countedTopology">;
  /** the object of the ServiceCIDR with this uid */
  owner(uid: string): ServiceCIDRRpc & Pick<RepairedOwner, "rowsOf">;
  repair(): ControllerRpc;
}

export interface LedgerStorePorts extends ClusterStorePorts {
  /** in the same database as `storage` */
  ledger: LedgerStorage;
  peers: LedgerPeers;
  /** the published copy of the topology (topology-copy.ts); undefined = there is none */
  topologyCopy(): Promise<Uint8Array | undefined>;
  /** replaces the object's alarm by one at `atMs` (ms since the epoch), durable with the writes of this turn */
  setAlarm(atMs: number): void;
}

/** What the two stores differ in. */
export interface LedgerHolders {
  kind: HolderKind;
  /** see LedgerPorts */
  holds(key: string, address: string): boolean;
  /** the other of the two */
  otherStore: OtherStore;
  /** where the addresses have objects in another store, are drawn, and are counted */
  services?: {
    deleteAddresses(items: IPAddressDelete[]): Promise<void>;
    freeCounts: FreeCountStorage;
    metrics: AllocationMetrics;
    tenants?: Tenants;
  };
}

export interface LedgerParts {
  alarm: EarliestAlarm;
  topology: TopologySource;
  ledger: AddressLedger;
  /** asks the repair controller for a pass soon; a lost poke is made up for by cron */
  pokeRepair(): void;
}

export function ledgerParts(ports: LedgerStorePorts, { kind, holds, otherStore, services }: LedgerHolders): LedgerParts {
  const { clock, random, recorder, peers, ledger: storage } = ports;
  const alarm = new EarliestAlarm(clock, (atMs) => ports.setAlarm(atMs));
  const topology = new TopologySource(
    clock,
    () => peers.coordinator(),
    services?.freeCounts,
    () => publishedTopology(ports),
  );
  const ledger = new AddressLedger(kind, {
    clock,
    random,
    recorder,
    wakeAt: (time) => alarm.by(time),
    storage,
    topology,
    owner: (uid) => peers.owner(uid),
    holds,
    otherStore,
    ...(services ? { deleteAddresses: services.deleteAddresses, metrics: services.metrics } : {}),
    ...(services?.tenants ? { tenants: services.tenants } : {}),
  });
  const pokeRepair = throttled(clock, REPAIR_POKE_INTERVAL_MS, () => {
    void peers
      .repair()
      .poke()
      .catch(() => undefined);
  });
  return { alarm, topology, ledger, pokeRepair };
}

async function publishedTopology({ cluster, digest, topologyCopy }: LedgerStorePorts): Promise<Topology | undefined> {
  const bytes = await topologyCopy();
  return bytes && openTopology(bytes, cluster, digest);
}
