/** `npm run backup` and `npm run restore`: a cluster with objects of every kind, carried over into empty ones. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Api } from "../../../../scripts/cluster/api";
import { notReady } from "../../../../scripts/cluster/not-ready";
import { type ClusterState, readState } from "../../../../scripts/restore/cluster-state";
import { judge } from "../../../../scripts/restore/preconditions";
import { readBackup } from "../../../../scripts/restore/read-file";
import { Restorer } from "../../../../scripts/restore/restorer";
import type { RestoreReport } from "../../../../scripts/restore/run";
import { progressOn } from "../../../../scripts/terminal/progress";
import { madeByControllers } from "../../../../src/tools/backup/made-by-controller";
import { LEASES, typeName } from "../../../../src/tools/backup/order";
import type { Endpoints, EndpointSlice, KubeObject, Service } from "../../../../src/api/meta/kubernetes";
import { rfc3339Micros } from "../../../../src/api/meta/time";
import { runProgram } from "../../../support/server/program";
import { NODES_ARE_NAMES } from "../../../support/server/server-for-tests";
import { getJson, removeFolder, type Server, startServer, temporaryFolder } from "../../../support/server/server";

const RANGES = [...NODES_ARE_NAMES, "--var", "SERVICE_CLUSTER_IP_RANGE=10.96.0.0/16,fd00:96::/112"];
const MANY = 200;
const silent = progressOn({ isTTY: false, write: () => true });
const data = temporaryFolder();
const otherData = temporaryFolder();
const files = temporaryFolder();
const file = join(files, "cluster.jsonl");
let server: Server;
let other: Server;

beforeAll(async () => {
  [server, other] = await Promise.all([startServer(data, RANGES), startServer(otherData, RANGES)]);
  await fill();
  const { code, out, err } = await runProgram("backup", ["--server", server.url, "--file", file]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/ is in .*: .*\d+ services/);
}, 120_000);
afterAll(async () => {
  await Promise.all([server.stop(), other.stop()]);
  for (const folder of [data, otherData, files]) removeFolder(folder);
});

async function send<T = KubeObject>(method: string, path: string, body?: object, type = "application/json"): Promise<T> {
  const init = { method, headers: { "Content-Type": type }, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await fetch(server.url + path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}
const core = (namespace: string, resource: string): string => `/api/v1/namespaces/${namespace}/${resource}`;
const reference = (kind: string, { metadata }: KubeObject) => ({
  apiVersion: "v1",
  kind,
  name: metadata?.name,
  uid: metadata?.uid,
  controller: true,
});
const MERGE = "application/merge-patch+json";

/** One object for everything that a restore could get wrong. */
async function fill(): Promise<void> {
  await send("POST", "/api/v1/namespaces", {
    metadata: { name: "shop", labels: { team: "orders" }, annotations: { note: "line\u2028separator" } },
  });
  await send("PATCH", "/api/v1/namespaces/default", { metadata: { labels: { changed: "yes" } } }, MERGE);
  await send("POST", "/apis/networking.k8s.io/v1/servicecidrs", {
    metadata: { name: "more" },
    spec: { cidrs: ["10.97.0.0/24", "fd00:97::/64"] },
  });
  await send("POST", "/apis/networking.k8s.io/v1/servicecidrs", { metadata: { name: "leaving" }, spec: { cidrs: ["10.98.0.0/28"] } });
  for (const [address, name] of [
    ["10.96.3.3", "gateway"],
    ["192.0.2.7", "outside"],
  ])
    await send("POST", "/apis/networking.k8s.io/v1/ipaddresses", {
      metadata: { name: address },
      spec: { parentRef: { group: "gateway.networking.k8s.io", resource: "gateways", namespace: "shop", name } },
    });
  expect(await notReady(new Api({ url: server.url, options: {} }), ["more", "leaving"], silent)).toEqual([]);

  const ports = [{ name: "http", port: 80 }];
  const create = (name: string, spec: object, metadata: object = {}) =>
    send<Service>("POST", core("shop", "services"), { metadata: { name, ...metadata }, spec: { ports, ...spec } });
  await create("dynamic", {});
  await create("static", { clusterIP: "10.96.0.17" });
  await create("dual", { ipFamilyPolicy: "RequireDualStack" });
  await create("six", { ipFamilies: ["IPv6"], ipFamilyPolicy: "SingleStack" });
  await create("elsewhere", { clusterIP: "10.97.0.9" });
  await create("last", { clusterIP: "10.98.0.5" });
  await create("headless", { clusterIP: "None" });
  await create("away", { type: "ExternalName", externalName: "example.com", ports: undefined });
  await create("node", { type: "NodePort" });
  const local = { type: "LoadBalancer", externalTrafficPolicy: "Local" };
  const balanced = await create("balanced", local, { finalizers: ["service.kubernetes.io/load-balancer-cleanup"] });
  await send(
    "PATCH",
    `${core("shop", "services")}/balanced/status`,
    { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } },
    MERGE,
  );
  await send("PATCH", `${core("shop", "services")}/dynamic`, { metadata: { labels: { patched: "1" } } }, MERGE);
  await send(
    "PATCH",
    `${core("shop", "services")}/applied?fieldManager=deployer`,
    { apiVersion: "v1", kind: "Service", metadata: { name: "applied" }, spec: { ports: [{ port: 81 }] } },
    "application/apply-patch+yaml",
  );
  await create("held", {}, { finalizers: ["example.com/hold"] });
  await send("DELETE", `${core("shop", "services")}/held`);
  await send("DELETE", "/apis/networking.k8s.io/v1/servicecidrs/leaving");

  const node = await send("POST", "/api/v1/nodes", { metadata: { name: "worker" }, spec: { podCIDR: "10.1.0.0/24" } });
  await send("PATCH", "/api/v1/nodes/worker/status", { status: { conditions: [{ type: "Ready", status: "True" }] } }, MERGE);
  const pod = await send("POST", core("shop", "pods"), {
    metadata: { name: "web", ownerReferences: [{ ...reference("Node", node), controller: false }] },
    spec: { nodeName: "worker", containers: [{ name: "web", image: "web" }] },
  });
  await send("PATCH", `${core("shop", "pods")}/web/status`, { status: { phase: "Running", podIP: "10.1.0.5" } }, MERGE);
  await send("POST", "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices", {
    metadata: {
      name: "balanced-x",
      labels: { "kubernetes.io/service-name": "balanced" },
      ownerReferences: [reference("Service", balanced)],
    },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.1.0.5"], targetRef: { kind: "Pod", name: "web", namespace: "shop", uid: pod.metadata?.uid } }],
    ports: [{ name: "http", port: 80 }],
  });
  await create("crowd", { selector: { app: "crowd" } });
  for (let i = 0; i < MANY; i += 50) await Promise.all(Array.from({ length: 50 }, (_, j) => member(i + j)));
  await vi.waitFor(async () => expect((await contents(server.url)).made["shop/crowd"]).toHaveLength(2 * MANY), { timeout: 30_000 });
  // Its Endpoints and its slice are whose who writes them now; a mirrored slice stands beside it.
  await create("orphaned", { selector: { app: "crowd" } });
  await vi.waitFor(async () => expect((await contents(server.url)).made["shop/orphaned"]).toHaveLength(2 * MANY), { timeout: 30_000 });
  await send("PATCH", `${core("shop", "services")}/orphaned`, { spec: { selector: null } }, MERGE);
  await send(
    "PATCH",
    `${core("shop", "endpoints")}/orphaned`,
    { subsets: [{ addresses: [{ ip: "10.1.0.8" }], ports: [{ port: 1 }] }] },
    MERGE,
  );
  await vi.waitFor(async () => expect((await contents(server.url)).made["shop/orphaned"]).toHaveLength(1), { timeout: 30_000 });
  await send("POST", core("shop", "endpoints"), {
    metadata: { name: "away" },
    subsets: [{ addresses: [{ ip: "10.1.0.9" }], ports: [{ port: 1 }] }],
  });
  // Its owner is restored after it.
  const lease = { leaseDurationSeconds: 30, holderIdentity: "me" };
  const held = await send("POST", "/apis/coordination.k8s.io/v1/namespaces/shop/leases", { metadata: { name: "leader" }, spec: lease });
  await send(
    "PATCH",
    `${core("shop", "services")}/six`,
    { metadata: { ownerReferences: [{ ...reference("Lease", held), apiVersion: "coordination.k8s.io/v1" }] } },
    MERGE,
  );
  await send("POST", core("shop", "events"), {
    metadata: { name: "told" },
    involvedObject: { kind: "Pod", namespace: "shop", name: "web" },
    reason: "Told",
    message: "m",
  });
  for (let i = 0; i < MANY; i += 50)
    await Promise.all(Array.from({ length: 50 }, (_, j) => create(`many-${i + j}`, { type: i % 100 === 0 ? "NodePort" : "ClusterIP" })));
}

/** A Pod behind the Service `crowd`. */
async function member(i: number): Promise<void> {
  const name = `crowd-${i}`;
  const spec = { nodeName: "worker", containers: [{ name: "web", image: "web" }] };
  await send("POST", core("shop", "pods"), { metadata: { name, labels: { app: "crowd" } }, spec });
  const conditions = [{ type: "Ready", status: i % 10 === 0 ? "False" : "True" }];
  await send(
    "PATCH",
    `${core("shop", "pods")}/${name}/status`,
    { status: { phase: "Running", podIP: `10.1.1.${i + 1}`, conditions } },
    MERGE,
  );
}

const PATHS = [
  "/api/v1/namespaces",
  "/api/v1/services",
  "/api/v1/nodes",
  "/api/v1/pods",
  "/api/v1/endpoints",
  "/apis/networking.k8s.io/v1/servicecidrs",
  "/apis/networking.k8s.io/v1/ipaddresses",
  "/apis/discovery.k8s.io/v1/endpointslices",
  "/apis/coordination.k8s.io/v1/leases",
];

/** A whole cluster without the fields that each server sets anew; uids are written as the names of their objects. */
async function contents(url: string): Promise<Record<string, unknown> & { made: Made }> {
  const lists = await Promise.all(PATHS.map((path) => getJson<{ items: KubeObject[] }>(url + path)));
  const listed = lists.flatMap(({ items }, i) => items.map((object) => ({ path: PATHS[i] ?? "", object })));
  const isMade = madeByControllers(lists[PATHS.indexOf("/api/v1/services")]?.items ?? []);
  const all = listed.filter(({ path, object }) => !isMade(typeOf(path), object));
  const made = listed.filter((one) => !all.includes(one)).map(({ object }) => object);
  let text = JSON.stringify(
    all
      .map(({ path, object }) => {
        const { uid, resourceVersion, creationTimestamp, deletionTimestamp, generation, managedFields, ...metadata } =
          object.metadata ?? {};
        void [resourceVersion, creationTimestamp, generation];
        const status = path.endsWith("namespaces") || path.endsWith("servicecidrs") ? {} : undefined;
        const owned = managedFields?.map(({ time: _, ...entry }) => entry);
        const key = `${path} ${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
        return [
          key,
          {
            ...object,
            ...(status ? { status } : {}),
            metadata: { ...metadata, managedFields: owned, deleting: deletionTimestamp !== undefined },
          },
          uid,
        ];
      })
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
  for (const { path, object } of all)
    text = text.replaceAll(object.metadata?.uid ?? "", `${path} ${object.metadata?.namespace ?? ""}/${object.metadata?.name ?? ""}`);
  return { ...Object.fromEntries(JSON.parse(text) as [string, unknown][]), made: madeOf(made) };
}

/** `/apis/discovery.k8s.io/v1/endpointslices` */
function typeOf(path: string): { group: string; resource: string } {
  const [resource = "", , group = ""] = path.split("/").toReversed();
  return { group: group === "api" ? "" : group, resource };
}

/** Endpoints by Service. */
type Made = Record<string, string[]>;

/** What controllers made. Which endpoint stands in which slice depends on who came first; each stands in one. */
function madeOf(objects: readonly KubeObject[]): Made {
  const made: Made = {};
  for (const object of objects) {
    const { metadata, endpoints = [], subsets = [] } = object as EndpointSlice & Endpoints;
    const service = metadata?.labels?.["kubernetes.io/service-name"];
    const of = (made[`${metadata?.namespace ?? ""}/${service ?? metadata?.name ?? ""}`] ??= []);
    for (const { addresses, conditions, nodeName = "", targetRef } of endpoints ?? [])
      of.push(`slice ${addresses.join()} ${JSON.stringify(conditions)} ${nodeName} ${targetRef?.name ?? ""}`);
    for (const { addresses = [], notReadyAddresses = [] } of subsets) {
      for (const { ip } of addresses) of.push(`Endpoints ${ip} ready`);
      for (const { ip } of notReadyAddresses) of.push(`Endpoints ${ip} not ready`);
    }
  }
  for (const of of Object.values(made)) of.sort();
  return made;
}

/** Everything is as in the first cluster. What controllers make comes within a second. */
async function expectSame(url: string): Promise<void> {
  await expect.poll(() => contents(url), { timeout: 30_000, interval: 200 }).toEqual(await contents(server.url));
}

async function restore(url: string, args: readonly string[] = [], from = file): Promise<{ code: number | null; report: RestoreReport }> {
  const { code, out, err } = await runProgram("restore", ["--server", url, "--file", from, "--output", "json", ...args]);
  expect(err).toBe("");
  return { code, report: JSON.parse(out) as RestoreReport };
}

function altered(name: string, change: (text: string) => string): string {
  const path = join(files, name);
  writeFileSync(path, change(readFileSync(file, "utf8")));
  return path;
}

describe("a whole cluster", () => {
  it("cluster restored into another server: the same addresses, ports, states and owners of fields", async () => {
    const before = await contents(other.url);
    const dry = await restore(other.url, ["--dry-run"]);
    expect(dry).toMatchObject({ code: 0, report: { dryRun: true, created: 0, objects: { services: MANY + 15 } } });
    expect(await contents(other.url)).toEqual(before);

    const { code, report } = await restore(other.url);
    expect(report.shortcomings).toEqual([]);
    expect(report.check).toMatchObject({ wrong: [], unchecked: [] });
    expect(code).toBe(0);
    await expectSame(other.url);
    // The events are those of the restore itself, and the mark is gone.
    const events = await getJson<{ items: KubeObject[] }>(`${other.url}/api/v1/events`);
    expect(events.items.filter(({ metadata }) => metadata?.name === "told")).toEqual([]);
    const slice = await getJson<EndpointSlice>(`${other.url}/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/balanced-x`);
    const pod = await getJson<KubeObject>(`${other.url}${core("shop", "pods")}/web`);
    expect(slice.endpoints[0]?.targetRef?.uid).toBe(pod.metadata?.uid);

    const again = await runProgram("restore", ["--server", other.url, "--file", file]);
    expect(again).toMatchObject({ code: 2, out: "" });
    expect(again.err).toMatch(/is not empty: it has .* and \d+ more; a restore needs an empty cluster\n$/);
  }, 180_000);

  it("after a restore: an object that waits for its finalizer goes with it, and the garbage collector knows owners", async () => {
    const on = (method: string, path: string, body?: object) =>
      fetch(other.url + path, { method, headers: { "Content-Type": MERGE }, ...(body ? { body: JSON.stringify(body) } : {}) });
    const codeOf = async (path: string) => (await fetch(other.url + path)).status;
    await on("PATCH", `${core("shop", "services")}/held`, { metadata: { finalizers: null } });
    await expect.poll(() => codeOf(`${core("shop", "services")}/held`)).toBe(404);
    await on("DELETE", `${core("shop", "services")}/last`);
    await expect.poll(() => codeOf("/apis/networking.k8s.io/v1/servicecidrs/leaving"), { timeout: 30_000 }).toBe(404);
    await on("DELETE", "/apis/coordination.k8s.io/v1/namespaces/shop/leases/leader");
    await expect.poll(() => codeOf(`${core("shop", "services")}/six`), { timeout: 30_000 }).toBe(404);
    expect(await codeOf(`${core("shop", "services")}/dual`)).toBe(200);
  });
});

async function begin(cluster: string): Promise<void> {
  expect((await fetch(`${server.url}/clusters/${cluster}`, { method: "PUT" })).status).toBe(201);
}

describe("a restore that is interrupted", () => {
  it("interrupted restore: the cluster is marked, and only --resume with the same file continues", async () => {
    const target = ["--server", server.url, "--cluster", "resumed", "--file", file];
    const services = async () => (await getJson<{ items: KubeObject[] }>(`${server.url}/clusters/resumed/api/v1/services`)).items.length;
    const interrupted = async (args: readonly string[], at: number) => {
      const running = runProgram("restore", [...target, ...args], { killWhen: async () => (await services()) >= at });
      expect(await running).toMatchObject({ code: null, out: "" });
    };
    await begin("resumed");
    await interrupted([], 20);
    const second = join(files, "second.jsonl");
    expect(await runProgram("backup", ["--server", server.url, "--file", second])).toMatchObject({ code: 0 });
    const refused = await Promise.all([runProgram("restore", target), runProgram("restore", [...target.slice(0, -1), second, "--resume"])]);
    expect(refused.map(({ code, err }) => [code, err.trimEnd().split(": ").slice(1).join(": ")])).toEqual([
      [2, `a restore of this file into ${server.url}/clusters/resumed was interrupted: --resume goes on with it`],
      [2, `the interrupted restore in ${server.url}/clusters/resumed is that of another file`],
    ]);
    // Also where the first kill came late: the comparison at the end of a restore takes longer than a look here.
    await interrupted(["--resume"], Math.min((await services()) + 60, MANY));
    const { code, report } = await restore(server.url, ["--cluster", "resumed", "--resume"]);
    expect(report.shortcomings).toEqual([]);
    expect(code).toBe(0);
    expect(report.created).toBeLessThan(2 * MANY);
    await expectSame(`${server.url}/clusters/resumed`);
    expect(await runProgram("restore", [...target, "--resume"])).toMatchObject({
      code: 2,
      err: `restore: ${server.url}/clusters/resumed has no interrupted restore to go on with\n`,
    });
  }, 240_000);
});

it("backup of a cluster in use: each type is of one moment, and the restore is whole", async () => {
  const services = `/clusters/busy${core("default", "services")}`;
  await send("POST", services, { metadata: { name: "stays" }, spec: { ports: [{ port: 80 }] } });
  let over = false;
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let i = 0; !over; i++) {
      const name = `churn-${writer}-${i % 5}`;
      await send("POST", services, { metadata: { name }, spec: { type: "NodePort", ports: [{ port: 80 }] } });
      if (i % 3 > 0)
        await send(
          "PATCH",
          `${services}/${name}`,
          { spec: { type: "ExternalName", externalName: "a.b", clusterIP: null, clusterIPs: null } },
          MERGE,
        );
      await send("DELETE", `${services}/${name}`);
    }
  });
  const busy = join(files, "busy.jsonl");
  const taken = await runProgram("backup", ["--server", server.url, "--cluster", "busy", "--file", busy]);
  over = true;
  await Promise.all(writers);
  expect(taken).toMatchObject({ code: 0, err: "" });
  const { code, report } = await restore(server.url, ["--cluster", "from-busy"], busy);
  expect({ code, shortcomings: report.shortcomings, wrong: report.check?.wrong }).toEqual({ code: 0, shortcomings: [], wrong: [] });
}, 120_000);

it("backup of Leases: has those of programs, and none that servers make", async () => {
  const leases = (namespace: string): string => `/clusters/served/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const spec = { leaseDurationSeconds: 3600, holderIdentity: "me", renewTime: rfc3339Micros(Date.now()) };
  const labels = { "apiserver.kubernetes.io/identity": "kube-apiserver" };
  await send("POST", leases("kube-system"), { metadata: { name: "apiserver-x", labels }, spec });
  await send("POST", leases("default"), { metadata: { name: "leader" }, spec });
  const served = join(files, "served.jsonl");
  expect(await runProgram("backup", ["--server", server.url, "--cluster", "served", "--file", served])).toMatchObject({ code: 0, err: "" });
  const { sections } = await readBackup(served);
  const kept = sections.filter(({ type }) => typeName(type) === LEASES).flatMap(({ objects }) => objects);
  expect(kept.map((text) => (JSON.parse(text) as KubeObject).metadata?.name)).toEqual(["leader"]);
}, 60_000);

describe("restore of a damaged file", () => {
  const end = (text: string): number => text.lastIndexOf('{"end"');
  const cases: [string, (text: string) => string, RegExp][] = [
    ["cut short", (text) => text.slice(0, text.length / 2), /is (cut short|damaged)/],
    ["without its last line", (text) => text.slice(0, end(text)), /is cut short: it ends after \d+ lines, without its closing line$/],
    ["one character is another", (text) => text.replace('"10.96.0.17"', '"10.96.0.18"'), /was altered: its checksum is another one$/],
    [
      "a line too few",
      (text) => text.replace(/^.*"name":"static".*\n/m, ""),
      /is damaged: line \d+ is no Service$|is damaged: line \d+ begins/,
    ],
    ["twice in one", (text) => text + text, /has something behind its end/],
    [
      "of a newer version",
      (text) => text.replace('"version":1', '"version":3'),
      /has version 3 of the format, and this program knows none above 2: use a newer one$/,
    ],
    ["empty", () => "", /is empty$/],
    [
      "what kubectl prints",
      () => JSON.stringify({ kind: "List", items: [] }),
      /is no backup \(npm run import takes what kubectl printed\)$/,
    ],
  ];
  it.each(cases)("file, %s: refused, the message says why", async (name, change, message) => {
    await expect(readBackup(altered(`${name.replaceAll(" ", "-")}.jsonl`, change))).rejects.toThrow(message);
  });

  it("a damaged or missing file: one line, exit code 2, nothing is written", async () => {
    const bad = altered("bad.jsonl", (text) => text.replace('"10.96.0.17"', '"10.96.0.18"'));
    const [cut, missing] = await Promise.all([
      runProgram("restore", ["--server", server.url, "--cluster", "untouched", "--file", bad]),
      runProgram("restore", ["--server", server.url, "--cluster", "untouched", "--file", "/nowhere/at.all"]),
    ]);
    expect(cut).toEqual({ code: 2, out: "", err: `restore: ${bad} was altered: its checksum is another one\n` });
    expect(missing.err).toMatch(/^restore: \/nowhere\/at\.all cannot be read: ENOENT.*\n$/);
    expect((await fetch(`${server.url}/clusters/untouched`)).status, "not even the cluster was begun").toBe(404);
  });

  it("backup of something that is no API server: exit code 1, leaves no file", async () => {
    const path = join(files, "never.jsonl");
    const { code, err } = await runProgram("backup", ["--server", `${server.url}/nothing`, "--file", path]);
    expect([code, err]).toEqual([1, `backup: ${server.url}/nothing is no Kubernetes API server: /version answers 404\n`]);
    expect(readdirSync(files).filter((name) => name.startsWith("never"))).toEqual([]);
  });
});

describe("judgement of a cluster before a restore", () => {
  const state = async (): Promise<ClusterState> => {
    const types = new Map((await readBackup(file)).sections.map(({ type }) => [typeName(type), type]));
    return { types, objects: new Map() };
  };
  const refused = async (change: (state: ClusterState) => void, underWay?: string): Promise<string> => {
    const [backup, cluster] = [await readBackup(file), await state()];
    change(cluster);
    try {
      judge(backup, cluster, { underWay, resume: false, url: "http://there" });
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  };
  const object = (rest: object) => rest as KubeObject;

  it.each<[string, (state: ClusterState) => void, RegExp, string?]>([
    ["a cluster that fits", () => undefined, /^$/],
    [
      "another default range",
      (s) =>
        s.objects.set(
          "servicecidrs.networking.k8s.io",
          new Map([["kubernetes", object({ metadata: { name: "kubernetes" }, spec: { cidrs: ["10.0.0.0/16"] } })]]),
        ),
      /^ServiceCIDR kubernetes has 10\.0\.0\.0\/16 here and 10\.96\.0\.0\/16,fd00:96::\/112 in the backup: start the server with the same SERVICE_CLUSTER_IP_RANGE$/,
    ],
    [
      "another address of default/kubernetes",
      (s) =>
        s.objects.set(
          "services",
          new Map([
            ["default/kubernetes", object({ metadata: { name: "kubernetes", namespace: "default" }, spec: { clusterIP: "10.0.0.1" } })],
          ]),
        ),
      /^Service default\/kubernetes has 10\.0\.0\.1 here and 10\.96\.0\.1 in the backup/,
    ],
    [
      "a type that it does not serve",
      (s) => void s.types.delete("ipaddresses.networking.k8s.io"),
      /^http:\/\/there does not serve ipaddresses\.networking\.k8s\.io, of which the backup has \d+$/,
    ],
    [
      "a Service",
      (s) => s.objects.set("services", new Map([["a/b", object({ metadata: { name: "b", namespace: "a" } })]])),
      /^http:\/\/there is not empty: it has Service a\/b; a restore needs an empty cluster$/,
    ],
    ["the restore of another file", () => undefined, /^a restore of another file into http:\/\/there was interrupted$/, "abc"],
  ])("%s: the reason, if any", async (_, change, message, underWay) => {
    expect(await refused(change, underWay)).toMatch(message);
  });
});

it("an object that the server refuses: it is named, and the rest is restored", async () => {
  // Another client takes the address meanwhile; the plan does not know of it.
  const cluster = `${server.url}/clusters/taken`;
  await begin("taken");
  const backup = await readBackup(file);
  const api = new Api({ url: cluster, options: {} });
  const state = await readState(api, silent);
  judge(backup, state, { underWay: undefined, resume: false, url: cluster });
  const body = { metadata: { name: "thief" }, spec: { ports: [{ port: 80 }], clusterIP: "10.96.0.17" } };
  expect((await api.create(core("default", "services"), body)).code).toBe(201);
  const restorer = new Restorer({ api, backup, progress: silent }, state);
  await restorer.run();
  const shortcomings = await restorer.verify();
  expect(shortcomings.map(({ object }) => object).sort()).toEqual(["IPAddress 10.96.0.17", "Service shop/static"]);
  expect(shortcomings.find(({ object }) => object === "Service shop/static")?.message).toMatch(
    /^is refused: 422 .*provided IP is already allocated/,
  );
}, 120_000);
