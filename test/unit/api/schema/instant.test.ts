import { describe, expect, it } from "vitest";
import { formatMicroTime, formatTime, parseInstant } from "../../../../src/api/schema/instant";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

describe("parseInstant", () => {
  it.each([
    ["1970-01-01T00:00:00Z", 0, 0],
    ["1969-12-31T23:59:59.5Z", -1, 500_000_000],
    ["0001-01-01T00:00:00Z", -62135596800, 0],
    ["9999-12-31T23:59:59.999999999Z", 253402300799, 999_999_999],
    ["2000-02-29T12:00:00+05:30", 951805800, 0],
    ["2024-01-01T00:00:00.1234567891Z", 1704067200, 123_456_789],
  ])("%s: %i seconds and %i nanoseconds", (text, seconds, nanos) => {
    expect(parseInstant(text)).toEqual({ seconds, nanos });
  });

  it("a written time, years 1 to 9999: reads back equal", () => {
    const seed = 11;
    const random = seededRandom(seed);
    for (let round = 0; round < 2000; round++) {
      const instant = { seconds: random.below(315537897600) - 62135596800, nanos: random.below(1_000_000) * 1000 };
      expect(parseInstant(formatMicroTime(instant)), `seed ${seed} round ${round}`).toEqual(instant);
      expect(parseInstant(formatTime(instant)), `seed ${seed} round ${round}`).toEqual({ ...instant, nanos: 0 });
    }
  });
});
