/**
 * The folder of the project. This file stands two folders below it, as the programs do: in a bundle import.meta is that of the program
 * (program-bundle.mjs), so the same words are true there.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export const root = dirname(dirname(import.meta.dirname));

/** Whether this is an installed package: bundles in place of the sources that a clone has. */
export const isPackage = !existsSync(join(root, "scripts", "run.mjs"));

/** Loads a package of the project, wherever the code that asks stands. `import` would read large packages twice more, for the names that they export. */
export const requirePackage = createRequire(join(root, "package.json"));
