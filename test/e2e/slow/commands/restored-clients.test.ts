/**
 * Clients that live through a restore, and through a start on an older data folder: a leader with its fencing token, a proxy, an informer of client-go and
 * one of the JavaScript client. They knew more than the backup has. Afterwards each knows what the server has, and the leader goes on writing.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KubeConfig, makeInformer } from "@kubernetes/client-node";
import type { Informer, KubernetesListObject, KubernetesObject, ObjectCache } from "@kubernetes/client-node";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { parseOptions } from "../../../../scripts/proxy/options";
import { type RunningProxy, startProxy } from "../../../../scripts/proxy/run";
import type { ConfigMap, KubeObject, Service } from "../../../../src/api/meta/kubernetes";
import { FENCING_TOKEN } from "../../../../src/clients/elector/fencing";
import { ClientProgram } from "../../../support/clients/client-program";
import { type Backend, tcpBackend, whoAnswers } from "../../../support/clients/echo-backends";
import { freePort } from "../../../support/server/free-port";
import { type RunningProgram, runProgram, startCommand } from "../../../support/server/program";
import { NODES_ARE_NAMES } from "../../../support/server/server-for-tests";
import { getJson, removeFolder, type Server, startServer, temporaryFolder } from "../../../support/server/server";
import { type SlowNetwork, slowNetwork } from "../../../support/server/slow-network";
import { aSlice, anEndpoint } from "../../../support/values/endpoint-objects";
import { root } from "../../../../scripts/running/root.mjs";

const GO = process.env["CLIENTS_GO_036"] ?? "";
const NAMESPACE = "/api/v1/namespaces/default";
const SERVICES = "/api/v1/services";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const LEASE_SECONDS = 6;
const ADDRESSES = { kept: "10.96.1.1", lost: "10.96.1.2", later: "10.96.1.3" };
/** client-go waits up to a minute before it asks a server again that was away some times. */
const poll = { timeout: 120_000, interval: 200 };

/** Second bytes of loopback prefixes: of the endpoints, and of the proxy's ClusterIPs. */
const firstByte = 10 + Math.floor(Math.random() * 230);
const [pods, node] = [firstByte, firstByte + 1];
const port = await freePort();
const folder = temporaryFolder();

let server: Server;
let network: SlowNetwork;
let leader: RunningProgram;
let proxy: RunningProxy;
let goInformers: ClientProgram;
let informer: Informer<KubernetesObject> & ObjectCache<KubernetesObject>;
let isOver = false;
let rounds = 0;
const backends: Backend[] = [];

const dataOf = (name: string): string => join(folder, name);
const start = (name: string, args: readonly string[] = []): Promise<Server> => startServer(dataOf(name), [...NODES_ARE_NAMES, ...args]);

async function send(method: string, path: string, body?: object, type = "application/json"): Promise<KubeObject> {
  const headers = { "Content-Type": type, Connection: "close" };
  const answer = await fetch(server.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
  return (await answer.json()) as KubeObject;
}

/** With an endpoint that answers by the name. */
async function createService(name: keyof typeof ADDRESSES): Promise<void> {
  const podIP = `10.1.${String(rounds)}.${String(Object.keys(ADDRESSES).indexOf(name) + 1)}`;
  backends.push(await tcpBackend(name, `127.${String(pods)}.${podIP.split(".").slice(2).join(".")}`, port));
  const ports = [{ name: "http", port, protocol: "TCP" as const }];
  await send("POST", `${NAMESPACE}/services`, { metadata: { name }, spec: { clusterIP: ADDRESSES[name], ports } });
  await send("POST", SLICES, aSlice(`${name}-a`, name, [anEndpoint(podIP)], { ports }));
}

const served = (name: keyof typeof ADDRESSES): Promise<string> =>
  whoAnswers(`127.${String(node)}.${ADDRESSES[name].split(".").slice(2).join(".")}`, port);
const counted = (): Promise<ConfigMap> => getJson<ConfigMap>(`${server.url}${NAMESPACE}/configmaps/counted`);
const tokenOf = ({ metadata }: ConfigMap): number => Number(metadata?.annotations?.[FENCING_TOKEN.key]);
const times = (): number => leader.output().match(/has counted to/g)?.length ?? 0;

async function countsOn(): Promise<void> {
  const before = times();
  await expect.poll(times, { ...poll, message: leader.output() }).toBeGreaterThan(before + 1);
}

const versionOf = ({ metadata }: KubernetesObject): [string, string] => [
  `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`,
  metadata?.resourceVersion ?? "",
];

/** What a list has: by object its resourceVersion. */
async function listed(path: string): Promise<Record<string, string>> {
  const { items } = await getJson<{ items: KubeObject[] }>(server.url + path);
  return Object.fromEntries(items.map((item) => versionOf(item as KubernetesObject)));
}

/** The resourceVersions of a type in the caches of client-go. */
async function held(type: string): Promise<unknown> {
  return (await goInformers.ask(""))[type];
}

async function everybodyKnows(): Promise<void> {
  await expect.poll(() => held("services"), poll).toEqual(await listed(SERVICES));
  await expect.poll(() => held("namespaces"), poll).toEqual(await listed("/api/v1/namespaces"));
  await expect.poll(() => Object.fromEntries(informer.list().map(versionOf)), poll).toEqual(await listed(SERVICES));
}

/** The leader of a store of Leases that has seen many writes: its token is a large number. */
async function startClients(): Promise<void> {
  for (let i = 0; i < 20; i++) await send("POST", LEASES, { metadata: { name: `early-${String(i)}` }, spec: {} });
  const program = ["scripts/run.mjs", "test/support/examples/elect.ts", network.url, "a", String(LEASE_SECONDS)];
  leader = await startCommand(process.execPath, program, /has counted to/, root);
  const options = await parseOptions([
    ...["--node", "node-1", "--server", network.url, "--listen-prefix", `127.${String(node)}.0.0/17`],
    ...["--node-port-address", `127.${String(node)}.255.1`, "--dial-prefix", `127.${String(pods)}.0.0/16`],
    ...["--healthz-bind-address", "127.0.0.1:0", "--metrics-bind-address", "127.0.0.1:0"],
  ]);
  if (options === "help") throw new Error("no help was asked for");
  proxy = await startProxy(options, () => undefined);
  await proxy.first;
  const kubeconfig = join(folder, `kubeconfig-${String(rounds)}`);
  writeFileSync(kubeconfig, readFileSync(server.kubeconfig, "utf8").replaceAll(server.url, network.url));
  goInformers = new ClientProgram(GO, ["-kubeconfig", kubeconfig, "informers"]);
  await goInformers.line(0);
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  informer = makeInformer(config, SERVICES, () => getJson<KubernetesListObject<KubernetesObject>>(network.url + SERVICES));
  // As its documentation advises.
  const again = (): void => void setTimeout(() => isOver || void informer.start().catch(again), 200);
  informer.on("error", again);
  await informer.start();
}

/** The code that a watch from the revision begins with; undefined = it goes on. */
async function refusalAt(resourceVersion = ""): Promise<number | undefined> {
  const answer = await fetch(`${server.url}${SERVICES}?watch=1&timeoutSeconds=1&resourceVersion=${resourceVersion}`);
  const [first = ""] = (await answer.text()).split("\n");
  return first.startsWith('{"type":"ERROR"') ? (JSON.parse(first) as { object: { code: number } }).object.code : undefined;
}

beforeEach(async () => {
  [isOver, rounds] = [false, rounds + 1];
  server = await start(`first-${String(rounds)}`);
  network = await slowNetwork(server.url, 0);
  await send("POST", "/api/v1/nodes", { metadata: { name: "node-1" } });
  await createService("kept");
  await startClients();
  await expect.poll(() => served("kept"), poll).toBe("kept");
  await countsOn();
});
afterEach(async () => {
  isOver = true;
  proxy.stop();
  await Promise.all([informer.stop(), goInformers.kill(), leader.kill()]);
  network.close();
  for (const backend of backends.splice(0)) backend.destroy();
  await server.kill();
});
afterAll(() => removeFolder(folder));

/** Every client learns what the data will have lost. */
async function goOn(): Promise<void> {
  await createService("lost");
  for (let i = 0; i < 30; i++) {
    await send("PATCH", `${NAMESPACE}/services/kept`, { metadata: { labels: { round: String(i) } } }, "application/merge-patch+json");
    await send("POST", LEASES, { metadata: { name: `lost-${String(i)}` }, spec: {} });
  }
  await expect.poll(() => served("lost"), poll).toBe("lost");
  await countsOn();
  await everybodyKnows();
}

/** The lost Service is gone everywhere, the kept one goes on, and new ones come. */
async function liveOn(lastToken: number): Promise<void> {
  await expect.poll(() => served("lost"), poll).toBe("ECONNREFUSED");
  expect(await served("kept")).toBe("kept");
  await createService("later");
  await expect.poll(() => served("later"), poll).toBe("later");
  await countsOn();
  // By this server, and not by one that is gone.
  await expect.poll(async () => tokenOf(await counted()), poll).toBeGreaterThanOrEqual(lastToken);
  await everybodyKnows();
  const services = await getJson<{ items: Service[] }>(server.url + SERVICES);
  expect(services.items.map(({ metadata }) => metadata?.name).sort()).toEqual(["kept", "kubernetes", "later"]);
}

it("a restore of a backup into another server, which takes the place of the first: every client lists anew, and the leader's token grows", async () => {
  const file = join(folder, "backup");
  expect(await runProgram("backup", ["--server", server.url, "--file", file])).toMatchObject({ code: 0 });
  const [header = ""] = readFileSync(file, "utf8").split("\n", 1);
  const revision = expect.stringMatching(/^\d+$/) as string;
  expect(JSON.parse(header)).toMatchObject({ heads: { services: revision, events: revision, "leases.coordination.k8s.io": revision } });
  await goOn();
  const lastToken = tokenOf(await counted());
  const before = await listed(SERVICES);
  const first = server;
  server = await start("second");
  expect(await runProgram("restore", ["--server", server.url, "--file", file])).toMatchObject({ code: 0 });
  network.turnTo(server.url);
  await first.kill();
  await liveOn(lastToken + 1_000_000_000);
  const greatest = Math.max(...Object.values(before).map(Number));
  for (const revision of Object.values(await listed(SERVICES))) expect(Number(revision)).toBeGreaterThan(greatest);
  expect(await refusalAt(String(greatest))).toBe(410);
}, 400_000);

it("a start on an older copy of the data folder: every client lists anew, and the leader goes on; what was known of the copy is still good", async () => {
  const name = `first-${String(rounds)}`;
  const { port: serverPort } = new URL(server.url);
  const { metadata } = await getJson<KubeObject>(server.url + SERVICES);
  const kept = metadata?.resourceVersion ?? "";
  await server.stop();
  cpSync(dataOf(name), dataOf("copy"), { recursive: true });
  server = await start(name, ["--port", serverPort]);
  await goOn();
  const lastToken = tokenOf(await counted());
  const { metadata: lost } = await getJson<KubeObject>(server.url + SERVICES);
  await server.kill();
  removeFolder(dataOf(name));
  cpSync(dataOf("copy"), dataOf(name), { recursive: true });
  server = await start(name, ["--port", serverPort]);
  await liveOn(lastToken);
  expect([await refusalAt(kept), await refusalAt(lost?.resourceVersion)]).toEqual([undefined, 410]);
}, 400_000);

it("a recovery of single stores by npm run restore -- --recovered: begins above, and every client lists anew", async () => {
  const { metadata } = await getJson<KubeObject>(server.url + SERVICES);
  const asOf = new Date().toISOString();
  const recovered = await runProgram("restore", [
    "--server",
    server.url,
    "--recovered",
    "services,leases.coordination.k8s.io",
    "--as-of",
    asOf,
  ]);
  expect(recovered).toMatchObject({ code: 0, err: "" });
  expect(recovered.out).toMatch(/^services begins at 1\d{9}\nleases\.coordination\.k8s\.io begins at 1\d{9}\n$/);
  expect(await refusalAt(metadata?.resourceVersion)).toBe(410);
  await createService("later");
  await expect.poll(() => served("later"), poll).toBe("later");
  await countsOn();
  await everybodyKnows();
}, 400_000);
