import { availableParallelism } from "node:os";
import { setFlagsFromString } from "node:v8";
import { defineConfig } from "vitest/config";
import { laterCompilation } from "./scripts/dev/testing/later-compilation.mjs";
import { longestFirst } from "./scripts/dev/testing/longest-first";
import { FURTHER, PURE, UNIT_IN_WORKERD } from "./scripts/dev/testing/runtimes.mjs";

/** Suites that only .ci/run has time for: long ones, and with SERVICENET_FURTHER those whose rules `npm test` shows more cheaply. */
const slow = process.env["SERVICENET_SLOW"] === "1";
const further = process.env["SERVICENET_FURTHER"] === "1";
/** Who says which histories are played names their files, and these may be of either kind. */
const histories = ["SEED", "SIM_HISTORIES"].some((name) => process.env[name]);
const included = slow ? ["test/sim/slow/*.test.ts"] : further ? FURTHER : histories ? [...PURE, ...FURTHER] : PURE;

// Integers beyond 2^53 are read by the source text of JSON, which workerd and later Nodes have without a flag.
if (Number(process.versions.node.split(".")[0]) < 22) setFlagsFromString("--harmony-json-parse-with-source");

setFlagsFromString(laterCompilation(10));

/** Unit tests of the pure wings, simulations, conformance of the rules: in plain Node, on all cores. The modules of a thread serve all its files. */
export default defineConfig({
  // SEED and SIM_HISTORIES of the simulations are read as import.meta.env.
  envPrefix: ["VITE_", "SEED", "SIM_"],
  test: {
    include: included,
    exclude: [...Object.keys(UNIT_IN_WORKERD), ...(included === PURE ? FURTHER : [])],
    environment: "node",
    pool: "threads",
    isolate: false,
    sequence: { sequencer: longestFirst(["sim/whole"]) },
    // Vitest would leave one core alone.
    maxWorkers: availableParallelism(),
    // They wait for no time: what takes long shares the machine with other work.
    testTimeout: 120_000,
    // What a test waits for has to come, on a machine that does other things, too.
    expect: { poll: { timeout: 25_000, interval: 20 } },
  },
});
