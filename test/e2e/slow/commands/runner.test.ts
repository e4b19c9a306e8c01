import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { familyMiB } from "../../../../scripts/dev/bench/memory";
import { watchman } from "../../../../scripts/serve/lifeline";
import { childrenOf, identify, type ProcessIdentity } from "../../../../scripts/serve/processes";
import { makeSocketFolder } from "../../../../scripts/serve/workerd/socket-folder";
import { familyOf } from "../../../support/server/processes";
import { freePort } from "../../../support/server/free-port";
import { getJson, removeFolder, startProcess, temporaryFolder } from "../../../support/server/server";
import type { ServerProcess } from "../../../support/server/server";
import { serverForTests } from "../../../support/server/server-for-tests";

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

describe("the watch over the runtime, when the runner dies", () => {
  /** The signal that ends a process whose identity the watch was told with these changes. It gets SIGTERM after the watch has ended. */
  async function endOf(changes: Partial<ProcessIdentity>): Promise<string | null> {
    const runtime = spawn("sleep", ["1000"], { stdio: "ignore" });
    const ended = once(runtime, "exit");
    const identity = identify(runtime.pid ?? 0);
    if (!identity) throw new Error("sleep does not run");
    const run = makeSocketFolder(join(newFolder(), "record"));
    writeFileSync(run.socketPath, "");
    const shell = spawn(...watchman({ ...identity, ...changes }, run.path), { stdio: ["pipe", "ignore", "inherit"] });
    shell.stdin.end();
    await once(shell, "close");
    expect(existsSync(run.path)).toBe(false);
    runtime.kill("SIGTERM");
    await ended;
    return runtime.signalCode;
  }

  it("the process of the number and start time: is killed", async () => {
    expect(await endOf({})).toBe("SIGKILL");
  });

  it.each([
    ["has files of others", "servicenet-run-abc", "notes"],
    ["has another name", "mine", "scheduler"],
  ])("a folder that %s: keeps them", async (_, name, file) => {
    const folder = join(newFolder(), name);
    mkdirSync(folder);
    writeFileSync(join(folder, file), "mine");
    const shell = spawn(...watchman({ pid: 0, startedAt: "" }, folder), { stdio: ["pipe", "ignore", "ignore"] });
    shell.stdin.end();
    await once(shell, "close");
    expect(readdirSync(folder)).toEqual([file]);
  });

  it("another process that has the number now: lives on", async () => {
    expect(await endOf({ startedAt: identify(process.pid)?.startedAt ?? "" })).toBe("SIGTERM");
  });
});

describe("npm start: life of a server", () => {
  const server = serverForTests();

  it("start: prints its address and a kubectl line, and writes the kubeconfig", () => {
    expect(server.output()).toContain(`Try: kubectl --kubeconfig ${server.kubeconfig} create service clusterip`);
    expect(existsSync(server.kubeconfig)).toBe(true);
  });

  it("the first answer of /readyz: the kubeconfig is there", async () => {
    const [port, data] = [await freePort(), newFolder()];
    const bare = startProcess(["--insecure-http", "--port", String(port), "--data-dir", data], { bare: true });
    const answers = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${String(port)}/readyz`).then(
        () => true,
        () => false,
      );
    while (!(await answers())) await sleep(1);
    expect(existsSync(join(data, "kubeconfig"))).toBe(true);
    process.kill(-bare.pid, "SIGINT");
    await bare.ended;
  });

  it("routine events: logged at LOG_LEVEL=debug alone, as short lines with --log text", async () => {
    expect(server.output()).not.toContain("owner configured");
    const bare = startProcess(["--port", "0", "--data-dir", newFolder(), "--log", "text", "--var", "LOG_LEVEL=debug"], { bare: true });
    await bare.printed(/^\d\d:\d\d:\d\d debug owner configured object=ServiceCIDR id=\S+ epoch=1 /m);
    process.kill(bare.pid, "SIGTERM");
    expect(await bare.ended).toBe(0);
  });

  it("an idle server: at most four processes and 250 MiB, none of them a compiler", async () => {
    const data = newFolder();
    const bare = startProcess(["--insecure-http", "--port", "0", "--data-dir", data], { bare: true });
    await bare.printed(/ready at/);
    const processes = () => familyOf(bare.pid);
    expect(processes().length).toBeLessThanOrEqual(4);
    expect(processes().map(({ command }) => command)).not.toContain("esbuild");
    await expect.poll(() => familyMiB(bare.pid)).toBeLessThan(250);
    process.kill(bare.pid, "SIGTERM");
    expect(await bare.ended).toBe(0);
  });

  it("a second runner on the same data folder: refused", async () => {
    const { code, lines } = await refusal(["--port", "0", "--data-dir", server.folder]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/is in use by process \d+/);
    expect(code).toBe(1);
  });

  it("Ctrl-C: stops cleanly; the next start has the data, a start with --fresh has none", async () => {
    const created = await createService(server.url, "kept");
    await server.interrupt();
    await server.start();
    const kept = await getJson<{ spec: { clusterIP: string } }>(`${server.url}/api/v1/namespaces/default/services/kept`);
    expect(kept.spec.clusterIP).toBe(created);
    await server.interrupt();
    await server.start(["--fresh"]);
    expect((await fetch(`${server.url}/api/v1/namespaces/default/services/kept`)).status).toBe(404);
  });

  it("kill -9 of the runner: the runtime ends, and the next start serves the data", async () => {
    const created = await createService(server.url, "survivor");
    await server.kill("runner");
    await expect.poll(() => isServing(server.url), { timeout: 30_000 }).toBe(false);
    await server.start();
    const kept = await getJson<{ spec: { clusterIP: string } }>(`${server.url}/api/v1/namespaces/default/services/survivor`);
    expect(kept.spec.clusterIP).toBe(created);
  });

  it("the folder of the run's sockets: gone after kill -9, and after a clean stop", async () => {
    const record = join(server.folder, "runtime-folder");
    const folderOfRun = () => readFileSync(record, "utf8");
    const left = folderOfRun();
    expect(readdirSync(left)).toEqual(["scheduler"]);
    await server.kill();
    await expect.poll(() => existsSync(left)).toBe(false);
    await server.start();
    const next = folderOfRun();
    expect(existsSync(next)).toBe(true);
    await server.interrupt();
    expect([existsSync(next), existsSync(record)]).toEqual([false, false]);
    await server.start();
  });

  it("kill -9 of npm: the server stops cleanly", async () => {
    const data = newFolder();
    const npm = startProcess(["--insecure-http", "--port", "0", "--data-dir", data]);
    const [, url = ""] = await npm.printed(/ready at (http:\S+)/);
    process.kill(npm.pid, "SIGKILL");
    await npm.ended;
    expect(npm.output()).toContain("Stopped. The data is kept in");
    expect(existsSync(join(data, "runner.lock"))).toBe(false);
    expect(await isServing(url)).toBe(false);
  });

  it.each<[string, (npm: number, data: string) => boolean]>([
    ["its command begins", (npm) => childrenOf(npm).length > 0],
    ["the runner has its data folder", (_, data) => existsSync(join(data, "runner.lock"))],
  ])("kill -9 of npm as soon as %s: the server stops cleanly", async (_, isThere) => {
    const data = newFolder();
    const npm = startProcess(["--insecure-http", "--port", "0", "--data-dir", data]);
    await expect.poll(() => isThere(npm.pid, data), { interval: 2, timeout: 30_000 }).toBe(true);
    process.kill(npm.pid, "SIGKILL");
    await npm.ended;
    expect(npm.output()).toMatch(/Stopped\. The data is kept in .*\n$/);
    // A busy machine may let the server listen before npm dies: then there is a kubeconfig.
    const left = readdirSync(data).sort();
    expect([
      [".servicenet-data", "state"],
      [".servicenet-data", "kubeconfig", "state"],
    ]).toContainEqual(left);
    if (npm.output().includes("ready at")) expect(left).toContain("kubeconfig");
  });

  it("a runtime that outlived its runner: ended by the next start", async () => {
    const data = newFolder();
    const left = spawn("sleep", ["1000"], { stdio: "ignore" });
    writeFileSync(join(data, "workerd.json"), JSON.stringify(identify(left.pid ?? 0)));
    const ended = once(left, "exit");
    const bare = startProcess(["--port", "0", "--data-dir", data], { bare: true });
    expect(await ended).toEqual([null, "SIGKILL"]);
    await bare.printed(/ready at/);
    process.kill(bare.pid, "SIGTERM");
    expect(await bare.ended).toBe(0);
  });

  it("a data folder that is removed: one line, exit code 1; creates are refused with 503 until the server is gone", async () => {
    const data = newFolder();
    const bare = startProcess(["--insecure-http", "--port", "0", "--data-dir", data, "--log", "text"], { bare: true });
    const [, url = ""] = await bare.printed(/ready at (http:\S+)/);
    removeFolder(data);
    const answers: Answered[] = [];
    for (let i = 0; answers.at(-1)?.what !== "refused"; i++) answers.push(await answerOfCreate(url, `late-${String(i)}`));
    expect(await bare.ended).toBe(1);
    // Until the runner knows, a create may be answered as ever. The runtime cannot announce that it closes a kept connection: that one may be cut. So may
    // those that the kernel takes in until the runtime is gone: a busy machine has more of them.
    const last = answers.findLast(({ what }) => what === "503");
    expect(last?.text).toBe("the data of the server was removed; the server stops");
    expect(answers.map(({ what }) => what).join(" ")).toMatch(/^(201 )*(503 )+(cut )*refused$/);
    const [, afterReady = ""] = bare.output().split("--tcp=80\n");
    const lines = afterReady.split("\n").filter((line) => line !== "" && !/^\S+ info /.test(line));
    expect(lines).toEqual([`servicenet: the data folder ${data} was removed while the server used it; stopping`]);
    expect(existsSync(data)).toBe(false);
  });

  it("death of the runtime: the runner ends with exit code 1", async () => {
    const data = newFolder();
    const bare: ServerProcess = startProcess(["--port", "0", "--data-dir", data], { bare: true });
    await bare.printed(/ready at/);
    const [, pid] = /"pid":(\d+)/.exec(await readText(join(data, "workerd.json"))) ?? [];
    process.kill(Number(pid), "SIGKILL");
    expect(await bare.ended).toBe(1);
    expect(bare.output()).toMatch(/the runtime \(workerd, process \d+\) has ended/);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("%s to the runner alone: exit code 0, nothing left running", async (name) => {
    const bare = startProcess(["--insecure-http", "--port", "0", "--data-dir", newFolder()], { bare: true });
    const [, url = ""] = await bare.printed(/ready at (http:\S+)/);
    process.kill(bare.pid, name);
    expect(await bare.ended).toBe(0);
    expect(bare.output()).toMatch(/Stopped\. The data is kept in .*; npm start goes on with it\.\n$/);
    expect(await isServing(url)).toBe(false);
  });

  it.each<[string, (npm: number) => void]>([
    ["SIGTERM to npm", (npm) => process.kill(npm, "SIGTERM")],
    ["Ctrl-C in the terminal of npm", (npm) => process.kill(-npm, "SIGINT")],
  ])("%s: the server stops too", async (_, end) => {
    const data = newFolder();
    const npm = startProcess(["--insecure-http", "--port", "0", "--data-dir", data]);
    const [, url = ""] = await npm.printed(/ready at (http:\S+)/);
    end(npm.pid);
    await npm.ended;
    expect(existsSync(join(data, "runner.lock"))).toBe(false);
    expect(await isServing(url)).toBe(false);
  });
});

/** Its share of the memory that processes have in common counts in proportion. */
async function createService(url: string, name: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/namespaces/default/services`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ metadata: { name }, spec: { ports: [{ port: 80 }] } }),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { spec: { clusterIP: string } }).spec.clusterIP;
}

async function isServing(url: string): Promise<boolean> {
  return fetch(`${url}/livez`).then(
    () => true,
    () => false,
  );
}

interface Answered {
  /** "refused" = nobody listens any more; "cut" = the connection was closed before an answer */
  what: string;
  text: string;
}

async function answerOfCreate(url: string, name: string): Promise<Answered> {
  const body = JSON.stringify({ metadata: { name }, spec: { ports: [{ port: 80 }] } });
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  try {
    const response = await fetch(`${url}/api/v1/namespaces/default/services`, init);
    const { message = "" } = (await response.json()) as { message?: string };
    return { what: String(response.status), text: message };
  } catch (error) {
    const { code = "" } = (error as { cause?: { code?: string } }).cause ?? {};
    return { what: code === "ECONNREFUSED" ? "refused" : "cut", text: code };
  }
}

async function readText(file: string): Promise<string> {
  const { readFile } = await import("node:fs/promises");
  return readFile(file, "utf8");
}
