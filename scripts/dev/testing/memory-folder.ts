/** A folder in memory for what tests write: a write there waits for no disk. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../../testing/process-alive";

/** The file system in memory that Linux has. */
const MEMORY = "/dev/shm";
/** Several times what the tests need. */
const BYTES_MIN = 2 ** 30;
const PREFIX = "servicenet-";
/** Its name has the id of the process that made it. */
const FOLDER = new RegExp(`^${PREFIX}(\\d+)-\\w+$`);

/**
 * The environment of tests that write to memory: an empty folder for temporary files, until this process ends. Empty where there is no such file
 * system, where it is small, as in many a container, and where programs may not run from it, as tests do. Folders of processes that were killed go
 * first. `beforeEnd` ends who writes there: a signal waits for it.
 */
export function inMemory({ memory = MEMORY, beforeEnd }: { memory?: string; beforeEnd: () => Promise<void> }): { TMPDIR?: string } {
  removeLeft(memory);
  const folder = folderIn(memory);
  if (folder === undefined) return {};
  process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void beforeEnd().finally(() => process.exit(1)));
  return { TMPDIR: folder };
}

function removeLeft(memory: string): void {
  for (const name of existsSync(memory) ? readdirSync(memory) : []) {
    const pid = FOLDER.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      rmSync(join(memory, name), { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // It is another user's.
    }
  }
}

function folderIn(memory: string): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < BYTES_MIN) return undefined;
    const folder = mkdtempSync(join(memory, `${PREFIX}${String(process.pid)}-`));
    if (runsPrograms(folder)) return folder;
    rmSync(folder, { recursive: true });
  } catch {
    // As where there is none.
  }
  return undefined;
}

function runsPrograms(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}
