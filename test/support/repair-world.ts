/** A whole cluster in virtual time with its repair controller: the brains of all stores and owners, and a pass whenever a test wants one. */
import type { RepairPorts } from "../../src/controllers/repair/ports";
import { Repairer } from "../../src/controllers/repair/repairer";
import { withTimeout } from "../../src/base/timeout";
import type { EventReport } from "../../src/events/event-recorder";
import type { IPAddress, KubeObject, Service, ServiceCIDR } from "../../src/meta/kubernetes";
import { rfc3339Seconds } from "../../src/meta/time";
import type { Family } from "../../src/net/family";
import type { WriteResult } from "../../src/rpc/store";
import { ObjectFeedReader } from "../../src/store/object-feed";
import type { ResourceStore } from "../../src/store/resource-store";
import { prefixOf } from "../model/prefix-of";
import { MemoryRepairStorage } from "./memory-repair-storage";
import { type CoordinatorBrain, type IPAddressesBrain, type ServicesBrain, SimCluster } from "./sim-cluster";
import { createRequest, DELETE, WRITE } from "./store-world";

const ALWAYS = { isAlive: () => true };
/** As in durable-objects/repair-pass.ts. */
const CALL_TIMEOUT_MS = 40_000;

export class RepairWorld {
  readonly storage = new MemoryRepairStorage();
  readonly reported: EventReport[] = [];
  /** calls to the stores, by name */
  readonly calls: string[] = [];
  /** a call fails before it reaches its store */
  fails: (call: string) => boolean = () => false;
  readonly repairer: Repairer;

  constructor(readonly cluster: SimCluster) {
    this.repairer = new Repairer(this.#ports());
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

  coordinator<T>(work: (brain: CoordinatorBrain["brain"]) => Promise<T>): Promise<T> {
    return this.cluster.network.call(ALWAYS, this.cluster.coordinator, ({ brain }) => work(brain));
  }

  #inStore<T>(store: "services" | "ipaddresses", work: (target: ResourceStore<never>) => Promise<T>): Promise<T> {
    const { network, services, ipAddresses } = this.cluster;
    return store === "services"
      ? network.call(ALWAYS, services, (brain) => work(brain.store as unknown as ResourceStore<never>))
      : network.call(ALWAYS, ipAddresses, (brain) => work(brain.store as unknown as ResourceStore<never>));
  }

  #ports(): RepairPorts {
    const { cluster } = this;
    const called = async <T>(call: string, answer: () => Promise<T>): Promise<T> => {
      this.calls.push(call);
      if (this.fails(call)) throw new Error(`${call} failed`);
      return withTimeout(cluster.scheduler.clock(), CALL_TIMEOUT_MS, answer());
    };
    const feed = (store: "services" | "ipaddresses"): RepairPorts["services"] & RepairPorts["ipAddresses"] => {
      const read = <T>(call: string, work: (reader: ObjectFeedReader) => T): Promise<T> =>
        called(`${store}.${call}`, () => this.#inStore(store, (target) => Promise.resolve(work(new ObjectFeedReader(target)))));
      const services = <T>(call: string, work: (brain: ServicesBrain) => Promise<T>): Promise<T> =>
        called(`services.${call}`, () => cluster.network.call(ALWAYS, cluster.services, work));
      const addresses = <T>(call: string, work: (brain: IPAddressesBrain) => Promise<T>): Promise<T> =>
        called(`ipaddresses.${call}`, () => cluster.network.call(ALWAYS, cluster.ipAddresses, work));
      return {
        objectsSince: (cursor, limit) => read("objectsSince", (reader) => reader.objectsSince(cursor, limit)),
        objectsAfter: (after, limit) => read("objectsAfter", (reader) => reader.objectsAfter(after, limit)),
        objectsNamed: (keys) => read("objectsNamed", (reader) => reader.objectsNamed(keys)),
        makeWhole: (items) => services("makeWhole", ({ repair }) => repair.makeWhole(items)),
        giveUp: (items) => services("giveUp", ({ repair }) => repair.giveUp(items)),
        restoreMany: (writes) => addresses("restoreMany", (brain) => brain.restoreMany(writes)),
        writersOf: (names) => addresses("writersOf", (brain) => brain.writersOf(names)),
        write: (request) => addresses(`write ${request.verb}`, ({ store: target }) => target.write(request)),
      };
    };
    return {
      clock: cluster.scheduler.clock(),
      recorder: { log: () => undefined },
      storage: this.storage,
      events: { report: (event) => void this.reported.push(event), flush: () => Promise.resolve() },
      services: feed("services"),
      ipAddresses: feed("ipaddresses"),
      ranges: () =>
        called("ranges", () =>
          Promise.resolve(
            objectsOf<ServiceCIDR>(cluster.coordinatorTables).flatMap(({ spec }) => (spec?.cidrs ?? []).map((cidr) => prefixOf(cidr))),
          ),
        ),
      owners: () => Promise.resolve([...cluster.owners.keys()]),
      owner: (uid) => ({
        checkBitmap: (after, limit) =>
          called("owner.checkBitmap", () =>
            cluster.network.call(ALWAYS, cluster.owner(uid).node, (owner) => owner.checkBitmap(after, limit)),
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
