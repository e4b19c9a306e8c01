/** `npm test`: the checks and suites that are quick enough, all of them even if one fails. */
import { writeFileSync } from "node:fs";
import { parseCommandLine, runProgram } from "./terminal/command-line";
import { inMemory } from "./testing/memory-folder";
import { endCommands } from "./testing/commands";
import { check, finish, inTurn } from "./testing/steps";
import { vitest } from "./testing/vitest-run";

const usage = `Usage: npm test

Runs the checks and suites, all of them even if one fails: a line for each part, the output of the parts that fail, the slowest files, and the sum in
the last line. A test that fails and then passes by itself is called flaky, and fails the run. docs/contributing.md says how to run one of them alone.

  --help              this text

With SERVICENET_TEST_COUNTS=FILE the sums are written there, too, for .ci/run.
Exit code: 0 everything passed, 1 something failed or nothing ran, 2 wrong options.`;

const WORKERD = "vitest.config.ts";
const E2E = "vitest.e2e.config.ts";
const conformance = "test/e2e/conformance";
/** End-to-end tests that wait for minutes, timeouts and clients more than they compute. */
const WAITING = ["identity", "import", "nodes", "proxy", "repair-by-poke", "stalled-bodies", "watching"].map(
  (name) => `test/e2e/${name}.test.ts`,
);
/** The parts of one run in one runtime. */
const PURE = {
  "unit tests": "test/unit/",
  "simulated scenarios": "test/sim/",
  "conformance of the rules": "test/conformance/",
};

await runProgram({
  name: "test",
  usage,
  parse: (args) => parseCommandLine("npm test", { args, options: {} }),
  main: async () => {
    const env = inMemory({ beforeEnd: endCommands });
    // Four lanes for two cores: each of them waits now and then. All take about as long.
    const lanes = await Promise.all([
      inTurn([
        () => check("tidy", ["npm", "run", "--silent", "tidy"]),
        () => check("compatibility page", ["npm", "run", "--silent", "docs:check"]),
        () => vitest("end-to-end tests", { config: E2E, exclude: [`${conformance}/**`, ...WAITING], env }),
      ]),
      inTurn([() => vitest("pure tests in workerd", { config: WORKERD, files: Object.values(PURE), env, parts: PURE })]),
      inTurn([() => vitest("object tests in workerd", { config: WORKERD, files: ["test/object/"], env })]),
      inTurn([
        () => vitest("end-to-end tests that wait", { config: E2E, files: WAITING, env }),
        () => vitest("end-to-end conformance", { config: E2E, files: [conformance], env }),
        () => check("types", ["npm", "run", "--silent", "typecheck"]),
        () => check("simulated histories", ["npm", "run", "--silent", "simulate", "--", "--histories", "50"]),
      ]),
    ]);
    const counts = finish(lanes.flat());
    const path = process.env["SERVICENET_TEST_COUNTS"];
    if (path) writeFileSync(path, JSON.stringify(counts));
    return counts.failed === 0 && counts.passed > 0 ? 0 : 1;
  },
});
