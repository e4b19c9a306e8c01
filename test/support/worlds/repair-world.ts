/** A whole cluster in virtual time with its repair controller: the classes of all stores and owners, and a pass whenever a test wants one. */
import type { ControllerBrain } from "../../../durable-objects/platform/controllers";
import type { CoordinatorStore } from "../../../src/addresses/coordinator/coordinator-store";
import type { Config } from "../../../src/core/config/config";
import type { EventReport } from "../../../src/api/events/event-recorder";
import { notFound } from "../../../src/api/meta/status";
import type { CoreEvent, IPAddress, KubeObject, Service, ServiceCIDR } from "../../../src/api/meta/kubernetes";
import { RETRY_BASE_MS } from "../../../src/controllers/frame/controller";
import { rfc3339Seconds } from "../../../src/api/meta/time";
import type { Family } from "../../../src/core/net/family";
import type { WriteRequest, WriteResult } from "../../../src/api/rpc/store";
import { eventsDefinition } from "../../../src/api/registry/events/definition";
import type { StoreEngine } from "../../../src/api/store/engine/store-engine";
import type { MemoryRepairStorage } from "../memory/repair-storage";
import { SimCluster } from "../sim/cluster";
import { ALWAYS, type Life } from "../sim/platform/network";
import { createRequest, DELETE, WRITE } from "./store-world";

const NO_EVENT = { ok: false as const, status: notFound(eventsDefinition, "any") };

export class RepairWorld {
  readonly reported: EventReport[] = [];
  /** `level event` of each line in the log */
  readonly logged: string[] = [];
  brain: ControllerBrain;
  #config: Partial<Config> = {};
  #life = 0;
  /** when the controller wants its next pass */
  #alarmAt: number | undefined;
  /** the last pass ended with work that does not wait for time */
  #leavesWork = false;
  /** the pass that a poke has begun */
  #background: Promise<void> | undefined;
  /** why the last pass failed */
  #failure: string | undefined;

  constructor(readonly cluster: SimCluster) {
    // The passes are those that the test asks for.
    cluster.off.add("repair");
    this.brain = this.#made();
  }

  get storage(): MemoryRepairStorage {
    return this.cluster.tables.controllers.repair;
  }

  /** The controller's object restarts: its rows stay, its pending work is lost. */
  crash(): void {
    this.#life++;
    this.brain = this.#made();
  }

  /** The same under another configuration than the cluster's. */
  runUnder(config: Partial<Config>): void {
    this.#config = config;
    this.crash();
  }

  /** A cluster whose default ranges give out addresses. */
  static async of(ranges: readonly string[], families: readonly Family[] = ["IPv4"]): Promise<RepairWorld> {
    const world = new RepairWorld(new SimCluster({ seed: 1, ranges, families }));
    await world.run(world.coordinator((brain) => brain.readyTopology(60_000)));
    return world;
  }

  /** calls of repair to the stores, by name */
  get calls(): string[] {
    return this.cluster.repairWatch.calls;
  }

  /** which of the calls fail before they reach their store */
  set fails(fails: (call: string) => boolean) {
    this.cluster.repairWatch.fails = fails;
  }

  get now(): number {
    return this.cluster.scheduler.now;
  }

  run<T>(promise: Promise<T>): Promise<T> {
    return this.cluster.scheduler.run(promise);
  }

  /** Passes as the controller's object runs them when its alarm rings, as long as they leave work. Rejects when one fails. */
  async pass(): Promise<void> {
    while (await this.onePass());
  }

  /** One pass as the alarm asks for it; whether it leaves work. Rejects when it fails. */
  onePass(): Promise<boolean> {
    return this.#passOf(() => this.brain.alarm());
  }

  /** One pass as a poke asks for it: what has changed, and no sweep. Rejects when it fails. */
  async changes(): Promise<void> {
    await this.#passOf(async () => {
      await this.brain.poke();
      await this.#background;
    });
  }

  /** Time passes, with the passes that the controller asked for. */
  async wait(durationMs: number): Promise<void> {
    const end = this.now + durationMs;
    while (this.#alarmAt !== undefined && this.#alarmAt <= end) {
      await this.cluster.scheduler.pass(Math.max(0, this.#alarmAt - this.now));
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

  /** Deletes every row of every owner behind the stores' backs, and its bit. */
  async loseRows(): Promise<void> {
    const { network, owners } = this.cluster;
    for (const { node, storage } of owners.values()) {
      const items = storage.rowsSince(0, 1_000).map(({ token }) => ({ address: "", token }));
      await this.run(network.call({ isAlive: () => true }, node, (owner) => owner.release(items)));
    }
  }

  /** Stores objects behind the server's back, as an import or a restored copy does. */
  async plant(store: "services" | "ipaddresses", ...objects: KubeObject[]): Promise<void> {
    const add = (target: StoreEngine<never>): Promise<void> =>
      target.internally((turn) => {
        for (const object of objects) {
          const { namespace = "", name = "" } = object.metadata ?? {};
          turn.put(namespace ? `${namespace}/${name}` : name, structuredClone(object));
        }
      });
    await this.run(this.#inStore(store, add));
  }

  /** Requests of a client. */
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

  #inStore<T>(store: "services" | "ipaddresses", work: (target: StoreEngine<never>) => Promise<T>): Promise<T> {
    const { network, services, ipAddresses } = this.cluster;
    const done = (brain: { store: object }): Promise<T> => work(brain.store as StoreEngine<never>);
    return store === "services" ? network.call(ALWAYS, services, done) : network.call(ALWAYS, ipAddresses, done);
  }

  async #passOf(work: () => Promise<void>): Promise<boolean> {
    this.#alarmAt = this.#failure = undefined;
    this.#leavesWork = false;
    await this.run(work());
    if (this.#failure !== undefined) throw new Error(this.#failure);
    return this.#leavesWork;
  }

  #made(): ControllerBrain {
    const { cluster } = this;
    const life = this.#life;
    const isAlive = (): boolean => life === this.#life;
    const lived: Life = { isAlive, die: () => void (isAlive() && this.crash()), clock: cluster.scheduler.clock(isAlive) };
    const setting = cluster.controllers.setting("repair", lived);
    return cluster.controllers.brain("repair", {
      ...setting,
      config: () => ({ ...setting.config(), ...this.#config }),
      recorder: {
        log: (level, event, { error } = {}) => {
          this.logged.push(`${level} ${event}`);
          if (event === "controller pass failed" && isAlive()) this.#failure = String(error);
        },
      },
      tables: { ...setting.tables, repair: this.storage },
      peers: { ...setting.peers, events: () => ({ write: (request) => this.#noteEvent(request), get: () => Promise.resolve(NO_EVENT) }) },
      wakeAt: (atMs) => {
        if (isAlive()) this.#noteAlarm(atMs);
        return Promise.resolve();
      },
      background: (work) => void (this.#background = work),
      restart: () => lived.die?.(),
    });
  }

  /** A pass that leaves work asks for the soonest alarm that there is. So does one whose next suspect is due by then. */
  #noteAlarm(atMs: number): void {
    this.#alarmAt = atMs;
    const soonest = this.now + RETRY_BASE_MS;
    const due = this.storage.suspectEarliest() ?? Infinity;
    this.#leavesWork = atMs <= soonest && (due <= this.now || due > soonest);
  }

  #noteEvent(request: WriteRequest): Promise<WriteResult> {
    if (request.verb !== "create") return Promise.reject(new Error("an event is written once here"));
    const { involvedObject, type = "", reason = "", action = "", message = "" } = JSON.parse(request.object) as CoreEvent;
    this.reported.push({ regarding: involvedObject, type: type as EventReport["type"], reason, action, note: message });
    return Promise.resolve({ ok: true, code: 201, object: request.object, warnings: [], gone: false });
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

/** As stored, without an allocated address. */
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
