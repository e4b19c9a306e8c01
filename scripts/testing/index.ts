/** A server for the tests of programs that speak the Kubernetes API (docs/testing.md). */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { root } from "../running/root.mjs";
import { kubeconfig } from "../serve/kubeconfig";
import { makeTestFolder } from "./test-folder";

export interface TestServer {
  /** of the cluster `default`, without a slash at its end */
  readonly url: string;
  /** path of a kubeconfig for it */
  readonly kubeconfig: string;
  /**
   * Makes a cluster that shares nothing with the others. Without a name it gets one that no other has.
   *
   * @throws Error where the name is taken, or is none
   */
  cluster(name?: string): Promise<TestCluster>;
  /** Ends the server, and removes its data. Does nothing the second time. */
  stop(): Promise<void>;
}

export interface TestCluster {
  readonly name: string;
  /** without a slash at its end */
  readonly url: string;
  /** path of a kubeconfig for it */
  readonly kubeconfig: string;
}

export interface TestServerOptions {
  /** further options of `servicenet serve`, as ["--var", "LOG_LEVEL=debug"] */
  readonly args?: readonly string[];
}

/** What tests look at is the same on every machine: neither its address nor its name is told. */
const NOTHING_OWN = ["--var", "ADVERTISE_ADDRESSES=", "--var", "HOST_NAME="];
const READY = /ready at (http:\S+)/;
/** of what the server has written, for the message of a start that failed */
const OUTPUT_MAX = 10_000;

/**
 * Starts a server on a free port of loopback, over plain HTTP without credentials, with its data in memory where the system has such a place. It ends
 * with `stop()`, and with this process, however that ends.
 *
 * @throws Error with the server's own words where it does not start
 */
export async function startServicenet({ args = [] }: TestServerOptions = {}): Promise<TestServer> {
  const folder = makeTestFolder();
  const data = join(folder, "data");
  const command = join(root, "scripts", "packaging", "servicenet.mjs");
  const own = ["--port", "0", "--insecure-http", "--data-dir", data, ...NOTHING_OWN, ...args];
  const child = spawn(process.execPath, [command, "serve", ...own], {
    cwd: folder,
    // What selects another configuration, or another kind of Node, is meant for the tests.
    env: { ...process.env, NODE_OPTIONS: "", CLOUDFLARE_ENV: "", SERVICENET_ENDS_WITH_PARENT: "true" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const removeAll = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const endNow = (): void => {
    child.kill("SIGKILL");
    removeAll();
  };
  process.once("exit", endNow);
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    waitFor(child, true);
    child.kill("SIGTERM");
    await ended;
    process.off("exit", endNow);
    removeAll();
  };
  try {
    const url = await readyAt(child);
    // What the server writes is read on, so that it never waits for a reader.
    for (const stream of [child.stdout, child.stderr]) stream.removeAllListeners("data").resume();
    waitFor(child, false);
    let made = 0;
    return {
      url,
      kubeconfig: join(data, "kubeconfig"),
      cluster: (name = `test-${String(++made)}`) => makeCluster(url, folder, name),
      stop: () => (stopping ??= stop()),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** The address, once the server answers there. */
async function readyAt(child: Child): Promise<string> {
  let output = "";
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output = (output + text).slice(-OUTPUT_MAX);
        const [, url] = READY.exec(output) ?? [];
        if (url !== undefined) resolve(url);
      });
    }
    child.once("error", reject);
    child.once("close", () => reject(new Error(`Servicenet does not start: ${output.trim()}`)));
  });
}

/** Whether this process lives as long as the server: whoever forgets `stop()` is not kept from ending. */
function waitFor(child: Child, isWaiting: boolean): void {
  for (const one of [child, child.stdout as Socket, child.stderr as Socket]) {
    if (isWaiting) one.ref();
    else one.unref();
  }
}

async function makeCluster(server: string, folder: string, name: string): Promise<TestCluster> {
  const url = `${server}/clusters/${encodeURIComponent(name)}`;
  const answer = await fetch(url, { method: "PUT" });
  const text = await answer.text();
  if (answer.status === 200) throw new Error(`there is a cluster ${name} already`);
  if (!answer.ok) throw new Error(`cluster ${name}: ${String(answer.status)} ${text}`);
  const clusters = join(folder, "clusters");
  mkdirSync(clusters, { recursive: true });
  const path = join(clusters, name);
  writeFileSync(path, kubeconfig(url));
  return { name, url, kubeconfig: path };
}
