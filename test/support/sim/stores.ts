/** The stores of a simulated cluster: the real classes on simulated ports. */
import { IPAddressesStore } from "../../../src/addresses/clusterip/ip-addresses-store";
import type { LedgerPeers } from "../../../src/addresses/ledger/ledger-store";
import { ServicesStore } from "../../../src/addresses/clusterip/services-store";
import { CoordinatorStore } from "../../../src/addresses/coordinator/coordinator-store";
import { topologyCopyKey } from "../../../src/addresses/topology/topology-copy";
import type { ServiceCIDR } from "../../../src/api/meta/kubernetes";
import { definitionOf } from "../../../src/api/registry/all";
import type { ClusterStorePorts } from "../../../src/api/store/cluster-store";
import type { StoreExtension } from "../../../src/api/store/state/extension";
import type { StoreEngine } from "../../../src/api/store/engine/store-engine";
import { PlainStore } from "../../../src/controllers/plain-store";
import { overriding } from "../worlds/overriding";
import { CLUSTER, type SimPlatform } from "./platform/platform";
import { fakeDigest } from "./platform/fake-digest";
import type { Journal } from "./platform/journal";
import { type Life, whileAlive } from "./platform/network";
import { OwnRanges } from "../../../src/tenancy/own-ranges";
import { controllerOf, coordinatorOf, ipAddressesOf, lookUpNamespace, ownerOf, visitListOf } from "./peers";
import type { ProtocolStep } from "./protocol-steps";
import type { StoreTables } from "./tables";

/** Small, so that a few Services make several batches. */
const DELETED_TOGETHER = 2;
const DEFAULT_SERVICE = "default/kubernetes";

export function makeServices(cluster: SimPlatform, life: Life): ServicesStore {
  const tables = cluster.tables.services;
  const { freeCounts } = tables;
  if (freeCounts.saved.size > 0) cluster.network.occurred("free counts loaded");
  const peers = ledgerPeers(cluster, life);
  const brain: ServicesStore = new ServicesStore({
    ...storePorts(cluster, life, { group: "", resource: "services", tables }),
    ...ledgerPorts(cluster, life, cluster.services, tables),
    peers: {
      ...peers,
      owner: (uid) => {
        const owner = peers.owner(uid);
        const allocate: typeof owner.allocate = (items) => {
          // A published copy opens under epoch 0.
          if (brain.topology.cached?.epoch === 0) cluster.network.occurred("topology copy used");
          return owner.allocate(items);
        };
        return { ...owner, allocate };
      },
      coordinator: () => coordinatorOf(cluster, life),
      followers: () => cluster.serviceFollowers(life),
      ipAddresses: () => ipAddressesOf(cluster, life),
    },
    ranges: rangesOf(cluster),
    nodePorts: (cluster.sabotage.nodePorts ?? same)(whileAlive(tables.nodePorts, life)),
    freeCounts: whileAlive(freeCounts, life),
    allocationCounts: whileAlive(tables.allocationCounts, life),
    directory: {
      has: async (key) => (await cluster.directory.get(life, key)) !== undefined,
      add: (key) => cluster.directory.put(life, key, new Uint8Array([1])),
    },
  });
  if (cluster.options.apiServerServiceIP === undefined) brain.defaultService.ensure = () => Promise.resolve();
  noteTurns(brain.store, tables.journal, () => "repairTurn");
  cluster.sabotage.services?.(brain, tables.ledger);
  cluster.sabotage.visited?.(brain);
  cluster.sockets.get("services")?.born(life, brain);
  return brain;
}

/** The clusters have no ranges of their own. */
function rangesOf({ options, onlyRanges }: SimPlatform): OwnRanges {
  const { families: serviceFamilies, ranges: serviceRanges, apiServerServiceIP = "" } = options;
  const storage = { load: () => undefined, save: () => undefined };
  return new OwnRanges(storage, { serviceFamilies, serviceRanges, apiServerServiceIP, onlyRanges });
}

export function makeIPAddresses(cluster: SimPlatform, life: Life): IPAddressesStore {
  const tables = cluster.tables.ipAddresses;
  const brain = new IPAddressesStore({
    ...storePorts(cluster, life, { group: "networking.k8s.io", resource: "ipaddresses", tables }),
    ...ledgerPorts(cluster, life, cluster.ipAddresses, tables),
    peers: ledgerPeers(cluster, life),
    ipAddresses: (cluster.sabotage.addresses ?? same)(whileAlive(tables.addresses, life)),
  });
  noteTurns(brain.store, tables.journal, () => cluster.network.step);
  cluster.sockets.get("ipaddresses")?.born(life, brain);
  return brain;
}

export function makeCoordinator(cluster: SimPlatform, life: Life): CoordinatorStore {
  const { handoff } = cluster.options;
  const { onlyRanges, poolsBeside } = cluster;
  const ports = storePorts(cluster, life, { group: "networking.k8s.io", resource: "servicecidrs", tables: cluster.tables.coordinator });
  const brain = new CoordinatorStore({
    ...ports,
    topology: whileAlive(cluster.coordinatorStorage, life),
    ranges: rangesOf(cluster),
    settings: { staticBands: true, ...(onlyRanges ? { onlyRanges } : {}) },
    peers: {
      ...ports.peers,
      owner: (uid) => ownerOf(cluster, life, uid),
      ipAddresses: () => ({
        claimPrefixes: (epoch, prefixes, page) =>
          cluster.network.call(
            life,
            cluster.ipAddresses,
            (peer) => peer.claimPrefixes(epoch, [...prefixes], page),
            () => "claimPrefixes",
          ),
      }),
      // There is no store of Events: nothing depends on them.
      events: () => ({ write: noEvents, get: noEvents }),
    },
    ...(poolsBeside && { pools: poolsBeside(life) }),
    setAlarm: (atMs) => void (life.isAlive() && cluster.coordinator.setAlarm(atMs)),
    ...(handoff ? { handoffRowsMax: handoff.rowsMax } : {}),
  });
  cluster.sockets.get("servicecidrs")?.born(life, brain);
  return brain;
}

/** The store of Leases, which are owners and dependents here. */
export function makeLeases(cluster: SimPlatform, life: Life): PlainStore {
  const tables = cluster.tables.leases;
  const ports = storePorts(cluster, life, { group: "coordination.k8s.io", resource: "leases", tables });
  const brain = new PlainStore({
    ...ports,
    peers: { ...ports.peers, followers: () => [], stores: () => [], endsNamespaces: () => true },
    isFollowed: false,
    advertiseAddresses: [],
  });
  cluster.sabotage.visited?.(brain);
  return brain;
}

export function storePorts(
  cluster: SimPlatform,
  life: Life,
  { group, resource, tables }: { group: string; resource: string; tables: StoreTables },
): ClusterStorePorts {
  const definition = definitionOf(group, resource);
  if (!definition) throw new Error(`no resource ${resource}`);
  const { store, publications } = tables;
  const { limits } = cluster;
  const { commitMs = 0 } = cluster.options;
  const alive = whileAlive(store, life);
  const quotas = limits?.rows(resource, life);
  const looked = <Supply>(extension: StoreExtension<Supply>): StoreExtension<Supply> =>
    watched(cluster, life, { resource, journal: tables.journal }, extension);
  return {
    ...(quotas ? { quotas } : {}),
    cluster: CLUSTER,
    definition,
    serviceFamilies: () => cluster.options.families,
    clock: life.clock,
    random: cluster.random,
    recorder: cluster.recorder(life),
    digest: fakeDigest,
    storage: commitMs === 0 ? alive : overriding(alive, { sync: () => life.clock.sleep(commitMs) }),
    closedNamespaces: whileAlive(store, life),
    publications: {
      lastLoad: (key) => publications.get(key),
      lastSave: (key, last) => void (life.isAlive() && publications.set(key, last)),
      put: (key, bytes) => cluster.directory.put(life, key, bytes),
    },
    peers: {
      namespace: (name) => lookUpNamespace(cluster, life, name),
      garbageCollector: () => controllerOf(cluster, life, "garbage-collection"),
      ...visitList(cluster, life),
      ...limits?.peers(life),
    },
    noteBusy: (rhythm) => cluster.noteBusy(life, rhythm),
    controllersSet: () => undefined,
    end: () => Promise.reject(new Error("no simulated cluster is deleted")),
    abort: () => life.die?.(),
    deletedTogether: DELETED_TOGETHER,
    extended: (extension) => limits?.judged(resource, looked(extension)) ?? looked(extension),
  };
}

function ledgerPorts(
  cluster: SimPlatform,
  life: Life,
  node: { setAlarm(atMs: number): void },
  { ledger }: SimPlatform["tables"]["services"],
) {
  return {
    ledger: (cluster.sabotage.ledger ?? same)(whileAlive(ledger, life)),
    topologyCopy: () => cluster.directory.get(life, topologyCopyKey(CLUSTER)),
    setAlarm: (atMs: number) => void (life.isAlive() && node.setAlarm(atMs)),
  };
}

function ledgerPeers(cluster: SimPlatform, life: Life): LedgerPeers {
  return {
    namespace: (name) => lookUpNamespace(cluster, life, name),
    garbageCollector: () => controllerOf(cluster, life, "garbage-collection"),
    ...visitList(cluster, life),
    coordinator: () => coordinatorOf(cluster, life),
    owner: (uid) => ownerOf(cluster, life, uid),
    repair: () => controllerOf(cluster, life, "repair"),
    ...cluster.limits?.peers(life),
  };
}

/** The release before knows of no such list. */
function visitList(cluster: SimPlatform, life: Life): Pick<LedgerPeers, "visitList"> {
  return life.isEarlier ? {} : { visitList: () => visitListOf(cluster, life) };
}

/** Has the journal note which step each of the server's own turns of the store is; `step` is asked when the turn is asked for. */
function noteTurns<Supply>(store: StoreEngine<Supply>, journal: Journal, step: () => ProtocolStep | undefined): void {
  const internally = store.internally.bind(store) as typeof store.internally;
  store.internally = (work) => {
    const asked = step();
    return internally((turn) => {
      const value = work(turn);
      if (asked && !journal.does("closeNamespace")) journal.note(asked);
      return value;
    });
  };
}

function noEvents(): Promise<never> {
  return Promise.reject(new Error("there is no store of Events"));
}

function same<T>(port: T): T {
  return port;
}

/** The extension, with a look at what becomes of its writes. */
function watched<Supply>(
  cluster: SimPlatform,
  life: Life,
  { resource, journal }: { resource: string; journal: Journal },
  extension: StoreExtension<Supply>,
): StoreExtension<Supply> {
  const deadlines = new WeakMap<object, number>();
  const inner = ((resource === "services" || resource === "ipaddresses") && cluster.sabotage.extension?.(extension)) || extension;
  return overriding(inner, {
    admit: (change, operation) => {
      if (!deadlines.has(operation)) deadlines.set(operation, operation.deadline);
      return inner.admit?.(change, operation) ?? { kind: "go" };
    },
    committed: (change, operation) => {
      inner.committed?.(change, operation);
      cluster.kin.note(journal, change.before, change.type === "DELETED" ? undefined : change.after);
      const lateMs = operation ? life.clock.now() - (deadlines.get(operation) ?? Infinity) : 0;
      if (lateMs > 0) cluster.overdue.push(`rule 7: ${change.key} of ${resource} was written ${lateMs} ms after its deadline`);
      if (resource === "services" && change.type === "ADDED" && change.key === DEFAULT_SERVICE && cluster.goneAt.has(DEFAULT_SERVICE)) {
        cluster.network.occurred("default Service made again");
      }
      if (resource === "services" && change.type === "DELETED") cluster.goneAt.set(change.key, cluster.scheduler.now);
      if (resource === "servicecidrs") cluster.changed();
      if (resource !== "servicecidrs" || change.type !== "DELETED" || !operation) return;
      cluster.forced.push({ cidrs: (change.before as ServiceCIDR).spec?.cidrs ?? [], epoch: cluster.coordinatorStorage.contents.epoch });
    },
  });
}
