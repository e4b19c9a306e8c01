/**
 * One cluster in virtual time: the real brains of the services store, the ipaddresses store, the Coordinator and the owners, on memory
 * tables, behind a network and with crashes that one seed decides. What is simulated is the platform; nothing of the product is.
 */
import { Owner } from "../../src/alloc/owner";
import type { OwnerStorage } from "../../src/alloc/owner-storage";
import type { Random } from "../../src/base/ports";
import { AddressLedger } from "../../src/clusterip/address-ledger";
import { IPAddressExtension, type IPAddressStorage, type IPAddressSupply } from "../../src/clusterip/ip-address-extension";
import type { LedgerStorage } from "../../src/clusterip/ledger-storage";
import type { NodePortStorage } from "../../src/clusterip/node-port-storage";
import { NodePorts } from "../../src/clusterip/node-ports";
import { Pairing } from "../../src/clusterip/pairing";
import { ServiceExtension, type ServiceSupply } from "../../src/clusterip/service-extension";
import { ServiceRepair } from "../../src/clusterip/service-repair";
import { TopologySource } from "../../src/clusterip/topology-source";
import { Coordinator } from "../../src/coordinator/coordinator";
import type { Fence } from "../../src/coordinator/intents";
import { storeObjects } from "../../src/coordinator/store-objects";
import type { ServiceCIDR } from "../../src/meta/kubernetes";
import type { Family } from "../../src/net/family";
import { definitionOf } from "../../src/registry/all";
import type { ResourceDefinition } from "../../src/registry/resource";
import type { CoordinatorRpc } from "../../src/rpc/coordinator";
import type { IPAddressDelete, IPAddressesRpc, IPAddressWrite } from "../../src/rpc/ip-addresses";
import type { RepairedAddresses } from "../../src/rpc/repair";
import type { HolderKind, OwnerConfig, ServiceCIDRRpc } from "../../src/rpc/service-cidr";
import type { StoreExtension } from "../../src/store/extension";
import { NamespaceGuard } from "../../src/store/namespace-guard";
import { ResourceStore } from "../../src/store/resource-store";
import { type Contents, MemoryCoordinatorStorage } from "./memory-coordinator-storage";
import { MemoryIPAddressStorage, MemoryLedgerStorage } from "./memory-ledger-storage";
import { MemoryNodePortStorage } from "./memory-node-port-storage";
import { MemoryOwnerStorage } from "./memory-owner-storage";
import { overriding } from "./overriding";
import { type ProtocolStep, stepOfConfigure, stepOfReceive, stepsOfCommit } from "./protocol-steps";
import { seededRandom } from "./seeded-random";
import { type CommitGate, Journal } from "./sim-journal";
import { type Caller, type Life, SimNetwork, SimNode, whileAlive } from "./sim-network";
import { SimScheduler } from "./sim-scheduler";
import { SimStoreStorage } from "./sim-store-storage";

/** Protections taken out on purpose, to show that their absence is noticed. Each wraps a port; the product stays as it is. */
export interface Sabotage {
  owner?(owner: ServiceCIDRRpc, uid: string): ServiceCIDRRpc;
  ledger?(storage: LedgerStorage): LedgerStorage;
  addresses?(storage: IPAddressStorage): IPAddressStorage;
  nodePorts?(storage: NodePortStorage): NodePortStorage;
  /** of the services and ipaddresses stores */
  extension?<Supply>(extension: StoreExtension<Supply>): StoreExtension<Supply>;
}

/** A ServiceCIDR that a client took away against its finalizer: addresses given out up to that epoch may lie uncovered. */
interface ForcedRemoval {
  cidrs: readonly string[];
  epoch: number;
}

export interface SimOptions {
  seed: number;
  /** SERVICE_CLUSTER_IP_RANGE */
  ranges: readonly string[];
  families: readonly Family[];
  sabotage?: Sabotage;
  /** small ones, so that a few addresses make several lots and chunks */
  handoff?: { rowsMax: number; chunkRowsMax: number };
}

/** The tables of a store that survive its crashes. */
class Tables {
  readonly journal = new Journal();
  readonly store = new SimStoreStorage(this.journal);
  readonly ledger = new SimLedgerStorage(this.journal);
  readonly nodePorts = new MemoryNodePortStorage(this.journal);
  readonly addresses = new MemoryIPAddressStorage(this.journal);
}

export interface ServicesBrain {
  store: ResourceStore<ServiceSupply>;
  ledger: AddressLedger;
  repair: ServiceRepair;
  maintain(): Promise<void>;
}

export interface IPAddressesBrain extends IPAddressesRpc, RepairedAddresses {
  store: ResourceStore<IPAddressSupply>;
  ledger: AddressLedger;
  maintain(): Promise<void>;
}

export interface CoordinatorBrain {
  store: ResourceStore<Fence>;
  brain: Coordinator;
}

export class SimCluster {
  readonly scheduler = new SimScheduler();
  readonly network: SimNetwork;
  readonly tables = { services: new Tables(), ipAddresses: new Tables() };
  readonly coordinatorStorage: MemoryCoordinatorStorage;
  readonly services: SimNode<ServicesBrain>;
  readonly ipAddresses: SimNode<IPAddressesBrain>;
  readonly coordinator: SimNode<CoordinatorBrain>;
  readonly owners = new Map<string, { node: SimNode<Owner>; storage: GatedOwnerStorage }>();
  readonly logged: string[] = [];
  /** writes that were committed after their deadline (PROTOCOL rule 7) */
  readonly overdue: string[] = [];
  readonly forced: ForcedRemoval[] = [];
  readonly #options: SimOptions;
  readonly #random: Random;
  readonly coordinatorTables: SimStoreStorage;

  constructor(options: SimOptions) {
    this.#options = options;
    // The product draws from a stream of its own, so that changing a fault rate does not change every address.
    this.#random = seededRandom(options.seed);
    const network = new SimNetwork(this.scheduler, seededRandom(options.seed ^ 0x5eed));
    this.network = network;
    this.services = new SimNode(
      "services",
      network,
      (life) => this.#makeServices(life),
      ({ ledger }) => ledger.releases.drain(),
    );
    this.ipAddresses = new SimNode(
      "ipaddresses",
      network,
      (life) => this.#makeIPAddresses(life),
      ({ ledger }) => ledger.releases.drain(),
    );
    this.coordinator = new SimNode(
      "coordinator",
      network,
      (life) => this.#makeCoordinator(life),
      ({ brain }) => brain.alarm(),
    );
    this.tables.services.journal.gate = this.services.gate;
    this.tables.ipAddresses.journal.gate = this.ipAddresses.gate;
    const stepsSince = (before: Contents): ReadonlySet<ProtocolStep> => new Set(stepsOfCommit(before, this.coordinatorStorage.contents));
    this.coordinatorStorage = new MemoryCoordinatorStorage(
      (before) => this.coordinator.gate.beforeCommit?.(stepsSince(before)),
      (before) => this.coordinator.gate.afterCommit?.(stepsSince(before)),
    );
    this.coordinatorTables = new SimStoreStorage(new JointJournal(this.coordinatorStorage));
  }

  owner(uid: string): { node: SimNode<Owner>; storage: GatedOwnerStorage } {
    const known = this.owners.get(uid);
    if (known) return known;
    const storage = new GatedOwnerStorage(() => this.network.step);
    const node = new SimNode<Owner>(
      uid,
      this.network,
      (life) => this.#makeOwner(life, storage),
      () => Promise.resolve(),
    );
    storage.gate = node.gate;
    const made = { node, storage };
    this.owners.set(uid, made);
    return made;
  }

  /** Everything that cron and time would bring about, with a network that works. */
  async quiesce(): Promise<void> {
    await this.scheduler.pass(180_000);
    for (let round = 0; round < 3; round++) {
      const always = { isAlive: () => true };
      await this.scheduler.run(this.network.call(always, this.coordinator, ({ brain }) => brain.maintain()));
      await this.scheduler.run(this.network.call(always, this.services, (brain) => brain.maintain()));
      await this.scheduler.run(this.network.call(always, this.ipAddresses, (brain) => brain.maintain()));
      await this.scheduler.pass(70_000);
    }
  }

  #store<Supply>(
    life: Life,
    definition: ResourceDefinition,
    storage: SimStoreStorage,
    extension: StoreExtension<Supply>,
  ): ResourceStore<Supply> {
    const namespace = JSON.stringify({ metadata: { name: "default", uid: "uid-of-default" } });
    const guard = new NamespaceGuard(storage, () => Promise.resolve({ ok: true, object: namespace }));
    return new ResourceStore<Supply>({
      definition,
      representations: [],
      storage,
      clock: life.clock,
      random: this.#random,
      recorder: this.#recorder(life),
      context: () => ({ now: life.clock.now(), serviceFamilies: this.#options.families }),
      extension: this.#watched(life, definition.resource, extension),
      ...(definition.namespaced ? { namespaces: guard } : {}),
    });
  }

  /** The extension, with a look at what becomes of its writes. */
  #watched<Supply>(life: Life, resource: string, extension: StoreExtension<Supply>): StoreExtension<Supply> {
    const deadlines = new WeakMap<object, number>();
    const inner = (resource !== "servicecidrs" && this.#options.sabotage?.extension?.(extension)) || extension;
    return overriding(inner, {
      admit: (change, operation) => {
        if (!deadlines.has(operation)) deadlines.set(operation, operation.deadline);
        return inner.admit?.(change, operation) ?? { kind: "go" };
      },
      committed: (change, operation) => {
        inner.committed?.(change, operation);
        const lateMs = operation ? life.clock.now() - (deadlines.get(operation) ?? Infinity) : 0;
        if (lateMs > 0) this.overdue.push(`rule 7: ${change.key} of ${resource} was written ${lateMs} ms after its deadline`);
        if (resource !== "servicecidrs" || change.type !== "DELETED" || !operation) return;
        this.forced.push({ cidrs: (change.before as ServiceCIDR).spec?.cidrs ?? [], epoch: this.coordinatorStorage.contents.epoch });
      },
    });
  }

  #ledger(life: Life, kind: HolderKind, storage: LedgerStorage, deletes?: (items: IPAddressDelete[]) => Promise<void>) {
    const topology = new TopologySource(life.clock, () => this.#coordinatorOf(life));
    const ledger = new AddressLedger(kind, {
      clock: life.clock,
      random: this.#random,
      recorder: this.#recorder(life),
      wakeAt: life.wakeAt,
      storage,
      topology,
      owner: (uid) => this.#ownerOf(life, uid),
      ...(deletes ? { deleteAddresses: deletes } : {}),
    });
    return { topology, ledger };
  }

  #sabotaged(storage: LedgerStorage): LedgerStorage {
    return this.#options.sabotage?.ledger?.(storage) ?? storage;
  }

  /** As in durable-objects/services-store.ts. */
  #makeServices(life: Life): ServicesBrain {
    const definition = definition$("", "services");
    const tables = this.tables.services;
    const storage = this.#sabotaged(whileAlive<LedgerStorage>(tables.ledger, life));
    const rows = whileAlive(tables.store, life);
    const nodePorts = whileAlive<NodePortStorage>(tables.nodePorts, life);
    const ipAddresses = (): Pick<IPAddressesRpc & RepairedAddresses, "createMany" | "deleteMany" | "restoreMany"> => ({
      restoreMany: (writes) => this.network.call(life, this.ipAddresses, (brain) => brain.restoreMany(structuredClone(writes))),
      createMany: (writes) =>
        this.network.call(
          life,
          this.ipAddresses,
          (brain) => brain.createMany(structuredClone(writes)),
          () => "createAddresses",
        ),
      deleteMany: (items) =>
        this.network.call(
          life,
          this.ipAddresses,
          (brain) => brain.deleteMany(structuredClone(items)),
          () => "deleteAddresses",
        ),
    });
    const { topology, ledger } = this.#ledger(life, "service", storage, (items) => ipAddresses().deleteMany(items));
    const pairing = new Pairing({ clock: life.clock, recorder: this.#recorder(life), ipAddresses });
    const extension = new ServiceExtension({
      definition,
      families: this.#options.families,
      ledger,
      storage,
      nodePorts: new NodePorts(this.#options.sabotage?.nodePorts?.(nodePorts) ?? nodePorts, this.#random),
      pairing,
      topology,
      head: () => store.revision,
      floor: () => store.floor,
    });
    const store: ResourceStore<ServiceSupply> = this.#store(life, definition, rows, extension);
    ledger.releases.rearm();
    const recovered = store.revision > store.floor ? extension.recover(rows) : Promise.resolve();
    const repair = new ServiceRepair({
      clock: life.clock,
      recorder: this.#recorder(life),
      ledger,
      storage,
      pairing,
      topology,
      stored: (key) => rows.objectGet(key)?.data,
      internally: (work) => store.internally(work),
      owner: (uid) => ({ rowsOf: (addresses) => this.network.call(life, this.owner(uid).node, (owner) => owner.rowsOf(addresses)) }),
      ipAddresses,
    });
    return {
      store,
      ledger,
      repair,
      maintain: () => recovered.then(() => extension.maintain()),
    };
  }

  /** As in durable-objects/ip-addresses-store.ts. */
  #makeIPAddresses(life: Life): IPAddressesBrain {
    const definition = definition$("networking.k8s.io", "ipaddresses");
    const tables = this.tables.ipAddresses;
    const rows = whileAlive(tables.store, life);
    const { ledger } = this.#ledger(life, "ipaddress", this.#sabotaged(whileAlive<LedgerStorage>(tables.ledger, life)));
    const addresses = whileAlive<IPAddressStorage>(tables.addresses, life);
    const extension = new IPAddressExtension({
      definition,
      ledger,
      storage: this.#options.sabotage?.addresses?.(addresses) ?? addresses,
      now: () => life.clock.now(),
      uuid: () => this.#random.uuid(),
    });
    const store = this.#store(life, definition, rows, extension);
    ledger.releases.rearm();
    return {
      store,
      ledger,
      restoreMany: (writes) => store.internally((turn) => writes.map((write) => extension.writeManaged(turn, write, write))),
      writersOf: (addresses) => Promise.resolve(addresses.map((address) => extension.writerOf(address))),
      createMany: (writes: IPAddressWrite[]) =>
        store.internally((turn) => {
          tables.journal.note("createAddresses");
          for (const write of writes) extension.writeManaged(turn, write);
        }),
      deleteMany: (items: IPAddressDelete[]) =>
        store.internally((turn) => {
          tables.journal.note("deleteAddresses");
          for (const item of items) extension.deleteManaged(turn, item);
        }),
      claimPrefixes: (epoch, prefixes, page) =>
        store.internally(() => {
          tables.journal.note("claimPrefixes");
          return extension.claim(epoch, prefixes, page, (key) => rows.objectScan(key, ""));
        }),
      maintain: async () => {
        await ledger.releases.drain();
        await ledger.audit();
      },
    };
  }

  /** As in durable-objects/coordinator.ts. */
  #makeCoordinator(life: Life): CoordinatorBrain {
    const definition = definition$("networking.k8s.io", "servicecidrs");
    const brain: Coordinator = new Coordinator(
      {
        storage: whileAlive(this.coordinatorStorage, life),
        objects: storeObjects(() => store),
        peers: {
          owner: (uid) => this.#ownerOf(life, uid),
          ipAddresses: () => ({
            claimPrefixes: (epoch, prefixes, page) =>
              this.network.call(
                life,
                this.ipAddresses,
                (peer) => peer.claimPrefixes(epoch, [...prefixes], page),
                () => "claimPrefixes",
              ),
          }),
        },
        alarm: { arm: (atMs) => void (life.isAlive() && this.coordinator.setAlarm(atMs)) },
        clock: life.clock,
        random: this.#random,
        recorder: this.#recorder(life),
        events: { report: () => undefined },
        ...(this.#options.handoff ? { handoffRowsMax: this.#options.handoff.rowsMax } : {}),
      },
      { defaultRanges: this.#options.ranges, staticBands: true },
    );
    const store: ResourceStore<Fence> = this.#store(life, definition, whileAlive(this.coordinatorTables, life), brain.intents);
    brain.kick();
    return { store, brain };
  }

  #makeOwner(life: Life, storage: MemoryOwnerStorage): Owner {
    return new Owner({
      storage: whileAlive<OwnerStorage>(storage, life),
      clock: life.clock,
      random: this.#random,
      recorder: this.#recorder(life),
      ...(this.#options.handoff ? { copyRowsMax: this.#options.handoff.chunkRowsMax } : {}),
    });
  }

  #coordinatorOf(caller: Caller): Pick<CoordinatorRpc, "topology" | "countedTopology"> {
    return {
      topology: () =>
        this.network.call(
          caller,
          this.coordinator,
          ({ brain }) => brain.topology(),
          () => "topology",
        ),
      countedTopology: () =>
        this.network.call(
          caller,
          this.coordinator,
          ({ brain }) => brain.countedTopology(),
          () => "countedTopology",
        ),
    };
  }

  #ownerOf(caller: Caller, uid: string): ServiceCIDRRpc {
    const { node, storage } = this.owner(uid);
    const { sabotage } = this.#options;
    const call = <T>(effect: (owner: ServiceCIDRRpc) => Promise<T>, step?: () => ProtocolStep | undefined): Promise<T> =>
      this.network.call(caller, node, (owner) => effect(sabotage?.owner?.(owner, uid) ?? owner), step);
    const config = (): Omit<OwnerConfig, "epoch"> | undefined => {
      const stored = storage.configLoad();
      return stored && (JSON.parse(stored.content) as Omit<OwnerConfig, "epoch">);
    };
    return {
      configure: (next) =>
        call(
          (owner) => owner.configure(structuredClone(next)),
          () => stepOfConfigure(config(), next),
        ),
      allocate: (items) =>
        call(
          (owner) => owner.allocate(structuredClone(items)),
          () => "allocate",
        ),
      release: (items) =>
        call(
          (owner) => owner.release(structuredClone(items)),
          () => "release",
        ),
      seed: (epoch, items) => {
        for (const { token } of items) storage.seeds.add(token);
        return call(
          (owner) => owner.seed(epoch, structuredClone(items)),
          () => "seed",
        );
      },
      rowsSince: (after, limit) =>
        call(
          (owner) => owner.rowsSince(after, limit),
          () => "audit",
        ),
      countTaken: (intervals) =>
        call(
          (owner) => owner.countTaken(structuredClone(intervals)),
          () => "countTaken",
        ),
      free: () =>
        call(
          (owner) => owner.free(),
          () => "countFree",
        ),
      partition: (prefixes, rowsMax) =>
        call(
          (owner) => owner.partition([...prefixes], rowsMax),
          () => "cut",
        ),
      copyOut: (handoff, after) =>
        call(
          (owner) => owner.copyOut(structuredClone(handoff), after),
          () => "copyOut",
        ),
      receive: (handoff, chunk) =>
        call(
          (owner) => owner.receive(handoff, structuredClone(chunk)),
          () => stepOfReceive(chunk),
        ),
    };
  }

  #recorder(life: Life) {
    return {
      log: (level: string, event: string, fields?: object): void => {
        if (life.isAlive() && level === "error") this.logged.push(`${event} ${JSON.stringify(fields ?? {})}`);
      },
    };
  }
}

/** The tables of the Coordinator's store, in one transaction with its other rows. */
class JointJournal extends Journal {
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
}

class GatedOwnerStorage extends MemoryOwnerStorage {
  gate: CommitGate = {};
  /** tokens that seeding has brought */
  readonly seeds = new Set<string>();
  #steps = new Set<ProtocolStep>();
  #isOpen = false;

  /** `step`: what the call on the stack does */
  constructor(private readonly step: () => ProtocolStep | undefined) {
    super();
  }

  override rowInsert(...[row]: Parameters<MemoryOwnerStorage["rowInsert"]>): void {
    this.#steps.add(this.step() ?? (this.seeds.has(row.token) ? "seed" : "allocate"));
    super.rowInsert(row);
  }

  override releasedSave(token: string, expiresMs: number): void {
    this.#steps.add("release");
    super.releasedSave(token, expiresMs);
  }

  override configSave(...[config]: Parameters<MemoryOwnerStorage["configSave"]>): void {
    const step = this.step();
    if (step) this.#steps.add(step);
    super.configSave(config);
  }

  override receivingSave(...[handoff, state]: Parameters<MemoryOwnerStorage["receivingSave"]>): void {
    const step = this.step();
    if (step) this.#steps.add(step);
    super.receivingSave(handoff, state);
  }

  override transaction<T>(body: () => T): T {
    if (this.#isOpen) return super.transaction(body);
    const writes = this.writes;
    this.#steps = new Set();
    this.#isOpen = true;
    let result: T;
    try {
      result = super.transaction(() => {
        const inner = body();
        if (this.writes > writes) this.gate.beforeCommit?.(this.#steps);
        return inner;
      });
    } finally {
      this.#isOpen = false;
    }
    if (this.writes > writes) this.gate.afterCommit?.(this.#steps);
    return result;
  }
}

function definition$(group: string, resource: string): ResourceDefinition {
  const definition = definitionOf(group, resource);
  if (!definition) throw new Error(`no resource ${resource}`);
  return definition;
}
