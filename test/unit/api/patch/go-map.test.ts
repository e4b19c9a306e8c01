import { describe, expect, it } from "vitest";
import { goMap } from "../../../../src/api/patch/go-map";
import type { JsonObject } from "../../../../src/api/schema/json/json-value";

describe("goMap", () => {
  it("maps, lists and null: as Go prints them, keys sorted", () => {
    expect(goMap({ b: [1, "x", { d: null }], a: {} })).toBe("map[a:map[] b:[1 x map[d:<nil>]]]");
  });

  it.each<[order: string, at: (i: number) => number]>([
    ["sorted", (i) => i],
    ["backwards", (i) => COUNT - i],
    ["mixed", (i) => (i * 7_919) % COUNT],
  ])("a large map whose keys stand %s: its text begins as that of all keys in order", (_, at) => {
    const keys = Array.from({ length: COUNT }, (_, i) => `k${at(i)}`);
    const map: JsonObject = Object.fromEntries(keys.map((key) => [key, { [key]: "" }]));
    const whole = `map[${keys
      .sort()
      .map((key) => `${key}:map[${key}:]`)
      .join(" ")}]`;
    for (const max of [0, 1, 2, 100, 1_024]) expect(whole.startsWith(goMap(map, max).slice(0, max))).toBe(true);
    for (const max of [0, 1, 2, 100, 1_024]) expect(goMap(map, max).length).toBeGreaterThanOrEqual(max);
    expect(goMap(map).length).toBeLessThan(70_000);
  });
});

const COUNT = 5_000;
