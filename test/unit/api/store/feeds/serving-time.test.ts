import { expect, it } from "vitest";
import { ServingTime } from "../../../../../src/api/store/feeds/serving-time";

it("the time for which a store serves: since its start, since a lost turn, and never less than nothing", () => {
  let now = 1_000;
  const serving = new ServingTime({ now: () => now });
  now = 5_000;
  serving.turnCommitted();
  expect(serving.ms).toBe(4_000);
  serving.turnLost();
  now = 7_000;
  expect(serving.ms).toBe(2_000);
  now = 3_000;
  expect(serving.ms).toBe(0);
  now = 4_000;
  expect(serving.ms).toBe(1_000);
});
