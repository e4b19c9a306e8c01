/**
 * `npm test`: every check and every suite, all of them even if one fails. Ends with the line "N passed, N failed"
 * over everything and exits with 1 if anything failed or nothing ran. With SERVICENET_TEST_COUNTS=<path> the counts
 * are also written there, for .ci/run.
 */
import { writeFileSync } from "node:fs";
import { check, finish, inTurn, vitest } from "./testing/steps";

const conformance = "test/e2e/conformance";

/** Two lanes for two cores, about as long as each other: the end-to-end tests wait for processes more than they compute. */
const [endToEnd, rest] = await Promise.all([
  vitest("end-to-end tests", ["-c", "vitest.e2e.config.ts", "--exclude", `${conformance}/**`]),
  inTurn([
    () => check("types", ["npm", "run", "--silent", "typecheck"]),
    () => check("lint", ["npm", "run", "--silent", "lint"]),
    () => check("tidy", ["npm", "run", "--silent", "tidy"]),
    () => check("compatibility page", ["npm", "run", "--silent", "docs:check"]),
    () => vitest("unit, simulation and object tests in workerd", ["-c", "vitest.config.ts"], { output: "whole" }),
    () => check("simulation", ["npm", "run", "--silent", "simulate", "--", "--histories", "500"]),
    () => vitest("end-to-end conformance", ["-c", "vitest.e2e.config.ts", conformance], { output: "whole" }),
  ]),
]);
const counts = finish([...rest, endToEnd]);
const path = process.env["SERVICENET_TEST_COUNTS"];
if (path) writeFileSync(path, JSON.stringify(counts));
