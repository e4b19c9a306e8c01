/** `npm test`: the checks and suites that are quick enough, all of them even if one fails. */
import { writeFileSync } from "node:fs";
import { parseCommandLine, runProgram } from "../terminal/command-line";
import { inMemory } from "./testing/memory-folder";
import { endCommands } from "./testing/commands";
import { seedOfCommit } from "./testing/seed-of-commit";
import { check, finish, inTurn } from "./testing/steps";
import { sourceChecks } from "./testing/source-checks";
import { vitest } from "./testing/vitest-run";

const usage = `Usage: npm test

Runs the checks and suites, all of them even if one fails: a line for each part, the output of the parts that fail, the slowest files, and the sum in
the last line. A test that fails and then passes by itself is called flaky, and fails the run. CONTRIBUTING.md says how to run one of them alone.

  --help              this text

With SERVICENET_TEST_COUNTS=FILE the sums are written there, too, for .ci/run.
Exit code: 0 everything passed, 1 something failed or nothing ran, 2 wrong options.`;

/** The parts of the run in Node. */
const PURE = {
  "unit tests": "test/unit/",
  "simulated scenarios": "test/sim/",
  "conformance of the rules": "test/conformance/",
};
/** The parts of the run in workerd. */
const PLATFORM = { "unit tests of the Worker": "test/unit/", "real objects": "test/object/" };

await runProgram({
  name: "test",
  usage,
  parse: (args) => parseCommandLine("npm test", { args, options: {} }),
  main: async () => {
    const env = { ...inMemory({ beforeEnd: endCommands }), SIM_FIRST_SEED: String(seedOfCommit()) };
    // Three lanes for two cores: objects and servers wait now and then. All take about as long. Pure tests end last: many small files leave no core idle.
    const lanes = await Promise.all([
      inTurn([
        sourceChecks,
        () => check("simulated histories", ["npm", "run", "--silent", "simulate", "--", "--histories", "10"]),
        () => vitest("pure tests", { config: "vitest.pure.config.ts", env, parts: PURE }),
      ]),
      inTurn([() => vitest("tests in workerd", { config: "vitest.config.ts", env, parts: PLATFORM })]),
      inTurn([() => vitest("end-to-end tests", { config: "vitest.e2e.config.ts", env })]),
    ]);
    const counts = finish(lanes.flat());
    const path = process.env["SERVICENET_TEST_COUNTS"];
    if (path) writeFileSync(path, JSON.stringify(counts));
    return counts.failed === 0 && counts.passed > 0 ? 0 : 1;
  },
});
