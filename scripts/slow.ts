/**
 * The second half of .ci/run, after `npm test`: kubectl, a browser, deployability, thousands of simulated histories, wrangler dev, repeated
 * kill -9, crons by the clock. Arguments: what `npm test` counted (passed, failed); the closing line is over both.
 */
import { ensureChromium } from "./testing/ensure-chromium";
import { ensureKubectl } from "./testing/ensure-kubectl";
import { check, finish, vitest } from "./testing/steps";

const [passed = 0, failed = 0] = process.argv.slice(2).map(Number);

const kubectl = ensureKubectl();
const chromium = ensureChromium();
const formatted = await check("format", ["npm", "run", "--silent", "format:check"]);
// Beyond the seeds of `npm test`.
const simulation = await check("simulation", ["npm", "run", "--silent", "simulate", "--", "--histories", "10000", "--seed", "501"]);
const slow = await vitest("slow suites", ["-c", "vitest.e2e.config.ts"], {
  SERVICENET_SLOW: "1",
  ...(chromium.command ? { CHROMIUM: chromium.command } : {}),
  ...(kubectl.command ? { KUBECTL: kubectl.command } : {}),
});
finish([{ passed, failed }, kubectl.counts, chromium.counts, formatted, simulation, slow]);
