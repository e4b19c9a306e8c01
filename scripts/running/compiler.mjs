/** esbuild as a process that ends with its work. */
import { requirePackage } from "./root.mjs";

const WORKER_THREADS = "ESBUILD_WORKER_THREADS";

/**
 * Bundles; throws as esbuild does.
 * @template {import("esbuild").BuildOptions} Options
 * @param {Options} options
 * @returns {import("esbuild").BuildResult<Options>}
 */
export function buildSync(options) {
  const before = process.env[WORKER_THREADS];
  // Otherwise the compiler stays, as a service of a thread of this process: 150 MiB. The package looks at the variable when it is loaded, and tsx may have
  // loaded it before.
  process.env[WORKER_THREADS] = "0";
  delete requirePackage.cache[requirePackage.resolve("esbuild")];
  try {
    const esbuild = /** @type {typeof import("esbuild")} */ (requirePackage("esbuild"));
    return esbuild.buildSync(/** @type {any} */ (options));
  } finally {
    if (before === undefined) delete process.env[WORKER_THREADS];
    else process.env[WORKER_THREADS] = before;
  }
}
