/**
 * Disks that fail under a running server. A full or read-only disk needs mounts, hence root and a loop device. Without them a limit on the size of
 * files stands in, which any user may set: every write fails then.
 */
import { execFileSync } from "node:child_process";
import { closeSync, copyFileSync, mkdirSync, openSync, rmSync, statfsSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { removeFolder, temporaryFolder } from "./server";
import type { Server } from "./server";

export interface Disk {
  /** the fault, for titles */
  fails: string;
  /** the place of the server's data */
  folder: string;
  /** Makes writes fail. */
  break(server: Server): void;
  /** Makes writes succeed again. undefined: not while the disk is in use; `replace` does it. */
  mend: ((server: Server) => void) | undefined;
  /** Mends the disk while no server runs. */
  replace(): void;
  remove(): void;
}

const SPACE_MIB = 48;
const BLOCK_BYTES = 4096;

/** A file system of its own that another file fills to the last block. */
export function fullDisk(): Disk {
  const folder = temporaryFolder();
  const problem = tried("mount", "-t", "tmpfs", "-o", `size=${String(SPACE_MIB)}m`, "tmpfs", folder);
  if (problem !== undefined) return limited(folder, problem);
  const ballast = join(folder, "ballast");
  const mend = () => rmSync(ballast, { force: true });
  return {
    fails: "is full",
    folder: join(folder, "data"),
    break: () => {
      const file = openSync(ballast, "w");
      const block = Buffer.alloc(BLOCK_BYTES, "x");
      try {
        for (;;) writeSync(file, block);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      } finally {
        closeSync(file);
      }
      if (statfsSync(folder).bavail > 0) throw new Error("the disk is not full");
    },
    mend,
    replace: mend,
    remove: () => unmount(folder),
  };
}

/** A file system that turns read-only, as after an error of its own. Only a new mount makes it writable again. */
export function readOnlyDisk(): Disk {
  const folder = temporaryFolder();
  const image = join(folder, "image");
  const mounted = join(folder, "mounted");
  writeFileSync(image, "");
  truncateSync(image, SPACE_MIB * 2 ** 20);
  mkdirSync(mounted);
  const mount = (file: string) => tried("mount", "-o", "loop,errors=remount-ro", file, mounted);
  const problem = tried("mkfs.ext4", "-q", "-F", image) ?? mount(image);
  if (problem !== undefined) return limited(folder, problem);
  return {
    fails: "turns read-only",
    folder: join(mounted, "data"),
    break: () => {
      const device = execFileSync("findmnt", ["-n", "-o", "SOURCE", mounted], { encoding: "utf8" }).trim().replace("/dev/", "");
      writeFileSync(`/sys/fs/ext4/${device}/trigger_fs_error`, "1");
    },
    mend: undefined,
    replace: () => {
      execFileSync("umount", [mounted]);
      // A mount namespace that was made meanwhile, as that of a network, still holds the file system that failed. So a copy is mounted.
      const copy = join(folder, "copy");
      copyFileSync(image, copy);
      tried("fsck.ext4", "-p", copy);
      const why = mount(copy);
      if (why !== undefined) throw new Error(why);
    },
    remove: () => {
      tried("umount", "-l", mounted);
      removeFolder(folder);
    },
  };
}

/** No file can be written, as with a quota. It works where nothing can be mounted. */
export function limitedDisk(): Disk {
  return limited(temporaryFolder(), "");
}

function limited(folder: string, because: string): Disk {
  if (because !== "") console.warn(`no file system of its own (${because}): a limit on the size of files instead`);
  const limit = (server: Server, bytes: string) => {
    execFileSync("prlimit", ["--pid", String(server.runtimePid), `--fsize=${bytes}:unlimited`]);
  };
  return {
    fails: `takes no more${because === "" ? "" : " (for want of a mount)"}`,
    folder: join(folder, "data"),
    break: (server) => limit(server, "0"),
    mend: (server) => limit(server, "unlimited"),
    replace: () => undefined,
    remove: () => removeFolder(folder),
  };
}

function unmount(folder: string): void {
  tried("umount", "-l", folder);
  removeFolder(folder);
}

/** What went wrong, in one line, or undefined. */
function tried(command: string, ...args: string[]): string | undefined {
  try {
    execFileSync(command, args, { stdio: ["ignore", "ignore", "pipe"] });
    return undefined;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: Buffer };
    return (stderr?.toString() ?? message).trim().split("\n")[0];
  }
}
