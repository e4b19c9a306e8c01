/**
 * The data folder: one runner at a time, and no runtime of an earlier runner still writing in it.
 *
 *   state/        what the runtime keeps (SQLite files of the Durable Objects, KV)
 *   kubeconfig    for kubectl
 *   ca.crt, ca.key, server.crt, server.key   certificates (tls/kept-certificates.ts)
 *   admin-token   the token of the administrator
 *   .servicenet-data   says that the folder is a server's (own-data.ts)
 *   runner.lock   identity of the runner that uses the folder
 *   workerd.json  identity of its runtime, so that the next runner can end one that outlived a kill -9
 *   runtime-folder   path of the folder with its socket (workerd/socket-folder.ts)
 *   runtime.capnp, runtime.js   its configuration, and its code where that is kept nowhere else; until it has read them
 */
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { takeFolder } from "../folders/own-folder";
import { DATA_FOLDER } from "./own-data";
import { removeState } from "./own-state";
import { identify, isRunning } from "./processes";
import type { ProcessIdentity } from "./processes";
import { UserError } from "../terminal/user-error";

const takeoverMsMax = 10_000;
const endWaitMsMax = 10_000;

export interface DataFolder {
  path: string;
  statePath: string;
  kubeconfigPath: string;
  adminTokenPath: string;
  /** Stores the identity of the runtime, for a successor that has to end it. */
  recordRuntime(runtime: ProcessIdentity): void;
  /** false once the folder was removed, or belongs to another runner */
  isThere: () => boolean;
  /** Calls `work` soon after something in the folder itself was removed or made, where the system tells of that; until the returned function is called. */
  onChange(work: () => void): () => void;
  /** Gives the folder up. */
  release(): void;
}

/**
 * Takes the folder for this process, creating it when it is missing. Throws UserError when it cannot be written, has files of somebody else, or another
 * runner uses it. A runtime left by a killed runner is ended first. `fresh` removes the kept state.
 */
export async function openDataFolder(path: string, fresh: boolean): Promise<DataFolder> {
  const self = identify(process.pid) ?? { pid: process.pid, startedAt: "unknown" };
  const file = (name: string) => join(path, name);
  takeFolder(path, DATA_FOLDER);
  assertWritable(path, file(`.probe-${String(process.pid)}`));
  lock(file("runner.lock"), self, path);
  try {
    await endLeftover(file("workerd.json"));
    if (fresh) removeState(path);
    mkdirSync(file("state"), { recursive: true });
    // Secrets and signing keys are in files that the runtime makes for everybody to read.
    chmodSync(file("state"), 0o700);
  } catch (error) {
    rmSync(file("runner.lock"), { force: true });
    throw new UserError(`the data folder ${path} cannot be used (${reasonOf(error)})`);
  }
  return {
    path,
    statePath: file("state"),
    kubeconfigPath: file("kubeconfig"),
    adminTokenPath: file("admin-token"),
    recordRuntime: (runtime) => {
      writeWhole(file("workerd.json"), JSON.stringify(runtime));
    },
    isThere: () => isLockOf(self, file("runner.lock")),
    onChange: (work) => watchFolder(path, work),
    release: () => {
      for (const name of ["workerd.json", "runner.lock"]) unlinkIfPossible(file(name));
    },
  };
}

function assertWritable(path: string, probe: string): void {
  try {
    // An empty file finds room on a full disk.
    try {
      writeFileSync(probe, "x");
    } finally {
      rmSync(probe, { force: true });
    }
  } catch (error) {
    throw new UserError(`the data folder ${path} is not writable (${reasonOf(error)})`);
  }
}

/**
 * Makes the lock file ours. The link of a finished file appears whole, and only once. A second, short-lived file guards the replacement of a dead
 * runner's file: of two successors one wins, and the other sees a living lock.
 */
function lock(path: string, self: ProcessIdentity, folder: string): void {
  const own = `${path}.${String(self.pid)}`;
  writeFileSync(own, JSON.stringify(self));
  try {
    if (tryLink(own, path)) return;
    const takeover = `${path}.takeover`;
    if (!tryLink(own, takeover)) {
      if (ageMs(takeover) > takeoverMsMax) rmSync(takeover, { force: true });
      throw new UserError(`the data folder ${folder} is being taken by another runner; try again`);
    }
    try {
      const holder = readIdentity(path);
      if (holder && isRunning(holder)) {
        throw new UserError(
          `the data folder ${folder} is in use by process ${String(holder.pid)}; stop it or choose another one with --data-dir`,
        );
      }
      rmSync(path, { force: true });
      if (!tryLink(own, path)) throw new UserError(`the data folder ${folder} was taken by another runner; try again`);
    } finally {
      rmSync(takeover, { force: true });
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/** Only a lock that is gone or names another runner is not ours. A lock that cannot be read is: the disk may be broken for a while. */
function isLockOf(self: ProcessIdentity, path: string): boolean {
  if (!existsSync(path)) return false;
  const holder = readIdentity(path);
  return !holder || (holder.pid === self.pid && holder.startedAt === self.startedAt);
}

function watchFolder(path: string, work: () => void): () => void {
  try {
    const watcher = watch(path, { persistent: false }, work);
    // Whoever asks now and then learns of it later.
    watcher.on("error", () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => undefined;
  }
}

async function endLeftover(path: string): Promise<void> {
  const runtime = readIdentity(path);
  if (runtime && isRunning(runtime)) {
    process.kill(runtime.pid, "SIGKILL");
    const deadline = Date.now() + endWaitMsMax;
    while (isRunning(runtime)) {
      if (Date.now() > deadline) throw new Error(`the runtime of an earlier start, process ${String(runtime.pid)}, does not end`);
      await sleep(20);
    }
  }
  rmSync(path, { force: true });
}

/** A folder that became read-only keeps its files. The next runner finds their processes gone. */
function unlinkIfPossible(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (existsSync(path)) console.error(`servicenet: ${path} cannot be removed (${reasonOf(error)})`);
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function readIdentity(path: string): ProcessIdentity | undefined {
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as Partial<ProcessIdentity>;
    return typeof value.pid === "number" && typeof value.startedAt === "string"
      ? { pid: value.pid, startedAt: value.startedAt }
      : undefined;
  } catch {
    return undefined;
  }
}

function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

function ageMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);
}
