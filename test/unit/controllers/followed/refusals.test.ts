import { expect, it } from "vitest";
import { badRequest } from "../../../../src/api/meta/status";
import { isPassing, Refusals } from "../../../../src/controllers/followed/refusals";

function some(): { refusals: Refusals; logged: object[]; pass(ms: number): void } {
  let now = 0;
  const logged: object[] = [];
  const recorder = { log: (_level: string, _event: string, fields: object = {}) => void logged.push(fields) };
  const refusals = new Refusals({ clock: { now: () => now }, recorder }, { first: 5_000, longest: 300_000 });
  return { refusals, logged, pass: (ms) => (now += ms) };
}

it("a write that is refused again and again: waits twice as long each time, up to the longest wait, and is logged once", () => {
  const { refusals, logged, pass } = some();
  const waits: number[] = [];
  for (let i = 0, now = 0; i < 9; i++) {
    refusals.refused("status of n", badRequest("no"));
    const next = refusals.nextAt() ?? 0;
    waits.push(next - now);
    pass(next - now - 1);
    expect(refusals.mayTry("status of n")).toBe(false);
    pass(1);
    expect(refusals.mayTry("status of n")).toBe(true);
    now = next;
  }
  expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * 1_000));
  expect(logged).toEqual([{ write: "status of n", code: 400, reason: "BadRequest", message: "no" }]);
});

it("a write that was made: may be tried at once, and its next refusal is logged again", () => {
  const { refusals, logged } = some();
  refusals.refused("status of n", badRequest("no"));
  refusals.forget("status of n");
  expect([refusals.mayTry("status of n"), refusals.nextAt()]).toEqual([true, undefined]);
  refusals.refused("status of n", badRequest("no"));
  expect(logged).toHaveLength(2);
});

it("a write that is not tried for long after its wait: forgotten", () => {
  const { refusals, logged, pass } = some();
  refusals.refused("status of n", badRequest("no"));
  pass(305_001);
  expect([refusals.nextAt(), refusals.isEmpty]).toEqual([undefined, true]);
  refusals.refused("status of n", badRequest("no"));
  expect(logged).toHaveLength(2);
});

it("writes that nobody needs any more: forgotten, the others wait on", () => {
  const { refusals } = some();
  for (const write of ["a", "b"]) refusals.refused(write, badRequest("no"));
  refusals.keep((write) => write === "b");
  expect(["a", "b"].map((write) => [refusals.has(write), refusals.mayTry(write)])).toEqual([
    [false, true],
    [true, false],
  ]);
});

it.each([408, 409, 429, 500, 503, 504])("an answer of %i: the next try may succeed", (code) => {
  expect(isPassing({ code })).toBe(true);
});

it.each([400, 403, 404, 413, 422])("an answer of %i: the next try would be refused, too", (code) => {
  expect(isPassing({ code })).toBe(false);
});
