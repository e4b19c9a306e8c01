import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { UNIT_IN_WORKERD } from "./scripts/dev/testing/runtimes.mjs";

/** Suites that only .ci/run has time for. */
const slow = process.env["SERVICENET_SLOW"] === "1";

/**
 * Tests of real Durable Objects, and unit tests that need the platform, inside workerd on the real wrangler.toml.
 * One runtime for all files but the slow ones (six times faster than one per file); test/setup.ts wipes every binding before each test.
 */
export default defineConfig({
  // What selects a random history, and long forms, reaches workerd through import.meta.env.
  envPrefix: ["VITE_", "SEED", "SIM_", "SERVICENET_RELEASE"],
  plugins: [
    cloudflareTest({
      wrangler: { configPath: "./wrangler.toml" },
      // Tests of access make variables of their own.
      miniflare: { bindings: { AUTHORIZATION_MODE: "AlwaysAllow" } },
    }),
  ],
  test: {
    include: slow
      ? ["test/object/slow/*.test.ts"]
      : [...Object.keys(UNIT_IN_WORKERD), "test/object/{access,addresses,controllers,store}/*.test.ts"],
    setupFiles: ["./test/setup.ts"],
    // The slow ones make so many objects that a runtime which keeps those of all files becomes several times slower.
    isolate: slow,
    // Vitest would forward each line by a call that it waits for at the end, and the answer to a line of an object that died never comes.
    disableConsoleIntercept: true,
    maxWorkers: slow ? 1 : 3,
    testTimeout: 30_000,
    // After a slow test thousands of objects are wiped.
    hookTimeout: slow ? 120_000 : 10_000,
  },
});
