/** What another process has had written to disk. Linux only: elsewhere the figures are left out. */
import { readFileSync } from "node:fs";

/** Bytes of the pages that the process has changed in files so far; undefined where the system does not show it. */
export function writtenToDisk(pid: number): number | undefined {
  try {
    const bytes = /^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${String(pid)}/io`, "utf8"))?.[1];
    return bytes === undefined ? undefined : Number(bytes);
  } catch {
    return undefined;
  }
}
