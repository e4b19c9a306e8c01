/**
 * Texts that one start keeps for the next one, below node_modules, under the hash of all that they are made of. A kept text has its own hash in its first
 * line: a file that a crash cut short is none.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const keptFolder = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "servicenet");
/** After this time a text of another hash is deleted. */
const KEPT_MS_MAX = 86_400_000;

/** undefined: there is none. */
export function readKept(folder: string, hash: string): string | undefined {
  try {
    const file = readFileSync(join(folder, hash), "utf8");
    const end = file.indexOf("\n");
    const text = file.slice(end + 1);
    return file.slice(0, end) === hashOfText(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Where nothing can be written, the next start finds none. What a full disk left here is deleted after a day. */
export function keep(folder: string, hash: string, text: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) {
      const other = join(folder, name);
      if (Date.now() - statSync(other).mtimeMs > KEPT_MS_MAX) rmSync(other, { force: true });
    }
    const unfinished = join(folder, `${hash}.${String(process.pid)}`);
    writeFileSync(unfinished, `${hashOfText(text)}\n${text}`);
    renameSync(unfinished, join(folder, hash));
  } catch {
    return;
  }
}

function hashOfText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
