import { describe, expect, it } from "vitest";
import { applyConfiguration } from "../../../../src/api/fields/apply";
import { decodeManagedFields, type ManagedFieldsEntry } from "../../../../src/api/fields/managed-fields";
import { parseApply } from "../../../../src/api/fields/parse-apply";
import { trackUpdate } from "../../../../src/api/fields/update";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import { PodSchema } from "../../../../src/api/schema/kinds/core-pods";
import { ServiceSchema } from "../../../../src/api/schema/kinds/core-services";
import type { JsonObject, JsonValue } from "../../../../src/api/schema/json/json-value";
import { countedWork } from "../../../support/values/counted-work";

const context = { schema: ServiceSchema, apiVersion: "v1", kind: "Service", subresource: "", hasStatus: true, nowMs: 0 };

function entryOf(fieldsV1: JsonObject, i = 0, operation: "Apply" | "Update" = "Update"): ManagedFieldsEntry {
  const time = new Date(i * 1000).toISOString();
  return { manager: `m${i}`, operation, apiVersion: "v1", fieldsType: "FieldsV1", time, fieldsV1 } as unknown as ManagedFieldsEntry;
}

const many = <T>(n: number, itemAt: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => itemAt(i));
const treeOf = (entries: readonly (readonly [string, JsonValue])[]): JsonObject => Object.fromEntries(entries);

/** The `i`th of many spellings of one text: bits of `i` say which of its characters are escaped. */
function spelling(i: number): string {
  return `v:"${many(16, (bit) => ((i >> bit) % 2 === 1 ? "\\u0061" : "a")).join("")}"`;
}

const leaves = (n: number): JsonObject => treeOf(many(n, (i) => [`f:x${i}`, {}]));
const finalizers = (below: JsonObject): JsonObject => ({ "f:metadata": { "f:finalizers": below } });
const labels = (below: JsonObject): JsonObject => ({ "f:metadata": { "f:labels": below } });

function service(managedFields: ManagedFieldsEntry[], more: JsonObject = {}): KubeObject {
  return { metadata: { name: "web", ...more, managedFields } } as unknown as KubeObject;
}

function update(entries: ManagedFieldsEntry[]): unknown {
  const change = { labels: { changed: "1" } };
  return trackUpdate({ ...context, manager: "me", before: service(entries), after: service(entries, change) });
}

function apply(entries: ManagedFieldsEntry[], labelsOf: JsonObject, force = true, live: JsonObject = {}): unknown {
  const config = { apiVersion: "v1", kind: "Service", metadata: { name: "web", labels: labelsOf } };
  return applyConfiguration({ ...context, live: service(entries, { labels: live }), config, manager: "me", force });
}

interface Growing {
  name: string;
  /** the work on an input of size `n`, at most 1,000: more conflicts are not reported, which is made before it is counted */
  make(n: number): () => unknown;
}

const GROWING: readonly Growing[] = [
  {
    name: "reading: one step in many spellings, each with a child, and one with many",
    make: (n) => {
      const below = treeOf(many(n, (i) => [spelling(i), i === 0 ? leaves(n) : { [`f:y${i}`]: {} }]));
      const entries = [entryOf(finalizers(below))];
      return () => decodeManagedFields(entries);
    },
  },
  {
    name: "reading: one step in many spellings, nested in one step in many spellings",
    make: (n) => {
      const below = treeOf(many(n, (i) => [spelling(i), { [spelling(i)]: { [`f:y${i}`]: {} } }]));
      const entries = [entryOf(finalizers(below))];
      return () => decodeManagedFields(entries);
    },
  },
  {
    name: "an update beside many updaters, of whom one has many fields",
    make: (n) => {
      const entries = many(n, (i) => entryOf(labels(i === 0 ? leaves(n) : { [`f:y${i}`]: {} }), i));
      return () => update(entries);
    },
  },
  {
    name: "an update beside many updaters of the same fields",
    make: (n) => {
      const entries = many(n, (i) => entryOf(labels({ "f:a": {}, "f:b": {} }), i));
      return () => update(entries);
    },
  },
  {
    name: "an apply that gives up a field, beside many appliers, of whom one has many fields",
    make: (n) => {
      const others = many(n, (i) => entryOf(labels(i === 0 ? leaves(n) : { [`f:y${i}`]: {} }), i, "Apply"));
      const mine = { ...entryOf(labels({ "f:gone": {} }), 0, "Apply"), manager: "me" };
      return () => apply([...others, mine], { kept: "1" }, true, { gone: "1" });
    },
  },
  {
    name: "an apply that many others conflict with",
    make: (n) => {
      const entries = many(n, (i) => entryOf(labels({ "f:kept": {} }), i, "Apply"));
      return () => apply(entries, { kept: "1" }, false, { kept: "2" });
    },
  },
  {
    name: "an apply with many conflicts with one manager of a long name",
    make: (n) => {
      const keys = treeOf(many(0.9 * n, (i) => [`x${i}`, "1"]));
      const entry = { ...entryOf(labels(leaves(0.9 * n))), manager: "m".repeat(100 * n), subresource: "s".repeat(100 * n) };
      return () => apply([entry], keys, false, treeOf(many(0.9 * n, (i) => [`x${i}`, "2"])));
    },
  },
  {
    name: "an apply whose conflicts lead through one long key",
    make: (n) => {
      const name = "c".repeat(100 * n);
      const key = `k:{"name":${JSON.stringify(name)}}`;
      const env = treeOf(many(0.9 * n, (i) => [`k:{"name":"E${i}"}`, { ".": {}, "f:name": {}, "f:value": {} }]));
      const entry = entryOf({ "f:spec": { "f:containers": { [key]: { "f:env": env } } } });
      const live = (value: string) => ({ spec: { containers: [{ name, env: many(0.9 * n, (i) => ({ name: `E${i}`, value })) }] } });
      const pod = { schema: PodSchema, apiVersion: "v1", kind: "Pod", subresource: "", hasStatus: true, nowMs: 0 };
      const stored = { metadata: { name: "a", managedFields: [entry] }, ...live("1") } as unknown as KubeObject;
      const config = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, ...live("2") };
      return () => applyConfiguration({ ...pod, live: stored, config, manager: "me", force: false });
    },
  },
  {
    name: "an apply with errors below one long key",
    make: (n) => {
      const unknown = treeOf(many(n / 10, (i) => [`u${i}`, 1]));
      const config = { apiVersion: "v1", kind: "Pod", spec: { containers: [{ name: "c".repeat(1000 * n), ...unknown }] } };
      const pod = { schema: PodSchema, apiVersion: "v1", kind: "Pod", subresource: "", hasStatus: true, nowMs: 0 };
      return () => applyConfiguration({ ...pod, live: undefined, config, manager: "me", force: false });
    },
  },
  {
    name: "an apply of a list with many equal items in the stored object",
    make: (n) => {
      const items = many(n, () => "a.b/c");
      const config = { apiVersion: "v1", kind: "Service", metadata: { name: "web", finalizers: many(n, (i) => `a.b/${i}`) } };
      return () => applyConfiguration({ ...context, live: service([], { finalizers: items }), config, manager: "me", force: true });
    },
  },
  {
    name: "an apply of many ports without a name, of which the stored object has others",
    make: (n) => {
      const ports = (from: number) => many(n, (i) => ({ port: from + i, protocol: "TCP" }));
      const live = { ...service([]), spec: { ports: ports(1) } } as unknown as KubeObject;
      const config = { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: { ports: ports(n / 2).reverse() } };
      return () => applyConfiguration({ ...context, live, config, manager: "me", force: true });
    },
  },
  {
    name: "an apply with one key many times",
    make: (n) => {
      const text = `{"metadata":{"labels":{${many(n, () => '"a":"b"').join(",")}}}}`;
      return () => parseApply(text, "Warn");
    },
  },
];

/** Twice the input may cost twice the work, and sorting a little more. */
const GROWTH_MAX = 2.3;

describe("twice as large an input is twice the work", () => {
  it.each(GROWING)("$name", ({ make }) => {
    const [small, large] = [500, 1_000].map((n) => countedWork(make(n)));
    expect((large ?? 0) / (small ?? 1)).toBeLessThan(GROWTH_MAX);
  });
});

it("steps in other spellings: one node with the children of all", () => {
  const tree = finalizers({ 'v:"a"': { "f:x": { "f:z": {} } }, 'v:"\\u0061"': {}, 'v: "a"': { "f:x": {}, "f:y": {} } });
  const [manager] = decodeManagedFields([entryOf(tree)])?.values() ?? [];
  expect(manager?.fields.toFieldsV1()).toEqual(finalizers({ 'v:"a"': { ".": {}, "f:x": { ".": {}, "f:z": {} }, "f:y": {} } }));
});

it.each([
  ["an index beyond 64 bits", { [`i:${"9".repeat(400)}`]: {} }],
  ["a value nested without end", { [`v:${"[".repeat(100_000)}${"]".repeat(100_000)}`]: {} }],
  ["a key nested without end", { [`k:{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`]: {} }],
])("%s: malformed, and read by no later step", (_name, below) => {
  expect(decodeManagedFields([entryOf(finalizers(below as JsonObject))])).toBeUndefined();
});
