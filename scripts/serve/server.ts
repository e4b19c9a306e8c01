/** One local server from start to stop. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, isIPv6 } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Miniflare } from "miniflare";
import { END_WATCHES } from "../../src/worker/routing/stop-signal";
import { checkVars } from "./check-vars";
import { startCrons } from "./crons";
import { openDataFolder } from "./data-folder";
import type { DataFolder } from "./data-folder";
import { kubeconfig } from "./kubeconfig";
import type { ServeOptions } from "./options";
import { childrenNamed, isRunning } from "./processes";
import type { ProcessIdentity } from "./processes";
import { createRuntime, readRuntimeConfig } from "./runtime";
import { ownSignals } from "./signals";
import { UserError } from "./user-error";

const readyMsMax = 60_000;
const watchIntervalMs = 500;
const stopMsMax = 5_000;
const endWatchesMsMax = 2_000;
/** for the ends of bodies to reach the sockets */
const lastBytesMs = 100;

/**
 * Serves until `stopped` is aborted (resolves with exit code 0) or the runtime dies (1); `onReady` is called once /readyz answers 200.
 * Throws UserError for what the user can put right: variables, port, data folder.
 */
export async function serve(
  options: ServeOptions,
  stopped: AbortController,
  onReady: (at: { url: string; folder: DataFolder }) => void,
): Promise<number> {
  const stop = stopped.signal;
  const config = readRuntimeConfig(options.configPath, options.vars);
  checkVars(config.vars);
  const folder = await openDataFolder(options.dataFolder, options.fresh);
  let runtime: Miniflare | undefined;
  let url: string | undefined;
  let crons: { stop(): void } | undefined;
  const recording = recordRuntime(folder);
  try {
    await assertPortFree(options);
    runtime = await createRuntime(config, { host: options.host, port: options.port, statePath: folder.statePath });
    ownSignals(() => stopped.abort());
    await runtime.ready;
    const direct = await runtime.unsafeGetDirectURL(config.name, "direct");
    const process = await recording.found;
    url = urlOf(options.host, Number(direct.port));
    if (!(await untilReady(url, stop))) return 0;
    writeFileSync(folder.kubeconfigPath, kubeconfig(url), { mode: 0o600 });
    crons = await fireCrons(runtime, config.name, config.crons);
    onReady({ url, folder });
    if (!process) await once(stop, "abort");
    else if (!(await untilDead(process, stop))) {
      console.error(`servicenet: the runtime (workerd, process ${String(process.pid)}) has ended; stopping`);
      return 1;
    }
    return 0;
  } finally {
    crons?.stop();
    recording.stop();
    if (runtime && url !== undefined) await Promise.race([endWatches(runtime, config.name), sleep(endWatchesMsMax)]);
    if (runtime) await Promise.race([runtime.dispose().catch(() => undefined), sleep(stopMsMax)]);
    endChildren();
    folder.release();
  }
}

/** Notes the identity of workerd as soon as it exists: a kill -9 may come before it is ready. */
function recordRuntime(folder: DataFolder): { found: Promise<ProcessIdentity | undefined>; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  const found = new Promise<ProcessIdentity | undefined>((resolve) => {
    const deadline = Date.now() + readyMsMax;
    timer = setInterval(() => {
      const [child] = childrenNamed(process.pid, "workerd");
      if (!child && Date.now() < deadline) return;
      clearInterval(timer);
      if (child) folder.recordRuntime(child);
      resolve(child);
    }, 10);
  });
  return { found, stop: () => clearInterval(timer) };
}

function endChildren(): void {
  for (const child of childrenNamed(process.pid, "workerd")) process.kill(child.pid, "SIGKILL");
}

async function assertPortFree({ host, port }: { host: string; port: number }): Promise<void> {
  const probe = createServer().listen({ host, port, exclusive: true });
  try {
    await once(probe, "listening");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") throw new UserError(`port ${String(port)} on ${host} is already in use; choose another one with --port`);
    throw new UserError(`cannot listen on ${host} port ${String(port)} (${code ?? String(error)})`);
  }
  probe.close();
  await once(probe, "close");
}

/** Waits until /readyz answers 200; false when stopped before. */
async function untilReady(url: string, stop: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + readyMsMax;
  let last: string;
  while (!stop.aborted) {
    try {
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.any([stop, AbortSignal.timeout(readyMsMax)]) });
      const body = await response.text();
      if (response.ok) return true;
      last = `${String(response.status)} ${body}`;
    } catch (error) {
      last = String(error);
    }
    if (Date.now() > deadline) throw new UserError(`the server did not become ready within ${String(readyMsMax / 1000)} s: ${last.trim()}`);
    await sleep(50, undefined, { signal: stop }).catch(() => undefined);
  }
  return false;
}

/**
 * Resolves when it is time to stop (true) or when the runtime has died by itself (false).
 *
 * Started by npm, the end of the parent is a stop as well: npm passes SIGTERM on to its shell, and few shells pass it on to us.
 */
async function untilDead(runtime: ProcessIdentity, stop: AbortSignal): Promise<boolean> {
  const parent = process.env["npm_lifecycle_event"] === undefined ? undefined : process.ppid;
  while (!stop.aborted) {
    await sleep(watchIntervalMs, undefined, { signal: stop }).catch(() => undefined);
    if (parent !== undefined && process.ppid !== parent) return true;
    if (isRunning(runtime)) continue;
    // A SIGTERM to the whole process group: workerd may be gone a moment before our own handler has run.
    await sleep(watchIntervalMs, undefined, { signal: stop }).catch(() => undefined);
    return stop.aborted;
  }
  return true;
}

/** Clients whose watch ends properly watch again; the official JavaScript informer gives up on one whose connection breaks. */
async function endWatches(runtime: Miniflare, name: string): Promise<void> {
  try {
    const worker = await runtime.getWorker(name);
    await worker.scheduled({ cron: END_WATCHES });
    await sleep(lastBytesMs);
  } catch {
    // The runtime is gone already, and its watches with it.
  }
}

async function fireCrons(runtime: Miniflare, name: string, crons: string[]): Promise<{ stop(): void }> {
  const worker = await runtime.getWorker(name);
  return startCrons(crons, (cron, scheduledTime) => {
    worker.scheduled({ cron, scheduledTime: new Date(scheduledTime) }).then(
      (result) => {
        if (result.outcome !== "ok") console.error(`servicenet: cron "${cron}" ended with ${result.outcome}`);
      },
      (error: unknown) => {
        console.error(`servicenet: cron "${cron}" failed: ${String(error)}`);
      },
    );
  });
}

function urlOf(host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${String(port)}`;
}
