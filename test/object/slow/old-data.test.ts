/** Data of every schema that was ever written, and of one that is not written yet, under today's code: the whole cluster opens, checks and serves. */
import { abortAllDurableObjects, createExecutionContext, env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { CONTROLLER_MIGRATIONS } from "../../../durable-objects/controller-tables";
import { COORDINATOR_MIGRATIONS } from "../../../durable-objects/coordinator";
import type { Env } from "../../../durable-objects/platform/env";
import { IP_ADDRESSES_MIGRATIONS } from "../../../durable-objects/ip-addresses-store";
import { controller } from "../../../durable-objects/peers/peers";
import { NODE_PROXY_MIGRATIONS } from "../../../durable-objects/node-proxy";
import { RESOURCE_STORE_MIGRATIONS } from "../../../durable-objects/resource-store";
import { SERVICES_MIGRATIONS } from "../../../durable-objects/services-store";
import { CLUSTER_RECORD_MIGRATIONS } from "../../../durable-objects/sql/cluster-record-sql";
import { CREDENTIALS_MIGRATIONS } from "../../../durable-objects/sql/credentials-sql";
import type { Migration } from "../../../durable-objects/sql/migrate";
import { OWNER_MIGRATIONS } from "../../../durable-objects/sql/owner-sql";
import type { CheckReport } from "../../../src/tools/check/check-cluster";
import type { IPAddress, KubeObject, Service, ServiceCIDR } from "../../../src/api/meta/kubernetes";
import { app } from "../../../src/worker/app";
import { checkNodePortsUnique, checkState } from "../../support/checks/checkers";
import { type ObjectBinding, OLD_CLUSTER, OLD_SCHEMAS, type OldObject, oldObjects, restore, stubOf } from "../../support/objects/old-data";

const bindings = env as unknown as Env;
const SERVICES = "/api/v1/namespaces/default/services";
const NETWORKING = "/apis/networking.k8s.io/v1";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const TIMEOUT_MS = 120_000;
const WAIT = { timeout: 60_000, interval: 50 };
/** Keys that nothing under way takes away: not the Services that were being deleted, their addresses, a range that goes, Events and leases of identity. */
const LASTING =
  /^(default\/(web|ports|balanced|pinned|headless|in-extra|kubernetes|leader|web-1)|kubernetes|team|10\.96\.0\.(1|50|77)|10\.97\.0\.5)$/u;

const MIGRATIONS: Readonly<Record<ObjectBinding, readonly Migration[]>> = {
  COORDINATOR: COORDINATOR_MIGRATIONS,
  SERVICE_CIDR: OWNER_MIGRATIONS,
  RESOURCE_STORE: RESOURCE_STORE_MIGRATIONS,
  SERVICES_STORE: SERVICES_MIGRATIONS,
  IP_ADDRESSES_STORE: IP_ADDRESSES_MIGRATIONS,
  CONTROLLER: CONTROLLER_MIGRATIONS,
  NODE_PROXY: NODE_PROXY_MIGRATIONS,
  CLUSTER_RECORD: CLUSTER_RECORD_MIGRATIONS,
  CREDENTIAL_STORE: CREDENTIALS_MIGRATIONS,
};

/** The first schema of each class that code which served has written. Every later one but the newest must be in some text, too. */
const FIRST_VERSIONS: Readonly<Record<ObjectBinding, number>> = {
  COORDINATOR: 2,
  SERVICE_CIDR: 1,
  RESOURCE_STORE: 1,
  SERVICES_STORE: 2,
  IP_ADDRESSES_STORE: 2,
  CONTROLLER: 1,
  NODE_PROXY: 1,
  CLUSTER_RECORD: 1,
  CREDENTIAL_STORE: 1,
};

async function send<T = KubeObject>(method: string, path: string, body?: object): Promise<{ code: number; body: T }> {
  const init = { method, headers: { "Content-Type": "application/json" }, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await app.request(`http://h${path}`, init, bindings, createExecutionContext());
  return { code: response.status, body: await response.json() };
}

async function listed<T>(path: string): Promise<T[]> {
  const { code, body } = await send<{ items: T[] }>("GET", path);
  expect(code, path).toBe(200);
  return body.items;
}

async function observed() {
  const [services, ipAddresses, serviceCIDRs] = await Promise.all([
    listed<Service>("/api/v1/services"),
    listed<IPAddress>(`${NETWORKING}/ipaddresses`),
    listed<ServiceCIDR>(`${NETWORKING}/servicecidrs`),
  ]);
  return { services, ipAddresses, serviceCIDRs };
}

/** The version that the text gives an object, and the names of the rows of its store: today's code has no part in reading them. */
function writtenVersion({ sql }: OldObject): number {
  return Math.max(...[...sql.matchAll(/^INSERT INTO _migrations \(id, applied_ms\) VALUES \((\d+),/gmu)].map(([, id]) => Number(id)));
}

function writtenKeys({ sql }: OldObject): string[] {
  return [...sql.matchAll(/^INSERT INTO objects \(.*?\) VALUES \('([^']+)',/gmu)].map(([, key = ""]) => key).sort();
}

function writtenRows({ sql }: OldObject, table: string): number {
  return sql.split("\n").filter((line) => line.startsWith(`INSERT INTO ${table} `)).length;
}

/** What a query answers in a running object. */
function query<T>(object: Pick<OldObject, "binding" | "name">, sql: string): Promise<T[]> {
  return runInDurableObject(stubOf(object), (_, { storage }) =>
    storage.sql
      .exec<{ value: SqlStorageValue }>(sql)
      .toArray()
      .map(({ value }) => value as T),
  );
}

/** Every statement that made the tables and indexes of an object. */
function tablesOf(object: Pick<OldObject, "binding" | "name">): Promise<string[]> {
  return query(object, "SELECT sql AS value FROM sqlite_master WHERE sql IS NOT NULL AND substr(name, 1, 4) <> '_cf_' ORDER BY name");
}

function isReady({ status }: ServiceCIDR): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

/** Releases and hand-offs that the old code left open come to their end, without an alarm: those were in no file of the objects. */
async function settled(objects: readonly OldObject[]): Promise<void> {
  const open = async () => {
    const counts = objects.flatMap((object) => {
      switch (object.binding) {
        case "SERVICES_STORE":
        case "IP_ADDRESSES_STORE":
          return [query<number>(object, "SELECT count(*) AS value FROM pending_releases")];
        case "COORDINATOR":
          return [query<number>(object, "SELECT count(*) AS value FROM handoffs_by_target")];
        default:
          return [];
      }
    });
    return (await Promise.all(counts)).flat().reduce((sum, rows) => sum + rows, 0);
  };
  await vi.waitUntil(async () => (await open()) === 0, WAIT);
  // No cron runs here, and old code had no such controller.
  await controller(bindings, OLD_CLUSTER, "endpointslice-controller").poke();
}

/** The judgement of `npm run check`, which has owners' rows and bitmaps in it, and the invariants over the API. */
async function expectSound(acknowledged: readonly Service[] = []): Promise<void> {
  const state = await observed();
  expect([...checkState(state, acknowledged), ...checkNodePortsUnique(state)]).toEqual([]);
  const { code, body } = await send<CheckReport>("GET", "/check");
  expect(code, JSON.stringify(body)).toBe(200);
  expect({ wrong: body.wrong, unchecked: body.unchecked }).toEqual({ wrong: [], unchecked: [] });
  expect(body.checked.rows).toBeGreaterThan(5);
}

/** New objects of each kind that has to do with addresses come, and old and new ones go. */
async function expectServing(): Promise<void> {
  const { code, body } = await send<Service>("POST", SERVICES, {
    metadata: { name: "new" },
    spec: { type: "NodePort", ports: [{ port: 80 }] },
  });
  expect(code, JSON.stringify(body)).toBe(201);
  const range = await send("POST", `${NETWORKING}/servicecidrs`, { metadata: { name: "new" }, spec: { cidrs: ["10.98.0.0/24"] } });
  expect(range.code, JSON.stringify(range.body)).toBe(201);
  await vi.waitUntil(async () => isReady((await send<ServiceCIDR>("GET", `${NETWORKING}/servicecidrs/new`)).body), WAIT);
  const inside = await send("POST", SERVICES, { metadata: { name: "inside" }, spec: { clusterIP: "10.98.0.9", ports: [{ port: 80 }] } });
  expect(inside.code, JSON.stringify(inside.body)).toBe(201);
  // Addresses and ports of the old objects are known to be theirs.
  const { body: stored } = await send<Service>("GET", `${SERVICES}/ports`);
  // The first schema had no node ports: such a Service gets its port with the next update.
  const { code: updated, body: old } = await send<Service>("PUT", `${SERVICES}/ports`, {
    ...stored,
    metadata: { ...stored.metadata, annotations: { changed: "today" } },
  });
  expect(updated, JSON.stringify(old)).toBe(200);
  const nodePort = old.spec?.ports?.[0]?.nodePort;
  expect(nodePort).toBeGreaterThan(0);
  for (const spec of [
    { clusterIP: "10.96.0.50", ports: [{ port: 80 }] },
    { clusterIP: "10.97.0.5", ports: [{ port: 80 }] },
    { type: "NodePort", ports: [{ port: 80, nodePort }] },
  ]) {
    const taken = await send("POST", SERVICES, { metadata: { name: "taken" }, spec });
    expect([taken.code, JSON.stringify(taken.body)]).toEqual([422, expect.stringContaining("already allocated")]);
  }
  for (const name of ["pinned", "ports", "new"]) expect((await send("DELETE", `${SERVICES}/${name}`)).code, name).toBe(200);
  const again = await send("POST", SERVICES, { metadata: { name: "again" }, spec: { clusterIP: "10.96.0.50", ports: [{ port: 80 }] } });
  expect(again.code, JSON.stringify(again.body)).toBe(201);
}

it("earlier versions of every schema: have stored data to test with", async () => {
  const texts = await Promise.all(OLD_SCHEMAS.map(oldObjects));
  const found = new Set(texts.flat().map((object) => `${object.binding} ${writtenVersion(object)}`));
  const missing = (Object.keys(FIRST_VERSIONS) as ObjectBinding[]).flatMap((binding) =>
    MIGRATIONS[binding]
      .slice(0, -1)
      .filter(({ id }) => id >= FIRST_VERSIONS[binding])
      .map(({ id }) => `${binding} ${id}`)
      .filter((version) => !found.has(version)),
  );
  expect(missing).toEqual([]);
  // The states that a crash leaves behind are among them.
  for (const table of ["pending_releases", "handoffs", "handoffs_by_target", "gens", "released", "page"]) {
    expect(Math.max(...texts.flat().map((object) => writtenRows(object, table))), table).toBeGreaterThan(0);
  }
});

describe.each(OLD_SCHEMAS)("data of %s", (schema) => {
  it("old data: opens, finishes unfinished work, passes the check and is served", { timeout: TIMEOUT_MS }, async () => {
    const objects = await oldObjects(schema);
    await restore(objects);
    const { code, body } = await send("GET", `${SERVICES}/in-extra`);
    expect(code, JSON.stringify(body)).toBe(200);
    for (const object of objects) {
      const newest = MIGRATIONS[object.binding].at(-1)?.id;
      expect(await query(object, "SELECT max(id) AS value FROM _migrations"), object.name).toEqual([newest]);
      expect(await tablesOf(object), object.name).toEqual(await tablesOf({ ...object, name: object.name.replace(OLD_CLUSTER, "fresh") }));
      const isStore = writtenRows(object, "store_state") > 0;
      const keys = await (isStore ? query<string>(object, "SELECT key AS value FROM objects ORDER BY key") : []);
      expect(keys, object.name).toEqual(expect.arrayContaining(writtenKeys(object).filter((key) => LASTING.test(key))));
    }
    await settled(objects);
    const { services, ipAddresses } = await observed();
    // What an old store has is counted before its first page.
    for (const [path, count] of [
      ["/api/v1/services", services.length],
      [`${NETWORKING}/ipaddresses`, ipAddresses.length],
    ] as const) {
      const { body: page } = await send<{ metadata: { remainingItemCount?: number } }>("GET", `${path}?limit=1`);
      expect(page.metadata.remainingItemCount, path).toBe(count - 1);
    }
    await expectSound(services);
    await expectServing();
    await expectSound(services.filter(({ metadata }) => !["pinned", "ports"].includes(metadata?.name ?? "")));
    for (const path of ["/api/v1/namespaces/team", `${LEASES}/leader`, `${SLICES}/web-1`, `${NETWORKING}/ipaddresses/10.96.0.77`]) {
      expect((await send("GET", path)).code, path).toBe(200);
    }
  });

  it("old data: stays as it is when opened again, and after newer code has written to it", { timeout: TIMEOUT_MS }, async () => {
    const objects = await oldObjects(schema);
    await restore(objects);
    // Today's code opens each, then code of tomorrow appends a step to each.
    for (const object of objects) {
      await runInDurableObject(stubOf(object), (_, { storage }) => {
        const tables = storage.sql.exec<{ name: string }>(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'",
        );
        const columns = tables.toArray().map(({ name }) => `ALTER TABLE ${name} ADD COLUMN of_tomorrow TEXT NOT NULL DEFAULT 'later';`);
        storage.sql.exec(`${columns.join("\n")} CREATE TABLE tomorrow (id INTEGER PRIMARY KEY) STRICT; INSERT INTO tomorrow VALUES (7);`);
        storage.sql.exec("INSERT INTO _migrations (id, applied_ms) VALUES (99, 1)");
      });
    }
    await abortAllDurableObjects();
    await settled(objects);
    await expectSound();
    await expectServing();
    await expectSound();
    for (const object of objects) {
      expect(await query(object, "SELECT max(id) AS value FROM _migrations"), object.name).toEqual([99]);
      expect(await query(object, "SELECT id AS value FROM tomorrow"), object.name).toEqual([7]);
    }
  });
});
