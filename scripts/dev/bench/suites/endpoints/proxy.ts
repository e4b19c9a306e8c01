/**
 * The proxy of `npm run proxy` on a cluster of 1,000 Services with 4 endpoints each. Measured are how long its first sync takes, how soon a change is
 * served, and what a request costs with and without it. For a data plane without watch it shows what the page of its node costs.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server as TcpServer } from "node:net";
import { answerOf } from "../../../../../test/support/clients/echo-backends";
import { freePort } from "../../../../../test/support/server/free-port";
import type { Server } from "../../../../../test/support/server/server";
import { inParallel } from "../../../../../src/core/base/in-parallel";
import { addressWithin } from "../../../../../src/clients/proxy/index";
import { parseOptions } from "../../../../proxy/options";
import { startProxy } from "../../../../proxy/run";
import type { RequestLoad } from "../../load-processes/request-load-process";
import { pageRows } from "../../proxy-page";
import { quantile } from "../../figures";
import type { BenchRow } from "../../row";
import { runLoadProcess, withServer } from "../../started";

const SERVICES = 1_000;
const ENDPOINTS = 4;
const WRITES_AT_ONCE = 32;
const FIRST_SYNC_MS_MAX = 2_000;
const CHANGES = 20;
const CHANGE_MS_MAX = 100;
const CONNECTIONS = 50;
const REQUESTS = 10_000;
/** Both ways are measured in turn, this many times each. */
const ROUNDS = 4;
const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** Loopback prefixes of this run: ClusterIPs, endpoints. */
const PLACES = ["127.200.0.0/16", "127.201.0.0/16"] as const;
const at = (prefix: string, address: string): string => addressWithin({ family: "IPv4", base: baseOf(prefix), length: 16 }, address);

function baseOf(prefix: string): bigint {
  const [a = "", b = ""] = prefix.split(".");
  return (BigInt(a) << 24n) | (BigInt(b) << 16n);
}

const podIP = (number: number): string => `10.1.${String(Math.floor(number / 250))}.${String((number % 250) + 1)}`;

export function benchProxy(): Promise<BenchRow[]> {
  return withServer("10.96.0.0/16", async (server) => {
    const port = await freePort();
    const clusterIPs = await fill(server, port);
    await write(server, "POST", "/api/v1/nodes", { metadata: { name: "bench" } });
    const page = await pageRows(server, SERVICES, async (change) => {
      await write(server, "PUT", `${SLICES}/s0-a`, sliceOf(0, [podIP(change % 2)], port));
    });
    const args = [
      ...["--node", "bench", "--server", server.url, "--listen-prefix", PLACES[0], "--dial-prefix", PLACES[1]],
      ...["--healthz-bind-address", "none", "--metrics-bind-address", "none"],
    ];
    const backends = [await backend("1", at(PLACES[1], podIP(0)), port), await backend("2", at(PLACES[1], podIP(1)), port)];
    const host = at(PLACES[0], clusterIPs[0] ?? "");
    const { firstMs, changesMs } = await followedHere(args, server, { host, port });
    const { direct, through } = await withProgram(args, () => requestRates(host, at(PLACES[1], podIP(0)), port));
    for (const one of backends) one.close();
    const worst = quantile(changesMs, 1);
    return [
      {
        name: "proxy.firstSync",
        value: Math.round(firstMs),
        unit: "ms",
        target: `<= ${String(FIRST_SYNC_MS_MAX)}`,
        ok: firstMs <= FIRST_SYNC_MS_MAX,
        note: `${String(SERVICES)} Services of ${String(ENDPOINTS)} endpoints: listed, merged, and listened for`,
      },
      {
        name: "proxy.change",
        value: Math.round(worst),
        unit: "ms",
        target: `<= ${String(CHANGE_MS_MAX)}`,
        ok: worst <= CHANGE_MS_MAX,
        note: `slowest of ${String(CHANGES)}, from the write of a slice to a connection that has the new endpoint (median ${quantile(changesMs, 0.5).toFixed(0)} ms)`,
      },
      {
        name: "proxy.requestsRatio",
        value: Math.round((through / direct) * 100) / 100,
        unit: "x",
        note: `${Math.round(through).toLocaleString("en-US")}/s through it against ${Math.round(direct).toLocaleString("en-US")}/s without, ${String(CONNECTIONS)} kept connections, ${String(ROUNDS)} rounds each in turn`,
      },
      ...page,
    ];
  });
}

/** Makes the Services and their slices; the first Service has one endpoint, which its slice names alone. Answers the ClusterIPs. */
async function fill(server: Server, port: number): Promise<string[]> {
  const clusterIPs: string[] = [];
  const numbers = Array.from({ length: SERVICES }, (_, i) => i);
  await inParallel(numbers, WRITES_AT_ONCE, async (i) => {
    const spec = { ports: [{ name: "http", port }] };
    const { spec: made } = await write(server, "POST", "/api/v1/namespaces/default/services", {
      metadata: { name: `s${String(i)}` },
      spec,
    });
    clusterIPs[i] = made?.clusterIP ?? "";
    const first = i * ENDPOINTS;
    const ips = i === 0 ? [podIP(0)] : Array.from({ length: ENDPOINTS }, (_, n) => podIP(first + n));
    await write(server, "POST", SLICES, sliceOf(i, ips, port));
  });
  return clusterIPs;
}

const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

function sliceOf(i: number, ips: readonly string[], port: number): object {
  const name = `s${String(i)}`;
  return {
    metadata: { name: `${name}-a`, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "http", port }],
    endpoints: ips.map((ip) => ({ addresses: [ip] })),
  };
}

async function write(server: Server, method: string, path: string, body: object): Promise<{ spec?: { clusterIP?: string } }> {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(server.url + path, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
  return (await answer.json()) as { spec?: { clusterIP?: string } };
}

/** A proxy in this process: its first sync, and changes of the first Service's only endpoint. Sorted milliseconds. */
async function followedHere(
  args: string[],
  server: Server,
  { host, port }: { host: string; port: number },
): Promise<{ firstMs: number; changesMs: number[] }> {
  const options = await parseOptions(args);
  if (options === "help") throw new Error("no help was asked for");
  const startedAt = performance.now();
  const proxy = await startProxy(options, (line) => console.error(line));
  await proxy.first;
  const firstMs = performance.now() - startedAt;
  const changesMs: number[] = [];
  for (let change = 1; change <= CHANGES; change++) {
    const number = change % 2;
    const changedAt = performance.now();
    await write(server, "PUT", `${SLICES}/s0-a`, sliceOf(0, [podIP(number)], port));
    while (!(await answerOf(host, port)).startsWith(`${String(number + 1)}:`));
    changesMs.push(performance.now() - changedAt);
  }
  proxy.stop();
  return { firstMs, changesMs: changesMs.sort((a, b) => a - b) };
}

/** Says its name to `hello`, and answers HTTP requests. */
async function backend(name: string, host: string, port: number): Promise<TcpServer> {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (piece) => void (piece.toString() === "hello" ? socket.end(`${name}:`) : socket.write(ANSWER)));
  }).listen(port, host);
  await once(server, "listening");
  return server;
}

/** Runs the proxy as the program while `body` runs. */
async function withProgram<T>(args: string[], body: () => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, ["scripts/run.mjs", "scripts/commands/proxy.ts", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const killed = (): void => void child.kill("SIGKILL");
  process.once("exit", killed);
  await once(child.stdout, "data");
  try {
    return await body();
  } finally {
    process.off("exit", killed);
    child.kill("SIGINT");
    await once(child, "close");
  }
}

/** Requests per second through the proxy, and straight to the endpoint that it would choose. */
async function requestRates(host: string, endpoint: string, port: number): Promise<{ direct: number; through: number }> {
  const spentMs = { direct: 0, through: 0 };
  const hosts = { direct: endpoint, through: host };
  for (let round = 0; round < ROUNDS; round++) {
    for (const way of ["direct", "through"] as const) {
      const load: Omit<RequestLoad, "target"> = { connections: CONNECTIONS, count: REQUESTS };
      const url = `http://${hosts[way]}:${String(port)}`;
      const { elapsedMs } = await runLoadProcess<typeof load, { elapsedMs: number }>({ url }, "request-load-process.ts", load);
      spentMs[way] += elapsedMs;
    }
  }
  const rate = (ms: number): number => (ROUNDS * REQUESTS) / (ms / 1_000);
  return { direct: rate(spentMs.direct), through: rate(spentMs.through) };
}
