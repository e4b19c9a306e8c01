/** The controller "proxy-health", the objects that it tells, and the stores that it follows, over the simulated network. */
import { qualifiedResource } from "../../../src/api/meta/status";
import { LABEL_SERVICE_NAME } from "../../../src/api/meta/endpoint-keys";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { endpointSlicesDefinition } from "../../../src/api/registry/endpoint-slices/definition";
import { nodesDefinition } from "../../../src/api/registry/nodes/definition";
import { servicesDefinition } from "../../../src/api/registry/services/definition";
import type { FedChange, ObjectFeed } from "../../../src/api/rpc/object-feed";
import type { ControllerRpc } from "../../../src/api/rpc/store";
import type { WordRandom } from "../../../src/core/base/word-random";
import { NodeProxy } from "../../../src/proxy-health/node-proxy";
import { proxyHealthController } from "../../../src/proxy-health/proxy-health-controller";
import type { ShardChange } from "../../../src/proxy-health/pushed/shard-change";
import type { ProxyHealthControllerRpc } from "../../../src/proxy-health/rpc";
import { shardOf } from "../../../src/tenancy/cluster-objects";
import { MemoryNodeStorage } from "../memory/node-storage";
import { MemoryRowStorage } from "../memory/row-storage";
import { controllerLife } from "./controller-life";
import { ALWAYS, type Caller, CLIENT, SimNetwork, SimNode, whileAlive } from "./platform/network";
import { plainCopy } from "./platform/plain-copy";
import { SimScheduler } from "./platform/scheduler";

const PAGE = 2;
const RECORDER = { log: (): void => undefined };
const SETTING = { serverStartedAt: 0, drainingTaints: [], drainsTerminatingNodes: true, syncPeriodMs: 30_000 };

export const TAINT = { key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" } as const;
export type StoreName = "nodes" | "services" | "slices";
type Brain = ControllerRpc & ProxyHealthControllerRpc & { alarm(): Promise<void> };

/** A store with its history, which it can forget. */
class Feed implements ObjectFeed {
  readonly objects = new Map<string, KubeObject>();
  #history: { revision: number; change: FedChange }[] = [];
  #revision = 0;
  #floor = 0;

  /** Whether anything changed. */
  set(key: string, object: KubeObject | undefined): boolean {
    const before = this.objects.get(key);
    if (object) this.objects.set(key, object);
    else if (!this.objects.delete(key)) return false;
    const change = { deleted: !object, object: JSON.stringify(object ?? before), key };
    this.#history.push({ revision: ++this.#revision, change });
    return true;
  }

  forget(): void {
    this.#history = [];
    this.#floor = this.#revision;
  }

  get #cursor() {
    return { incarnation: "1", revision: this.#revision };
  }

  objectsSince: ObjectFeed["objectsSince"] = (cursor) => {
    const { revision: since = -1 } = cursor ?? {};
    if (since < this.#floor) return Promise.resolve({ kind: "expired" });
    const changes = this.#history.flatMap(({ revision, change }) => (revision > since ? [change] : []));
    return Promise.resolve({ kind: "changes", changes, cursor: this.#cursor, more: false });
  };

  objectsAfter: ObjectFeed["objectsAfter"] = (after) => {
    const keys = [...this.objects.keys()].filter((key) => key > after).sort();
    const page = keys.slice(0, PAGE);
    const objects = page.map((key) => JSON.stringify(this.objects.get(key)));
    return Promise.resolve({ objects, keys: page, cursor: this.#cursor, next: keys.length > PAGE ? (page.at(-1) ?? "") : "" });
  };

  objectsNamed: ObjectFeed["objectsNamed"] = (keys) =>
    Promise.resolve(
      keys.map(({ name }) => {
        const object = this.objects.get(name);
        return object ? JSON.stringify(object) : null;
      }),
    );
}

export class ProxyHealthWorld {
  readonly scheduler = new SimScheduler();
  readonly network: SimNetwork;
  readonly feeds = { nodes: new Feed(), services: new Feed(), slices: new Feed() };
  readonly controller: SimNode<Brain>;
  /** Whatever is sent to objects of these names waits: stores by their name, shards by their number. */
  readonly hung = new Set<string>();
  /** what shards were told, in their order */
  readonly pushes: { shard: number; change: ShardChange }[] = [];
  /** The controller answers no question of a shard. */
  isMute = false;
  readonly #rows = new MemoryRowStorage();
  readonly #stores: Readonly<Record<StoreName, SimNode<Feed>>>;
  readonly #storages = new Map<number, MemoryNodeStorage>();
  readonly #shards = new Map<number, SimNode<NodeProxy>>();
  #uids = 0;

  constructor(random: WordRandom) {
    this.network = new SimNetwork(this.scheduler, random);
    this.network.fate = (_, target) => (this.hung.has(target) ? "held" : undefined);
    const store = (name: StoreName) =>
      new SimNode(
        name,
        this.network,
        () => this.feeds[name],
        () => Promise.resolve(),
      );
    this.#stores = { nodes: store("nodes"), services: store("services"), slices: store("slices") };
    this.controller = new SimNode<Brain>(
      "controller",
      this.network,
      (life) =>
        proxyHealthController.make({
          clock: life.clock,
          recorder: RECORDER,
          peers: {
            storeOf: (definition) => this.#feedOf(life, STORES[qualifiedResource(definition)] ?? "nodes"),
            nodeProxy: (shard) => ({ push: (change) => this.#push(life, shard, change) }),
          },
          tables: { rows: whileAlive(this.#rows, life) },
          ...controllerLife(this.network, life, () => this.controller),
        }),
      (brain) => brain.alarm(),
    );
    this.controller.hasRightTime = true;
    this.#rows.journal.gate = this.controller.gate;
  }

  #push(caller: Caller, shard: number, change: ShardChange) {
    const copy = plainCopy(change);
    this.pushes.push({ shard, change: copy });
    return this.network.call(caller, this.shard(shard), (brain) => brain.push(copy));
  }

  #feedOf(caller: Caller, name: StoreName): ObjectFeed {
    const asked = <T>(work: (feed: Feed) => Promise<T>): Promise<T> => this.network.call(caller, this.#stores[name], work);
    return {
      objectsSince: (...args) => asked((feed) => feed.objectsSince(...args)),
      objectsAfter: (...args) => asked((feed) => feed.objectsAfter(...args)),
      objectsNamed: (...args) => asked((feed) => feed.objectsNamed(...args)),
    };
  }

  shard(shard: number): SimNode<NodeProxy> {
    const known = this.#shards.get(shard);
    if (known) return known;
    const made: SimNode<NodeProxy> = new SimNode<NodeProxy>(
      String(shard),
      this.network,
      (life) =>
        new NodeProxy(
          {
            storage: whileAlive(this.#storageOf(shard), life),
            clock: life.clock,
            recorder: RECORDER,
            node: async (name) => (await this.#feedOf(life, "nodes").objectsNamed([{ namespace: "", name }]))[0] ?? null,
            state: (cursor, mayRest) => {
              if (this.isMute) return Promise.resolve(null);
              return this.network.call(life, this.controller, (brain) => brain.shardState(shard, cursor, mayRest));
            },
            wakeAt: (atMs) => made.setAlarm(atMs),
            alarmAt: () => Promise.resolve(null),
          },
          SETTING,
        ),
      (brain) => brain.alarm(),
    );
    this.#shards.set(shard, made);
    return made;
  }

  #storageOf(shard: number): MemoryNodeStorage {
    const known = this.#storages.get(shard);
    if (known) return known;
    const made = new MemoryNodeStorage();
    made.journal.gate = this.shard(shard).gate;
    this.#storages.set(shard, made);
    return made;
  }

  /** Changes a store, and pokes the controller unless that is lost. */
  set(store: StoreName, key: string, object: KubeObject | undefined, isPoked = true): void {
    if (!this.feeds[store].set(key, object) || !isPoked) return;
    this.network.call(ALWAYS, this.controller, (brain) => brain.poke()).catch(() => undefined);
  }

  setNode(name: string, taints: readonly object[] = [], isPoked = true): void {
    const before = this.feeds.nodes.objects.get(name)?.metadata;
    const creationTimestamp = `${new Date(this.scheduler.now).toISOString().slice(0, 19)}Z`;
    const metadata = before ?? { name, uid: `uid-${++this.#uids}`, creationTimestamp };
    this.set("nodes", name, { metadata, spec: { taints } } as KubeObject, isPoked);
  }

  setService(key: string, port: number, policy: "Local" | "Cluster" = "Local"): void {
    const [namespace, name] = key.split("/");
    const addresses = { clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.1"] };
    const spec = {
      type: "LoadBalancer",
      externalTrafficPolicy: policy,
      ...addresses,
      ...(policy === "Local" && { healthCheckNodePort: port }),
    };
    this.set("services", key, { metadata: { namespace, name }, spec } as KubeObject);
  }

  /** @param endpoints their addresses and nodes */
  setSlice(key: string, service: string, endpoints: readonly { ip: string; nodeName: string; ready?: boolean }[]): void {
    const [namespace, name] = key.split("/");
    const metadata = { namespace, name, labels: { [LABEL_SERVICE_NAME]: service } };
    const written = endpoints.map(({ ip, nodeName, ready = true }) => ({ addresses: [ip], nodeName, conditions: { ready } }));
    this.set("slices", key, { metadata, addressType: "IPv4", ports: [{ name: "", port: 80 }], endpoints: written } as KubeObject);
  }

  /** The function takes the controller back to now. */
  rememberController(): () => void {
    const back = this.#rows.remembered();
    return () => {
      this.controller.crash();
      back();
    };
  }

  /** The same of a shard. */
  rememberShard(shard: number): () => void {
    const back = this.#storageOf(shard).remembered();
    return () => {
      this.shard(shard).crash();
      back();
    };
  }

  /** What was sent to those that hung arrives now. */
  releaseAll(): void {
    this.hung.clear();
    for (const { deliver } of this.network.held.splice(0)) deliver();
  }

  health(node: string): Promise<number> {
    return this.network.call(CLIENT, this.shard(shardOf(node)), async (brain) => (await brain.health(node, "/healthz")).code);
  }

  /** The count that a check of the Service answers; "-" = there is no check. */
  serviceHealth(node: string, service: string): Promise<string> {
    const [namespace = "", name = ""] = service.split("/");
    return this.network.call(CLIENT, this.shard(shardOf(node)), async (brain) => {
      const answer = await brain.serviceHealth(node, { namespace, name }, null);
      return answer?.headers["X-Load-Balancing-Endpoint-Weight"] ?? "-";
    });
  }

  report(node: string): Promise<unknown> {
    return this.network.call(CLIENT, this.shard(shardOf(node)), (brain) => brain.report(node, {}));
  }

  /** Lets everything happen until it is settled. */
  run<T>(promise: Promise<T>): Promise<T> {
    return this.scheduler.run(promise);
  }

  pass(durationMs: number): Promise<void> {
    return this.scheduler.pass(durationMs);
  }
}

const STORES: Readonly<Record<string, StoreName>> = {
  [qualifiedResource(nodesDefinition)]: "nodes",
  [qualifiedResource(servicesDefinition)]: "services",
  [qualifiedResource(endpointSlicesDefinition)]: "slices",
};
