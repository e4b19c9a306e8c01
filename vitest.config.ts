import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

/** Suites that only .ci/run has time for. */
const slow = process.env["SERVICENET_SLOW"] === "1";

/**
 * Unit tests, simulations, Durable Object tests and conformance tests that need no server, all inside workerd on the real wrangler.toml.
 * One runtime for all files but the slow ones (six times faster than one per file); test/setup.ts wipes every binding before each test.
 */
export default defineConfig({
  // SEED and SIM_HISTORIES of the simulations reach workerd through import.meta.env.
  envPrefix: ["VITE_", "SEED", "SIM_"],
  plugins: [
    cloudflareTest({
      wrangler: { configPath: "./wrangler.toml" },
      // Tests of access make variables of their own.
      miniflare: { bindings: { AUTHORIZATION_MODE: "AlwaysAllow" } },
    }),
  ],
  test: {
    include: slow
      ? ["test/object/slow/*.test.ts", "test/sim/slow/*.test.ts"]
      : [
          "test/unit/**/*.test.ts",
          "test/object/*.test.ts",
          "test/sim/*.test.ts",
          "test/sim/hazards/*.test.ts",
          "test/conformance/*.test.ts",
        ],
    setupFiles: ["./test/setup.ts"],
    // The slow ones make so many objects that a runtime which keeps those of all files becomes several times slower.
    isolate: slow,
    // Vitest would forward each line by a call that it waits for at the end, and the answer to a line of an object that died never comes.
    disableConsoleIntercept: true,
    maxWorkers: 1,
    testTimeout: 30_000,
    // After a slow test thousands of objects are wiped.
    hookTimeout: slow ? 120_000 : 10_000,
  },
});
