/** Sets of texts in little memory: as a Set has them. */
import { describe, expect, it } from "vitest";
import { TextTable } from "../../../../src/core/tables/text-table";
import { itOfSeeds } from "../../../support/sim/platform/seeds";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

const ODD = ["", "\ufeffa", "a", "ä/ö", "日本/語", "😀", "x".repeat(20_000), " a", "a "];

describe("a table of texts", () => {
  it("any text: is found as it was", () => {
    const table = new TextTable();
    const numbers = ODD.map((text) => table.add(text));
    expect(new Set(numbers).size).toBe(ODD.length);
    expect(ODD.map((text) => table.add(text))).toEqual(numbers);
    expect(numbers.map((number) => table.textOf(number))).toEqual(ODD);
    expect([table.has("b"), table.numberOf("b"), table.delete("b")]).toEqual([false, undefined, undefined]);
    table.clear();
    expect([table.size, [...table.texts()], table.has("a"), table.add("b")]).toEqual([0, [], false, 0]);
  });

  it("a text that is too long: is refused", () => {
    expect(() => new TextTable().add("x".repeat(65_535))).toThrow();
  });

  it("texts that go while they are read: each other one is read", () => {
    const table = new TextTable();
    for (let i = 0; i < 100; i++) table.add(`n${i}`);
    const read: string[] = [];
    for (const text of table.texts()) {
      read.push(text);
      table.delete(text);
    }
    expect([read.length, table.size]).toEqual([100, 0]);
  });

  itOfSeeds("comes and goes as in a Set, with one number for each text (seed %i)", { fixed: [1, 2, 3], further: 3 }, (seed) => {
    const random = seededRandom(seed);
    const table = new TextTable();
    const texts = new Map<string, number>();
    for (let act = 0; act < 2_000; act++) {
      const text = `namespace-${random.below(3)}/name-${random.below(200)}`;
      if (random.below(5) < 3) {
        const number = table.add(text);
        expect(texts.get(text) ?? number).toBe(number);
        texts.set(text, number);
      } else {
        expect(table.delete(text)).toBe(texts.get(text));
        texts.delete(text);
      }
    }
    expect([...table.texts()].sort()).toEqual([...texts.keys()].sort());
    expect([table.size, new Set(texts.values()).size]).toEqual([texts.size, texts.size]);
    for (const [text, number] of texts) expect([table.numberOf(text), table.textOf(number)]).toEqual([number, text]);
  });
});
