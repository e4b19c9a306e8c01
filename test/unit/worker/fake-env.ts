/** Bindings whose objects are plain functions: each call is recorded with the object's name and answered by the test. */
import { visitCluster } from "../../../durable-objects/peers/cluster-visits";
import { type Env, objectConfig } from "../../../durable-objects/platform/env";
import { systemClock } from "../../../durable-objects/platform/ports";
import type { RepairCounts } from "../../../src/addresses/rpc/repair";
import { settingsOf } from "../../../src/core/config/settings";
import type { ControllerList } from "../../../src/core/config/controllers";
import { clusterId, DEFAULT_CLUSTER, lifeIn } from "../../../src/tenancy/cluster-id";
import { qualifiedResource } from "../../../src/api/meta/status";
import { clustersDefinition } from "../../../src/api/registry/clusters/definition";
import type { Location } from "../../../src/core/config/location";
import { ClusterShard } from "../../../src/tenancy/cluster-shard";
import type { ClusterNamesRpc, ClusterShardRpc, ClusterState, ListedCluster, ShardEntry, ShardWhereabouts } from "../../../src/tenancy/rpc";
import type { ShardStorage } from "../../../src/tenancy/shard-storage";
import { clusterShardName, clusterShardOf, shardNumberIn } from "../../../src/tenancy/shards";
import { memoryShardStorage } from "../../support/memory/shard-storage";
import { RELAY_FORM, RELAY_HEADER } from "../../../src/api/store/watch/relay-frames";
import type { CollectionRequest, GetResult, WriteRequest, WriteResult } from "../../../src/api/rpc/store";

export interface Recorded {
  object: string;
  method: string;
  argument?: unknown;
}

export interface Answers {
  write?(request: WriteRequest, object: string): WriteResult | Promise<WriteResult>;
  get?(key: { namespace: string; name: string }, resourceVersion: string): GetResult | Promise<GetResult>;
  fetch?(collection: CollectionRequest, request: Request): Response | Promise<Response>;
  /** every other method */
  other?(method: string, object: string): unknown;
}

export interface FakeEnv {
  env: Env;
  /** to everything but records of clusters, and their objects */
  calls: Recorded[];
  /** to the store of Clusters, whose objects a beginning, a change and an end write before they do anything; each is there */
  declared: Recorded[];
  directory: Map<string, string>;
  /** what stands beside keys of the directory */
  facts: Map<string, unknown>;
  records: FakeRecords;
  shards: FakeShards;
}

/** Of a cluster that repair has looked at. */
const REPAIRED: RepairCounts = {
  sweeps: 1,
  ipErrors: {},
  reconcileErrors: 0,
  nodePorts: { portErrors: {}, reconcileErrors: 0 },
  differingSettings: [],
  isRepaired: true,
};

export function fakeEnv(answers: Answers = {}, vars: Partial<Env> = {}): FakeEnv {
  const calls: Recorded[] = [];
  const declared: Recorded[] = [];
  const records = new FakeRecords();
  const shards = new FakeShards(() => env);
  const directory = new Map<string, string>();
  const facts = new Map<string, unknown>();
  const stub = (object: string) => {
    const isOfClusters = object === `RESOURCE_STORE ${DEFAULT_CLUSTER}/${qualifiedResource(clustersDefinition)}`;
    const log = isOfClusters ? declared : calls;
    const record = (method: string, argument?: unknown) => log.push({ object, method, ...(argument === undefined ? {} : { argument }) });
    const other = (method: string) => () => {
      record(method);
      return Promise.resolve(answers.other?.(method, object));
    };
    return {
      async write(request: WriteRequest) {
        record("write", request);
        return (
          answers.write?.(request, object) ?? {
            ok: true,
            code: 201,
            object: "object" in request ? request.object : "{}",
            warnings: [],
            gone: false,
          }
        );
      },
      async get(key: { namespace: string; name: string }, resourceVersion: string) {
        record("get", { ...key, resourceVersion });
        return answers.get?.(key, resourceVersion) ?? { ok: true, object: '{"metadata":{"name":"a","resourceVersion":"7"}}' };
      },
      async fetch(request: Request) {
        const collection = JSON.parse(decodeURIComponent(request.headers.get("x-servicenet-collection") ?? "")) as CollectionRequest;
        record("fetch", collection);
        if (!answers.fetch && request.headers.has("Upgrade")) return silentSocket({ [RELAY_HEADER]: RELAY_FORM });
        return answers.fetch?.(collection, request) ?? new Response('{"items":[]}', { headers: { "Content-Type": "application/json" } });
      },
      ensureBootstrapped: other("ensureBootstrapped"),
      topology: other("topology"),
      ranges: other("ranges"),
      maintain: other("maintain"),
      endWatches: other("endWatches"),
      beginAbove(data: unknown) {
        record("beginAbove", data);
        return Promise.resolve(answers.other?.("beginAbove", object));
      },
      compact: other("compact"),
      expire: async () => (await other("expire")()) ?? { deleted: 0, left: 0, cut: 0 },
      poke: other("poke"),
      pokeFrom: other("pokeFrom"),
      entered: async () => (await other("entered")()) ?? null,
      sweep: other("sweep"),
      auditAll: other("auditAll"),
      inspect(after: number) {
        record("inspect", after);
        return Promise.resolve(answers.other?.("inspect", object));
      },
      objectsAfter: other("objectsAfter"),
      objectsNamed(keys: unknown[]) {
        record("objectsNamed", keys);
        return Promise.resolve(answers.other?.("objectsNamed", object) ?? keys.map(() => null));
      },
      counters: other("counters"),
      usage: other("usage"),
      takenIn(interval: unknown) {
        record("takenIn", interval);
        return Promise.resolve(answers.other?.("takenIn", object));
      },
      allocations: other("allocations"),
      nodePortAllocations: other("nodePortAllocations"),
      nodePortRows: other("nodePortRows"),
      repairCounts: async () => (await other("repairCounts")()) ?? REPAIRED,
      endpointCounts: other("endpointCounts"),
      controllerStatus: other("controllerStatus"),
      targets: other("targets"),
      health: other("health"),
      serviceHealth(node: unknown, service: unknown, family: unknown) {
        record("serviceHealth", [node, service, family]);
        return Promise.resolve(answers.other?.("serviceHealth", object));
      },
      healthCounts: other("healthCounts"),
    };
  };
  const namespace = (binding: string) => ({
    idFromName: (name: string) => name,
    get: (id: string) => stub(`${binding} ${id}`),
  });
  const env: Env = {
    COORDINATOR: namespace("COORDINATOR"),
    SERVICE_CIDR: namespace("SERVICE_CIDR"),
    RESOURCE_STORE: namespace("RESOURCE_STORE"),
    SERVICES_STORE: namespace("SERVICES_STORE"),
    IP_ADDRESSES_STORE: namespace("IP_ADDRESSES_STORE"),
    CONTROLLER: namespace("CONTROLLER"),
    PROXY_VIEW: namespace("PROXY_VIEW"),
    NODE_PROXY: namespace("NODE_PROXY"),
    CREDENTIAL_STORE: namespace("CREDENTIAL_STORE"),
    // Somebody has made each of them once; what became of it says its record.
    CLUSTER_NAMES: {
      idFromName: (name: string) => name,
      get: (object: string) =>
        object.startsWith("shards/")
          ? shards.of(object)
          : {
              areMade: (names: string[]) => Promise.resolve(names.map(() => true)),
              page: (after: string, limit: number) => records.page(after, limit),
              entries: (names: string[]) => records.entries(names),
            },
    },
    CLUSTER_RECORD: { idFromName: (name: string) => name, get: (id: string) => records.of(id.replace("/record", "")) },
    DIRECTORY: fakeDirectory(directory, facts),
    SERVICE_CLUSTER_IP_RANGE: "10.96.0.0/16",
    // Tests of access make variables of their own.
    AUTHORIZATION_MODE: "AlwaysAllow",
    IMPLICIT_DEFAULT_CLUSTER: "true",
    IMPLICIT_CLUSTERS: "true",
    ...vars,
  } as unknown as Env;
  return { env, calls, declared, directory, facts, records, shards };
}

/** The answer to a handshake; nothing comes over its socket. Plain Node has neither such answers nor such sockets. */
export function silentSocket(headers: Record<string, string>): Response {
  const webSocket = { accept: () => undefined, close: () => undefined, addEventListener: () => undefined };
  return { status: 101, headers: new Headers(headers), webSocket } as unknown as Response;
}

/** Every cluster is active under its own name, unless a test says otherwise. */
class FakeRecords {
  readonly states = new Map<string, ClusterState>();
  readonly calls: string[] = [];
  /** every object hears of its controllers */
  isTold = true;
  /** the list of all clusters, by name; null = the directory does not answer */
  listed: ListedCluster[] | null = [];
  /** a record is asked by a reader of the list */
  looked = (): unknown => undefined;
  /** a record has been looked at */
  lookedAt = (): unknown => undefined;
  /** a record is asked for the end of its cluster */
  removing = (): unknown => undefined;
  readonly pages: number[] = [];

  page(after: string, limit: number): ReturnType<ClusterNamesRpc["page"]> {
    this.pages.push(limit);
    const behind = this.listed?.filter(({ name }) => name > after);
    return Promise.resolve(behind ? { clusters: behind.slice(0, limit), isLast: behind.length <= limit } : null);
  }

  /** how many names each question for entries had */
  readonly entriesAsked: number[] = [];

  entries(names: readonly string[]): ReturnType<ClusterNamesRpc["entries"]> {
    this.entriesAsked.push(names.length);
    const { listed } = this;
    return Promise.resolve(names.map((name) => (listed ? (listed.find((one) => one.name === name) ?? false) : null)));
  }

  of(name: string) {
    const state = (): ClusterState => this.states.get(name) ?? { phase: "active", id: name, createdAt: 0, controllers: null };
    return {
      look: () => {
        const answer = this.#answer(`look ${name}`, state());
        this.lookedAt();
        return answer;
      },
      listed: (stamp: string) => {
        this.looked();
        return this.#answer(`listed ${name} ${stamp}`, state());
      },
      open: () => {
        const opened = state().phase === "absent";
        if (opened) this.states.delete(name);
        return this.#answer(`open ${name}`, { state: state(), opened });
      },
      openIn: (location: Location) => {
        const opened = state().phase === "absent";
        const id = clusterId(name, lifeIn(location, 1));
        if (opened) this.states.set(name, { phase: "active", id, createdAt: 0, controllers: null });
        return this.#answer(`open ${name} ${location}`, { state: state(), opened });
      },
      setControllers: (controllers: ControllerList | null) => {
        const now = state();
        if (now.phase === "active") this.states.set(name, { ...now, controllers });
        return this.#answer(`setControllers ${name} ${String(controllers)}`, { state: state(), isTold: this.isTold });
      },
      remove: (id?: string) => {
        this.removing();
        const now = state();
        if (now.phase === "active" && (id ?? now.id) === now.id)
          this.states.set(name, { ...now, phase: "deleting", deletedAt: 1_500, objects: 9, wiped: 0 });
        return this.#answer(`remove ${name}`, state());
      },
      carryOn: (id: string) => this.#answer(`carryOn ${id}`, undefined),
    };
  }

  #answer<T>(call: string, value: T): Promise<T> {
    this.calls.push(call);
    return Promise.resolve(value);
  }
}

/** The shards of the directory of clusters: the real brains over storages in memory, which visit the objects of these bindings. */
class FakeShards {
  readonly #brains = new Map<string, ClusterShard>();
  readonly #storages = new Map<string, ShardStorage>();
  /** by name of the shard, when its alarm is due */
  readonly alarms = new Map<string, number>();
  /** what all of them answer of any cluster; undefined = what they know */
  whereabouts: ShardWhereabouts | undefined;

  constructor(private readonly env: () => Env) {}

  of(name: string): ClusterShardRpc & { alarm(): Promise<void> } {
    const known = this.#brains.get(name);
    const brain = known ?? this.#made(name);
    if (!known) this.#brains.set(name, brain);
    return {
      enter: (entries) => brain.enter(entries),
      leave: (id) => brain.leave(id),
      poke: (job, tickMs, settings) => brain.poke(job, tickMs, settings),
      whereabouts: (id) => (this.whereabouts ? Promise.resolve(this.whereabouts) : brain.whereabouts(id)),
      alarm: () => brain.alarm(),
    };
  }

  /** The clusters had writes. */
  async enter(ids: readonly string[], more: Partial<ShardEntry> = {}): Promise<void> {
    for (const id of ids) {
      await this.of(clusterShardName(clusterShardOf(id))).enter([{ id, rhythms: ["minute", "hour"], ...more }]);
    }
  }

  knows(id: string): boolean {
    return this.#storages.get(clusterShardName(clusterShardOf(id)))?.has(id) ?? false;
  }

  #made(name: string): ClusterShard {
    const storage = memoryShardStorage();
    this.#storages.set(name, storage);
    return new ClusterShard({
      storage,
      number: shardNumberIn(name),
      clock: systemClock,
      recorder: { log: () => undefined },
      startedMs: 0,
      ownSettings: () => settingsOf(objectConfig(this.env())),
      visit: (request) => visitCluster(this.env(), request),
      wakeBy: (atMs) => Promise.resolve(void this.alarms.set(name, atMs)),
      tell: (key, work) => this.env().DIRECTORY.put(key, "", { metadata: work }),
    });
  }
}

/** KV with prefix listing; the cursor is the last key of the page. */
/** `facts`: the metadata of a key. */
function fakeDirectory(keys: Map<string, string>, facts: Map<string, unknown>) {
  return {
    get: (key: string, type?: "json") => {
      const value = keys.get(key) ?? null;
      return Promise.resolve(type === "json" && value !== null ? (JSON.parse(value) as unknown) : value);
    },
    async getWithMetadata(key: string) {
      return { value: await this.get(key), metadata: facts.get(key) ?? null };
    },
    put: (key: string, value: string, { metadata }: { metadata?: unknown } = {}) => {
      keys.set(key, value);
      if (metadata) facts.set(key, metadata);
      return Promise.resolve();
    },
    delete: (key: string) => Promise.resolve(void keys.delete(key)),
    list: ({ prefix, limit, cursor = "" }: { prefix: string; limit: number; cursor?: string }) => {
      const all = [...keys.keys()].filter((key) => key.startsWith(prefix) && key > cursor).sort();
      const page = all.slice(0, limit).map((name) => ({ name, metadata: facts.get(name) }));
      const last = page.at(-1)?.name ?? "";
      return Promise.resolve(all.length > limit ? { keys: page, list_complete: false, cursor: last } : { keys: page, list_complete: true });
    },
  };
}
