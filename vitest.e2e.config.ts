import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { longestFirst } from "./scripts/dev/testing/longest-first";

/**
 * End-to-end tests: Node programs against the started server. Files run beside each other: each has a server or a cluster of its own.
 * SERVICENET_SLOW=1 selects the suites that take longer or need more than Node: those of .ci/run.
 */
const slow = process.env["SERVICENET_SLOW"] === "1";

const quickFiles = { include: ["test/e2e/{serve,wire,cluster,machines,project,conformance}/*.test.ts"] };
/** A hundred clients and more at full speed, or requests of megabytes: they fill the machine. */
const ALONE = ["busy-connections", "chaos", "growing", "hostile-bodies", "hostile-requests", "hostile-size", "overload"].map(
  (name) => `test/e2e/slow/wire/${name}.test.ts`,
);
const slowProjects = {
  projects: [
    {
      extends: true as const,
      // A file waits for each kubectl: for two cores there are more files.
      test: { name: "kubectl", include: ["test/e2e/kubectl/**/*.test.ts"], isolate: false, maxWorkers: 4, sequence: { groupOrder: 0 } },
    },
    {
      extends: true as const,
      // Each has servers of its own, and waits for clocks, deaths and clients four fifths of its time: for two cores there are more files.
      test: {
        name: "waiting",
        include: ["test/e2e/slow/*/*.test.ts", "test/e2e/clients/*.test.ts"],
        exclude: ALONE,
        maxWorkers: 6,
        sequence: { groupOrder: 1 },
      },
    },
    {
      extends: true as const,
      test: { name: "alone", include: ALONE, maxWorkers: 1, sequence: { groupOrder: 2 } },
    },
  ],
};

/** Of the slow ones. Those with crons, Leases and silences of real time are above a minute on any machine. */
const SLOWEST = [
  // Eleven minutes before a release.
  "upstream-watches",
  // Each installs the package.
  ...["package/package", "package/testing", "package/libraries", "documented-programs"],
  ...["check-damage", "cron", "agent", "clients/go", "identity-restarts", "agent-endpoints", "object-restored", "counted-refusals"],
  ...["vitest-run", "gates", "disconnect", "disk", "services-without-kubernetes", "progress", "backup", "informers", "node-health-outage"],
];

const LONGEST = [
  ...SLOWEST,
  "renumbering",
  "tutorial",
  "conformance/matrix",
  "cluster/import",
  "conformance/service-ranges",
  "kept-connections",
  "repair-by-poke",
  "watching",
  "nodes",
];

export default defineConfig({
  // What the package exports, from the sources: examples import it as users do.
  resolve: {
    alias: [
      {
        find: /^servicenet\/(elector|allocator|ranges|services|agent)$/,
        replacement: join(import.meta.dirname, "src/clients/$1/index.ts"),
      },
    ],
  },
  test: {
    ...(slow ? slowProjects : quickFiles),
    environment: "node",
    // A process for many files: each new one would read Vitest and the sources again.
    isolate: slow,
    sequence: { sequencer: longestFirst(LONGEST) },
    // Two cores, and now and then a file that waits.
    maxWorkers: 3,
    // Concurrent tests of a file wait more than they compute.
    maxConcurrency: 20,
    globalSetup: "test/support/server/shared-servers.ts",
    setupFiles: ["test/support/server/resting-connections.ts"],
    // The WebSocket of browsers, which newer Nodes have without a flag.
    execArgv: ["--experimental-websocket"],
    testTimeout: 60_000,
    // The start of a server on a machine that does other things, too.
    hookTimeout: 120_000,
    // What a test waits for has to come, on such a machine too.
    expect: { poll: { timeout: 30_000 } },
  },
});
