/** The real process of `npm start` for a test: on a free port, with a data folder of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import packageJson from "../../../package.json" with { type: "json" };
import { root } from "../../../scripts/running/root.mjs";
import { endWithUs } from "./children";
import { freePort } from "./free-port";

/** `npm start` without npm: what its script gives to Node. */
const START = packageJson.scripts.start.split(" ").slice(1);
const readyMsMax = 90_000;
const stopMsMax = 15_000;
const removeMsMax = 5_000;

export interface Server {
  url: string;
  kubeconfig: string;
  /** of a server with HTTPS: the administrator's; "" = it asks nobody */
  token: string;
  /** of a server with HTTPS: its CA, PEM; "" = it speaks plain HTTP */
  ca: string;
  /** process number of workerd */
  runtimePid: number;
  output(): string;
  /** Ctrl-C: like a terminal it signals the whole process group. Resolves when all processes have ended; throws unless the stop was clean. */
  interrupt(): Promise<void>;
  /** SIGTERM to the runner alone. Resolves when all processes have ended. */
  stop(): Promise<void>;
  /** kill -9 of the runner and, by default, of its runtime. Resolves when both are gone. */
  kill(what?: "both" | "runner" | "runtime"): Promise<number | null>;
  /** exit code once the process has ended */
  ended: Promise<number | null>;
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "servicenet-"));
}

/** Begins again where a process makes a file meanwhile: Node's own retries would not remove that one. */
export function removeFolder(folder: string): void {
  for (const deadline = Date.now() + removeMsMax; ;) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (!["EBUSY", "ENOTEMPTY"].includes(code) || Date.now() > deadline) throw error;
    }
  }
}

export interface ServerProcess {
  pid: number;
  output(): string;
  /** exit code */
  ended: Promise<number | null>;
  /** Resolves when the output matches; throws when the process ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

/**
 * Runs `npm start -- <args>` in the project, or in another checkout of it, and collects its output. `bare` leaves npm out, which has exit codes of its
 * own and takes time.
 */
export function startProcess(args: readonly string[], { bare = false, checkout = root } = {}): ServerProcess {
  const [command, ...before] = bare ? [process.execPath, ...START] : ["npm", "start", "--silent", "--"];
  const child = spawn(command, [...before, ...args], { cwd: checkout, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => (text += chunk));
  }
  const ended = once(child, "close").then(([code]) => code as number | null);
  let over = false;
  void ended.then(() => (over = true));
  const printed = async (pattern: RegExp) => {
    const deadline = Date.now() + readyMsMax;
    for (;;) {
      const match = pattern.exec(text);
      if (match) return match;
      if (over || Date.now() > deadline) throw new Error(`the server ${over ? "ended" : "did not become ready"}:\n${text}`);
      await sleep(20);
    }
  };
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} could not be started`);
  endWithUs(child, () => signal(-pid, "SIGKILL"));
  return { output: () => text, ended, pid, printed };
}

/** What tests compare is to be the same on every machine: neither its address nor its name is told. */
const NOTHING_OWN = ["--var", "ADVERTISE_ADDRESSES=", "--var", "HOST_NAME="];
/** Clusters begin with the first write of a test, unless their beginning is what it looks at. */
const IMPLICIT_CLUSTERS = ["--var", "IMPLICIT_CLUSTERS=true"];

/**
 * Starts a server on the data folder and waits for its ready line. Its port is nobody else's until this process ends. `secure`: with HTTPS and
 * credentials, as `npm start` is without options. `checkout`: that of another release, whose variables may be others.
 */
export async function startServer(
  dataFolder: string,
  args: readonly string[] = [],
  { secure = false, checkout = root } = {},
): Promise<Server> {
  const open = secure ? [] : ["--insecure-http"];
  const own = checkout === root ? [...NOTHING_OWN, ...IMPLICIT_CLUSTERS] : NOTHING_OWN;
  const place = ["--port", String(await freePort()), "--data-dir", dataFolder];
  const process_ = startProcess([...place, ...open, ...own, ...args], { bare: true, checkout });
  const [, url = ""] = await process_.printed(/ready at (https?:\S+)/);
  const runner = pidIn(join(dataFolder, "runner.lock"));
  const runtime = pidIn(join(dataFolder, "workerd.json"));
  return {
    url,
    kubeconfig: join(dataFolder, "kubeconfig"),
    token: secure ? readFileSync(join(dataFolder, "admin-token"), "utf8").trim() : "",
    ca: secure ? readFileSync(join(dataFolder, "ca.crt"), "utf8") : "",
    runtimePid: runtime,
    output: process_.output,
    ended: process_.ended,
    interrupt: async () => {
      signal(-process_.pid, "SIGINT");
      const late = sleep(stopMsMax, "late", { ref: false });
      if ((await Promise.race([process_.ended, late])) === "late") throw new Error(`no stop after SIGINT:\n${process_.output()}`);
      if (existsSync(join(dataFolder, "runner.lock"))) throw new Error(`no clean stop:\n${process_.output()}`);
    },
    stop: async () => {
      signal(runner, "SIGTERM");
      await process_.ended;
    },
    kill: (what = "both") => {
      if (what !== "runtime") signal(runner, "SIGKILL");
      if (what !== "runner") signal(runtime, "SIGKILL");
      return what === "runner" ? Promise.resolve(null) : process_.ended;
    },
  };
}

/** On a connection of its own: the server closes one that rested for five seconds, which a busy process here may notice too late. */
export async function getJson<T = unknown>(url: string): Promise<T> {
  const response = await fetch(url, { headers: { Connection: "close" } });
  if (!response.ok) throw new Error(`GET ${url}: ${String(response.status)} ${await response.text()}`);
  return (await response.json()) as T;
}

function pidIn(file: string): number {
  return (JSON.parse(readFileSync(file, "utf8")) as { pid: number }).pid;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
