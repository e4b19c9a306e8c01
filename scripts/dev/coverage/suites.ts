/** The suites that run the product, one after the other: each configuration of Vitest, what .ci/run runs of them further, and simulated histories. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const CONFIGURATION = /^vitest(\..+)?\.config\.ts$/;
/** Those with tests that `npm test` leaves to .ci/run. */
const WITH_FURTHER = ["vitest.config.ts", "vitest.pure.config.ts"];
/** Counting code is slow, and so is a machine that does other things: no time limit decides. */
const MS_MAX = "600000";
const POLL_MS_MAX = "120000";

/** The compiler may answer with more than 16 MiB, which is its usual limit: code that counts is long. */
const SETTINGS = { NO_COLOR: "1", ESBUILD_MAX_BUFFER: String(2 ** 30) };

interface Places {
  /** the instrumented copy of the project */
  copy: string;
  /** the folder for the counters */
  counts: string;
  /** the folder for what the suites print */
  logs: string;
  env: NodeJS.ProcessEnv;
}

/** Runs them in the copy; the result: the names of those that failed. */
export async function runSuites({ copy, counts, logs, env: further }: Places, tests: readonly string[]): Promise<string[]> {
  const beforeAll = `--import=${pathToFileURL(join(copy, "scripts/dev/coverage/node-counters.mjs")).href}`;
  const nodeOptions = [process.env["NODE_OPTIONS"], beforeAll].filter(Boolean).join(" ");
  const env = { ...process.env, ...further, ...SETTINGS, SERVICENET_COVERAGE: counts, NODE_OPTIONS: nodeOptions };
  const failed: string[] = [];
  for (const [name, { command, env: own }] of Object.entries(suitesIn(copy, tests))) {
    const startedAt = Date.now();
    const log = join(logs, `${name}.log`);
    const output = openSync(log, "w");
    const code = await codeOf(spawn(process.execPath, command, { cwd: copy, env: { ...env, ...own }, stdio: ["ignore", output, output] }));
    closeSync(output);
    if (code !== 0) failed.push(name);
    console.log(
      `${code === 0 ? "ok    " : "FAILED"} ${name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)${code === 0 ? "" : `: ${log}`}`,
    );
  }
  return failed;
}

interface Suite {
  command: string[];
  env?: NodeJS.ProcessEnv;
}

function suitesIn(copy: string, tests: readonly string[]): Record<string, Suite> {
  const configurations = readdirSync(copy).filter((name) => CONFIGURATION.test(name));
  const suites: Record<string, Suite> = {};
  for (const name of configurations) suites[name] = { command: vitest(name, tests) };
  for (const name of WITH_FURTHER) suites[`further-${name}`] = { command: vitest(name, tests), env: { SERVICENET_FURTHER: "1" } };
  if (tests.length > 0) return suites;
  return { ...suites, "simulated-histories": { command: ["scripts/run.mjs", "scripts/dev/simulate.ts", "--histories", "50"] } };
}

function vitest(configuration: string, tests: readonly string[]): string[] {
  const limits = [`--testTimeout=${MS_MAX}`, `--hookTimeout=${MS_MAX}`, `--expect.poll.timeout=${POLL_MS_MAX}`];
  const coverage = [
    "--coverage.enabled",
    "--coverage.provider=custom",
    "--coverage.customProviderModule=scripts/dev/coverage/vitest-provider.mjs",
  ];
  const program = ["node_modules/vitest/vitest.mjs", "run", "-c", configuration, ...tests, "--passWithNoTests"];
  return [...program, ...limits, ...coverage];
}

let running: ChildProcess | undefined;

/** Ends the suite that runs, and waits for it. */
export async function endSuite(): Promise<void> {
  if (!running || running.exitCode !== null || running.signalCode !== null) return;
  running.kill();
  await once(running, "exit");
}

async function codeOf(suite: ChildProcess): Promise<number | null> {
  running = suite;
  const [code] = (await once(suite, "exit")) as [number | null];
  return code;
}
