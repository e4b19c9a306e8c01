/** The endpoint controllers of a cluster in virtual time: their passes and the loop are the product's, and so are the stores that they follow. */
import { OPERATION_DEADLINE_MS } from "../../../src/core/base/limits";
import { withTimeout } from "../../../src/core/base/timeout";
import type { EventReport } from "../../../src/api/events/event-recorder";
import type { Endpoints, EndpointSlice, KubeObject, Node, Pod, Service } from "../../../src/api/meta/kubernetes";
import { endpointsDefinition } from "../../../src/api/registry/endpoints/definition";
import { endpointSlicesDefinition } from "../../../src/api/registry/endpoint-slices/definition";
import { nodesDefinition } from "../../../src/api/registry/nodes/definition";
import { podsDefinition } from "../../../src/api/registry/pods/definition";
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import { servicesDefinition } from "../../../src/api/registry/services/definition";
import { qualifiedResource } from "../../../src/api/meta/status";
import type { StoreNews, WriteRequest, WriteResult } from "../../../src/api/rpc/store";
import { ObjectFeedReader } from "../../../src/api/store/feeds/object-feed-reader";
import { Controller } from "../../../src/controllers/frame/controller";
import { endpointsPass } from "../../../src/endpoints/controller/endpoints-pass";
import { savedCounts } from "../../../src/endpoints/controller/kept-counts";
import { mirrorPass } from "../../../src/endpoints/controller/mirror-pass";
import { ownWrites, type WrittenStore } from "../../../src/controllers/followed/called-store";
import type { EndpointControllerPorts } from "../../../src/endpoints/controller/ports";
import { slicesPass } from "../../../src/endpoints/controller/slices-pass";
import { MemoryRowStorage } from "../memory/row-storage";
import { SimScheduler } from "../sim/platform/scheduler";
import { endpointsOf } from "../../../src/endpoints/slices/slice-endpoint";
import { StoreWorld } from "./store-world";

const DEFINITIONS = {
  services: servicesDefinition,
  pods: podsDefinition,
  nodes: nodesDefinition,
  endpointslices: endpointSlicesDefinition,
  endpoints: endpointsDefinition,
} satisfies Record<string, ResourceDefinition>;

export type Kind = keyof typeof DEFINITIONS;
export type Name = "slices" | "endpoints" | "mirror";

/** What becomes of a call; "lost" = carried out, the answer does not arrive; "silent" = no answer. */
export type CallFault = "down" | "lost" | "silent" | WriteResult | undefined;

export interface WorldOptions {
  controllers?: readonly Name[];
  batchMs?: number;
  max?: number;
  historyEntries?: number;
}

export class EndpointWorld {
  readonly scheduler = new SimScheduler();
  readonly stores: Record<Kind, StoreWorld>;
  readonly rows: Record<Name, MemoryRowStorage> = {
    slices: new MemoryRowStorage(),
    endpoints: new MemoryRowStorage(),
    mirror: new MemoryRowStorage(),
  };
  readonly events: EventReport[] = [];
  /** resolves when the store of events has taken them */
  eventsWritten: Promise<void> = Promise.resolve();
  readonly logged: string[] = [];
  /** calls of the controllers to stores: `pods objectsSince`, `endpointslices create` */
  calls: string[] = [];
  /** asked before each call; `object` is what the call writes, as text */
  fault: (call: string, object: string) => CallFault = () => undefined;
  /** how long each call takes, in milliseconds */
  callMs: (call: string) => number = () => 1;
  readonly #options: Required<WorldOptions>;
  #controllers: Controller[] = [];
  #life = 0;

  constructor(options: WorldOptions = {}) {
    this.#options = { controllers: ["slices"], batchMs: 0, max: 100, historyEntries: 10_000, ...options };
    const store = (kind: Kind): StoreWorld => this.#store(kind);
    this.stores = {
      services: store("services"),
      pods: store("pods"),
      nodes: store("nodes"),
      endpointslices: store("endpointslices"),
      endpoints: store("endpoints"),
    };
    this.wake();
  }

  /** The controllers' objects begin anew: of their memory nothing is left. */
  wake(): void {
    this.sleep();
    const life = this.#life;
    this.#controllers = this.#options.controllers.map((name) => this.#controller(name, life));
    this.poke();
  }

  /** The controllers' objects are gone until they wake. */
  sleep(): void {
    this.#life++;
    this.#controllers = [];
  }

  /** `news` absent = the poke names no store, as cron's. */
  poke(news?: StoreNews[]): void {
    for (const controller of this.#controllers) void controller.poke(news);
  }

  /** Time passes until everything that is due now is done. */
  async settle(durationMs = 5_000): Promise<void> {
    await this.scheduler.pass(durationMs);
  }

  /** Writes of the controllers since the last call, sorted. */
  takeWrites(): string[] {
    const writes = this.calls.filter((call) => / (create|update|delete)$/.test(call)).sort();
    this.calls = [];
    return writes;
  }

  /** Creates the object, or replaces it; its status too. */
  async put(kind: Kind, object: KubeObject): Promise<void> {
    const world = this.stores[kind];
    const { group } = DEFINITIONS[kind];
    const { namespace = "", name = "" } = object.metadata ?? {};
    const exists = world.stored(name, namespace) !== undefined;
    const { metadata, ...rest } = object;
    const plain = { ...rest, metadata: { ...metadata, uid: undefined, deletionTimestamp: undefined } };
    must(exists ? await world.update(plain, { group }) : await world.create(plain, { group }));
    if (kind === "pods") must(await world.update(plain, { group }, "status"));
  }

  putService(service: Service): Promise<void> {
    return this.put("services", service);
  }

  putPod(pod: Pod): Promise<void> {
    return this.put("pods", pod);
  }

  putNode(node: Node): Promise<void> {
    return this.put("nodes", node);
  }

  async patch(kind: Kind, name: string, patch: object): Promise<void> {
    must(await this.stores[kind].patch(name, "merge", patch, { group: DEFINITIONS[kind].group }, kind === "nodes" ? "" : "ns"));
  }

  async delete(kind: Kind, name: string): Promise<void> {
    must(await this.stores[kind].delete(name, { gracePeriodSeconds: 0 }, kind === "nodes" ? "" : "ns"));
  }

  objects<T extends KubeObject>(kind: Kind): T[] {
    return [...this.stores[kind].storage.objectScan("", "")].map(({ data }) => JSON.parse(data) as T);
  }

  get slices(): EndpointSlice[] {
    return this.objects<EndpointSlice>("endpointslices");
  }

  get endpoints(): Endpoints[] {
    return this.objects<Endpoints>("endpoints");
  }

  /** What a controller has saved of its counts: `changes create` -> 3, of a histogram `endpoints_added_per_sync` -> observations and their sum. */
  counts(of: "slices" | "mirror"): Record<string, number | [count: number, sum: number]> {
    const { counters, gauges, histograms } = savedCounts(this.rows[of]);
    const id = ({ name, labels }: { name: string; labels: object }): string => [name, ...Object.values(labels)].join(" ");
    return Object.fromEntries([
      ...[...counters, ...gauges].map((series): [string, number] => [id(series), series.value]),
      ...histograms.map((series): [string, [number, number]] => {
        const { counts, sum } = series.value;
        return [id(series), [counts.reduce((all, count) => all + count, 0), sum]];
      }),
    ]);
  }

  /** The addresses of all slices, sorted. */
  get addresses(): string[] {
    return this.slices.flatMap((slice) => endpointsOf(slice).flatMap(({ addresses }) => addresses)).sort();
  }

  #store(kind: Kind): StoreWorld {
    const definition: ResourceDefinition = DEFINITIONS[kind];
    const historyBounds = { entriesMax: this.#options.historyEntries, sizeMax: 1e9, trimEntries: 1 };
    const news = (): StoreNews => {
      const { incarnation, revision } = this.stores[kind].store;
      return { store: qualifiedResource(definition), incarnation, revision };
    };
    const observers = [{ turnCommitted: () => this.poke([news()]) }];
    return new StoreWorld({ definition, scheduler: this.scheduler, observers, historyBounds, seed: kind.length });
  }

  #controller(name: Name, life: number): Controller {
    const clock = this.scheduler.clock(() => life === this.#life);
    const recorder = { log: (level: string, event: string) => void (life === this.#life && this.logged.push(`${level} ${event}`)) };
    const ports: EndpointControllerPorts = {
      clock,
      recorder,
      storage: this.rows[name],
      events: { report: (event) => void this.events.push(event), flush: () => this.eventsWritten },
      batchMs: this.#options.batchMs,
    };
    const isAlive = (): boolean => life === this.#life;
    const followed = (kind: Kind): WrittenStore => this.followed(kind, isAlive);
    const [services, pods, nodes] = [followed("services"), followed("pods"), followed("nodes")];
    const [slices, endpoints] = [followed("endpointslices"), followed("endpoints")];
    const passes = {
      slices: () => slicesPass({ ...ports, services, pods, nodes, slices, maxPerSlice: this.#options.max }),
      endpoints: () => endpointsPass({ ...ports, services, pods, endpoints }),
      mirror: () => mirrorPass({ ...ports, services, endpoints, slices }),
    };
    let cancel = (): void => undefined;
    const controller: Controller = new Controller(
      {
        clock,
        recorder,
        wakeAt: (atMs) => {
          cancel();
          cancel = clock.after(atMs - this.scheduler.now, () => void controller.alarm());
          return Promise.resolve();
        },
        cancelAlarm: () => Promise.resolve(),
        isOn: () => life === this.#life,
        background: (work) => void work,
        restart: () => this.wake(),
      },
      passes[name](),
    );
    return controller;
  }

  /** A store as a controller calls it that may die. */
  protected followed(kind: Kind, isAlive: () => boolean): WrittenStore {
    const world = this.stores[kind];
    const feed = (): ObjectFeedReader => new ObjectFeedReader(world.store);
    const clock = this.scheduler.clock(isAlive);
    const call = async <T>(what: string, work: () => T | Promise<T>, object = ""): Promise<T> => {
      await clock.sleep(this.callMs(`${kind} ${what}`));
      this.calls.push(`${kind} ${what}`);
      const fault = this.fault(`${kind} ${what}`, object);
      if (fault === "down") throw new Error("down");
      if (fault === "silent") return withTimeout(clock, OPERATION_DEADLINE_MS, new Promise<T>(() => undefined));
      if (typeof fault === "object") return fault as T;
      const answer = await work();
      // a dead object hears of nothing
      if (!isAlive()) return new Promise<T>(() => undefined);
      if (fault === "lost") throw new Error("lost");
      return answer;
    };
    const { heard, onWritten } = ownWrites();
    return {
      onWritten,
      resource: qualifiedResource(DEFINITIONS[kind]),
      objectsSince: (cursor, limit) => call("objectsSince", () => feed().objectsSince(cursor, limit)),
      objectsAfter: (after, limit) => call("objectsAfter", () => feed().objectsAfter(after, Math.min(limit, 3))),
      objectsNamed: (keys) => call("objectsNamed", () => feed().objectsNamed(keys)),
      write: async (request: WriteRequest) =>
        heard(await call(request.verb, () => world.store.write(request), "object" in request ? request.object : "")),
    };
  }
}

function must(result: WriteResult): void {
  if (!result.ok) throw new Error(result.status.message);
}
