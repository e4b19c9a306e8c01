/** The pass that tells shards, and shards, in random histories: Nodes, Services and slices change, calls get lost, objects die, rows get lost. */
import { expect, it } from "vitest";
import { LABEL_SERVICE_NAME } from "../../../../src/api/meta/endpoint-keys";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import type { FedChange, ObjectFeed } from "../../../../src/api/rpc/object-feed";
import type { Clock } from "../../../../src/core/base/ports";
import type { WordRandom } from "../../../../src/core/base/word-random";
import { HEARD_AGE_MS, NodeProxy } from "../../../../src/proxy-health/node-proxy";
import { PushPass } from "../../../../src/proxy-health/pushed/push-pass";
import { NOTHING_KNOWN } from "../../../../src/proxy-health/rpc";
import { shardOf } from "../../../../src/tenancy/cluster-objects";
import { MemoryNodeStorage } from "../../../support/memory/node-storage";
import { MemoryRowStorage } from "../../../support/memory/row-storage";
import { pick, seededRandom } from "../../../support/sim/seeded-random";

const SEED = 1;
const HISTORIES = 40;
const STEPS = 120;
const NODES = ["n1", "n2", "n3", "n4", "n5"];
const SERVICES = ["a/x", "a/y", "b/x"];

/** A store with its history, which forgets now and then. */
class Feed implements ObjectFeed {
  readonly objects = new Map<string, KubeObject>();
  #history: { revision: number; change: FedChange }[] = [];
  #revision = 0;
  #floor = 0;

  set(key: string, object: KubeObject | undefined): void {
    const before = this.objects.get(key);
    if (object) this.objects.set(key, object);
    else if (!this.objects.delete(key)) return;
    const change = { deleted: !object, object: JSON.stringify(object ?? before), key };
    this.#history.push({ revision: ++this.#revision, change });
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
    const page = keys.slice(0, 2);
    const objects = page.map((key) => JSON.stringify(this.objects.get(key)));
    return Promise.resolve({ objects, keys: page, cursor: this.#cursor, next: keys.length > 2 ? (page.at(-1) ?? "") : "" });
  };

  objectsNamed: ObjectFeed["objectsNamed"] = (keys) =>
    Promise.resolve(
      keys.map(({ name }) => {
        const object = this.objects.get(name);
        return object ? JSON.stringify(object) : null;
      }),
    );
}

class World {
  now = 1_000_000;
  areCallsLost = true;
  readonly nodes = new Feed();
  readonly services = new Feed();
  readonly slices = new Feed();
  #rows = new MemoryRowStorage();
  #pass: PushPass;
  readonly #storages = new Map<number, MemoryNodeStorage>();
  readonly #shards = new Map<number, NodeProxy>();
  readonly #clock: Clock = {
    now: () => this.now,
    sleep: () => Promise.resolve(),
    after: () => () => undefined,
    nextTurn: () => Promise.resolve(),
  };
  readonly #recorder = { log: () => undefined };

  constructor(private readonly random: WordRandom) {
    this.#pass = this.#made();
  }

  #isLost(): boolean {
    return this.areCallsLost && this.random.below(8) === 0;
  }

  /** A call may be lost before its effect, or its answer behind it. */
  async #called<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isLost()) throw new Error("lost");
    const answer = await work();
    if (this.#isLost()) throw new Error("answer lost");
    return structuredClone(answer);
  }

  #feed(feed: Feed): ObjectFeed {
    return {
      objectsSince: (...args) => this.#called(() => feed.objectsSince(...args)),
      objectsAfter: (...args) => this.#called(() => feed.objectsAfter(...args)),
      objectsNamed: (...args) => this.#called(() => feed.objectsNamed(...args)),
    };
  }

  #made(): PushPass {
    return new PushPass({
      clock: this.#clock,
      recorder: this.#recorder,
      storage: this.#rows,
      nodes: this.#feed(this.nodes),
      services: this.#feed(this.services),
      slices: this.#feed(this.slices),
      push: (shard, change) => this.#called(() => this.shard(shard).push(structuredClone(change))),
    });
  }

  shard(shard: number): NodeProxy {
    const known = this.#shards.get(shard);
    if (known) return known;
    const storage = this.#storages.get(shard) ?? new MemoryNodeStorage();
    this.#storages.set(shard, storage);
    const made = new NodeProxy(
      {
        storage,
        clock: this.#clock,
        recorder: this.#recorder,
        node: async (name) => (await this.#feed(this.nodes).objectsNamed([{ namespace: "", name }]))[0] ?? null,
        state: (cursor) => this.#called(() => Promise.resolve(this.#pass.stateOf(shard, cursor ?? undefined))),
        wakeAt: () => undefined,
        alarmAt: () => Promise.resolve(null),
      },
      { serverStartedAt: 0, drainingTaints: [], drainsTerminatingNodes: true, syncPeriodMs: 30_000 },
    );
    this.#shards.set(shard, made);
    return made;
  }

  run(): Promise<boolean> {
    return this.#pass.run().then(
      ({ left }) => left,
      () => true,
    );
  }

  /** The controller dies; with `isLost` it loses its rows, too. */
  killController(isLost: boolean): void {
    if (isLost) this.#rows = new MemoryRowStorage();
    this.#pass = this.#made();
  }

  /** A shard dies; with `isLost` it loses its rows, too. */
  killShard(shard: number, isLost: boolean): void {
    this.#shards.delete(shard);
    if (isLost) this.#storages.delete(shard);
  }

  step(): Promise<unknown> | undefined {
    const { random } = this;
    const node = pick(random, NODES);
    const service = pick(random, SERVICES);
    const [namespace = "", name = ""] = service.split("/");
    this.now += random.below(2_000);
    switch (random.below(12)) {
      case 0:
      case 1: {
        const taints = random.below(2) ? [{ key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" }] : [];
        this.nodes.set(node, { metadata: { name: node, uid: `${node}-1` }, spec: { taints } } as KubeObject);
        return;
      }
      case 2:
        this.nodes.set(node, undefined);
        return;
      case 3: {
        const spec = {
          type: "LoadBalancer",
          externalTrafficPolicy: random.below(3) ? "Local" : "Cluster",
          clusterIP: "10.96.0.1",
          clusterIPs: ["10.96.0.1"],
          healthCheckNodePort: 30_000 + SERVICES.indexOf(service),
        };
        this.services.set(service, random.below(5) ? ({ metadata: { namespace, name }, spec } as KubeObject) : undefined);
        return;
      }
      case 4:
      case 5: {
        const slice = `s${random.below(3)}`;
        const endpoints = NODES.flatMap((nodeName, i) =>
          random.below(2) ? [{ addresses: [`10.1.0.${i + random.below(2)}`], nodeName, conditions: { ready: random.below(4) > 0 } }] : [],
        );
        const metadata = { namespace, name: slice, labels: { [LABEL_SERVICE_NAME]: name } };
        const object = { metadata, addressType: "IPv4", ports: [{ name: "", port: 80 }], endpoints } as unknown as KubeObject;
        this.slices.set(`${namespace}/${slice}`, random.below(4) ? object : undefined);
        return;
      }
      case 6:
        pick(random, [this.nodes, this.services, this.slices]).forget();
        return;
      case 7:
        this.killController(random.below(6) === 0);
        return;
      case 8:
        this.killShard(shardOf(node), random.below(6) === 0);
        return;
      case 9:
        return this.shard(shardOf(node))
          .health(node, "/healthz")
          .catch((error: unknown) => expect(String(error)).toContain(NOTHING_KNOWN));
      default:
        return this.run();
    }
  }

  /** What the shards answer: of each node its code, and of each Service its count. */
  async answers(): Promise<string[]> {
    return Promise.all(
      NODES.map(async (node) => {
        const shard = this.shard(shardOf(node));
        const { code } = await shard.health(node, "/healthz");
        if (code === 503 && !this.nodes.objects.has(node)) return `${node} gone`;
        const counts = await Promise.all(
          SERVICES.map(async (service) => {
            const [namespace = "", name = ""] = service.split("/");
            const answer = await shard.serviceHealth(node, { namespace, name }, null);
            return answer?.headers["X-Load-Balancing-Endpoint-Weight"] ?? "-";
          }),
        );
        return [node, code, ...counts].join(" ");
      }),
    );
  }

  /** The same from the objects alone. */
  get truth(): string[] {
    return NODES.map((node) => {
      const object = this.nodes.objects.get(node) as { spec: { taints: unknown[] } } | undefined;
      if (!object) return `${node} gone`;
      const counts = SERVICES.map((service) => {
        const spec = (this.services.objects.get(service) as { spec?: { externalTrafficPolicy: string } } | undefined)?.spec;
        if (spec?.externalTrafficPolicy !== "Local") return "-";
        const [namespace = "", name = ""] = service.split("/");
        const ips = new Set<string>();
        for (const [key, slice] of this.slices.objects) {
          if (!key.startsWith(`${namespace}/`) || slice.metadata?.labels?.[LABEL_SERVICE_NAME] !== name) continue;
          const { endpoints } = slice as unknown as {
            endpoints: { addresses: string[]; nodeName: string; conditions: { ready: boolean } }[];
          };
          for (const { addresses, nodeName, conditions } of endpoints)
            if (nodeName === node && conditions.ready) ips.add(addresses[0] ?? "");
        }
        return String(ips.size);
      });
      return [node, object.spec.taints.length > 0 ? 503 : 200, ...counts].join(" ");
    });
  }
}

it(`random histories (${HISTORIES} from seed ${SEED}): once calls arrive, all shards answer the truth within 30 s`, async () => {
  for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
    const world = new World(seededRandom(seed));
    for (let step = 0; step < STEPS; step++) await world.step();
    world.areCallsLost = false;
    expect(await world.run(), `seed ${seed}: a pass without faults leaves work`).toBe(false);
    // Lost pushes, and shards that lost their rows, are made up for by the question behind a check.
    world.now += HEARD_AGE_MS;
    await world.answers();
    for (let i = 0; i < 20; i++) await Promise.resolve();
    expect(await world.answers(), `seed ${seed}`).toEqual(world.truth);
  }
});
