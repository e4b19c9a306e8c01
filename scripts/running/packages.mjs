/** Which packages stand in node_modules, and which ones package-lock.json wants there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ version?: string; dev?: boolean; devOptional?: boolean; optional?: boolean }} LockedPackage */
/** @typedef {Record<string, LockedPackage>} Packages by their path, "node_modules/a/node_modules/b" */

/** npm writes a copy of what it has installed into this file. */
export const INSTALLED = join("node_modules", ".package-lock.json");

/**
 * undefined: there is no such file, or it cannot be read.
 * @param {string} file
 * @returns {Packages | undefined}
 */
export function packagesOf(file) {
  try {
    const { packages } = JSON.parse(readFileSync(file, "utf8"));
    return Object.fromEntries(Object.entries(packages).filter(([path]) => path !== ""));
  } catch {
    return undefined;
  }
}

/**
 * Why packages have to be installed; undefined: all that are needed are there. Versions are compared, not times: a fresh clone has arbitrary ones. A
 * package for another platform may be absent.
 * @param {string} root
 * @param {{ development: boolean }} needed
 * @returns {string | undefined}
 */
export function whyInstall(root, { development }) {
  const wanted = packagesOf(join(root, "package-lock.json"));
  if (!wanted) return undefined;
  const installed = packagesOf(join(root, INSTALLED));
  if (!installed) return "first start";
  const needed = Object.entries(wanted).filter(([, { dev, devOptional }]) => development || !(dev || devOptional));
  const missing = needed.filter(([path, { optional }]) => !installed[path] && !optional);
  if (needed.some(([path, { version }]) => installed[path] && installed[path].version !== version)) return "package-lock.json has changed";
  if (missing.length === 0) return undefined;
  return missing.every(([, { dev, devOptional }]) => dev || devOptional) ? "those for development" : "package-lock.json has changed";
}

/**
 * The folder of node_modules that a package stands in: "@scope/a" for "node_modules/@scope/a/node_modules/b".
 * @param {string} path
 */
export function folderOf(path) {
  const [, first = "", second = ""] = path.split("/");
  return first.startsWith("@") ? `${first}/${second}` : first;
}
