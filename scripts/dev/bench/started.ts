/** What the benchmarks of the whole server share: the server as a process on an empty data folder, and the load as another. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { removeFolder, startServer, temporaryFolder } from "../../../test/support/server/server";
import type { Server } from "../../../test/support/server/server";
import type { Target } from "../../cluster/target";
import { until } from "./service-cidrs";
import type { LeaseLoad, LeaseLoadResults } from "./load-processes/lease-load-process";
import type { ServiceLoad, ServiceLoadResult } from "./load-processes/service-load-process";

/**
 * Runs `body` against a server with an empty cluster on the range; the server and its data are gone afterwards. `args`: more for the server; `secure`: with
 * HTTPS and credentials.
 */
export async function withServer<T>(
  range: string,
  body: (server: Server) => Promise<T>,
  args: readonly string[] = [],
  options: { secure?: boolean; checkout?: string } = {},
): Promise<T> {
  const folder = temporaryFolder();
  try {
    return await withServerOn(folder, ["--var", `SERVICE_CLUSTER_IP_RANGE=${range}`, ...args], body, options);
  } finally {
    removeFolder(folder);
  }
}

/** Runs `body` against a server on the data folder, which stays. The server is asked to end, and has ended afterwards. */
export async function withServerOn<T>(
  folder: string,
  args: readonly string[],
  body: (server: Server) => Promise<T>,
  options: { secure?: boolean; checkout?: string } = {},
): Promise<T> {
  const server = await startServer(folder, args, options);
  const killed = (): void => void server.kill();
  process.once("exit", killed);
  try {
    const result = await body(server);
    await server.stop();
    return result;
  } finally {
    process.off("exit", killed);
    await server.kill();
  }
}

/** A server under load; `options`: certificates and headers of every request. */
export type LoadedServer = Pick<Server, "url"> & Partial<Target> & { output?(): string };

/** A server of this machine, which asks for no certificate and no token. */
export function targetOf({ url, options = {} }: LoadedServer): Target {
  return { url, options };
}

/** Creates Services in the namespace `default` of a cluster. */
export function createServices(
  server: LoadedServer,
  { cluster, ...load }: Omit<ServiceLoad, "target" | "verb" | "collection"> & { cluster: string },
): Promise<ServiceLoadResult> {
  return writeServices(server, { ...load, verb: "create", collection: `/clusters/${cluster}/api/v1/namespaces/default/services` });
}

/** Creates or deletes Services. */
export function writeServices(server: LoadedServer, load: Omit<ServiceLoad, "target">): Promise<ServiceLoadResult> {
  return runLoadProcess(server, "service-load-process.ts", load);
}

/** Creates, updates and deletes Leases. */
export function writeLeases(server: LoadedServer, load: Omit<LeaseLoad, "target">): Promise<LeaseLoadResults> {
  return runLoadProcess(server, "lease-load-process.ts", load);
}

/** Runs a load generator (a program of load-processes) against the server; what it prints is its result. Throws when it failed. `flags`: of Node */
export async function runLoadProcess<Load, Result>(
  server: LoadedServer,
  program: string,
  load: Load,
  flags: readonly string[] = [],
): Promise<Result> {
  const child = spawn(process.execPath, [...flags, "--import", "tsx", join(import.meta.dirname, "load-processes", program)], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.end(JSON.stringify({ ...load, target: targetOf(server) }));
  let out = "";
  let problems = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (problems += chunk));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`the load generator failed:\n${problems}\n${server.output?.() ?? ""}`);
  return JSON.parse(out) as Result;
}

/** Asks for a sweep of everything in the cluster `default`; answers how long it took, in milliseconds. */
export async function fullSweep(server: Server): Promise<number> {
  const line = '"event":"repair looked at everything","object":"default/controllers/repair"';
  const swept = () => server.output().split(line).length;
  const before = swept();
  const startedAt = performance.now();
  const answer = await fetch(`${server.url}/check`, { method: "POST" });
  if (answer.status !== 202) throw new Error(`POST /check: ${String(answer.status)} ${await answer.text()}`);
  await until(() => Promise.resolve(swept() > before));
  return performance.now() - startedAt;
}

/** Sums of the counters at /metrics by name and by the given label, e.g. `servicenet_store_drains_total{services}`. */
export async function counters(server: Pick<Server, "url">): Promise<Map<string, number>> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const sums = new Map<string, number>();
  for (const match of text.matchAll(/^(\w+)\{(\w+)="([^"]*)"\} (\d+)$/gm)) {
    const [, name = "", label, value = "", count] = match;
    const key = label === "store" ? `${name}{${value}}` : name;
    sums.set(key, (sums.get(key) ?? 0) + Number(count));
  }
  return sums;
}
