import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { Controller } from "../../../durable-objects/controller";
import { Coordinator } from "../../../durable-objects/coordinator";
import { IPAddressesStore } from "../../../durable-objects/ip-addresses-store";
import type { ServicesStore } from "../../../durable-objects/services-store";
import type { Service } from "../../../src/api/meta/kubernetes";
import { READ, type WriteResult } from "../../../src/api/rpc/store";
import { LEDGER_SCHEMA } from "../../../durable-objects/sql/ledger-sql";
import { migrate } from "../../../durable-objects/sql/migrate";
import { NODE_PORTS_SCHEMA, sqlNodePortStorage } from "../../../durable-objects/sql/node-ports-sql";
import { sqlStoreStorage } from "../../../durable-objects/sql/store-sql";
import { STORE_MIGRATIONS } from "../../../durable-objects/store-ports";
import { countedCalls } from "../../support/objects/counted-calls";
import { intercept } from "../../support/objects/intercept";
import { PATIENCE } from "../../support/objects/patience";
import { addressOf, messageOf, nodePortRows, nodePortsOf, ObjectCluster, plant } from "../../support/objects/object-cluster";
import { aService } from "../../support/worlds/repair-world";

const bindings = env as unknown as Env;

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function versionOf(result: WriteResult): string {
  return result.ok ? ((JSON.parse(result.object) as Service).metadata?.resourceVersion ?? "") : messageOf(result);
}

describe("services store", () => {
  it("default/kubernetes: made once, on the first address", async () => {
    const cluster = await new ObjectCluster().ready();
    await Promise.all([cluster.ready(), cluster.ready()]);
    const { services, ipAddresses } = await cluster.stored();
    expect(services.map(({ metadata, spec }) => [metadata?.namespace, metadata?.name, spec?.clusterIP])).toEqual([
      ["default", "kubernetes", "10.96.0.1"],
    ]);
    expect(ipAddresses.map(({ metadata }) => metadata?.name)).toEqual(["10.96.0.1"]);
    await cluster.check();
  });

  it("a PUT of what the client sent before, without what the server filled in: the resourceVersion stays", async () => {
    const cluster = await new ObjectCluster().ready();
    const versions = [versionOf(await cluster.create("a"))];
    for (const spec of [{}, {}, { type: "NodePort" }]) versions.push(versionOf(await cluster.put("a", spec)));
    expect(versions.map((version) => version === versions[0])).toEqual([true, true, true, false]);
    await cluster.check();
  });

  it("50 creates of one turn: one commit of each object, an address and an IPAddress for each", async () => {
    const cluster = await new ObjectCluster().ready();
    await cluster.create("warm");
    const before = { owner: await cluster.owner(), services: await cluster.services.counters(), ips: await cluster.ipAddresses.counters() };
    const results = await cluster.createTogether(Array.from({ length: 50 }, (_, i) => `web-${i}`));
    expect(new Set(results.map(addressOf)).size).toBe(50);
    await cluster.check();
    const after = { owner: await cluster.owner(), services: await cluster.services.counters(), ips: await cluster.ipAddresses.counters() };
    expect(after.owner.held).toHaveLength(52);
    expect(after.owner.weight - before.owner.weight, "items asked of the owner").toBe(50);
    expect(after.owner.drains - before.owner.drains, "commits of the owner").toBe(1);
    expect(after.services.drains - before.services.drains, "turns of the services store: to plan, to commit").toBe(2);
    expect(after.ips.drains - before.ips.drains, "commits of the ipaddresses store").toBe(1);
  });

  it("death of every object: nothing is lost, and creates go on", async () => {
    const cluster = await new ObjectCluster().ready();
    const before = await Promise.all(Array.from({ length: 20 }, (_, i) => cluster.create(`before-${i}`)));
    await abortAllDurableObjects();
    const after = await Promise.all(Array.from({ length: 20 }, (_, i) => cluster.create(`after-${i}`)));
    expect(new Set([...before, ...after].map(addressOf)).size).toBe(40);
    const { services } = await cluster.stored();
    expect(services.map(({ spec }) => spec?.clusterIP).sort()).toEqual(["10.96.0.1", ...[...before, ...after].map(addressOf)].sort());
    await cluster.check();
    expect((await cluster.owner()).held).toHaveLength(41);
  });

  it.each(["its maintenance", "a write"])(
    "a store that died before its IPAddress was stored: reads call nobody, and %s sends it again",
    async (what) => {
      const cluster = new ObjectCluster();
      // To the end of what follows: the call of an object that is made to die would be counted below.
      await countedCalls(() => cluster.ready());
      // A pass of repair would make calls of its own, and restore the IPAddress.
      vi.spyOn(Controller.prototype, "alarm").mockResolvedValue();
      vi.spyOn(Controller.prototype, "poke").mockResolvedValue(READ);
      const restore = intercept(IPAddressesStore.prototype, "createMany", () => Promise.reject(new Error("lost")));
      const address = addressOf(await cluster.create("a"));
      await abortAllDurableObjects();
      restore();
      const key = { namespace: "default", name: "a" };
      const read = await countedCalls(async () => expect((await cluster.services.get(key, "")).ok).toBe(true));
      expect(read.map(({ method }) => method)).toEqual(["get"]);
      const stored = async () => (await cluster.stored()).ipAddresses.map(({ metadata }) => metadata?.name);
      expect(await stored()).not.toContain(address);
      await countedCalls(() => (what === "a write" ? cluster.create("b") : cluster.services.maintain()));
      expect(await stored()).toContain(address);
      await cluster.check();
    },
  );

  it("a store that dies in the middle of creates and deletes: after its maintenance nothing is half done", async () => {
    const cluster = await new ObjectCluster().ready();
    await Promise.all(Array.from({ length: 20 }, (_, i) => cluster.create(`old-${i}`)));
    const creates = Array.from({ length: 20 }, (_, i) => cluster.create(`new-${i}`));
    const deletes = Array.from({ length: 10 }, (_, i) => cluster.remove(`old-${i}`));
    await scheduler.wait(3);
    await abortAllDurableObjects();
    const results = await Promise.allSettled([...creates, ...deletes]);
    await cluster.ready();
    await cluster.services.maintain();
    await cluster.services.maintain();
    await cluster.check();
    const { services } = await cluster.stored();
    const present = new Set(services.map(({ metadata }) => metadata?.name));
    results.forEach((result, i) => {
      if (result.status !== "fulfilled" || !result.value.ok) return;
      if (i < 20) expect(present.has(`new-${i}`), `new-${i} was acknowledged`).toBe(true);
      else expect(present.has(`old-${i - 20}`), `old-${i - 20} was acknowledged as gone`).toBe(false);
    });
    expect((await cluster.owner()).held).toEqual(services.map(({ spec }) => spec?.clusterIP ?? "").sort());
  });

  it("a delete and a retype: answered after the address is free", async () => {
    const cluster = await new ObjectCluster().ready();
    expect(addressOf(await cluster.create("web", { clusterIP: "10.96.0.77" }))).toBe("10.96.0.77");
    expect(messageOf(await cluster.create("other", { clusterIP: "10.96.0.77" }))).toBe(
      '422 Service "other" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.77"]: failed to allocate IP 10.96.0.77: provided IP is already allocated',
    );
    await cluster.remove("web");
    expect(addressOf(await cluster.create("other", { clusterIP: "10.96.0.77" }))).toBe("10.96.0.77");
    expect(messageOf(await cluster.patch("other", { spec: { type: "ExternalName", externalName: "a.example.com" } }))).toBe("");
    expect(addressOf(await cluster.create("third", { clusterIP: "10.96.0.77" }))).toBe("10.96.0.77");
    await cluster.check();
    expect((await cluster.owner()).held).toEqual(["10.96.0.1", "10.96.0.77"]);
  });

  it("a full /29: upstream's answer, nothing left behind, and room again at once", async () => {
    const cluster = await new ObjectCluster().ready();
    await cluster.onlyRange("10.97.0.0/29");
    const results = await Promise.all(Array.from({ length: 8 }, (_, i) => cluster.create(`web-${i}`)));
    const given = results.flatMap((result) => (result.ok ? [addressOf(result)] : []));
    expect(given.sort()).toEqual([1, 2, 3, 4, 5, 6].map((i) => `10.97.0.${i}`));
    const refused = results.flatMap((result, i) => (result.ok ? [] : [[messageOf(result), `web-${i}`]]));
    for (const [message, name] of refused) {
      expect(message).toBe(`500 Internal error occurred: failed to allocate a serviceIP for Service "${name}": range is full`);
    }
    expect(refused).toHaveLength(2);
    const gone = results.findIndex((result) => result.ok);
    await cluster.remove(`web-${gone}`);
    const freed = results[gone];
    expect(addressOf(await cluster.create("again"))).toBe(freed && addressOf(freed));
    await cluster.check();
  });
});

describe("rows of `objects` that are lost (a direct edit, a damaged page)", () => {
  const lose = (stub: DurableObjectStub, key: string): Promise<void> =>
    runInDurableObject(stub, (_, { storage }) => {
      expect(storage.sql.exec("DELETE FROM objects WHERE key = ?", key).rowsWritten).toBeGreaterThan(0);
    });
  const edge = { parentRef: { group: "example.com", resource: "gateways", namespace: "", name: "edge" } };
  const clientsAddress = (cluster: ObjectCluster, name: string) => {
    const options = { dryRun: false, fieldManager: "test", fieldValidation: "Strict", force: false, group: "networking.k8s.io" } as const;
    const object = JSON.stringify({ metadata: { name }, spec: edge });
    return cluster.ipAddresses.write({ verb: "create", namespace: "", object, options: { ...options, version: "v1" } });
  };

  it("addresses of lost rows: the next audit, or a sweep, frees them, also through a restart", async () => {
    const cluster = await new ObjectCluster().ready();
    const [lost, swept, kept] = (await Promise.all(["lost", "swept", "kept"].map((name) => cluster.create(name)))).map(addressOf);
    expect(messageOf(await clientsAddress(cluster, "10.96.200.200"))).toBe("");
    await cluster.maintain();
    await lose(cluster.servicesObject, "default/lost");
    await lose(cluster.ipAddressesObject, "10.96.200.200");
    // Nobody can be told of a leak any more, for there is no IPAddress that is left over.
    await lose(cluster.ipAddressesObject, lost ?? "");
    await cluster.maintain();
    await abortAllDurableObjects();
    await cluster.maintain();
    const held = async (): Promise<string[]> => (await cluster.owner()).held;
    await vi.waitFor(async () => expect(await held()).toEqual(["10.96.0.1", swept, kept].sort()), PATIENCE);
    expect(addressOf(await cluster.create("next", { clusterIP: lost }))).toBe(lost);
    expect(messageOf(await clientsAddress(cluster, "10.96.200.200"))).toBe("");
    await lose(cluster.servicesObject, "default/swept");
    await cluster.services.auditAll();
    await vi.waitFor(async () => expect(await held()).not.toContain(swept), PATIENCE);
    await cluster.check();
  });

  it("addresses of rows that the owner has lost too: a create takes them", async () => {
    const cluster = await new ObjectCluster().ready();
    const before = addressOf(await cluster.create("before"));
    await lose(cluster.servicesObject, "default/before");
    await runInDurableObject(cluster.ownerObject(await cluster.ownerUid()), (_, { storage }) => {
      expect(storage.sql.exec("DELETE FROM address WHERE name = 'before'").rowsWritten).toBeGreaterThan(0);
    });
    await abortAllDurableObjects();
    expect(messageOf(await cluster.create("after", { clusterIP: before }))).toBe("");
    await cluster.maintain();
    await cluster.repair();
    await cluster.check();
    expect((await cluster.owner()).held).toEqual(["10.96.0.1", before].sort());
  });
});

describe("counters of allocations", () => {
  const RANGE = "10.96.0.0/16";

  async function countsOf(cluster: ObjectCluster) {
    const counted = (await cluster.services.allocations()).find(({ cidr }) => cidr === RANGE);
    if (!counted) throw new Error("nothing was counted");
    return { ...counted.total, failed: counted.errors.static, timed: counted.durations.counts.reduce((sum, count) => sum + count, 0) };
  }

  /** A create that is refused, and counted. */
  async function clash(cluster: ObjectCluster): Promise<void> {
    expect(messageOf(await cluster.create("clash", { clusterIP: "10.96.0.1" }))).toContain("422");
  }

  const soon = (): unknown => vi.setSystemTime(Date.now() + 60_000);

  it("counters never go back, however often objects die: what nobody has seen is lost, and only kept values are shown", async () => {
    const cluster = await new ObjectCluster().ready();
    vi.setSystemTime(Date.now());
    for (let life = 1; life <= 3; life++) {
      soon();
      const names = (what: string): string[] => Array.from({ length: 10 }, (_, i) => `${what}-${life}-${i}`);
      // The first commit of a minute keeps them; so does who looks.
      await cluster.create(`kept-${life}`);
      await abortAllDurableObjects();
      await cluster.createTogether(names("seen"));
      const expected = { dynamic: 11 * life, static: 1, timed: 11 * life + 1 };
      expect(await countsOf(cluster)).toEqual({ ...expected, failed: 2 * (life - 1) });
      await abortAllDurableObjects();
      expect(await countsOf(cluster)).toEqual({ ...expected, failed: 2 * (life - 1) });
      await cluster.createTogether(names("lost"));
      await abortAllDurableObjects();
      expect(await countsOf(cluster)).toEqual({ ...expected, failed: 2 * (life - 1) });
      // Refused writes make no commit. On a slow machine the first of them alone may have been written already.
      for (let i = 0; i < 2; i++) await clash(cluster);
      soon();
      expect(await countsOf(cluster)).toEqual({ ...expected, failed: 2 * life });
      await abortAllDurableObjects();
      expect(await countsOf(cluster)).toEqual({ ...expected, failed: 2 * life });
    }
  });

  it.each([
    { name: "a scrape", look: (cluster: ObjectCluster) => cluster.services.allocations() },
    { name: "cron", look: (cluster: ObjectCluster) => cluster.services.maintain() },
  ])("refusals that $name looks at: written once in five seconds", async ({ look }) => {
    const cluster = await new ObjectCluster().ready();
    // So late that the alarm, which writes what is left, does not ring here.
    vi.setSystemTime(Date.now() + 3_600_000);
    for (const failed of [1, 1, 1]) {
      await clash(cluster);
      await look(cluster);
      expect(await countsOf(cluster)).toMatchObject({ failed });
    }
    vi.setSystemTime(Date.now() + 5_000);
    await look(cluster);
    expect(await countsOf(cluster)).toMatchObject({ failed: 3 });
  });

  it("a refusal that no commit followed: is kept over the sleep of the object, by itself", async () => {
    const cluster = await new ObjectCluster().ready();
    const kept = () =>
      runInDurableObject(cluster.servicesObject, (_, { storage }) =>
        storage.sql.exec<{ static_errors: number }>("SELECT static_errors FROM allocation_counts WHERE cidr = ?", RANGE).one(),
      );
    expect(messageOf(await cluster.create("clash", { clusterIP: "10.96.0.1" }))).toContain("422");
    await vi.waitFor(async () => expect(await kept()).toEqual({ static_errors: 1 }), { timeout: 20_000, interval: 50 });
    await abortAllDurableObjects();
    expect(await countsOf(cluster)).toMatchObject({ failed: 1 });
  });

  it("counters: cost no commit and no turn of their own; who looks at them writes them once", async () => {
    const cluster = await new ObjectCluster().ready();
    await cluster.create("warm");
    await cluster.services.allocations();
    const before = await cluster.services.counters();
    await cluster.createTogether(Array.from({ length: 50 }, (_, i) => `web-${i}`));
    const after = await cluster.services.counters();
    expect(after.drains - before.drains, "turns: to plan, to commit").toBe(2);
    const object = bindings.SERVICES_STORE.getByName(`${cluster.name}/services`);
    const written = await runInDurableObject(object, async (store, state) => {
      const changes = () => state.storage.sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n;
      const looks: { rows: number; counted: object | undefined }[] = [];
      for (let look = 0; look < 2; look++) {
        const start = changes();
        const [counted] = await (store as unknown as ServicesStore).allocations();
        looks.push({ rows: changes() - start, counted: counted?.total });
      }
      return looks;
    });
    const counted = { dynamic: 51, static: 1 };
    // The range, and the time of the write.
    expect(written).toEqual([
      { rows: 2, counted },
      { rows: 0, counted },
    ]);
  });
});

describe("node ports", () => {
  const named = (nodePort: number): object => ({ type: "NodePort", ports: [{ port: 80, nodePort }] });

  it("50 NodePort Services at once: unique numbers, still held after every object died", async () => {
    const cluster = await new ObjectCluster().ready();
    const before = await Promise.all(Array.from({ length: 50 }, (_, i) => cluster.create(`web-${i}`, { type: "NodePort" })));
    const ports = before.flatMap(nodePortsOf);
    expect([new Set(ports).size, Math.min(...ports) >= 30_086, Math.max(...ports) <= 32_767]).toEqual([50, true, true]);
    await abortAllDurableObjects();
    expect(messageOf(await cluster.create("late", named(ports[7] ?? 0)))).toBe(
      `422 Service "late" is invalid: spec.ports[0].nodePort: Invalid value: ${ports[7]}: provided port is already allocated`,
    );
    await cluster.remove("web-7");
    await abortAllDurableObjects();
    expect(nodePortsOf(await cluster.create("late", named(ports[7] ?? 0)))).toEqual([ports[7]]);
    await cluster.check();
    expect(await cluster.nodePortRows()).toHaveLength(50);
  });

  it("death in the middle of creates and retypes: rows and Services agree", async () => {
    const cluster = await new ObjectCluster().ready();
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => cluster.create(`old-${i}`, { type: "LoadBalancer", externalTrafficPolicy: "Local" })),
    );
    const writes = Array.from({ length: 20 }, (_, i) => [
      cluster.create(`new-${i}`, named(30_000 + (i % 10))),
      i % 2 === 0 ? cluster.remove(`old-${i}`) : cluster.patch(`old-${i}`, { spec: { type: "ClusterIP", externalTrafficPolicy: null } }),
    ]).flat();
    await scheduler.wait(3);
    await abortAllDurableObjects();
    await Promise.allSettled(writes);
    await cluster.ready();
    await cluster.services.maintain();
    await cluster.services.maintain();
    await cluster.check();
    const { services } = await cluster.stored();
    const held = services.flatMap(({ metadata, spec }) => {
      const numbers = [...(spec?.ports ?? []).map(({ nodePort }) => nodePort), spec?.healthCheckNodePort];
      return numbers.flatMap((port) => (port ? [`TCP/${port} default/${metadata?.name ?? ""}`] : []));
    });
    expect(await cluster.nodePortRows()).toEqual(held.sort());
  });

  it("rows: a second holder is refused, the holder alone frees its row, a number counts once per protocol", async () => {
    const cluster = await new ObjectCluster().ready();
    await runInDurableObject(bindings.SERVICES_STORE.getByName(`${cluster.name}/services`), (_, state) => {
      const rows = sqlNodePortStorage(state.storage);
      const [tcp, udp] = [
        { protocol: "TCP", port: 30_053 },
        { protocol: "UDP", port: 30_053 },
      ];
      rows.nodePortAdd(tcp, "default/a");
      rows.nodePortAdd(udp, "default/b");
      expect(() => rows.nodePortAdd(tcp, "default/b")).toThrow(/UNIQUE/);
      rows.nodePortDelete(tcp, "default/b");
      expect([rows.nodePortHolder(tcp), rows.nodePortHolder(udp), rows.nodePortsOf("TCP"), rows.nodePortsOf("SCTP")]).toEqual([
        "default/a",
        "default/b",
        [30_053],
        [],
      ]);
      rows.nodePortDelete(tcp, "default/a");
      expect([rows.nodePortHolder(tcp), rows.nodePortsOf("UDP")]).toEqual([undefined, [30_053]]);
    });
  });

  it("a NodePort Service stored without a number: gets one with its next update, none from repair, as upstream", async () => {
    const cluster = await new ObjectCluster().ready();
    const stored = { type: "NodePort", ports: [{ port: 80, protocol: "TCP", targetPort: 80 }], ipFamilies: ["IPv4"] };
    await plant(cluster.servicesObject, aService("web", ["10.96.0.77"], Date.now(), stored));
    const port = async () => (await cluster.stored()).services.find(({ metadata }) => metadata?.name === "web")?.spec?.ports?.[0]?.nodePort;
    await cluster.repair();
    expect([await port(), await cluster.nodePortRows()]).toEqual([undefined, []]);
    expect(messageOf(await cluster.patch("web", { metadata: { annotations: { touched: "yes" } } }))).toBe("");
    const given = await port();
    expect(given).toBeGreaterThanOrEqual(30_000);
    expect(await cluster.nodePortRows()).toEqual([`TCP/${String(given)} default/web`]);
    await cluster.check();
  });

  it("Services stored before there were rows: get their rows", async () => {
    const cluster = await new ObjectCluster().ready();
    await runInDurableObject(bindings.SERVICES_STORE.getByName(`${cluster.name}/services`), async (_, state) => {
      await state.storage.deleteAll();
      const older = [...STORE_MIGRATIONS, { id: 2, sql: LEDGER_SCHEMA }];
      migrate(state.storage, older, 0);
      const store = sqlStoreStorage(state.storage);
      const put = (name: string, spec: object): void =>
        store.objectPut({ key: `default/${name}`, uid: name, revision: 2, data: JSON.stringify({ metadata: { name }, spec }) });
      put("plain", { type: "ClusterIP", ports: [{ port: 80 }] });
      put("external", { type: "ExternalName", externalName: "a.b" });
      put("node", { type: "NodePort", ports: [{ port: 53, protocol: "UDP", nodePort: 30_053 }, { port: 80 }] });
      const ports = [{ port: 80, protocol: "TCP", nodePort: 30_080 }];
      put("balancer", { type: "LoadBalancer", externalTrafficPolicy: "Local", ports, healthCheckNodePort: 30_100 });
      put("second", { type: "NodePort", ports });
      migrate(state.storage, [...older, { id: 3, sql: NODE_PORTS_SCHEMA }], 0);
      expect(nodePortRows(state)).toEqual(["TCP/30080 default/balancer", "TCP/30100 default/balancer", "UDP/30053 default/node"]);
    });
  });
});

describe("the directory of clusters", () => {
  /** Bootstraps in the object itself, while the directory does not answer. */
  async function bootstrapWithoutDirectory({ name }: ObjectCluster): Promise<string> {
    const directory = Object.getPrototypeOf(bindings.DIRECTORY) as KVNamespace;
    const silent = (["get", "put"] as const).map((method) => vi.spyOn(directory, method).mockRejectedValue(new Error("KV is down")));
    const outcome = await runInDurableObject(bindings.SERVICES_STORE.getByName(`${name}/services`), (store) =>
      (store as unknown as ServicesStore).ensureBootstrapped().then(() => "ready", String),
    );
    for (const spy of silent) spy.mockRestore();
    return outcome;
  }

  it("bootstrap while KV is down: fails for a new cluster, succeeds for a known one, which is entered again later", async () => {
    expect(await bootstrapWithoutDirectory(new ObjectCluster())).toContain("KV is down");
    const cluster = await new ObjectCluster().ready();
    const key = `cluster/${cluster.name}`;
    await bindings.DIRECTORY.delete(key);
    await abortAllDurableObjects();
    expect(await bootstrapWithoutDirectory(cluster)).toBe("ready");
    await abortAllDurableObjects();
    await cluster.ready();
    await vi.waitUntil(async () => (await bindings.DIRECTORY.get(key)) === "{}", PATIENCE);
  });

  it("bootstrap of a cluster that has begun: answers without its Coordinator, and takes addresses once that answers", async () => {
    const cluster = await new ObjectCluster().ready();
    await abortAllDurableObjects();
    const silent = (["topology", "readyTopology"] as const).map((method) =>
      vi.spyOn(Coordinator.prototype, method).mockImplementation(() => new Promise<never>(() => undefined)),
    );
    await cluster.ready();
    for (const spy of silent) spy.mockRestore();
    await abortAllDurableObjects();
    await cluster.ready();
    expect((await cluster.create("web")).ok).toBe(true);
  });
});
