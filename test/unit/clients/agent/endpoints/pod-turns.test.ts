import { describe, expect, it } from "vitest";
import { PodTurns } from "../../../../../src/clients/agent/endpoints/pod-turns";

const PODS = Array.from({ length: 20 }, (_, i) => `p${String(i)}`);

function turns() {
  const clock = { at: 1_000, steady: () => clock.at };
  return { clock, turns: new PodTurns(clock, { next: () => 0 }) };
}

describe("turns of Pods", () => {
  it("more Pods than may be busy: eight, then others as steps end", () => {
    const { turns: pods } = turns();
    const first = pods.due(PODS).due;
    for (const pod of first) pods.begin(pod);
    expect([first, pods.due(PODS).due]).toEqual([PODS.slice(0, 8), []]);
    pods.succeeded("p3");
    expect(pods.due(PODS.slice(8)).due).toEqual(["p8"]);
  });

  it("steps that all fail: the Pods that have waited longest come first", () => {
    const { clock, turns: pods } = turns();
    const begun: string[] = [];
    for (let round = 0; round < 5; round++) {
      for (const pod of pods.due(PODS).due) {
        begun.push(pod);
        pods.begin(pod);
        pods.failed(pod, "no answer");
      }
      clock.at += 5_000;
    }
    expect(new Set(begun.slice(0, 20)).size).toBe(20);
    expect(new Set(begun.slice(20, 40)).size).toBe(20);
  });

  it("failures: pauses that double up to 2.5 s; after a success none", () => {
    const { clock, turns: pods } = turns();
    const pauses: number[] = [];
    for (let failure = 1; failure <= 6; failure++) {
      pods.begin("a");
      pods.failed("a", "refused");
      const { due, nextAt } = pods.due(["a"]);
      expect(due).toEqual([]);
      pauses.push(nextAt - clock.at);
      clock.at = nextAt;
    }
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 2_500, 2_500]);
    pods.begin("a");
    pods.succeeded("a");
    expect(pods.due(["a"])).toEqual({ due: ["a"], nextAt: Infinity });
  });

  it("steps that take 5 s to fail, as of a server that is mute: begin 5 s apart", () => {
    const { clock, turns: pods } = turns();
    const begun: number[] = [];
    for (let failure = 1; failure <= 6; failure++) {
      const { due, nextAt } = pods.due(["a"]);
      if (due.length === 0) clock.at = nextAt;
      begun.push(clock.at);
      pods.begin("a");
      clock.at += 5_000;
      pods.failed("a", "no answer");
    }
    expect(begun.slice(1).map((at, i) => at - (begun[i] ?? 0))).toEqual(Array(5).fill(5_000));
  });

  it("a reason: is new once, and again after the Pod was well", () => {
    const { turns: pods } = turns();
    const fail = (why: string): boolean => {
      pods.begin("a");
      return pods.failed("a", why);
    };
    expect([fail("x"), fail("x"), fail("y"), fail("y")]).toEqual([true, false, true, false]);
    pods.due([]);
    expect(fail("y")).toBe(true);
  });

  it("a dozen steps of a Pod within 10 s: the next one waits for the end of the 10 s, also if there was nothing to do in between", () => {
    const { clock, turns: pods } = turns();
    for (let step = 1; step <= 12; step++) {
      expect(pods.due(["a"]).due).toEqual(["a"]);
      pods.begin("a");
      clock.at += 100;
      pods.succeeded("a");
      pods.due([]);
    }
    expect(pods.due(["a", "b"])).toEqual({ due: ["b"], nextAt: 11_000 });
    clock.at = 11_000;
    expect(pods.due(["a"]).due).toEqual(["a"]);
  });
});
