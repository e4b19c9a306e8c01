import { expect, it } from "vitest";
import type { ConfigMap } from "../../../../../src/api/meta/kubernetes";
import { configMapsDefinition } from "../../../../../src/api/registry/config-maps/definition";
import { create, update } from "../outcomes";

const KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const IMMUTABLE = "Forbidden: field is immutable when `immutable` is set";
const MIB = 1024 * 1024;

function aMap(content: Partial<ConfigMap>): ConfigMap {
  return { metadata: { name: "c", namespace: "ns" }, ...content };
}

it.each<{ name: string; content: Partial<ConfigMap>; want: string[] }>([
  { name: "without data", content: {}, want: [] },
  { name: "texts and bytes", content: { data: { "a.conf": "x", __proto: "" }, binaryData: { A_b: "AAEC" } }, want: [] },
  { name: "of a key with a blank", content: { data: { "a b": "x" } }, want: [`data[a b]: Invalid value: "a b": ${KEY_TEXT}`] },
  { name: "of an empty key", content: { binaryData: { "": "AA==" } }, want: [`binaryData[]: Invalid value: "": ${KEY_TEXT}`] },
  {
    name: "of keys that mean a directory",
    content: { data: { ".": "", "..": "", "..a": "" } },
    want: [
      `data[.]: Invalid value: ".": must not be '.'`,
      `data[..]: Invalid value: "..": must not be '..'`,
      `data[..a]: Invalid value: "..a": must not start with '..'`,
    ],
  },
  {
    name: "of a long key",
    content: { data: { ["k".repeat(254)]: "" } },
    want: [`data[${"k".repeat(254)}]: Invalid value: "${"k".repeat(254)}": must be no more than 253 characters`],
  },
  {
    name: "of one key in both members",
    content: { data: { a: "x", constructor: "y" }, binaryData: { a: "AA==" } },
    want: ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
  },
  { name: "of 1 MiB", content: { data: { a: "é".repeat(MIB / 2 - 3) }, binaryData: { b: "AAAAAAAA" } }, want: [] },
  {
    name: "of a byte more",
    content: { data: { a: "é".repeat(MIB / 2 - 3) }, binaryData: { b: "AAAAAAAAAA==" } },
    want: ["[]: Too long: may not be more than 1048576 bytes"],
  },
])("ConfigMap $name: upstream's errors", ({ content, want }) => {
  expect(create(configMapsDefinition, aMap(content)).errors).toEqual(want);
});

it.each<{ name: string; before: Partial<ConfigMap>; after: Partial<ConfigMap>; want: string[] }>([
  { name: "its metadata", before: {}, after: { metadata: { name: "c", namespace: "ns", labels: { a: "b" } } }, want: [] },
  { name: "nothing, with the keys in another order", before: {}, after: { data: { b: "2", a: "1" } }, want: [] },
  { name: "a text", before: {}, after: { data: { a: "1", b: "3" } }, want: [`data: ${IMMUTABLE}`] },
  { name: "a text to none", before: {}, after: { data: { a: "1", b: "" } }, want: [`data: ${IMMUTABLE}`] },
  { name: "bytes", before: {}, after: { binaryData: { c: "AAEC" } }, want: [`binaryData: ${IMMUTABLE}`] },
  { name: "that it is immutable", before: {}, after: { immutable: false }, want: [`immutable: ${IMMUTABLE}`] },
  {
    name: "all of it",
    before: {},
    after: { immutable: undefined, data: {}, binaryData: {} },
    want: [`immutable: ${IMMUTABLE}`, `data: ${IMMUTABLE}`, `binaryData: ${IMMUTABLE}`],
  },
  { name: "all of it before it is immutable", before: { immutable: false }, after: { data: {}, binaryData: {} }, want: [] },
])("immutable ConfigMap, change of $name: upstream's errors", ({ before, after, want }) => {
  const stored = aMap({ immutable: true, data: { a: "1", b: "2" }, binaryData: { c: "AAAA" }, ...before });
  expect(update(configMapsDefinition, { before: stored, after: { ...stored, ...after } }).errors).toEqual(want);
});

it("cells: name, number of keys in both members, age", () => {
  const { object } = create(configMapsDefinition, aMap({ data: { a: "1", b: "2" }, binaryData: { c: "AAAA" } }));
  expect(configMapsDefinition.cells(object, Date.parse(object.metadata?.creationTimestamp ?? "") + 5_000)).toEqual(["c", 3, "5s"]);
});
