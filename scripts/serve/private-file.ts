/** Files of the data folder that only their owner reads. */
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

const OWNER_ALONE = 0o600;

/** The text, or undefined where there is no such file. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Replaces the file as a whole: a crash leaves the old one or the new one. */
export function writePrivate(path: string, text: string): void {
  const unfinished = `${path}.new`;
  // One that a crash left may have other rights.
  rmSync(unfinished, { force: true });
  const file = openSync(unfinished, "wx", OWNER_ALONE);
  try {
    // writeSync may write a part, as on a disk that is just full.
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  chmodSync(unfinished, OWNER_ALONE);
  renameSync(unfinished, path);
}
