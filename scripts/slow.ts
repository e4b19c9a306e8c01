/** The second half of .ci/run, after `npm test`: tests that take longer or need more of the machine. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseCommandLine, runProgram } from "./terminal/command-line";
import { UserError } from "./terminal/user-error";
import { ensureClientPrograms } from "./testing/ensure-client-programs";
import { ensureChromium, ensureDnsmasq, ensureHaproxy, ensureIp, ensureJq, ensureNft } from "./testing/ensure-debian-programs";
import { ensureKubectl } from "./testing/ensure-kubectl";
import { ensureMachinePrograms } from "./testing/ensure-machine-programs";
import { check, type Counts, finish, inTurn, oneFailed, vitest } from "./testing/steps";

const COMMAND = "node scripts/run.mjs scripts/slow.ts";
const usage = `Usage: ${COMMAND} COUNTS

Runs the second half of .ci/run: format and lint, kubectl, Go and Python clients, a browser, dnsmasq, HAProxy, kube-proxy and CoreDNS, deployability,
thousands of simulated histories, two minutes of random requests, wrangler dev, repeated kill -9, crons by the clock. COUNTS is the file with the sums of
npm test (SERVICENET_TEST_COUNTS); the last line is over both.

  --help              this text

Exit code: 0 everything passed, 1 something failed or nothing ran, 2 wrong options.`;

/** Files with random histories, of which `npm test` runs few. */
const HISTORIES = [
  ...["allocation", "endpoints", "handing-over", "proxy-health", "quotas", "repair"].map((name) => `test/sim/${name}.test.ts`),
  "test/unit/addresses/coordinator/coordinator-crash.test.ts",
  "test/unit/leases/client/elector-random.test.ts",
  "test/unit/leases/nodes/lifecycle-pass-random.test.ts",
];

await runProgram({
  name: "slow",
  usage,
  parse: (args) => {
    const parsed = parseCommandLine(COMMAND, { args, options: {}, allowPositionals: true });
    if (parsed === "help") return "help";
    const [counts, ...more] = parsed.positionals;
    if (counts === undefined || more.length > 0) throw new UserError(`exactly one file COUNTS is needed (${COMMAND} -- --help shows how)`);
    return counts;
  },
  main: async (countsOfNpmTest) => {
    const kubectl = ensureKubectl();
    const chromium = ensureChromium();
    const dnsmasq = ensureDnsmasq();
    const haproxy = ensureHaproxy();
    const jq = ensureJq();
    const ip = ensureIp();
    const nft = ensureNft();
    const clients = ensureClientPrograms();
    const machinePrograms = ensureMachinePrograms();
    const seed = seedOfCommit();
    // Two lanes for two cores.
    const [slow, rest] = await Promise.all([
      vitest("slow end-to-end tests", ["-c", "vitest.e2e.config.ts"], {
        env: {
          SERVICENET_SLOW: "1",
          ...clients.env,
          ...(chromium.command ? { CHROMIUM: chromium.command } : {}),
          ...(dnsmasq.command ? { DNSMASQ: dnsmasq.command } : {}),
          ...(haproxy.command ? { HAPROXY: haproxy.command } : {}),
          ...(kubectl.command ? { KUBECTL: kubectl.command } : {}),
        },
      }),
      inTurn([
        () => check("format", ["npm", "run", "--silent", "format:check"]),
        () => check("lint", ["npm", "run", "--silent", "lint"]),
        () => check("packages of a deployment", ["npm", "run", "--silent", "sbom", "--", "--audit"]),
        () => vitest("slow object tests and simulations", ["-c", "vitest.config.ts"], { env: { SERVICENET_SLOW: "1" } }),
        () => vitest("random histories", ["-c", "vitest.config.ts", ...HISTORIES], { env: { SIM_HISTORIES: "150" } }),
        // Seeds beyond those of `npm test`.
        () => check("simulated histories", ["npm", "run", "--silent", "simulate", "--", "--histories", "3000", "--seed", "51"]),
        () => check(`random requests of seed ${seed}`, ["npm", "run", "--silent", "fuzz", "--", "--minutes", "2", "--seed", seed]),
      ]),
    ]);
    const { failed, passed } = finish([
      npmTest(countsOfNpmTest),
      kubectl.counts,
      chromium.counts,
      dnsmasq.counts,
      haproxy.counts,
      jq.counts,
      ip.counts,
      nft.counts,
      clients.counts,
      machinePrograms,
      ...rest,
      slow,
    ]);
    return failed === 0 && passed > 0 ? 0 : 1;
  },
});

/** The seed of random requests: another commit makes others, and the same one the same. Outside a repository it is 1. */
function seedOfCommit(): string {
  try {
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return String(1 + parseInt(commit.slice(0, 7), 16));
  } catch {
    return "1";
  }
}

function npmTest(path: string): Counts {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Counts;
  } catch {
    return oneFailed("npm test: it ended without counts");
  }
}
