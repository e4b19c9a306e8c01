import { describe, expect, it } from "vitest";
import { PodSchema } from "../../../../src/api/schema/kinds/core-pods";
import { ServiceSchema } from "../../../../src/api/schema/kinds/core-services";
import type { JsonObject, JsonValue } from "../../../../src/api/schema/json/json-value";
import { countedWork } from "../../../support/values/counted-work";
import { jsonPatched, mergePatched, strategicPatched } from "../../../support/values/patch-texts";

interface Growing {
  name: string;
  /** the work on an input of size `n`, which is made before it is counted */
  make(n: number): () => unknown;
}

const many = <T>(n: number, itemAt: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => itemAt(i));
const mapOf = (n: number, valueAt: (i: number) => JsonValue = () => 0): JsonObject =>
  Object.fromEntries(many(n, (i) => [`k${i}`, valueAt(i)] as const));

function json(current: JsonObject, operations: readonly object[]): () => unknown {
  const patch = JSON.stringify(operations);
  return () => jsonPatched(current, patch);
}

function strategic(current: JsonObject, patch: object, schema = ServiceSchema): () => unknown {
  const text = JSON.stringify(patch);
  return () => strategicPatched(current, text, schema);
}

const large = (n: number): JsonObject => ({ list: many(n, () => 0), map: mapOf(n) });

const GROWING: readonly Growing[] = [
  {
    name: "JSON patch: a large value moved to and fro",
    make: (n) =>
      json(
        { a: large(n) },
        many(n, (i) => (i % 2 === 0 ? { op: "move", from: "/a", path: "/b" } : { op: "move", from: "/b", path: "/a" })),
      ),
  },
  {
    name: "JSON patch: members set in a large map",
    make: (n) =>
      json(
        large(n),
        many(n, (i) => ({ op: "add", path: `/map/x${i}`, value: {} })),
      ),
  },
  {
    name: "JSON patch: members of a large map replaced and removed",
    make: (n) =>
      json(large(n), [
        ...many(n, (i) => ({ op: "replace", path: `/map/k${i}`, value: 1 })),
        ...many(n, (i) => ({ op: "remove", path: `/map/k${i}` })),
      ]),
  },
  {
    name: "JSON patch: tests of members beside large ones",
    make: (n) =>
      json(
        { ...large(n), a: 1 },
        many(n, () => ({ op: "test", path: "/a", value: 1 })),
      ),
  },
  {
    name: "JSON patch: a test of a large value that fails",
    make: (n) =>
      json(
        large(n),
        many(n, () => ({ op: "test", path: "/map", value: {} })),
      ),
  },
  {
    name: "JSON patch: copies of a small value beside large ones",
    make: (n) =>
      json(
        { ...large(n), a: { b: 1 } },
        many(n, (i) => ({ op: "copy", from: "/a", path: `/c${i}` })),
      ),
  },
  {
    name: "JSON patch: one level deeper with each operation",
    make: (n) =>
      json(
        { a: {} },
        many(n / 4, () => [
          { op: "move", from: "/a", path: "/b" },
          { op: "add", path: "/a", value: {} },
          { op: "move", from: "/b", path: "/a/a" },
        ]).flat(),
      ),
  },
  {
    name: "JSON patch: elements in front of a list",
    make: (n) =>
      json(
        { a: [] },
        many(n, () => ({ op: "add", path: "/a/0", value: {} })),
      ),
  },
  { name: "merge patch: members of a large map set and deleted", make: (n) => mergePatchOf(n) },
  {
    name: "strategic merge: ports changed, deleted and ordered",
    make: (n) => {
      const ports = many(n, (i) => ({ name: `p${i}`, port: i }));
      const changed = many(n, (i) => (i % 3 === 0 ? { $patch: "delete", port: i } : { port: i, targetPort: 1 }));
      const order = many(n, (i) => ({ port: i })).filter(({ port }) => port % 3 !== 0);
      return strategic({ spec: { ports } }, { spec: { "$setElementOrder/ports": order, ports: changed } });
    },
  },
  {
    name: "strategic merge: an order against that of the list",
    make: (n) =>
      strategic(
        { spec: { ports: many(n, (port) => ({ port })) } },
        { spec: { "$setElementOrder/ports": many(n, (i) => ({ port: n - i })) } },
      ),
  },
  {
    name: "strategic merge: finalizers deleted, added and ordered",
    make: (n) =>
      strategic(
        { metadata: { finalizers: many(n, (i) => `a/${i}`) } },
        {
          metadata: {
            "$deleteFromPrimitiveList/finalizers": many(n / 2, (i) => `a/${i}`),
            "$setElementOrder/finalizers": many(n, (i) => `a/${n / 2 + i}`),
            finalizers: many(n, (i) => `a/${n / 2 + i}`),
          },
        },
      ),
  },
  {
    name: "strategic merge: $retainKeys of many members",
    make: (n) => {
      const keys = many(n, (i) => `k${2 * i}`);
      return strategic(
        { spec: { selector: mapOf(n, String) } },
        { spec: { selector: { $retainKeys: keys, ...Object.fromEntries(keys.map((key) => [key, "x"])) } } },
      );
    },
  },
  {
    name: "strategic merge: the environment of many containers",
    make: (n) => {
      const containers = (value: string) => many(n / 10, (i) => ({ name: `c${i}`, env: many(10, (e) => ({ name: `E${e}`, value })) }));
      return strategic({ spec: { containers: containers("1") } }, { spec: { containers: containers("2") } }, PodSchema);
    },
  },
  {
    name: "strategic merge: an element that is none, in a long list",
    make: (n) => strategic({ spec: { ports: many(n, (port) => ({ port })) } }, { spec: { ports: [...many(n, (port) => ({ port })), 1] } }),
  },
];

function mergePatchOf(n: number): () => unknown {
  const patch = JSON.stringify({ data: mapOf(n, (i) => (i % 2 === 0 ? null : { a: { b: i } })) });
  const current = { data: mapOf(n, () => ({ a: { c: 1 } })) };
  return () => mergePatched(current, patch);
}

/** Twice the input may cost twice the work, and sorting a little more. */
const GROWTH_MAX = 2.3;

describe("twice as large an input is twice the work", () => {
  it.each(GROWING)("$name", ({ make }) => {
    const [small, twice] = [400, 800].map((n) => countedWork(make(n)));
    expect((twice ?? 0) / (small ?? 1)).toBeLessThan(GROWTH_MAX);
  });
});

/** What equal merge keys read has a limit of its own: beyond it, twice the input is the same work and what its text costs. */
it.each<{ name: string; patchOf(n: number): JsonObject }>([
  {
    name: "elements of one key with many unknown members",
    patchOf: (n) => ({ spec: { containers: [{ name: "a", ...mapOf(n) }, ...many(n, () => ({ name: "a" }))] } }),
  },
  {
    name: "elements of one key with a long list",
    patchOf: (n) => ({
      spec: {
        containers: [{ name: "a", env: many(n, (i) => ({ name: `E${i}` })) }, ...many(n, () => ({ name: "a", env: [{ name: "E1" }] }))],
      },
    }),
  },
  {
    name: "elements of one key with $retainKeys",
    patchOf: (n) => ({ spec: { containers: [{ name: "a", ...mapOf(n) }, ...many(n, () => ({ name: "a", $retainKeys: ["name"] }))] } }),
  },
])("strategic merge, $name: bounded", ({ patchOf }) => {
  const [small, twice] = [3_000, 6_000].map((n) =>
    countedWork(strategic({ spec: { containers: [{ name: "b" }] } }, patchOf(n), PodSchema)),
  );
  expect((twice ?? 0) / (small ?? 1)).toBeLessThan(GROWTH_MAX);
});
