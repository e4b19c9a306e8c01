import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { getJson, removeFolder, startProcess, temporaryFolder } from "../support/server/server";
import type { ServerProcess } from "../support/server/server";
import { serverForTests } from "../support/server/server-for-tests";

const folders: string[] = [];
const newFolder = () => {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
};
afterAll(() => folders.forEach(removeFolder));

/** The last line that a process printed before it ended, and its exit code. */
async function refusal(args: string[]): Promise<{ code: number | null; lines: string[] }> {
  const process = startProcess(args, { bare: true });
  const code = await process.ended;
  return { code, lines: process.output().trim().split("\n") };
}

describe("npm start: what the user can put right is one line and exit code 1", () => {
  it("a taken port", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const { code, lines } = await refusal(["--port", String(port), "--data-dir", newFolder()]);
    expect(lines).toEqual([`servicenet: port ${String(port)} on 127.0.0.1 is already in use; choose another one with --port`]);
    expect(code).toBe(1);
    other.close();
  });

  it.each([
    ["an invalid range", ["--var", "SERVICE_CLUSTER_IP_RANGE=10.0.0.0/33"], /^servicenet: invalid configuration: SERVICE_CLUSTER_IP_RANGE/],
    ["an unknown feature gate", ["--var", "FEATURE_GATES=NoSuchGate=true"], /^servicenet: invalid configuration: FEATURE_GATES/],
    [
      "a variable that wrangler.toml does not have",
      ["--var", "NO_SUCH=1"],
      /^servicenet: --var NO_SUCH: wrangler.toml has no such variable/,
    ],
    ["an option that does not exist", ["--prot", "1"], /^servicenet: Unknown option '--prot'/],
    ["a port that is no number", ["--port", "http"], /^servicenet: --port http: must be a number/],
  ])("%s", async (_name, args, line) => {
    const { code, lines } = await refusal(["--port", "0", "--data-dir", newFolder(), ...args]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(line);
    expect(code).toBe(1);
  });

  it("a data folder that cannot be written", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    const { code, lines } = await refusal(["--port", "0", "--data-dir", join(file, "data")]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^servicenet: the data folder .* is not writable/);
    expect(code).toBe(1);
  });
});

describe("npm start: life of a server", () => {
  const server = serverForTests();

  it("prints where it listens and a kubectl line, and writes the kubeconfig", () => {
    expect(server.output()).toContain(`Try: kubectl --kubeconfig ${server.kubeconfig} create service clusterip`);
    expect(existsSync(server.kubeconfig)).toBe(true);
  });

  it("a second runner on the same data folder is refused", async () => {
    const { code, lines } = await refusal(["--port", "0", "--data-dir", server.folder]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/is in use by process \d+/);
    expect(code).toBe(1);
  });

  it("Ctrl-C stops it cleanly; its data is there after the next start, and gone after --fresh", async () => {
    const created = await createService(server.url, "kept");
    await server.interrupt();
    await server.start();
    const kept = await getJson<{ spec: { clusterIP: string } }>(`${server.url}/api/v1/namespaces/default/services/kept`);
    expect(kept.spec.clusterIP).toBe(created);
    await server.interrupt();
    await server.start(["--fresh"]);
    expect((await fetch(`${server.url}/api/v1/namespaces/default/services/kept`)).status).toBe(404);
  });

  it("kill -9 of the runner: the next start ends the runtime that was left behind and serves the data", async () => {
    const created = await createService(server.url, "survivor");
    await server.kill("runner");
    await expect(getJson(`${server.url}/version`)).resolves.toBeDefined();
    const left = server.url;
    await server.start();
    await expect(fetch(`${left}/version`)).rejects.toThrow();
    const kept = await getJson<{ spec: { clusterIP: string } }>(`${server.url}/api/v1/namespaces/default/services/survivor`);
    expect(kept.spec.clusterIP).toBe(created);
  });

  it("the death of the runtime ends the runner with exit code 1", async () => {
    const data = newFolder();
    const bare: ServerProcess = startProcess(["--port", "0", "--data-dir", data], { bare: true });
    await bare.printed(/ready at/);
    const [, pid] = /"pid":(\d+)/.exec(await readText(join(data, "workerd.json"))) ?? [];
    process.kill(Number(pid), "SIGKILL");
    expect(await bare.ended).toBe(1);
    expect(bare.output()).toMatch(/the runtime \(workerd, process \d+\) has ended/);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("%s to the runner alone: exit code 0, nothing left running", async (name) => {
    const bare = startProcess(["--port", "0", "--data-dir", newFolder()], { bare: true });
    const [, url = ""] = await bare.printed(/ready at (http:\S+)/);
    process.kill(bare.pid, name);
    expect(await bare.ended).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  it("SIGTERM to npm stops the server too", async () => {
    const data = newFolder();
    const npm = startProcess(["--port", "0", "--data-dir", data]);
    const [, url = ""] = await npm.printed(/ready at (http:\S+)/);
    process.kill(npm.pid, "SIGTERM");
    await npm.ended;
    for (let tries = 0; tries < 100 && existsSync(join(data, "runner.lock")); tries++) await sleep(50);
    expect(existsSync(join(data, "runner.lock"))).toBe(false);
    await expect(fetch(url)).rejects.toThrow();
  });
});

async function createService(url: string, name: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/namespaces/default/services`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ metadata: { name }, spec: { ports: [{ port: 80 }] } }),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { spec: { clusterIP: string } }).spec.clusterIP;
}

async function readText(file: string): Promise<string> {
  const { readFile } = await import("node:fs/promises");
  return readFile(file, "utf8");
}
