/**
 * The second half of .ci/run, after `npm test`: kubectl, a browser, deployability, thousands of simulated histories, wrangler dev, repeated
 * kill -9, crons by the clock. Argument: where `npm test` wrote its counts; the closing line is over both.
 */
import { readFileSync } from "node:fs";
import { ensureChromium } from "./testing/ensure-chromium";
import { ensureKubectl } from "./testing/ensure-kubectl";
import { check, type Counts, finish, inTurn, oneFailed, vitest } from "./testing/steps";

const kubectl = ensureKubectl();
const chromium = ensureChromium();
/** Two lanes for two cores, as in `npm test`. */
const [slow, rest] = await Promise.all([
  vitest("slow suites", ["-c", "vitest.e2e.config.ts"], {
    env: {
      SERVICENET_SLOW: "1",
      ...(chromium.command ? { CHROMIUM: chromium.command } : {}),
      ...(kubectl.command ? { KUBECTL: kubectl.command } : {}),
    },
  }),
  inTurn([
    () => check("format", ["npm", "run", "--silent", "format:check"]),
    () => vitest("slow object tests", ["-c", "vitest.config.ts"], { env: { SERVICENET_SLOW: "1" }, output: "whole" }),
    // Beyond the seeds of `npm test`.
    () => check("simulation", ["npm", "run", "--silent", "simulate", "--", "--histories", "10000", "--seed", "501"]),
  ]),
]);
finish([npmTest(), kubectl.counts, chromium.counts, ...rest, slow]);

function npmTest(): Counts {
  try {
    return JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Counts;
  } catch {
    return oneFailed("npm test: it ended without counts");
  }
}
