/** A whole cluster in virtual time with its repair controller: the classes of all stores and owners, and a pass whenever a test wants one. */
import type { RepairPorts } from "../../../src/addresses/repair/repair-ports";
import { heldAddresses } from "../../../src/addresses/clusterip/address-plan";
import type { IPAddressesStore } from "../../../src/addresses/clusterip/ip-addresses-store";
import type { ServicesStore } from "../../../src/addresses/clusterip/services-store";
import type { CoordinatorStore } from "../../../src/addresses/coordinator/coordinator-store";
import { Repairer } from "../../../src/addresses/repair/repairer";
import { readIPAddress } from "../../../src/addresses/repair/round";
import { withTimeout } from "../../../src/core/base/timeout";
import type { EventReport } from "../../../src/api/events/event-recorder";
import type { IPAddress, KubeObject, Service, ServiceCIDR } from "../../../src/api/meta/kubernetes";
import { parseTime, rfc3339Seconds } from "../../../src/api/meta/time";
import type { Family } from "../../../src/core/net/family";
import type { Prefix } from "../../../src/core/net/prefix";
import type { WrittenAddress } from "../../../src/addresses/rpc/repair";
import type { WriteResult } from "../../../src/api/rpc/store";
import { ObjectFeedReader } from "../../../src/api/store/object-feed-reader";
import type { ResourceStore } from "../../../src/api/store/resource-store";
import { prefixOf } from "../../model/prefix-of";
import type { ProtocolStep } from "../sim/protocol-steps";
import { MemoryRepairStorage } from "../memory/repair-storage";
import { SimCluster } from "../sim/cluster";
import { ALWAYS, type Caller } from "../sim/network";
import { createRequest, DELETE, WRITE } from "./store-world";

/** As in durable-objects/repair-pass.ts. */
const CALL_TIMEOUT_MS = 40_000;
/** Longer than a pass takes, its calls delayed and all. */
const PASS_MAX_MS = 10 * 60_000;
/** What is younger waits for its Service. */
const ORPHAN_AGE_MS = 60_000;

export class RepairWorld {
  readonly storage = new MemoryRepairStorage();
  readonly reported: EventReport[] = [];
  /** `level event` of each line in the log */
  readonly logged: string[] = [];
  /** calls to the stores, by name */
  readonly calls: string[] = [];
  /** what repair has done, or was about to do, to somebody who had every right: at the end it would be whole again, and nobody would know */
  readonly harm: string[] = [];
  /** repair is about to have these IPAddresses go, and is slow: what it has judged may be another's before it acts */
  proposing: (names: readonly string[]) => Promise<unknown> = () => Promise.resolve();
  /** a call fails before it reaches its store */
  fails: (call: string) => boolean = () => false;
  /** MultiCIDRServiceAllocator is off, and these are configured */
  legacyRanges: readonly Prefix[] | undefined;
  repairer: Repairer;
  /** uids of the IPAddresses that repair looked at last, by name */
  readonly #seen = new Map<string, string>();
  #life = 0;

  constructor(readonly cluster: SimCluster) {
    this.repairer = this.#made();
  }

  /** The controller's object dies and is there again: its rows stay, what it was about to do does not happen. */
  crash(): void {
    this.#life++;
    this.repairer = this.#made();
  }

  /** A cluster whose default ranges give out addresses. */
  static async of(ranges: readonly string[], families: readonly Family[] = ["IPv4"]): Promise<RepairWorld> {
    const world = new RepairWorld(new SimCluster({ seed: 1, ranges, families }));
    await world.run(world.coordinator((brain) => brain.readyTopology(60_000)));
    return world;
  }

  get now(): number {
    return this.cluster.scheduler.now;
  }

  run<T>(promise: Promise<T>): Promise<T> {
    return this.cluster.scheduler.run(promise);
  }

  /** One pass as the controller's object would run it; again while it says that there is more. */
  async pass(): Promise<void> {
    for (let again = true; again;) ({ left: again } = await this.run(this.repairer.run()));
  }

  /** Lets time go on, with the passes that the controller asked for. */
  async wait(durationMs: number): Promise<void> {
    const end = this.now + durationMs;
    for (;;) {
      const due = this.storage.suspectEarliest();
      if (due === undefined || due > end) break;
      await this.cluster.scheduler.pass(Math.max(0, due - this.now));
      await this.pass();
    }
    await this.cluster.scheduler.pass(Math.max(0, end - this.now));
  }

  /** `Type Reason note` of each event */
  told(): string[] {
    return this.reported.map(({ type, reason, note }) => `${type} ${reason} ${note}`);
  }

  services(): Service[] {
    return objectsOf<Service>(this.cluster.tables.services.store);
  }

  addresses(): IPAddress[] {
    return objectsOf<IPAddress>(this.cluster.tables.ipAddresses.store);
  }

  /** name -> the Service that it refers to */
  parents(): Record<string, string> {
    return Object.fromEntries(
      this.addresses().map(({ metadata, spec }) => [
        metadata?.name ?? "",
        `${spec?.parentRef?.namespace ?? ""}/${spec?.parentRef?.name ?? ""}`,
      ]),
    );
  }

  /** address -> holder kind of every row at an owner */
  async rows(): Promise<Record<string, string>> {
    const all: Record<string, string> = {};
    for (const { node } of this.cluster.owners.values()) {
      const { rows } = await this.run(this.cluster.network.call(ALWAYS, node, (owner) => owner.rowsSince(0, 10_000)));
      for (const { address, holder } of rows) all[address] = holder.kind;
    }
    return all;
  }

  /** Every row of every owner goes behind the stores' backs, and the bits with them. */
  async loseRows(): Promise<void> {
    const { network, owners } = this.cluster;
    for (const { node, storage } of owners.values()) {
      const items = storage.rowsSince(0, 1_000).map(({ token }) => ({ address: "", token }));
      await this.run(network.call({ isAlive: () => true }, node, (owner) => owner.release(items)));
    }
  }

  /** Stores objects behind the server's back, as an import or a restored copy would. */
  async plant(store: "services" | "ipaddresses", ...objects: KubeObject[]): Promise<void> {
    const add = (target: ResourceStore<never>): Promise<void> =>
      target.internally((turn) => {
        for (const object of objects) {
          const { namespace = "", name = "" } = object.metadata ?? {};
          turn.put(namespace ? `${namespace}/${name}` : name, structuredClone(object));
        }
      });
    await this.run(this.#inStore(store, add));
  }

  /** What a client does. */
  async create(store: "services" | "ipaddresses", object: KubeObject): Promise<WriteResult> {
    const group = store === "services" ? "" : "networking.k8s.io";
    return this.run(this.#inStore(store, (target) => target.write(createRequest(object, { ...WRITE, group }))));
  }

  async createService(name: string, spec: Service["spec"] = {}): Promise<string> {
    const object = { metadata: { namespace: "default", name }, spec: { ports: [{ port: 80 }], ...spec } };
    const result = await this.create("services", object);
    if (!result.ok) throw new Error(result.status.message);
    return (JSON.parse(result.object) as Service).spec?.clusterIP ?? "";
  }

  async remove(store: "services" | "ipaddresses", name: string, namespace = store === "services" ? "default" : ""): Promise<WriteResult> {
    return this.run(this.#inStore(store, (target) => target.write({ verb: "delete", key: { namespace, name }, options: DELETE })));
  }

  async createRange(name: string, ...cidrs: string[]): Promise<void> {
    const object: ServiceCIDR = { metadata: { name }, spec: { cidrs } };
    const write = this.cluster.network.call(ALWAYS, this.cluster.coordinator, ({ store }) =>
      store.write(createRequest(object, { ...WRITE, group: "networking.k8s.io" })),
    );
    const result = await this.run(write);
    if (!result.ok) throw new Error(result.status.message);
    await this.cluster.scheduler.pass(10_000);
  }

  coordinator<T>(work: (brain: CoordinatorStore) => Promise<T>): Promise<T> {
    return this.cluster.network.call(ALWAYS, this.cluster.coordinator, work);
  }

  #inStore<T>(
    store: "services" | "ipaddresses",
    work: (target: ResourceStore<never>) => Promise<T>,
    caller: Caller = ALWAYS,
    step?: ProtocolStep,
  ): Promise<T> {
    const { network, services, ipAddresses } = this.cluster;
    const done = (brain: { store: object }): Promise<T> => work(brain.store as ResourceStore<never>);
    return store === "services" ? network.call(caller, services, done, () => step) : network.call(caller, ipAddresses, done, () => step);
  }

  #note(texts: readonly (string | null | undefined)[]): void {
    for (const text of texts) {
      const { name = "", uid = "" } = readIPAddress(text ?? "")?.metadata ?? {};
      this.#seen.set(name, uid);
    }
  }

  /** Of the object that is there now; one that has come since repair looked is nobody's concern: the request does not mean it. */
  #judge(address: string, uid = ""): void {
    const found = this.addresses().find(({ metadata }) => metadata?.name === address && metadata.uid === uid);
    const { namespace = "", name = "" } = found?.spec?.parentRef ?? {};
    const parent = `${namespace}/${name}`;
    // While its Service was there it was no orphan, and whatever the Service did not hold could go.
    const wasThere = this.now - (this.cluster.goneAt.get(parent) ?? 0) < PASS_MAX_MS;
    const isOrphan = found && !wasThere && !this.cluster.tables.services.store.objectGet(parent);
    const created = parseTime(found?.metadata?.creationTimestamp ?? "") ?? 0;
    if (isOrphan && this.now - created < ORPHAN_AGE_MS)
      this.harm.push(`repair: ${address} would go ${this.now - created} ms after it came`);
  }

  /** Of what the services store has just agreed to release: nobody holds it, and no operation under way may still commit it. */
  #judgeRelease({ ledger }: ServicesStore, { address, token }: WrittenAddress): void {
    if (ledger.isInFlight(token)) this.harm.push(`repair: ${address} was released under an operation that may commit it`);
    const allocation = this.cluster.tables.services.ledger.allocationGet(address);
    if (allocation && allocation.token !== token) return;
    const holder = this.services().find((service) => heldAddresses(service).includes(address));
    if (holder) this.harm.push(`repair: ${address} was released, and ${holder.metadata?.name ?? ""} holds it`);
  }

  #made(): Repairer {
    const ports = this.#ports();
    return new Repairer(this.cluster.sabotage.repairPorts?.(ports) ?? ports);
  }

  #ports(): RepairPorts {
    const { cluster } = this;
    const life = this.#life;
    const isAlive = (): boolean => life === this.#life;
    const caller: Caller = { isAlive, die: () => void (isAlive() && this.crash()) };
    const called = async <T>(call: string, answer: () => Promise<T>): Promise<T> => {
      this.calls.push(call);
      if (this.fails(call)) throw new Error(`${call} failed`);
      return withTimeout(cluster.scheduler.clock(isAlive), CALL_TIMEOUT_MS, answer());
    };
    const feed = (store: "services" | "ipaddresses"): RepairPorts["services"] & RepairPorts["ipAddresses"] => {
      const read = <T>(call: string, work: (reader: ObjectFeedReader) => T): Promise<T> =>
        called(`${store}.${call}`, () =>
          this.#inStore(store, (target) => Promise.resolve(work(new ObjectFeedReader(target))), caller, "feed"),
        );
      const services = <T>(call: ProtocolStep, work: (brain: ServicesStore) => Promise<T>): Promise<T> =>
        called(`services.${call}`, () => cluster.network.call(caller, cluster.services, work, () => call));
      const addresses = <T>(call: string, work: (brain: IPAddressesStore) => Promise<T>, step?: ProtocolStep): Promise<T> =>
        called(`ipaddresses.${call}`, () => cluster.network.call(caller, cluster.ipAddresses, work, () => step));
      return {
        objectsSince: (cursor, limit) => read("objectsSince", (reader) => reader.objectsSince(cursor, limit)),
        objectsAfter: (after, limit) => read("objectsAfter", (reader) => reader.objectsAfter(after, limit)),
        objectsNamed: async (keys) => {
          const found = await read("objectsNamed", (reader) => reader.objectsNamed(keys));
          if (store === "ipaddresses") this.#note(found);
          return found;
        },
        makeWhole: (items) => services("makeWhole", (brain) => brain.makeWhole(items)),
        giveUp: (items) => {
          for (const { address, token } of items) {
            const seen = this.#seen.get(address);
            if (seen && cluster.tables.ipAddresses.addresses.genGet(address)?.token === token) this.#judge(address, seen);
          }
          return services("giveUp", async (brain) => {
            const results = await brain.giveUp(items);
            for (const [i, item] of items.entries()) if (results[i] === "released") this.#judgeRelease(brain, item);
            return results;
          });
        },
        restoreMany: (writes) => addresses("restoreMany", (brain) => brain.restoreMany(writes), "restore"),
        makeHeld: (items) => addresses("makeHeld", (brain) => brain.makeHeld(items), "makeHeld"),
        writersOf: async (names) => {
          await this.proposing(names);
          return addresses("writersOf", (brain) => brain.writersOf(names), "writers");
        },
        write: (request) => {
          if (request.verb === "delete") this.#judge(request.key.name, request.options.preconditions.uid);
          return addresses(`write ${request.verb}`, ({ store: target }) => target.write(request));
        },
      };
    };
    // What a test sets later counts.
    const legacyRanges = () => this.legacyRanges ?? cluster.onlyRanges?.map(prefixOf);
    return {
      get legacyRanges() {
        return legacyRanges();
      },
      clock: cluster.scheduler.clock(isAlive),
      recorder: { log: (level, event) => void this.logged.push(`${level} ${event}`) },
      storage: this.storage,
      events: { report: (event) => void this.reported.push(event), flush: () => Promise.resolve() },
      services: feed("services"),
      ipAddresses: feed("ipaddresses"),
      ranges: () =>
        called("ranges", () =>
          Promise.resolve(
            (cluster.onlyRanges ?? objectsOf<ServiceCIDR>(cluster.tables.coordinator.store).flatMap(({ spec }) => spec?.cidrs ?? [])).map(
              (cidr) => prefixOf(cidr),
            ),
          ),
        ),
      owners: () => Promise.resolve([...cluster.owners.keys()]),
      owner: (uid) => ({
        checkBitmap: (after, limit) =>
          called("owner.checkBitmap", () =>
            cluster.network.call(
              caller,
              cluster.owner(uid).node,
              (owner) => owner.checkBitmap(after, limit),
              () => "checkBitmap",
            ),
          ),
      }),
    };
  }
}

function objectsOf<T>(storage: { objectScan(from: string, to: string): Iterable<{ data: string }> }): T[] {
  return [...storage.objectScan("", "")].map(({ data }) => JSON.parse(data) as T);
}

/** As the allocator writes it; `parent` = `namespace/name` of a Service. */
export function anIPAddress(
  name: string,
  parent: string,
  createdMs: number,
  changes: { labels?: Record<string, string>; parentRef?: object } = {},
): IPAddress {
  const [namespace = "", parentName = ""] = parent.split("/");
  const family = name.includes(":") ? "IPv6" : "IPv4";
  return {
    metadata: {
      name,
      uid: `uid of ${name}`,
      creationTimestamp: rfc3339Seconds(createdMs),
      labels: changes.labels ?? { "ipaddress.kubernetes.io/ip-family": family, "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" },
    },
    spec: { parentRef: { group: "", resource: "services", namespace, name: parentName, ...changes.parentRef } },
  } as IPAddress;
}

/** As stored, without any address being allocated. */
export function aService(name: string, clusterIPs: readonly string[], createdMs: number, spec: Service["spec"] = {}): Service {
  return {
    metadata: { namespace: "default", name, uid: `uid of ${name}`, creationTimestamp: rfc3339Seconds(createdMs) },
    spec: {
      type: "ClusterIP",
      ports: [{ port: 80 }],
      ...(clusterIPs[0] ? { clusterIP: clusterIPs[0], clusterIPs: [...clusterIPs] } : {}),
      ...spec,
    },
  };
}
