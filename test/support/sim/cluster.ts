/**
 * One cluster in virtual time: the real brains of the services store, the ipaddresses store, the Coordinator and the owners, on memory
 * tables, behind a network and with crashes that one seed decides. What is simulated is the platform; nothing of the product is.
 */
import { Owner } from "../../../src/addresses/alloc/owner";
import type { OwnerStorage, StoredRow } from "../../../src/addresses/alloc/owner-storage";
import { RPC_TIMEOUT_MS } from "../../../src/core/base/limits";
import type { Random } from "../../../src/core/base/ports";
import { withTimeout } from "../../../src/core/base/timeout";
import { AddressLedger, type LedgerPorts } from "../../../src/addresses/clusterip/address-ledger";
import { IPAddressExtension, type IPAddressStorage, type IPAddressSupply } from "../../../src/addresses/clusterip/ip-address-extension";
import type { LedgerStorage } from "../../../src/addresses/clusterip/ledger-storage";
import type { NodePortStorage } from "../../../src/addresses/clusterip/node-port-storage";
import { NodePorts } from "../../../src/addresses/clusterip/node-ports";
import { Pairing } from "../../../src/addresses/clusterip/pairing";
import { isHeldByStored } from "../../../src/addresses/clusterip/address-plan";
import { ServiceExtension, type ServiceSupply } from "../../../src/addresses/clusterip/service-extension";
import { IPAddressRepair } from "../../../src/addresses/clusterip/ip-address-repair";
import { ServiceRepair, type ServiceRepairPorts } from "../../../src/addresses/clusterip/service-repair";
import { TopologySource } from "../../../src/addresses/clusterip/topology-source";
import { Coordinator } from "../../../src/addresses/coordinator/coordinator";
import type { Fence } from "../../../src/addresses/coordinator/intents";
import { storeObjects } from "../../../src/addresses/coordinator/store-objects";
import type { RepairPorts } from "../../../src/addresses/repair/repair-ports";
import type { ServiceCIDR } from "../../../src/api/meta/kubernetes";
import type { Family } from "../../../src/core/net/family";
import { definitionOf } from "../../../src/api/registry/all";
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import type { CoordinatorRpc } from "../../../src/addresses/rpc/coordinator";
import type { IPAddressDelete, IPAddressesRpc, IPAddressWrite } from "../../../src/addresses/rpc/ip-addresses";
import type { RepairedAddresses, RepairedOwner, RepairedServices } from "../../../src/addresses/rpc/repair";
import type { HolderKind, OwnerConfig, ServiceCIDRRpc } from "../../../src/addresses/rpc/service-cidr";
import type { MaintainedStore } from "../../../src/api/rpc/store";
import type { StoreExtension } from "../../../src/api/store/extension";
import { NamespaceGuard } from "../../../src/api/store/namespace-guard";
import { ResourceStore } from "../../../src/api/store/resource-store";
import { type Contents, MemoryCoordinatorStorage } from "../memory/coordinator-storage";
import { MemoryIPAddressStorage, MemoryLedgerStorage } from "../memory/ledger-storage";
import { MemoryNodePortStorage } from "../memory/node-port-storage";
import { MemoryOwnerStorage } from "../memory/owner-storage";
import { overriding } from "../worlds/overriding";
import { plainCopy } from "./plain-copy";
import { type ProtocolStep, stepOfConfigure, stepOfReceive, stepsOfCommit } from "./protocol-steps";
import { seededRandom } from "./seeded-random";
import { SimGrants } from "./grants";
import { type CommitGate, type CommitSteps, commitStepsOf, Journal } from "./journal";
import { namespaceContent, SimNamespaces } from "./namespaces";
import { ALWAYS, type Caller, type Life, SimNetwork, SimNode, whileAlive } from "./network";
import { SimScheduler } from "./scheduler";
import { SimStoreStorage } from "./store-storage";

/** Protections taken out on purpose, to show that their absence is noticed. Each wraps a port; the product stays as it is. */
export interface Sabotage {
  owner?(owner: ServiceCIDRRpc, uid: string): ServiceCIDRRpc;
  ledger?(storage: LedgerStorage): LedgerStorage;
  addresses?(storage: IPAddressStorage): IPAddressStorage;
  nodePorts?(storage: NodePortStorage): NodePortStorage;
  /** of the services and ipaddresses stores */
  extension?<Supply>(extension: StoreExtension<Supply>): StoreExtension<Supply>;
  /** the services store's side of repair, and what it is made of */
  repaired?(repair: RepairedServices, ports: ServiceRepairPorts): RepairedServices;
  /** of the repair controller */
  repairPorts?(ports: RepairPorts): RepairPorts;
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

/** Who waits for a deletion looks again within 5 s; what failed and is put off for longer is hurried by `maintain`, or has a row that is waited for. */
const CALM_MS = 12_000;
const LOOK_MS = 3_000;

export interface ServicesBrain {
  store: ResourceStore<ServiceSupply>;
  ledger: AddressLedger;
  repair: RepairedServices;
  closeNamespace: MaintainedStore["closeNamespace"];
  emptyNamespace: MaintainedStore["emptyNamespace"];
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
  readonly #overdue: string[] = [];
  readonly #grants = new SimGrants();
  readonly forced: ForcedRemoval[] = [];
  /** by key of a Service: when the last one of that name went */
  readonly goneAt = new Map<string, number>();
  readonly namespaces: SimNamespaces;
  /** MultiCIDRServiceAllocator=false: the configured ranges alone count; of the objects that start from now on */
  onlyRanges: readonly string[] | undefined;
  readonly #options: SimOptions;
  readonly #random: Random;
  #coordinatorCommits = 0;
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
    const stepsSince = (before: Contents): CommitSteps => ({
      isRare: false,
      all: () => stepsOfCommit(before, this.coordinatorStorage.contents),
    });
    this.coordinatorStorage = new MemoryCoordinatorStorage(
      (before) => this.coordinator.gate.beforeCommit?.(stepsSince(before)),
      (before) => {
        this.#coordinatorCommits++;
        this.#grants.committed(this.coordinatorStorage.contents);
        this.coordinator.gate.afterCommit?.(stepsSince(before));
      },
    );
    this.coordinatorTables = new SimStoreStorage(new JointJournal(this.coordinatorStorage));
    this.namespaces = new SimNamespaces(this);
  }

  get sabotage(): Sabotage {
    return this.#options.sabotage ?? {};
  }

  /** What was wrong at some moment, whatever became of it since. */
  get momentary(): string[] {
    return [...this.#overdue, ...this.#grants.violations];
  }

  /** The stores, the Coordinator and every owner. */
  get nodes(): SimNode<never>[] {
    const owners = [...this.owners.values()].map(({ node }) => node);
    return [this.services, this.ipAddresses, this.coordinator, ...owners] as unknown as SimNode<never>[];
  }

  /** As a deployment with another value of MultiCIDRServiceAllocator: every object begins anew, one after the other. */
  setGate(isOn: boolean): void {
    this.onlyRanges = isOn ? undefined : this.#options.ranges;
    for (const node of [this.coordinator, this.services, this.ipAddresses]) {
      this.scheduler.after(this.network.random.below(2_000), () => node.crash());
    }
  }

  owner(uid: string): { node: SimNode<Owner>; storage: GatedOwnerStorage } {
    const known = this.owners.get(uid);
    if (known) return known;
    const storage = new GatedOwnerStorage(
      () => this.network.step,
      (row) => this.#grants.given(uid, row),
    );
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

  /** Transactions of all objects that were kept and wrote something. */
  get commits(): number {
    let count = this.#coordinatorCommits + this.tables.services.journal.commits + this.tables.ipAddresses.journal.commits;
    for (const { storage } of this.owners.values()) count += storage.commits;
    return count;
  }

  /** Everything that cron and time would bring about, with a network that works. */
  async quiesce(): Promise<void> {
    await this.calm(180_000);
    for (let round = 0; round < 3; round++) {
      const { commits } = this;
      await this.scheduler.run(this.network.call(ALWAYS, this.coordinator, ({ brain }) => brain.maintain()));
      await this.scheduler.run(this.network.call(ALWAYS, this.services, (brain) => brain.maintain()));
      await this.scheduler.run(this.network.call(ALWAYS, this.ipAddresses, (brain) => brain.maintain()));
      await this.calm(70_000);
      if (commits === this.commits) break;
    }
  }

  /** Lets time pass until nothing was written and no message was on its way for CALM_MS; no longer than `limitMs`. */
  async calm(limitMs: number): Promise<void> {
    const { scheduler, network } = this;
    const end = scheduler.now + limitMs;
    let { commits } = this;
    for (let calmSince = scheduler.now; scheduler.now < end && scheduler.now - calmSince < CALM_MS;) {
      await scheduler.pass(Math.min(LOOK_MS, end - scheduler.now));
      const isReleasing = [this.tables.services, this.tables.ipAddresses].some(({ ledger }) => ledger.releaseCount() > 0);
      if (commits !== this.commits || network.isBusy || isReleasing) calmSince = scheduler.now;
      ({ commits } = this);
    }
  }

  #store<Supply>(
    life: Life,
    definition: ResourceDefinition,
    storage: SimStoreStorage,
    extension: StoreExtension<Supply>,
    namespaces?: NamespaceGuard,
  ): ResourceStore<Supply> {
    return new ResourceStore<Supply>({
      definition,
      representations: [],
      storage,
      clock: life.clock,
      random: this.#random,
      recorder: this.#recorder(life),
      context: () => ({ now: life.clock.now(), serviceFamilies: this.#options.families }),
      extension: this.#watched(life, definition.resource, extension),
      ...(namespaces ? { namespaces } : {}),
    });
  }

  /** The extension, with a look at what becomes of its writes. */
  #watched<Supply>(life: Life, resource: string, extension: StoreExtension<Supply>): StoreExtension<Supply> {
    const deadlines = new WeakMap<object, number>();
    const inner = (resource !== "servicecidrs" && this.sabotage.extension?.(extension)) || extension;
    return overriding(inner, {
      admit: (change, operation) => {
        if (!deadlines.has(operation)) deadlines.set(operation, operation.deadline);
        return inner.admit?.(change, operation) ?? { kind: "go" };
      },
      committed: (change, operation) => {
        inner.committed?.(change, operation);
        const lateMs = operation ? life.clock.now() - (deadlines.get(operation) ?? Infinity) : 0;
        if (lateMs > 0) this.#overdue.push(`rule 7: ${change.key} of ${resource} was written ${lateMs} ms after its deadline`);
        if (resource === "services" && change.type === "DELETED") this.goneAt.set(change.key, this.scheduler.now);
        if (resource !== "servicecidrs" || change.type !== "DELETED" || !operation) return;
        this.forced.push({ cidrs: (change.before as ServiceCIDR).spec?.cidrs ?? [], epoch: this.coordinatorStorage.contents.epoch });
      },
    });
  }

  #ledger(
    life: Life,
    { kind, storage, holds }: { kind: HolderKind; storage: LedgerStorage; holds: LedgerPorts["holds"] },
    deletes?: (items: IPAddressDelete[]) => Promise<void>,
  ) {
    const topology = new TopologySource(life.clock, () => this.#coordinatorOf(life));
    const ledger = new AddressLedger(kind, {
      clock: life.clock,
      random: this.#random,
      recorder: this.#recorder(life),
      wakeAt: life.wakeAt,
      storage,
      topology,
      owner: (uid) => this.#ownerOf(life, uid),
      holds,
      ...(deletes ? { deleteAddresses: deletes } : {}),
    });
    return { topology, ledger };
  }

  #sabotaged(storage: LedgerStorage): LedgerStorage {
    return this.sabotage.ledger?.(storage) ?? storage;
  }

  /** As in durable-objects/services-store.ts. */
  #makeServices(life: Life): ServicesBrain {
    const definition = definition$("", "services");
    const tables = this.tables.services;
    const storage = this.#sabotaged(whileAlive<LedgerStorage>(tables.ledger, life));
    const rows = whileAlive(tables.store, life);
    const nodePorts = whileAlive<NodePortStorage>(tables.nodePorts, life);
    const ipAddresses = (): Pick<IPAddressesRpc & RepairedAddresses, "createMany" | "deleteMany" | "restoreMany"> => ({
      restoreMany: (writes) =>
        this.network.call(
          life,
          this.ipAddresses,
          (brain) => brain.restoreMany(plainCopy(writes)),
          () => "restore",
        ),
      createMany: (writes) =>
        this.network.call(
          life,
          this.ipAddresses,
          (brain) => brain.createMany(plainCopy(writes)),
          () => "createAddresses",
        ),
      deleteMany: (items) =>
        this.network.call(
          life,
          this.ipAddresses,
          (brain) => brain.deleteMany(plainCopy(items)),
          () => "deleteAddresses",
        ),
    });
    const stored = (key: string): string | undefined => rows.objectGet(key)?.data;
    const holds = (key: string, address: string): boolean => isHeldByStored(stored(key), address);
    const { topology, ledger } = this.#ledger(life, { kind: "service", storage, holds }, (items) => ipAddresses().deleteMany(items));
    const pairing = new Pairing({ clock: life.clock, recorder: this.#recorder(life), ipAddresses });
    const extension = new ServiceExtension({
      definition,
      families: this.#options.families,
      ledger,
      storage,
      nodePorts: new NodePorts(this.sabotage.nodePorts?.(nodePorts) ?? nodePorts, this.#random),
      pairing,
      topology,
      head: () => store.revision,
      floor: () => store.floor,
    });
    const guard = new NamespaceGuard(rows, (name) => withTimeout(life.clock, RPC_TIMEOUT_MS, this.namespaces.lookUp(life, name)));
    const store: ResourceStore<ServiceSupply> = this.#store(life, definition, rows, extension, guard);
    ledger.releases.rearm();
    const recovered = store.revision > store.floor ? extension.recover(rows) : Promise.resolve();
    const repairPorts: ServiceRepairPorts = {
      clock: life.clock,
      recorder: this.#recorder(life),
      ledger,
      storage,
      pairing,
      topology,
      stored,
      internally: (work) =>
        store.internally((turn) => {
          tables.journal.note("repairTurn");
          return work(turn);
        }),
      owner: (uid) => this.#rowsAt(life, uid),
      ipAddresses,
    };
    const repair = new ServiceRepair(repairPorts);
    return {
      store,
      ledger,
      repair: this.sabotage.repaired?.(repair, repairPorts) ?? repair,
      ...namespaceContent(store, guard, rows, tables.journal),
      maintain: () => recovered.then(() => extension.maintain()),
    };
  }

  #rowsAt(life: Life, uid: string): Pick<RepairedOwner, "rowsOf"> {
    const { node } = this.owner(uid);
    return {
      rowsOf: (addresses) =>
        this.network.call(
          life,
          node,
          (owner) => owner.rowsOf(addresses),
          () => "rowsOf",
        ),
    };
  }

  /** As in durable-objects/ip-addresses-store.ts. */
  #makeIPAddresses(life: Life): IPAddressesBrain {
    const definition = definition$("networking.k8s.io", "ipaddresses");
    const tables = this.tables.ipAddresses;
    const rows = whileAlive(tables.store, life);
    const ledgerRows = this.#sabotaged(whileAlive<LedgerStorage>(tables.ledger, life));
    const holds = (key: string): boolean => rows.objectGet(key) !== undefined;
    const { ledger, topology } = this.#ledger(life, { kind: "ipaddress", storage: ledgerRows, holds });
    const addresses = whileAlive<IPAddressStorage>(tables.addresses, life);
    const asked = { clock: life.clock, recorder: this.#recorder(life), ledger, topology, owner: (uid: string) => this.#rowsAt(life, uid) };
    const extension = new IPAddressExtension({
      ...asked,
      definition,
      storage: this.sabotage.addresses?.(addresses) ?? addresses,
      uuid: () => this.#random.uuid(),
    });
    const store = this.#store(life, definition, rows, extension);
    ledger.releases.rearm();
    const repair = new IPAddressRepair({
      ...asked,
      storage: ledgerRows,
      holderOf: (name) => (extension.needsRow(name) ? rows.objectGet(name)?.uid : undefined),
      internally: (work) => store.internally(work),
    });
    return {
      store,
      ledger,
      makeHeld: (items) => repair.makeHeld(items),
      restoreMany: (writes) =>
        store.internally((turn) => {
          tables.journal.note("restore");
          return writes.map((write) => extension.writeManaged(turn, write, write));
        }),
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
        rangeEvents: { report: () => undefined },
        ...(this.#options.handoff ? { handoffRowsMax: this.#options.handoff.rowsMax } : {}),
      },
      { defaultRanges: this.#options.ranges, staticBands: true, ...(this.onlyRanges ? { onlyRanges: this.onlyRanges } : {}) },
    );
    const store: ResourceStore<Fence> = this.#store(life, definition, whileAlive(this.coordinatorTables, life), brain.intents);
    brain.kick();
    return { store, brain };
  }

  #makeOwner(life: Life, storage: GatedOwnerStorage): Owner {
    const owner = new Owner({
      storage: whileAlive<OwnerStorage>(storage, life),
      clock: life.clock,
      random: this.#random,
      recorder: this.#recorder(life),
      ...(this.#options.handoff ? { copyRowsMax: this.#options.handoff.chunkRowsMax } : {}),
    });
    return overriding(owner, {
      seed: (epoch, items) => {
        for (const { token } of items) storage.seeds.add(token);
        return owner.seed(epoch, items);
      },
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
    const { sabotage } = this;
    const call = <T>(effect: (owner: ServiceCIDRRpc) => Promise<T>, step?: () => ProtocolStep | undefined): Promise<T> =>
      this.network.call(caller, node, (owner) => effect(sabotage.owner?.(owner, uid) ?? owner), step);
    const config = (): Omit<OwnerConfig, "epoch"> | undefined => {
      const stored = storage.configLoad();
      return stored && (JSON.parse(stored.content) as Omit<OwnerConfig, "epoch">);
    };
    return {
      configure: (next) =>
        call(
          (owner) => owner.configure(plainCopy(next)),
          () => stepOfConfigure(config(), next),
        ),
      allocate: (items) =>
        call(
          (owner) => owner.allocate(plainCopy(items)),
          () => "allocate",
        ),
      release: (items) =>
        call(
          (owner) => owner.release(plainCopy(items)),
          () => "release",
        ),
      seed: (epoch, items) =>
        call(
          (owner) => owner.seed(epoch, plainCopy(items)),
          () => "seed",
        ),
      rowsSince: (after, limit) =>
        call(
          (owner) => owner.rowsSince(after, limit),
          () => "audit",
        ),
      countTaken: (intervals) =>
        call(
          (owner) => owner.countTaken(plainCopy(intervals)),
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
          (owner) => owner.copyOut(plainCopy(handoff), after),
          () => "copyOut",
        ),
      receive: (handoff, chunk) =>
        call(
          (owner) => owner.receive(handoff, plainCopy(chunk)),
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
  #given: StoredRow[] = [];
  #isOpen = false;

  /** `step`: what the call on the stack does; `given`: a row was kept that is neither seeded nor received */
  constructor(
    private readonly step: () => ProtocolStep | undefined,
    private readonly given: (row: StoredRow) => void,
  ) {
    super();
  }

  override rowInsert(...[row]: Parameters<MemoryOwnerStorage["rowInsert"]>): void {
    const step = this.step() ?? (this.seeds.has(row.token) ? "seed" : "allocate");
    this.#steps.add(step);
    super.rowInsert(row);
    if (step === "allocate") this.#given.push(row);
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
    this.#given = [];
    this.#isOpen = true;
    let result: T;
    try {
      result = super.transaction(() => {
        const inner = body();
        if (this.writes > writes) this.gate.beforeCommit?.(commitStepsOf(this.#steps));
        return inner;
      });
    } finally {
      this.#isOpen = false;
    }
    for (const row of this.#given) this.given(row);
    if (this.writes > writes) this.gate.afterCommit?.(commitStepsOf(this.#steps));
    return result;
  }
}

function definition$(group: string, resource: string): ResourceDefinition {
  const definition = definitionOf(group, resource);
  if (!definition) throw new Error(`no resource ${resource}`);
  return definition;
}
