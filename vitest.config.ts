import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

/**
 * Unit tests, simulations, Durable Object tests and conformance tests that need no server, all inside workerd on the real wrangler.toml.
 * One runtime for all files (six times faster than one per file); test/setup.ts wipes every binding before each test.
 */
export default defineConfig({
  // SEED and SIM_HISTORIES of the simulations reach workerd through import.meta.env.
  envPrefix: ["VITE_", "SEED", "SIM_"],
  plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
  test: {
    include: ["test/unit/**/*.test.ts", "test/object/**/*.test.ts", "test/sim/**/*.test.ts", "test/conformance/*.test.ts"],
    setupFiles: ["./test/setup.ts"],
    isolate: false,
    maxWorkers: 1,
    testTimeout: 30_000,
  },
});
