import { describe, expect, it } from "vitest";
import { generateName, maskTrailingDash } from "../../../../src/api/meta/generate-name";
import { validateDNS1123Label } from "../../../../src/api/meta/names";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

describe("generateName", () => {
  it("a base: five characters follow, none of them a vowel", () => {
    expect(generateName("foo-", seededRandom(1))).toMatch(/^foo-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  it("a long base: cut so that the name is a label", () => {
    const name = generateName("a".repeat(80), seededRandom(1));
    expect(name).toHaveLength(63);
    expect(validateDNS1123Label(name)).toEqual([]);
  });

  it("a trailing dash: valid, because a suffix follows", () => {
    expect(validateDNS1123Label(maskTrailingDash("foo-"))).toEqual([]);
    expect(maskTrailingDash("-")).toBe("-");
  });
});
