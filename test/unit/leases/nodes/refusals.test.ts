import { expect, it } from "vitest";
import { badRequest } from "../../../../src/api/meta/status";
import { Refusals } from "../../../../src/leases/nodes/refusals";

function some(): { refusals: Refusals; logged: object[]; pass(ms: number): void } {
  let now = 0;
  const logged: object[] = [];
  const recorder = { log: (_level: string, _event: string, fields: object = {}) => void logged.push(fields) };
  const refusals = new Refusals(() => now, 5_000, recorder);
  return { refusals, logged, pass: (ms) => (now += ms) };
}

it("a write that is refused again and again: waits twice as long each time, up to five minutes, and is said once", () => {
  const { refusals, logged, pass } = some();
  const waits: number[] = [];
  for (let i = 0, now = 0; i < 9; i++) {
    refusals.refused("status of n", badRequest("no"));
    const [next = 0] = refusals.nextAt(now);
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

it("a write that was made: may be tried at once, and its next refusal is said again", () => {
  const { refusals, logged } = some();
  refusals.refused("status of n", badRequest("no"));
  refusals.forget("status of n");
  expect([refusals.mayTry("status of n"), refusals.nextAt(0)]).toEqual([true, []]);
  refusals.refused("status of n", badRequest("no"));
  expect(logged).toHaveLength(2);
});

it("a write that nobody tries again: forgotten", () => {
  const { refusals, logged } = some();
  refusals.refused("status of n", badRequest("no"));
  expect(refusals.nextAt(400_000)).toEqual([]);
  refusals.refused("status of n", badRequest("no"));
  expect(logged).toHaveLength(2);
});
