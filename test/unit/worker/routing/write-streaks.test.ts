import { expect, it } from "vitest";
import { WriteStreaks } from "../../../../src/worker/routing/write-streaks";

const MINUTE_MS = 60_000;

it.each<[string, number[], number, number]>([
  ["no write", [], 0, 0],
  ["one write", [1], 3, 2],
  ["writes with short pauses", [0, 5, 10, 15], 17, 17],
  ["a pause of more than five minutes", [0, 5, 11, 12], 14, 3],
  ["writes that ended", [0, 4, 8], 14, 0],
  ["a clock that was set back", [20, 22], 21, 0],
])("%s: the streak has the length of its writes without a long pause", (_, writes, at, want) => {
  const streaks = new WriteStreaks();
  for (const minute of writes) streaks.note("a", "services", minute * MINUTE_MS);
  expect(streaks.lengthMs("a", at * MINUTE_MS)).toBe(want * MINUTE_MS);
  expect(streaks.lengthMs("b", at * MINUTE_MS)).toBe(0);
});

it.each(["leases", "configmaps", "events", "pods"])("writes of %s: no streak, since repair looks at none of them", (resource) => {
  const streaks = new WriteStreaks();
  for (let minute = 0; minute < 40; minute++) streaks.note("a", resource, minute * MINUTE_MS);
  expect(streaks.lengthMs("a", 40 * MINUTE_MS)).toBe(0);
});
