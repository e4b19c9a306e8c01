import { expect, it } from "vitest";
import { Attempts } from "../../../../../src/clients/agent/ports/attempts";

function setUp(next: number) {
  const clock = { now: 0, steady: () => clock.now };
  const attempts = new Attempts(clock, { next: () => next });
  const rests = (...tookMs: number[]): number[] =>
    tookMs.map((ms) => {
      attempts.begin();
      clock.now += ms;
      return attempts.failed();
    });
  return { attempts, rests };
}

it("rests: double from failure to failure, and attempts begin at most 5 s apart", () => {
  expect(setUp(0).rests(0, 0, 0, 0, 0, 0)).toEqual([500, 1_000, 2_000, 2_500, 2_500, 2_500]);
  expect(Math.max(...setUp(1).rests(...Array<number>(50).fill(0)))).toBe(5_000);
});

it("rests: an attempt that took its time has rested meanwhile", () => {
  expect(setUp(0.5).rests(100, 1_000, 2_000, 2_000, 5_000)).toEqual([650, 500, 1_000, 1_750, 0]);
});

it("rests: begin anew after a success", () => {
  const { attempts, rests } = setUp(0);
  rests(0, 0, 0);
  attempts.succeeded();
  expect(rests(0)).toEqual([500]);
});
