import { describe, expect, it } from "vitest";
import type { Random } from "../../../../src/core/base/ports";
import { pathText } from "../../../../src/api/fields/path-element";
import { PathSet } from "../../../../src/api/fields/path-set";
import type { JsonValue } from "../../../../src/api/schema/json/json-value";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

const SEED = 20260711;

const texts = (set: PathSet): string[] => [...set.paths()].map(pathText);

function parsed(tree: JsonValue): PathSet {
  const set = PathSet.fromFieldsV1(tree);
  if (!set) throw new Error(`not a tree of fields: ${JSON.stringify(tree)}`);
  return set;
}

describe("FieldsV1", () => {
  it("read and printed: the same tree, keys in upstream's order", () => {
    const tree = {
      "f:spec": {
        "f:type": {},
        "f:ports": {
          'k:{"protocol":"TCP","port":443}': { "f:port": {}, ".": {} },
          'k:{"port":80,"protocol":"UDP"}': {},
          'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} },
          ".": {},
        },
      },
      "f:metadata": { "f:finalizers": { 'v:"b"': {}, ".": {}, 'v:"a"': {} }, "f:labels": { "f:z": {}, "f:a": {} } },
    };
    expect(JSON.stringify(parsed(tree).toFieldsV1())).toBe(
      JSON.stringify({
        "f:metadata": { "f:finalizers": { ".": {}, 'v:"a"': {}, 'v:"b"': {} }, "f:labels": { "f:a": {}, "f:z": {} } },
        "f:spec": {
          "f:ports": {
            ".": {},
            'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} },
            'k:{"port":80,"protocol":"UDP"}': {},
            'k:{"port":443,"protocol":"TCP"}': { ".": {}, "f:port": {} },
          },
          "f:type": {},
        },
      }),
    );
  });

  it("paths: printed as in conflicts, the items of a level before their members", () => {
    const set = parsed({
      "f:spec": { "f:ports": { ".": {}, 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:targetPort": {} } }, "f:type": {} },
      "f:metadata": { "f:finalizers": { 'v:"x/y"': {} }, "f:annotations": { "f:a.b/c": {} } },
      "f:list": { "i:10": {}, "i:2": {} },
    });
    expect(texts(set)).toEqual([
      ".list[2]",
      ".list[10]",
      ".metadata.annotations.a.b/c",
      '.metadata.finalizers[="x/y"]',
      ".spec.ports",
      ".spec.type",
      '.spec.ports[port=80,protocol="TCP"]',
      '.spec.ports[port=80,protocol="TCP"].targetPort',
    ]);
  });

  it.each([
    ["a string", "x"],
    ["a list", []],
    ["nothing", undefined],
    ["a step without a colon", { spec: {} }],
    ["a step that is too short", { f: {} }],
    ["a key that is not JSON", { "k:{": {} }],
    ["a key that is no object", { "k:1": {} }],
    ["a value that is not JSON", { "v:x": {} }],
    ["an index that is none", { "i:x": {} }],
    ["a value in place of a tree", { "f:spec": 1 }],
    ["__proto__", JSON.parse('{"__proto__":{}}') as JsonValue],
  ])("%s: refused", (_name, tree) => {
    expect(PathSet.fromFieldsV1(tree)).toBeUndefined();
  });

  it("steps of unknown kinds: skipped; null: a leaf", () => {
    expect(texts(parsed({ "x:new": { "f:a": {} }, "f:b": null }))).toEqual([".b"]);
    expect(parsed({}).isEmpty()).toBe(true);
    expect(parsed({ ".": {} }).isEmpty()).toBe(true);
  });

  it("names of Object.prototype: names like others", () => {
    const set = parsed({ "f:__proto__": { "f:constructor": {} } });
    expect(texts(set)).toEqual([".__proto__.constructor"]);
    expect(JSON.stringify(set.toFieldsV1())).toBe('{"f:__proto__":{"f:constructor":{}}}');
  });
});

const STEPS = ["f:a", "f:b", "f:__proto__", 'k:{"port":80}', 'k:{"port":443,"protocol":"TCP"}', 'v:"x"', "v:2", "v:10", "i:0", "i:11"];

function randomPaths(random: Random): string[][] {
  const count = random.below(12);
  const paths: string[][] = [];
  for (let i = 0; i < count; i++) paths.push(Array.from({ length: 1 + random.below(3) }, () => STEPS[random.below(STEPS.length)] ?? "f:a"));
  return paths;
}

const keysOf = (paths: Iterable<readonly string[]>): Set<string> => new Set([...paths].map((path) => JSON.stringify(path)));
const sortedKeys = (set: PathSet): string[] => [...keysOf(set.paths())].sort();

describe(`sets of paths against sets of their texts (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  it("union, intersection, difference, has, equals and round trip: equal results", () => {
    for (let round = 0; round < 400; round++) {
      const a = randomPaths(random);
      const b = randomPaths(random);
      const [left, right] = [PathSet.of(a), PathSet.of(b)];
      const [inA, inB] = [keysOf(a), keysOf(b)];
      expect(sortedKeys(left)).toEqual([...inA].sort());
      expect(sortedKeys(left.union(right))).toEqual([...new Set([...inA, ...inB])].sort());
      expect(sortedKeys(left.intersection(right))).toEqual([...inA].filter((key) => inB.has(key)).sort());
      expect(sortedKeys(left.difference(right))).toEqual([...inA].filter((key) => !inB.has(key)).sort());
      expect(left.equals(right)).toBe(JSON.stringify([...inA].sort()) === JSON.stringify([...inB].sort()));
      for (const path of b) expect(left.has(path)).toBe(inA.has(JSON.stringify(path)));
      expect(left.isEmpty()).toBe(inA.size === 0);
      const tree = left.toFieldsV1();
      const again = parsed(JSON.parse(JSON.stringify(tree)) as JsonValue);
      expect(again.equals(left)).toBe(true);
      expect(JSON.stringify(again.toFieldsV1())).toBe(JSON.stringify(tree));
      expect(left.difference(right).union(left.intersection(right)).equals(left)).toBe(true);
    }
  });
});

it("a path with a long step: its beginning", () => {
  const long = "x".repeat(2_000);
  for (const step of [`f:${long}`, `k:{"name":"${long}"}`, `v:"${long}"`]) {
    const text = pathText(["f:spec", step, "f:a"]);
    expect(text.length).toBeLessThan(600);
    expect(text).toMatch(/^\.spec.*xxx\.\.\.\]?\.a$/);
  }
});
