/** The folder of a server for tests: in memory, where the system has such a file system, and gone with its process. */
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive } from "./process-alive";

/** The file system in memory that Linux has. */
const MEMORY = "/dev/shm";
/** Ten times what a server of many clusters writes. In a container the file system may be smaller. */
const MEMORY_BYTES_MIN = 512 * 2 ** 20;
/** Containers may share the file system and not see each other's processes. */
const PREFIX = `servicenet-testing-${processNamespace()}-`;
/** The name has the number of the process that made it. */
const FOLDER = new RegExp(`^${PREFIX}(\\d+)-\\w+$`);

/** A new, empty folder of this process. Those that killed processes have left go first. */
export function makeTestFolder(): string {
  const parent = hasMemory() ? MEMORY : tmpdir();
  for (const name of readdirSync(parent)) {
    const pid = FOLDER.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) removeIfOurs(join(parent, name));
  }
  return mkdtempSync(join(parent, `${PREFIX}${String(process.pid)}-`));
}

/** The number of the namespace in which this process has its number; 0 where the system has no such. */
function processNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    return "0";
  }
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return existsSync(MEMORY) && bavail * bsize >= MEMORY_BYTES_MIN;
  } catch {
    return false;
  }
}

function removeIfOurs(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // It is another user's.
  }
}
