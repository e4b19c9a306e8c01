import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { longestFirst } from "./scripts/dev/testing/longest-first";
import { productModule } from "./scripts/dev/testing/product-module";
import { UNIT_IN_WORKERD } from "./scripts/dev/testing/runtimes.mjs";

/** Suites that only .ci/run has time for: long ones, and with SERVICENET_FURTHER those whose rules `npm test` shows at a lower level. */
const slow = process.env["SERVICENET_SLOW"] === "1";
const further = process.env["SERVICENET_FURTHER"] === "1";
const quick = [...Object.keys(UNIT_IN_WORKERD), "test/object/{access,addresses,controllers,economy,store}/*.test.ts"];

const LONGEST = ["access/access", "addresses/services-store", "store/resource-store"];

/**
 * Tests of real Durable Objects, and unit tests that need the platform, inside workerd on the real wrangler.toml.
 * One runtime for all files but the slow ones (six times faster than one per file); test/setup.ts wipes every binding before each test.
 */
export default defineConfig({
  // What selects a random history, and long forms, reaches workerd through import.meta.env.
  envPrefix: ["VITE_", "SEED", "SIM_", "SERVICENET_RELEASE"],
  plugins: [
    productModule({ root: import.meta.dirname, main: "src/worker/index.ts" }),
    cloudflareTest({
      wrangler: { configPath: "./wrangler.toml" },
      // Tests of access make variables of their own, and those of backups give the bucket to the Worker.
      miniflare: {
        r2Buckets: ["TEST_BUCKET"],
        bindings: { AUTHORIZATION_MODE: "AlwaysAllow", IMPLICIT_DEFAULT_CLUSTER: "true", IMPLICIT_CLUSTERS: "true" },
      },
    }),
  ],
  test: {
    include: slow ? ["test/object/slow/*.test.ts"] : further ? ["test/object/further/*.test.ts", "test/object/further/*/*.test.ts"] : quick,
    setupFiles: ["./test/setup.ts"],
    // The slow ones make so many objects that a runtime which keeps those of all files becomes several times slower.
    isolate: slow,
    sequence: { sequencer: longestFirst(LONGEST) },
    // Vitest would forward each line by a call that it waits for at the end, and the answer to a line of an object that died never comes.
    disableConsoleIntercept: true,
    // Each runtime reads all modules once more, and other suites run beside this one.
    maxWorkers: slow ? 1 : 2,
    // What a test waits for has to come, on a machine that does other things, too.
    expect: { poll: { timeout: 25_000, interval: 20 } },
    // On such a machine a test may wait for several things, each of which comes late.
    testTimeout: 60_000,
    // After a slow test thousands of objects are wiped.
    hookTimeout: slow ? 120_000 : 60_000,
  },
});
