import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Env } from "../../durable-objects/env";
import type { ServicesStore } from "../../durable-objects/services-store";
import { coordinator, ipAddressesStore, owner, servicesStore } from "../../durable-objects/peers";
import type { IPAddress, KubeObject, Service } from "../../src/meta/kubernetes";
import type { DeleteOptionsRequest, WriteOptions, WriteRequest, WriteResult } from "../../src/rpc/store";
import { LEDGER_SCHEMA } from "../../durable-objects/sql/ledger-sql";
import { migrate } from "../../durable-objects/sql/migrate";
import { NODE_PORTS_SCHEMA, sqlNodePortStorage } from "../../durable-objects/sql/node-ports-sql";
import { sqlStoreStorage } from "../../durable-objects/sql/store-sql";
import { STORE_MIGRATIONS } from "../../durable-objects/store-object";
import { checkNodePortsUnique, checkPaired, checkUnique } from "../support/checkers";

const bindings = env as unknown as Env;
const OPTIONS: WriteOptions = { dryRun: false, fieldManager: "test", fieldValidation: "Strict", force: false, group: "", version: "v1" };
const NETWORKING: WriteOptions = { ...OPTIONS, group: "networking.k8s.io" };
const DELETE: DeleteOptionsRequest = { dryRun: false, preconditions: {}, propagationPolicy: "", gracePeriodSeconds: undefined };

let clusters = 0;

/** The services store of a cluster of its own, called as the Worker calls it, with its peers. */
class Cluster {
  readonly name = `services-test-${++clusters}`;

  async ready(): Promise<this> {
    await this.services.ensureBootstrapped();
    return this;
  }

  get services() {
    return servicesStore(bindings, this.name);
  }

  get ipAddresses() {
    return ipAddressesStore(bindings, this.name);
  }

  create(name: string, spec: object = {}): Promise<WriteResult> {
    return this.services.write(createRequest(name, spec));
  }

  /** All in one turn of the object's event loop: over RPC they would arrive in as many turns as the machine makes of them. */
  createTogether(names: readonly string[]): Promise<WriteResult[]> {
    return runInDurableObject(bindings.SERVICES_STORE.getByName(`${this.name}/services`), (store) =>
      Promise.all(names.map((name) => (store as unknown as ServicesStore).write(createRequest(name, {})))),
    );
  }

  patch(name: string, patch: object): Promise<WriteResult> {
    const key = { namespace: "default", name };
    return this.services.write({ verb: "patch", key, subresource: "", patchType: "merge", patch: JSON.stringify(patch), options: OPTIONS });
  }

  remove(name: string): Promise<WriteResult> {
    return this.services.write({ verb: "delete", key: { namespace: "default", name }, options: DELETE });
  }

  async stored(): Promise<{ services: Service[]; ipAddresses: IPAddress[] }> {
    const [services, ipAddresses] = await Promise.all([
      objectsIn(bindings.SERVICES_STORE.getByName(`${this.name}/services`)),
      objectsIn(bindings.IP_ADDRESSES_STORE.getByName(`${this.name}/ipaddresses.networking.k8s.io`)),
    ]);
    return { services, ipAddresses };
  }

  async check(): Promise<void> {
    const stored = await this.stored();
    expect([...checkUnique(stored), ...checkNodePortsUnique(stored), ...checkPaired(stored)]).toEqual([]);
  }

  /** `TCP/30080 default/web` of each row, by protocol and port */
  nodePortRows(): Promise<string[]> {
    return runInDurableObject(bindings.SERVICES_STORE.getByName(`${this.name}/services`), (_, state) => nodePortRows(state));
  }

  async ownerUid(): Promise<string> {
    const { claims } = await coordinator(bindings, this.name).topology();
    return claims[0]?.ownerUid ?? "";
  }

  /** Of the owner of the default range: commits and items since it started, and the addresses that it holds rows for. */
  async owner() {
    const stub = owner(bindings, this.name, await this.ownerUid());
    const [{ drains, weight }, { rows }] = await Promise.all([stub.counters(), stub.rowsSince(0, 10_000)]);
    return { drains, weight, held: rows.map(({ address }) => address).sort() };
  }
}

function createRequest(name: string, spec: object): WriteRequest {
  const object = JSON.stringify({ metadata: { name, namespace: "default" }, spec: { ports: [{ port: 80 }], ...spec } });
  return { verb: "create", namespace: "default", object, options: OPTIONS };
}

/** All objects of a store, read from its tables. */
function objectsIn<T extends KubeObject>(stub: DurableObjectStub): Promise<T[]> {
  return runInDurableObject(stub, (_, state) =>
    state.storage.sql
      .exec<{ data: string }>("SELECT data FROM objects ORDER BY key")
      .toArray()
      .map(({ data }) => JSON.parse(data) as T),
  );
}

function nodePortRows({ storage }: DurableObjectState): string[] {
  const rows = storage.sql.exec<{ text: string }>(
    "SELECT protocol || '/' || port || ' ' || key AS text FROM node_ports ORDER BY protocol, port",
  );
  return rows.toArray().map(({ text }) => text);
}

function nodePortsOf(result: WriteResult): number[] {
  if (!result.ok) throw new Error(result.status.message ?? "refused");
  return ((JSON.parse(result.object) as Service).spec?.ports ?? []).map(({ nodePort }) => nodePort ?? 0);
}

function addressOf(result: WriteResult): string {
  if (!result.ok) throw new Error(result.status.message ?? "refused");
  return (JSON.parse(result.object) as Service).spec?.clusterIP ?? "";
}

function messageOf(result: WriteResult): string {
  return result.ok ? "" : `${result.status.code ?? 0} ${result.status.message ?? ""}`;
}

describe("services store", () => {
  it("makes default/kubernetes on the first address, once", async () => {
    const cluster = await new Cluster().ready();
    await Promise.all([cluster.ready(), cluster.ready()]);
    const { services, ipAddresses } = await cluster.stored();
    expect(services.map(({ metadata, spec }) => [metadata?.namespace, metadata?.name, spec?.clusterIP])).toEqual([
      ["default", "kubernetes", "10.96.0.1"],
    ]);
    expect(ipAddresses.map(({ metadata }) => metadata?.name)).toEqual(["10.96.0.1"]);
    await cluster.check();
  });

  it("50 creates of one turn: one commit of each object, an address and an IPAddress for each", async () => {
    const cluster = await new Cluster().ready();
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

  it("loses nothing when every object dies, and goes on", async () => {
    const cluster = await new Cluster().ready();
    const before = await Promise.all(Array.from({ length: 20 }, (_, i) => cluster.create(`before-${i}`)));
    await abortAllDurableObjects();
    const after = await Promise.all(Array.from({ length: 20 }, (_, i) => cluster.create(`after-${i}`)));
    expect(new Set([...before, ...after].map(addressOf)).size).toBe(40);
    const { services } = await cluster.stored();
    expect(services.map(({ spec }) => spec?.clusterIP).sort()).toEqual(["10.96.0.1", ...[...before, ...after].map(addressOf)].sort());
    await cluster.check();
    expect((await cluster.owner()).held).toHaveLength(41);
  });

  it("dies in the middle of creates and deletes: once it is maintained, nothing is left half done", async () => {
    const cluster = await new Cluster().ready();
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

  it("frees an address before a delete or a retype is answered", async () => {
    const cluster = await new Cluster().ready();
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
    const cluster = await new Cluster().ready();
    const cidrs = coordinator(bindings, cluster.name);
    const small = JSON.stringify({ metadata: { name: "small" }, spec: { cidrs: ["10.97.0.0/29"] } });
    await cidrs.write({ verb: "create", namespace: "", object: small, options: NETWORKING });
    for (let i = 0; i < 200 && (await cidrs.topology()).ranges.length < 2; i++) await scheduler.wait(20);
    const condition = { type: "Ready", status: "False", reason: "Test", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
    const shut = JSON.stringify({ status: { conditions: [condition] } });
    const key = { namespace: "", name: "kubernetes" };
    await cidrs.write({ verb: "patch", key, subresource: "status", patchType: "merge", patch: shut, options: NETWORKING });

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

describe("node ports", () => {
  const named = (nodePort: number): object => ({ type: "NodePort", ports: [{ port: 80, nodePort }] });

  it("50 at once: unique, and still known after every object died", async () => {
    const cluster = await new Cluster().ready();
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

  it("die in the middle of creates and retypes: rows and Services still agree", async () => {
    const cluster = await new Cluster().ready();
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

  it("the key of the rows refuses a second holder; only the holder frees one; a number is counted once per protocol", async () => {
    const cluster = await new Cluster().ready();
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
      expect([rows.nodePortHas(tcp), rows.nodePortHas(udp), rows.nodePortsOf("TCP"), rows.nodePortsOf("SCTP")]).toEqual([
        true,
        true,
        [30_053],
        [],
      ]);
      rows.nodePortDelete(tcp, "default/a");
      expect([rows.nodePortHas(tcp), rows.nodePortsOf("UDP")]).toEqual([false, [30_053]]);
    });
  });

  it("Services stored before there were rows get theirs", async () => {
    const cluster = await new Cluster().ready();
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
  const refusing = { get: () => Promise.reject(new Error("KV is down")), put: () => Promise.reject(new Error("KV is down")) };

  /** Bootstraps in the object itself, while the directory does not answer. */
  function bootstrapWithoutDirectory({ name }: Cluster): Promise<string> {
    return runInDurableObject(bindings.SERVICES_STORE.getByName(`${name}/services`), (store) => {
      Object.assign(store, { env: { ...bindings, DIRECTORY: refusing } });
      return (store as unknown as ServicesStore).ensureBootstrapped().then(
        () => "ready",
        (error: unknown) => String(error),
      );
    });
  }

  it("has to know of a new cluster; a known one goes on without it, and is entered again when it was forgotten", async () => {
    expect(await bootstrapWithoutDirectory(new Cluster())).toContain("KV is down");
    const cluster = await new Cluster().ready();
    const key = `cluster/${cluster.name}`;
    await bindings.DIRECTORY.delete(key);
    await abortAllDurableObjects();
    expect(await bootstrapWithoutDirectory(cluster)).toBe("ready");
    await abortAllDurableObjects();
    await cluster.ready();
    expect(await bindings.DIRECTORY.get(key)).toBe("{}");
  });
});
