/** The packages whose code is in the Worker's bundle. */
import { join } from "node:path";
import { root } from "../running/root.mjs";
import { workerInputs } from "../serve/bundle";
import { readWorkerConfig } from "../serve/worker-config";
import { nameOf } from "./locked";

/** Their names. Throws UserError where the Worker cannot be built. */
export function deployedPackages(): Set<string> {
  const inputs = workerInputs(readWorkerConfig(join(root, "wrangler.toml")));
  return new Set(inputs.filter((path) => path.includes("node_modules/")).map(nameOf));
}
