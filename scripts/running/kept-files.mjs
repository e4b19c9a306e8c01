/**
 * Modules that one start keeps for the next one, below node_modules, under the hash of all that they are made of. The first line of a kept module is the
 * hash of its text: a file that a crash cut short is none. A release brings such files along in dist/kept.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.mjs";

/** @typedef {{ kind: string; hash: string }} Key what a module is, and the hash of its sources */

/** Where kept modules are looked for; new ones go into the first folder. */
export const KEPT_FOLDERS = [join(root, "node_modules", ".cache", "servicenet"), join(root, "dist", "kept")];
/** After this time a module of the same kind and another hash is deleted. */
const KEPT_MS_MAX = 86_400_000;

/**
 * undefined: there is none.
 * @param {readonly string[]} folders
 * @param {Key} key
 * @returns {{ path: string; text: string } | undefined}
 */
export function readKept(folders, key) {
  for (const folder of folders) {
    const path = join(folder, nameOf(key));
    try {
      const file = readFileSync(path, "utf8");
      const end = file.indexOf("\n") + 1;
      const text = file.slice(end);
      if (file.slice(0, end) === firstLine(text)) return { path, text };
    } catch {
      continue;
    }
  }
  return undefined;
}

/**
 * The path of the file. undefined: nothing can be written there, and the next start finds none. What a full disk left here is deleted after a day.
 * @param {readonly string[]} folders
 * @param {Key} key
 * @param {string} text
 * @returns {string | undefined}
 */
export function keep([folder = ""], key, text) {
  try {
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) {
      const other = join(folder, name);
      if (name.startsWith(`${key.kind}-`) && Date.now() - statSync(other).mtimeMs > KEPT_MS_MAX) rmSync(other, { force: true });
    }
    const path = join(folder, nameOf(key));
    const unfinished = `${path}.${String(process.pid)}`;
    writeFileSync(unfinished, firstLine(text) + text);
    renameSync(unfinished, path);
    return path;
  } catch {
    return undefined;
  }
}

/** @param {Key} key */
function nameOf({ kind, hash }) {
  return `${kind}-${hash}.mjs`;
}

/** @param {string} text */
function firstLine(text) {
  return `// ${createHash("sha256").update(text).digest("hex")}\n`;
}
