/** Writes a backup: a whole file, or no file. */
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { beginsAsBackup, endLine, headerLine, sectionLines } from "../../src/tools/backup/format";
import type { BackupHeader, BackupSection } from "../../src/tools/backup/format";
import { shownPath } from "../folders/user-path";
import { UserError } from "../terminal/user-error";

/** Characters that are written at once. */
const CHUNK = 1 << 20;

/** Characters at the begin of a file that show what it is. */
const BEGIN = 256;

/** Throws UserError for a file of something else, and for what is no file: a backup takes its name. */
export function assertReplaceable(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return;
  if (!stats.isFile() || (stats.size > 0 && !beginsAsBackup(beginOf(path))))
    throw new UserError(`--file ${shownPath(path)} is there and no backup; choose another name`);
}

function beginOf(path: string): string {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(BEGIN);
    return buffer.toString("utf8", 0, readSync(file, buffer));
  } finally {
    closeSync(file);
  }
}

/** Resolves when the file is on disk under its name. Throws UserError when it cannot be written; then there is no new file. */
export async function writeBackup(
  path: string,
  { header, sections }: { header: BackupHeader; sections: readonly BackupSection[] },
): Promise<void> {
  const partial = `${path}.partial-${process.pid}`;
  try {
    const file = await open(partial, "w", 0o600);
    try {
      const hash = createHash("sha256");
      let chunk = "";
      const flush = async (): Promise<void> => {
        hash.update(chunk);
        // On a disk that is nearly full `write` may take a part of the text without an error.
        await file.appendFile(chunk);
        chunk = "";
      };
      for (const line of [headerLine(header), ...sections.flatMap(sectionLines)]) {
        chunk += `${line}\n`;
        if (chunk.length >= CHUNK) await flush();
      }
      await flush();
      const objects = sections.reduce((sum, section) => sum + section.objects.length, 0);
      await file.appendFile(`${endLine({ types: sections.length, objects, sha256: hash.digest("hex") })}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw new UserError(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}
