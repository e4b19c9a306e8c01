import { describe, expect, it } from "vitest";
import type { StoreCursor } from "../../../../src/api/rpc/object-links";
import { StoreReading } from "../../../../src/controllers/followed/store-reading";

const at = (revision: number, incarnation = "i"): StoreCursor => ({ incarnation, revision });

/** A store that was read to its end. */
function read(): StoreReading {
  const reading = new StoreReading();
  reading.begins();
  return reading;
}

describe("a store that pokes tell of", () => {
  it("before the first pull: it is read, and asks for no pass by itself", () => {
    const reading = new StoreReading();
    expect([reading.isBehind(undefined), reading.wants(undefined)]).toEqual([true, false]);
    expect(reading.isBehind(at(5))).toBe(true);
  });

  it.each<[string, StoreCursor | undefined, StoreCursor[], boolean]>([
    ["a later place", at(5), [at(6)], true],
    ["the place of the cursor, as its own poke comes late", at(5), [at(5)], false],
    ["an earlier place", at(5), [at(4)], false],
    ["a later place, and then an earlier one: pokes overtake each other", at(5), [at(6), at(5)], true],
    ["the same twice", at(6), [at(6), at(6)], false],
    ["another life of the store", at(5), [at(2, "j")], true],
    ["two lives of it, the latest one read", at(9, "j"), [at(5), at(9, "j")], false],
    ["a place, and nothing was ever read", undefined, [at(1)], true],
  ])("%s", (_, cursor, told, wants) => {
    const reading = read();
    for (const place of told) reading.hears(place);
    expect([reading.wants(cursor), reading.isBehind(cursor)]).toEqual([wants, wants]);
  });

  it("a place that the store never reaches, since it died: one pull, and no further one", () => {
    const reading = read();
    reading.hears(at(9));
    expect(reading.wants(at(5))).toBe(true);
    reading.begins();
    expect([reading.wants(at(5)), reading.isBehind(at(5))]).toEqual([false, false]);
    reading.hears(at(6));
    expect(reading.wants(at(5))).toBe(true);
  });

  it("told during a pull: counts against what that pull has read", () => {
    const reading = new StoreReading();
    reading.begins();
    reading.hears(at(7));
    expect([reading.wants(at(6)), reading.wants(at(7))]).toEqual([true, false]);
  });

  it("asked for as a whole during a pull: it is read once more", () => {
    const reading = new StoreReading();
    reading.begins();
    reading.mustRead();
    expect(reading.isBehind(at(7))).toBe(true);
  });
});
