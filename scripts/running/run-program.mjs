/** Runs the program that the command line names, with the packages that it needs. */
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../root.mjs";
import { ensureInstalled } from "./ensure-installed.mjs";
import { programBundle } from "./program-bundle.mjs";

/** Programs of those who work on Servicenet. They need the packages for development; any other program has to do without. */
export const FOR_DEVELOPMENT = new Set([
  "bench",
  "checks",
  "compatibility",
  "coverage",
  "deploy",
  "fuzz",
  "record",
  "simulate",
  "slow",
  "test",
  "tidy",
]);

/** @returns {Promise<void>} */
export async function run() {
  const [program = ""] = process.argv.splice(2, 1);
  const path = resolve(program);
  process.argv[1] = path;
  const isForDevelopment = dirname(path) === join(root, "scripts") && FOR_DEVELOPMENT.has(basename(path, ".ts"));
  await ensureInstalled({ development: isForDevelopment });
  await import(pathToFileURL(isForDevelopment ? await compiledOnTheWay(path) : bundled(path)).href);
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
