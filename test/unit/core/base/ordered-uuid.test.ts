import { expect, it } from "vitest";
import { orderedUuid } from "../../../../src/core/base/ordered-uuid";
import { WordRandom } from "../../../../src/core/base/word-random";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

it("orderedUuid: starts with the time, version 7, variant 1", () => {
  expect(orderedUuid(0x0123_4567_89ab, new WordRandom(() => 0))).toBe("01234567-89ab-7000-8000-000000000000");
  expect(orderedUuid(1, new WordRandom(() => 2 ** 32 - 1))).toBe("00000000-0001-7fff-bfff-ffffffffffff");
});

it("orderedUuid: texts sort by time, and one millisecond has many", () => {
  const random = seededRandom(1);
  const times = [5, 1_700_000_000_000, 1_700_000_000_001, 2 ** 48 - 1];
  const uuids = times.map((time) => orderedUuid(time, random));
  expect([...uuids].sort()).toEqual(uuids);
  expect(new Set(Array.from({ length: 1_000 }, () => orderedUuid(7, random))).size).toBe(1_000);
});
