import { describe, expect, it } from "vitest";
import { decodePage, encodePage } from "../../../../src/core/bitmap/codec";
import { Page, PAGE_BITS } from "../../../../src/core/bitmap/page";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { expectSame } from "../../../support/values/same";

function pageWith(count: number): Page {
  const random = seededRandom(4700 + count);
  const page = new Page();
  while (page.count < count) page.add(random.below(PAGE_BITS));
  return page;
}

describe("page codec", () => {
  it.each([
    [0, 8],
    [1, 10],
    [32, 72],
    [33, 520],
    [4095, 520],
    [4096, 8],
  ])("page with %i taken: stored in %i bytes, and read back equal", (count, length) => {
    const page = pageWith(count);
    const bytes = encodePage(page);
    expect(bytes.length).toBe(length);
    const decoded = decodePage(bytes);
    if (!decoded.ok) throw new Error(decoded.error);
    expect([...decoded.value.taken()]).toEqual([...page.taken()]);
    expect(decoded.value.count).toBe(count);
    expect(encodePage(decoded.value)).toEqual(bytes);
  });

  it("decoded page: shares no memory with the bytes", () => {
    const bytes = encodePage(pageWith(100));
    const decoded = decodePage(bytes);
    if (!decoded.ok) throw new Error(decoded.error);
    bytes.fill(0);
    expect([...decoded.value.taken()]).toEqual([...pageWith(100).taken()]);
  });

  it("stored form of version 1: these very bytes", () => {
    const page = new Page();
    for (const index of [1, 2, 4000]) page.add(index);
    expect([...encodePage(page)].slice(0, 4)).toEqual([1, 2, 3, 0]);
    expect([...encodePage(page)].slice(8)).toEqual([1, 0, 2, 0, 0xa0, 0x0f]);
  });

  it.each([
    ["empty", () => new Uint8Array(0), "length"],
    ["cut", () => encodePage(pageWith(100)).slice(0, 519), "length"],
    ["longer", () => new Uint8Array([...encodePage(pageWith(4096)), 0]), "length"],
    ["of another version", () => encodePage(pageWith(5)).fill(2, 0, 1), "version"],
    ["of no kind", () => encodePage(pageWith(5)).fill(3, 1, 2), "kind"],
    ["a list that does not ascend", () => encodePage(pageWith(5)).fill(0, 8, 18), "order"],
    ["a list beyond the page", () => encodePage(pageWith(1)).fill(255, 8, 10), "order"],
    ["with another count", () => encodePage(pageWith(100)).fill(7, 2, 3), "checksum"],
  ] as const)("bytes, %s: refused", (_, make, error) => {
    expect(decodePage(make())).toEqual({ ok: false, error });
  });

  it("every single flipped bit: refused", () => {
    for (const count of [1, 20, 100, 4096]) {
      const bytes = encodePage(pageWith(count));
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const damaged = bytes.slice();
        damaged[bit >>> 3] = (damaged[bit >>> 3] ?? 0) ^ (1 << (bit & 7));
        expectSame(decodePage(damaged).ok, false, () => `${count} taken, bit ${bit}`);
      }
    }
  });
});
