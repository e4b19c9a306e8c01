/**
 * `npm test`: every check and every suite, one after the other, all of them even if one fails. Ends with the line "N passed, N failed"
 * over everything and exits with 1 if anything failed or nothing ran.
 */
import { check, finish, vitest } from "./testing/steps";
import { findKubectl } from "./kubectl";

const kubectl = findKubectl();
const leftOut = kubectl ? [] : ["--exclude", "test/e2e/kubectl/**"];

const checks = await Promise.all([
  check("types", ["npm", "run", "--silent", "typecheck"]),
  check("lint", ["npm", "run", "--silent", "lint"]),
]);
const tidy = await check("tidy", ["npm", "run", "--silent", "tidy"]);
const docs = await check("compatibility page", ["npm", "run", "--silent", "docs:check"]);
const simulation = await check("simulation", ["npm", "run", "--silent", "simulate", "--", "--histories", "500"]);
const inWorkerd = await vitest("unit, simulation and object tests in workerd", ["-c", "vitest.config.ts"]);
const endToEnd = await vitest("end-to-end tests", ["-c", "vitest.e2e.config.ts", ...leftOut]);
if (!kubectl)
  console.log("\nThere is no kubectl 1.32 or newer here: its suite was not part of this run (.ci/run fetches one and runs it).");
finish([...checks, tidy, docs, simulation, inWorkerd, endToEnd]);
