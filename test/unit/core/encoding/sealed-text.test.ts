import { expect, it } from "vitest";
import { seal, unseal } from "../../../../src/core/encoding/sealed-text";
import { fakeDigest } from "../../../support/sim/platform/fake-digest";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

it.each(["", "a", "zwölf\n\0", "𝒳".repeat(1_000)])("unseal of a sealed text: the text %j", async (text) => {
  expect(await unseal(await seal(text, fakeDigest), fakeDigest)).toBe(text);
});

it("unseal after a changed bit or a missing byte: undefined (seed 7)", async () => {
  const random = seededRandom(7);
  const sealed = await seal("the text", fakeDigest);
  for (let i = 0; i < 500; i++) {
    const at = random.below(sealed.length);
    const bit = 1 << random.below(8);
    expect(
      await unseal(
        sealed.map((byte, index) => (index === at ? byte ^ bit : byte)),
        fakeDigest,
      ),
    ).toBeUndefined();
  }
  for (let length = 0; length < sealed.length; length++) expect(await unseal(sealed.slice(0, length), fakeDigest)).toBeUndefined();
});
