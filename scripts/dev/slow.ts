/** The second half of .ci/run, after `npm test`: tests that take longer or need more of the machine. */
import { readFileSync } from "node:fs";
import { delimiter } from "node:path";
import { parseCommandLine, runProgram } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";
import { checkWorkflows } from "./testing/check-workflows";
import { endCommands, GO_WITHOUT_COLLECTION } from "./testing/commands";
import { type Counts, oneFailed } from "./testing/counts";
import { ensureClientPrograms } from "./testing/ensure-client-programs";
import {
  ensureChromium,
  ensureDnsmasq,
  ensureFish,
  ensureHaproxy,
  ensureIp,
  ensureJq,
  ensureNft,
  ensureZsh,
} from "./testing/ensure-debian-programs";
import { ensureKubectl } from "./testing/ensure-kubectl";
import { ensureMachinePrograms } from "./testing/ensure-machine-programs";
import { ensureNodes, variablesFor } from "./testing/ensure-nodes";
import { inMemory } from "./testing/memory-folder";
import { LONG, SHORT } from "./testing/run-lengths";
import { seedOfCommit } from "./testing/seed-of-commit";
import { check, finish, inLanes, inTurn } from "./testing/steps";
import { vitest } from "./testing/vitest-run";

const COMMAND = "node scripts/run.mjs scripts/dev/slow.ts";
const usage = `Usage: ${COMMAND} COUNTS [--release]

Runs the second half of .ci/run: format and lint, kubectl, Go and Python clients, a browser, dnsmasq, HAProxy, kube-proxy and CoreDNS, deployability,
simulated histories, random requests, wrangler dev, kill -9, crons by the clock. COUNTS is the file with the sums of npm test
(SERVICENET_TEST_COUNTS); the last line is over both.

  --release           the long forms, as before a release: ${String(LONG.histories)} simulated histories, ${String(LONG.fuzzMinutes)} minutes of random requests, 20 kill -9,
                      kube-controller-manager and ten quiet minutes of upstream's programs, deaths of objects both before and after each await
  --help              this text

Exit code: 0 everything passed, 1 something failed or nothing ran, 2 wrong options.`;

const PURE = "vitest.pure.config.ts";
const E2E = "vitest.e2e.config.ts";

/** Files with random histories that `npm test` leaves to .ci/run. */
const FURTHER_HISTORIES = [
  ...["allocation", "endpoints", "handing-over", "proxy-health", "repair"].map((name) => `test/sim/further/${name}.test.ts`),
  "test/unit/addresses/coordinator/coordinator-crash.further.test.ts",
  "test/unit/api/store/engine/store-engine-turns-random.further.test.ts",
  "test/unit/controllers/followed/kept-rows-random.further.test.ts",
  "test/unit/endpoints/controller/pass-kit-random.further.test.ts",
  "test/unit/nodes/lifecycle/lifecycle-pass-random.further.test.ts",
];

/** Files with random histories, of which `npm test` runs few or none. */
const HISTORIES = [
  ...FURTHER_HISTORIES,
  "test/sim/quotas.test.ts",
  "test/unit/addresses/alloc/pool.model.test.ts",
  "test/unit/addresses/coordinator/state/topology-view.test.ts",
  "test/unit/api/store/list/edge-lists.test.ts",
  "test/unit/api/store/list/kept-items.test.ts",
  "test/unit/api/store/list/row-pages.test.ts",
  "test/unit/clients/elector/elector-random.test.ts",
];

/** Of the simulated histories whose seeds are the same in each run. */
const FIRST_SEED = "26";

interface SlowOptions {
  /** path of the file with the sums of `npm test` */
  counts: string;
  isRelease: boolean;
}

await runProgram({
  name: "slow",
  usage,
  parse: (args): SlowOptions | "help" => {
    const parsed = parseCommandLine(COMMAND, { args, options: { release: { type: "boolean", default: false } }, allowPositionals: true });
    if (parsed === "help") return "help";
    const [counts, ...more] = parsed.positionals;
    if (counts === undefined || more.length > 0) throw new UserError(`exactly one file COUNTS is needed (${COMMAND} -- --help shows how)`);
    return { counts, isRelease: parsed.values.release };
  },
  main: async ({ counts: countsOfNpmTest, isRelease }) => {
    const length = isRelease ? LONG : SHORT;
    const kubectl = ensureKubectl();
    const chromium = ensureChromium();
    const dnsmasq = ensureDnsmasq();
    const haproxy = ensureHaproxy();
    const jq = ensureJq();
    const ip = ensureIp();
    const nft = ensureNft();
    const zsh = ensureZsh();
    const fish = ensureFish();
    const clients = ensureClientPrograms();
    const machinePrograms = ensureMachinePrograms({ isRelease });
    const otherNodes = ensureNodes();
    // By themselves, as `npm test` is: it uses all cores.
    const onOtherNodes = await inTurn(
      otherNodes.nodes.map((node) => () => check(`npm test on Node ${node.version}`, ["npm", "test"], variablesFor(node))),
    );
    const seed = String(seedOfCommit());
    const memory = inMemory({ beforeEnd: endCommands });
    const env = { SERVICENET_SLOW: "1", ...(isRelease ? { SERVICENET_RELEASE: "1" } : {}) };
    // Two at a time for two cores. With a third one, requests of end-to-end tests met the server's own time limit.
    const rest = await inLanes(2, [
      () =>
        vitest("slow end-to-end tests", {
          config: E2E,
          env: {
            ...env,
            ...clients.env,
            OTHER_NODES: otherNodes.nodes.map(({ command }) => command).join(delimiter),
            ...(chromium.command ? { CHROMIUM: chromium.command } : {}),
            ...(dnsmasq.command ? { DNSMASQ: dnsmasq.command } : {}),
            ...(haproxy.command ? { HAPROXY: haproxy.command } : {}),
            ...(kubectl.command ? { KUBECTL: kubectl.command } : {}),
          },
        }),
      () => vitest(`slow object tests of seed ${seed}`, { config: "vitest.config.ts", env: { ...env, ...memory, SIM_FIRST_SEED: seed } }),
      () => vitest("further object tests", { config: "vitest.config.ts", env: { ...memory, SERVICENET_FURTHER: "1" } }),
      () => vitest("slow simulations", { config: PURE, env }),
      () =>
        vitest(`further pure tests of seed ${seed}`, {
          config: PURE,
          exclude: FURTHER_HISTORIES,
          env: { SERVICENET_FURTHER: "1", SIM_FIRST_SEED: seed },
        }),
      () =>
        vitest(`random histories of seed ${seed}`, {
          config: PURE,
          files: HISTORIES,
          env: { SIM_HISTORIES: String(length.historiesOfEach), SIM_FIRST_SEED: seed },
        }),
      // Seeds beyond those of `npm test`.
      () => simulate("simulated histories", length.histories, FIRST_SEED),
      () => simulate(`simulated histories of seed ${seed}`, length.historiesOfCommit, seed),
      () =>
        check(
          `random requests of seed ${seed}`,
          [...["npm", "run", "--silent", "fuzz", "--"], ...["--minutes", String(length.fuzzMinutes), "--seed", seed]],
          memory,
        ),
      () => check("lint", ["npm", "run", "--silent", "lint"], GO_WITHOUT_COLLECTION),
      () => check("format", ["npm", "run", "--silent", "format:check"]),
      () => checkWorkflows(),
      () => check("packages of a deployment", ["npm", "run", "--silent", "sbom", "--", "--audit"]),
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
      zsh.counts,
      fish.counts,
      clients.counts,
      machinePrograms,
      otherNodes.counts,
      ...onOtherNodes,
      ...rest,
    ]);
    return failed === 0 && passed > 0 ? 0 : 1;
  },
});

function simulate(name: string, histories: number, seed: string): Promise<Counts> {
  return check(name, ["npm", "run", "--silent", "simulate", "--", "--histories", String(histories), "--seed", seed]);
}

function npmTest(path: string): Counts {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Counts;
  } catch {
    return oneFailed("npm test: it ended without counts");
  }
}
