/** The suites of `npm test` that run the product, one after the other: each configuration of Vitest, and simulated histories. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const CONFIGURATION = /^vitest(\..+)?\.config\.ts$/;
/** Counting code is slow, and so is a machine that does other things: no time limit decides. */
const MS_MAX = "600000";
const POLL_MS_MAX = "120000";

/** Runs them in the copy; the result: the names of those that failed. `counts`: the folder for the counters. */
export async function runSuites(copy: string, counts: string, tests: readonly string[]): Promise<string[]> {
  const env = {
    ...process.env,
    SERVICENET_COVERAGE: counts,
    NODE_OPTIONS: [process.env["NODE_OPTIONS"] ?? "", `--import=${pathToFileURL(join(copy, "scripts/coverage/node-counters.mjs")).href}`]
      .join(" ")
      .trim(),
  };
  const failed: string[] = [];
  for (const [name, command] of Object.entries(commandsIn(copy, tests))) {
    const startedAt = Date.now();
    const child = spawn(process.execPath, command, { cwd: copy, env, stdio: ["ignore", "inherit", "inherit"] });
    if ((await codeOf(child)) !== 0) failed.push(name);
    console.log(`${failed.includes(name) ? "FAILED" : "ok    "} ${name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
  }
  return failed;
}

function commandsIn(copy: string, tests: readonly string[]): Record<string, string[]> {
  const configurations = readdirSync(copy).filter((name) => CONFIGURATION.test(name));
  const suites = Object.fromEntries(configurations.map((name) => [name, vitest(name, tests)]));
  const histories = ["scripts/run.mjs", "scripts/simulate.ts", "--histories", "50"];
  return tests.length > 0 ? suites : { ...suites, "simulated histories": histories };
}

function vitest(configuration: string, tests: readonly string[]): string[] {
  const limits = [`--testTimeout=${MS_MAX}`, `--hookTimeout=${MS_MAX}`, `--expect.poll.timeout=${POLL_MS_MAX}`];
  const coverage = [
    "--coverage.enabled",
    "--coverage.provider=custom",
    "--coverage.customProviderModule=scripts/coverage/vitest-provider.mjs",
  ];
  const program = ["node_modules/vitest/vitest.mjs", "run", "-c", configuration, ...tests, "--passWithNoTests"];
  return [...program, "--reporter=dot", ...limits, ...coverage];
}

async function codeOf(child: ChildProcess): Promise<number | null> {
  const end = () => child.kill();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
  const [code] = (await once(child, "exit")) as [number | null];
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, end);
  return code;
}
