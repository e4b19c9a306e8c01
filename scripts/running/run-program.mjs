/** Runs the program that the command line names, with the packages that it needs. */
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./root.mjs";
import { ensureInstalled } from "./ensure-installed.mjs";
import { programBundle } from "./program-bundle.mjs";

/**
 * Whether a program needs the packages for development: programs of those who work on Servicenet, and deploy, which runs wrangler. Any other has to
 * do without.
 * @param {string} path its absolute path
 */
export function isForDevelopment(path) {
  return dirname(path) === join(root, "scripts", "dev") || path === join(root, "scripts", "commands", "deploy.ts");
}

/** @returns {Promise<void>} */
export async function run() {
  const [program = ""] = process.argv.splice(2, 1);
  const path = resolve(program);
  process.argv[1] = path;
  const development = isForDevelopment(path);
  await ensureInstalled({ development });
  await import(pathToFileURL(development ? await compiledOnTheWay(path) : bundled(path)).href);
}

/** @param {string} path */
async function compiledOnTheWay(path) {
  const { register } = await import("tsx/esm/api");
  register();
  return path;
}

/** @param {string} path */
function bundled(path) {
  try {
    return programBundle(path);
  } catch (error) {
    console.error(`servicenet: ${error instanceof Error ? error.message : String(error)}`);
    return process.exit(1);
  }
}
