import { describe, expect, it } from "vitest";
import type { Check } from "../../../../../src/clients/agent/endpoints/endpoint-entry";
import { Prober } from "../../../../../src/clients/agent/endpoints/prober";
import { SimScheduler } from "../../../../support/sim/platform/scheduler";

const CHECK: Check = {
  target: { kind: "tcp", port: 80 },
  ...{ initialDelaySeconds: 0, periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 },
};

interface Setting extends Partial<Check> {
  isReady?: boolean;
  isSpread?: boolean;
  ageMs?: number;
}

/** A prober whose n-th probe has the n-th result (`+` or `-`; the last one stays), and takes `probeMs`. */
function probed(results: string, { isReady = false, isSpread = false, ageMs = 0, ...check }: Setting = {}, probeMs = 0) {
  const scheduler = new SimScheduler();
  const begun = scheduler.now;
  const clock = { ...scheduler.clock(), steady: () => scheduler.now };
  /** seconds of the probes, and of changes of the readiness */
  const probes: number[] = [];
  const changes: string[] = [];
  const logged: string[] = [];
  const second = (): number => (scheduler.now - begun) / 1_000;
  const prober: Prober = new Prober(
    {
      clock,
      random: { next: () => 0.5 },
      recorder: { log: (level, event) => void logged.push(`${level}: ${event}`) },
      httpGet: () => Promise.reject(new Error("not asked")),
      tcpConnect: async () => {
        const result = results[Math.min(probes.length, results.length - 1)];
        probes.push(second());
        if (probeMs > 0) await clock.sleep(probeMs);
        if (result === "-") throw new Error("refused");
      },
    },
    {
      ...{ name: "web", check: { ...CHECK, ...check }, address: "10.0.0.1", isReady, ageMs, isSpread },
      onChange: () => changes.push(`${prober.isReady ? "ready" : "not ready"} at ${second()}`),
    },
  );
  return { scheduler, prober, probes, changes, logged };
}

describe("prober", () => {
  it.each<[what: string, results: string, setting: Setting, changes: string[]]>([
    ["the first success", "+", {}, ["ready at 0"]],
    ["failures of what is not ready: nothing changes", "-", {}, []],
    ["one success of three, a failure, three successes", "+-+++", { successThreshold: 3 }, ["ready at 40"]],
    ["two failures and a success: stays ready", "+--+", {}, ["ready at 0"]],
    ["three failures in a row", "+---", {}, ["ready at 0", "not ready at 30"]],
    [
      "a failure, a success, a failure with threshold 1",
      "+-+-",
      { failureThreshold: 1 },
      ["ready at 0", "not ready at 10", "ready at 20", "not ready at 30"],
    ],
    ["what was ready before: stays so until three failures", "---", { isReady: true }, ["not ready at 20"]],
    ["what was ready before, and is: nothing changes", "+", { isReady: true }, []],
    ["the initial delay: no probe before it", "+", { initialDelaySeconds: 15 }, ["ready at 20"]],
    ["the initial delay of what is 10 s old: so much shorter", "+", { initialDelaySeconds: 15, ageMs: 10_000 }, ["ready at 10"]],
    ["spread: the first probe after a part of the period", "+", { isSpread: true }, ["ready at 5"]],
  ])("%s", async (_, results, setting, changes) => {
    const { scheduler, changes: seen } = probed(results, setting);
    await scheduler.pass(60_000);
    expect(seen).toEqual(changes);
  });

  it("probes that take longer than the period: one at a time, the next at once", async () => {
    const { scheduler, probes } = probed("+", { periodSeconds: 1, timeoutSeconds: 5 }, 2_500);
    await scheduler.pass(6_000);
    expect(probes).toEqual([0, 2.5, 5]);
  });

  it("stopped while a probe is under way: nothing is told, no more probes", async () => {
    const { scheduler, prober, probes, changes } = probed("+", {}, 500);
    await scheduler.pass(100);
    prober.stop();
    await scheduler.pass(60_000);
    expect([probes, changes]).toEqual([[0], []]);
  });

  it.each<[results: string, logged: string[]]>([
    ["+----", ["info: an endpoint is ready", "warn: an endpoint is not ready"]],
    ["----", ["warn: an endpoint is not ready"]],
    ["--+---", ["warn: an endpoint is not ready", "info: an endpoint is ready", "warn: an endpoint is not ready"]],
  ])("%s: each readiness is logged once", async (results, lines) => {
    const { scheduler, logged } = probed(results);
    await scheduler.pass(60_000);
    expect(logged).toEqual(lines);
  });
});
