/** The hash of all that a bundle may be made of: contents, because a fresh clone has arbitrary times. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";

/** What decides on every bundle: packages and the language. */
const FILES = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.base.json"];

/** @typedef {{ root: string; folders: readonly string[] }} Sources where the code stands: folders below the root */

/**
 * undefined: the bundle has no hash, because its first file stands elsewhere or something cannot be read.
 * @param {Sources} sources
 * @param {string} main the absolute path of the first file
 * @param {unknown} options how the bundle is made
 * @returns {string | undefined}
 */
export function hashOfSources({ root, folders }, main, options) {
  try {
    const code = folders.flatMap((folder) => filesIn(join(root, folder))).sort();
    if (!code.includes(main)) return undefined;
    const hash = createHash("sha256").update(JSON.stringify([relative(root, main), options]));
    for (const file of [...FILES.map((name) => join(root, name)), ...code]) {
      const bytes = readFileSync(file);
      hash.update(`${relative(root, file)} ${String(bytes.length)}\n`).update(bytes);
    }
    return hash.digest("hex");
  } catch {
    return undefined;
  }
}

/**
 * Whether the hash has all of these files, or the versions of their packages.
 * @param {Sources} sources
 * @param {readonly string[]} inputs paths from the root, as esbuild tells them
 */
export function areHashed({ root, folders }, inputs) {
  return inputs.every((path) => {
    const names = relative(realpathSync(root), resolve(realpathSync(root), path)).split(sep);
    return names.includes("node_modules") || (folders.includes(names[0] ?? "") && !basename(path).startsWith("."));
  });
}

/**
 * Their paths, without the hidden files of editors.
 * @param {string} folder
 */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => join(entry.parentPath, entry.name));
}
