/** One process at a time installs. The lock of a process that has died is nobody's. */
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const LOOK_EVERY_MS = 100;

/**
 * Takes the lock, and waits for the process that has it. Returns what gives it up.
 * @param {string} path of the lock; its folder is made
 * @param {(pid: number) => void} [onWait] called once before a wait
 * @returns {Promise<() => void>}
 */
export async function takeLock(path, onWait = () => undefined) {
  mkdirSync(dirname(path), { recursive: true });
  const own = `${path}.${String(process.pid)}`;
  writeFileSync(own, identityOf(process.pid) ?? String(process.pid));
  let isTold = false;
  try {
    for (;;) {
      // The link of a finished file appears whole, and only once.
      if (tryLink(own, path)) return () => rmSync(path, { force: true });
      const holder = readIfThere(path);
      if (holder !== undefined && isAlive(holder)) {
        if (!isTold) onWait(Number.parseInt(holder, 10));
        isTold = true;
        await sleep(LOOK_EVERY_MS);
      } else removeDead(own, path);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * A second, short-lived lock guards the removal: of two processes that see a dead holder, the later one would remove the lock of the earlier one.
 * @param {string} own
 * @param {string} path
 */
function removeDead(own, path) {
  const takeover = `${path}.takeover`;
  if (!tryLink(own, takeover)) {
    const holder = readIfThere(takeover);
    if (holder !== undefined && !isAlive(holder)) rmSync(takeover, { force: true });
    return;
  }
  try {
    const holder = readIfThere(path);
    if (holder !== undefined && !isAlive(holder)) rmSync(path, { force: true });
  } finally {
    rmSync(takeover, { force: true });
  }
}

/** @param {string} identity */
function isAlive(identity) {
  return identityOf(Number.parseInt(identity, 10)) === identity;
}

/**
 * Number and, where /proc has it, start of a running process; undefined = there is none of that number.
 * @param {number} pid
 * @returns {string | undefined}
 */
function identityOf(pid) {
  const stat = readIfThere(`/proc/${String(pid)}/stat`);
  if (stat !== undefined) {
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? undefined : `${String(pid)} ${fields[18] ?? ""} ${readIfThere("/proc/sys/kernel/random/boot_id") ?? ""}`.trim();
  }
  try {
    process.kill(pid, 0);
    return String(pid);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM" ? String(pid) : undefined;
  }
}

/**
 * @param {string} from
 * @param {string} to
 */
function tryLink(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EEXIST") return false;
    throw error;
  }
}

/** @param {string} path */
function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
