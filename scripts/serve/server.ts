/** One local server from start to stop. */
import { once } from "node:events";
import { createServer, isIPv6 } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { diskFaultIn } from "../../src/core/base/disk-fault";
import { FEW_CONNECTIONS, MANY_CONNECTIONS } from "../../src/worker/routing/connections-signal";
import { RENEW_IDENTITY } from "../../src/worker/routing/identity-signal";
import { END_WATCHES, REFUSE_REQUESTS } from "../../src/worker/routing/stop-signal";
import { begin, read } from "../cluster/send";
import { watchConnections } from "./connections";
import { startCrons } from "./crons";
import { openDataFolder } from "./data-folder";
import type { DataFolder } from "./data-folder";
import { type Credentials, kubeconfig } from "./kubeconfig";
import type { ServeOptions } from "./options";
import { readyPath } from "./ready-path";
import { type Lifeline, tieToUs } from "./lifeline";
import { childrenNamed, isRunning } from "./processes";
import type { ProcessIdentity } from "./processes";
import { writePrivate } from "./private-file";
import { createRuntime, type LocalRuntime } from "./runtime";
import { secured } from "./security";
import { UserError } from "../terminal/user-error";

const EXIT_STOPPED = 0;
const EXIT_DIED = 1;
const readyMsMax = 60_000;
const watchIntervalMs = 500;
const stopMsMax = 5_000;
const tickMsMin = 100;
/** longer ones no timer takes */
const tickMsMax = 3_600_000;
const endWatchesMsMax = 2_000;
/** time for the ends of bodies to reach the sockets */
const lastBytesMs = 100;
/** how long clients are told that the data is gone */
const refuseMs = 1_000;
/** for the answers under way when the runtime is asked to end */
const drainMsMax = 2_000;

interface Announcer {
  /** /readyz answers 200. `host`: the address that the server listens on. It differs from that of `url` when the server listens on every address. */
  ready(at: { url: string; host: string; folder: DataFolder }): void;
  /** The server has ended on request. */
  stopped(folder: DataFolder): void;
}

/** Why a server ends. */
type End = "asked" | "runtime" | "folder";

/**
 * Serves until `stop` is aborted (resolves with exit code 0), or until the runtime dies or the data folder goes (1).
 * Throws UserError for what the user can put right: port, data folder.
 */
export async function serve(options: ServeOptions, stop: AbortSignal, announce: Announcer): Promise<number> {
  const { config } = options;
  const folder = await openDataFolder(options.dataFolder, options.fresh);
  let runtime: LocalRuntime | undefined;
  let url: string | undefined;
  let crons: { stop(): void } | undefined;
  let renewals: { stop(): void } | undefined;
  let connections: { stop(): void } | undefined;
  const recording = recordRuntime(folder, () => runtime?.folder ?? "");
  let end: End | undefined;
  try {
    if (stop.aborted) {
      end = "asked";
      return EXIT_STOPPED;
    }
    await assertPortFree(options);
    const { host, port, allowedHosts } = options;
    const security = options.isInsecure ? undefined : await secured(folder, host, allowedHosts);
    const tell = (at: string): void => writeKubeconfig(folder, at, security?.client);
    const scheme = security ? "https" : "http";
    // Whoever waits for /readyz uses it next. A port that the system is to choose is told to nobody before.
    if (port !== 0) tell(urlOf(scheme, host, port));
    const listen = { host, port, allowedHosts, dataPath: folder.path, statePath: folder.statePath, secure: security?.server };
    let fault: string | undefined;
    let isReady = false;
    runtime = createRuntime(config, listen, {
      format: options.log,
      // Without its folder the runtime complains of every file that it cannot open. A disk that refuses a start is told in one line.
      isWanted: () => folder.isThere() && (isReady || fault === undefined),
      onError: (text) => (fault ??= isReady ? undefined : diskFaultIn(text)),
    });
    const refused = (): UserError | undefined =>
      fault === undefined ? undefined : new UserError(`the data folder ${folder.path} cannot be used: ${fault}`);
    const boundPort = await runtime.port.catch((error: unknown) => {
      throw refused() ?? error;
    });
    const process = await recording.found;
    url = urlOf(scheme, host, boundPort);
    if (port === 0) tell(url);
    if (
      !(await untilReady({ url, ca: security?.client.ca, hasEnded: () => process !== undefined && !isRunning(process), refused }, stop))
    ) {
      end = "asked";
      return EXIT_STOPPED;
    }
    crons = fireCrons(runtime, config.crons);
    renewals = renewIdentity(runtime, options.renewSeconds);
    connections = tellConnections(runtime, boundPort);
    isReady = true;
    announce.ready({ url, host, folder });
    end = await untilEnd(process, folder, stop);
    if (end === "asked") return EXIT_STOPPED;
    if (end === "folder") {
      console.error(`servicenet: the data folder ${folder.path} was removed while the server used it; stopping`);
      await signalWorker(runtime, REFUSE_REQUESTS);
      await sleep(refuseMs, undefined, { signal: stop }).catch(() => undefined);
    } else console.error(`servicenet: the runtime (workerd, process ${String(process?.pid)}) has ended; stopping`);
    return EXIT_DIED;
  } finally {
    crons?.stop();
    renewals?.stop();
    connections?.stop();
    recording.stop();
    if (runtime && url !== undefined) await Promise.race([endWatches(runtime), sleep(endWatchesMsMax)]);
    await drain();
    if (runtime) await Promise.race([runtime.dispose().catch(() => undefined), sleep(stopMsMax)]);
    endChildren();
    recording.cut();
    folder.release();
    if (end === "asked") announce.stopped(folder);
  }
}

function writeKubeconfig({ path, kubeconfigPath }: DataFolder, url: string, client: Credentials | undefined): void {
  try {
    writePrivate(kubeconfigPath, kubeconfig(url, client));
  } catch (error) {
    throw new UserError(`the data folder ${path} cannot be used (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
}

interface Recording {
  found: Promise<ProcessIdentity | undefined>;
  stop(): void;
  /** The runtime has ended. */
  cut(): void;
}

/** Notes the identity of workerd and ties it to this process as soon as it exists: a kill -9 may come before it is ready. */
function recordRuntime(folder: DataFolder, folderOfRun: () => string): Recording {
  let timer: NodeJS.Timeout | undefined;
  let lifeline: Lifeline | undefined;
  const found = new Promise<ProcessIdentity | undefined>((resolve) => {
    const deadline = Date.now() + readyMsMax;
    timer = setInterval(() => {
      const [child] = childrenNamed(process.pid, "workerd");
      if (!child && Date.now() < deadline) return;
      clearInterval(timer);
      if (child) {
        lifeline = tieToUs(child, folderOfRun());
        folder.recordRuntime(child);
      }
      resolve(child);
    }, 10);
  });
  return { found, stop: () => clearInterval(timer), cut: () => lifeline?.cut() };
}

/** The runtime takes no more connections, answers the requests under way, and ends. */
async function drain(): Promise<void> {
  const runtimes = childrenNamed(process.pid, "workerd");
  for (const { pid } of runtimes) process.kill(pid, "SIGTERM");
  const deadline = Date.now() + drainMsMax;
  while (runtimes.some(isRunning) && Date.now() < deadline) await sleep(20);
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

interface Starting {
  url: string;
  /** of the server's certificate */
  ca: string | undefined;
  /** whether the runtime has ended */
  hasEnded: () => boolean;
  /** what the disk has refused */
  refused: () => UserError | undefined;
}

/** Waits until /readyz answers 200; false when stopped before. */
async function untilReady({ url, ca, hasEnded, refused }: Starting, stop: AbortSignal): Promise<boolean> {
  const begunMs = Date.now();
  const deadline = begunMs + readyMsMax;
  let last: string;
  while (!stop.aborted) {
    try {
      const signal = AbortSignal.any([stop, AbortSignal.timeout(readyMsMax)]);
      const options = { agent: false as const, ...(ca === undefined ? {} : { ca }) };
      const { status, text } = await read(await begin({ url, options }, "GET", readyPath(Date.now() - begunMs), { signal }));
      if (status === 200) return true;
      last = `${String(status)} ${text}`;
    } catch (error) {
      last = String(error);
    }
    // A signal to the whole process group may end the runtime a moment before our own handler has run.
    if (hasEnded()) await sleep(watchIntervalMs, undefined, { signal: stop }).catch(() => undefined);
    if (hasEnded() && !stop.aborted) throw refused() ?? new UserError("the runtime (workerd) has ended before it was ready");
    if (Date.now() > deadline)
      throw refused() ?? new UserError(`the server did not become ready within ${String(readyMsMax / 1000)} s: ${last.trim()}`);
    await sleep(50, undefined, { signal: stop }).catch(() => undefined);
  }
  return false;
}

/** Waits for the end of the server. */
async function untilEnd(runtime: ProcessIdentity | undefined, folder: DataFolder, stop: AbortSignal): Promise<End> {
  let look: () => void = () => undefined;
  const unwatch = folder.onChange(() => look());
  const pause = (): Promise<void> => sleep(watchIntervalMs, undefined, { signal: stop }).catch(() => undefined);
  try {
    while (!stop.aborted) {
      await Promise.race([pause(), new Promise<void>((resolve) => (look = resolve))]);
      if (!folder.isThere()) return "folder";
      if (!runtime || isRunning(runtime)) continue;
      // A SIGTERM to the whole process group: workerd may be gone a moment before our own handler has run.
      await pause();
      if (!stop.aborted) return "runtime";
    }
    return "asked";
  } finally {
    unwatch();
  }
}

/** Clients whose watch ends properly watch again. The official JavaScript informer gives up on a broken connection. */
async function endWatches(runtime: LocalRuntime): Promise<void> {
  if (await signalWorker(runtime, END_WATCHES)) await sleep(lastBytesMs);
}

/** Tells the Worker by a "cron" that nothing else fires; false when the runtime is gone already, and its watches with it. */
async function signalWorker(runtime: LocalRuntime, cron: string): Promise<boolean> {
  try {
    await runtime.fire(cron);
    return true;
  } catch {
    return false;
  }
}

/**
 * Has the Worker renew its identity Lease at once and then in each interval: a server that nobody asks is there, too. The Worker knows when a renewal
 * is due, and a tick before does nothing. Ten ticks in an interval: a renewal is late by a tenth of it at most.
 */
function renewIdentity(runtime: LocalRuntime, intervalSeconds: number): { stop(): void } {
  const tick = (): void => void signalWorker(runtime, RENEW_IDENTITY);
  const timer = setInterval(tick, Math.min(Math.max(tickMsMin, intervalSeconds * 100), tickMsMax));
  tick();
  return { stop: () => clearInterval(timer) };
}

/** Beside many connections the Worker sees to it that the runtime gets round to each. */
function tellConnections(runtime: LocalRuntime, port: number): { stop(): void } {
  return watchConnections(port, (areMany) => signalWorker(runtime, areMany ? MANY_CONNECTIONS : FEW_CONNECTIONS));
}

function fireCrons(runtime: LocalRuntime, crons: string[]): { stop(): void } {
  return startCrons(crons, (cron, scheduledTime) => {
    runtime.fire(cron, scheduledTime).then(
      (outcome) => {
        if (outcome !== "ok") console.error(`servicenet: cron "${cron}" ended with ${outcome}`);
      },
      (error: unknown) => {
        console.error(`servicenet: cron "${cron}" failed: ${String(error)}`);
      },
    );
  });
}

function urlOf(scheme: "http" | "https", host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `${scheme}://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${String(port)}`;
}
