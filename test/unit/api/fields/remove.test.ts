import { expect, it } from "vitest";
import { PathSet } from "../../../../src/api/fields/path-set";
import { removeItems } from "../../../../src/api/fields/remove";
import { servicesDefinition } from "../../../../src/api/registry/services/definition";
import type { JsonObject } from "../../../../src/api/schema/json/json-value";

const HTTP = { name: "http", port: 80, protocol: "TCP" };
const DNS = { name: "dns", port: 53, protocol: "UDP" };
const HTTP_KEY = 'k:{"port":80,"protocol":"TCP"}';

/** Rules: structured-merge-diff typed/remove. */
it.each<{ what: string; object: JsonObject; paths: string[][]; rest: JsonObject }>([
  { what: "nothing", object: { spec: { type: "ClusterIP" } }, paths: [], rest: { spec: { type: "ClusterIP" } } },
  { what: "all members", object: { spec: { type: "ClusterIP" } }, paths: [["f:spec"]], rest: {} },
  { what: "the only member of a struct", object: { spec: { type: "ClusterIP" } }, paths: [["f:spec", "f:type"]], rest: { spec: null } },
  {
    what: "an entry of a map",
    object: { metadata: { labels: { a: "1", b: "2" } } },
    paths: [["f:metadata", "f:labels", "f:a"]],
    rest: { metadata: { labels: { b: "2" } } },
  },
  {
    what: "an item of a keyed list",
    object: { spec: { ports: [HTTP, DNS] } },
    paths: [["f:spec", "f:ports", HTTP_KEY]],
    rest: { spec: { ports: [DNS] } },
  },
  {
    what: "a member of an item",
    object: { spec: { ports: [HTTP, DNS] } },
    paths: [["f:spec", "f:ports", HTTP_KEY, "f:name"]],
    rest: { spec: { ports: [{ port: 80, protocol: "TCP" }, DNS] } },
  },
  {
    what: "the only item that has a key",
    object: { spec: { ports: [null, HTTP] } },
    paths: [["f:spec", "f:ports", HTTP_KEY]],
    rest: { spec: { ports: [null] } },
  },
  {
    what: "all items of a set",
    object: { metadata: { finalizers: ["a/b"] } },
    paths: [["f:metadata", "f:finalizers", 'v:"a/b"']],
    rest: { metadata: { finalizers: null } },
  },
  {
    what: "what an older schema had below a scalar",
    object: { spec: { type: "ClusterIP" }, metadata: { labels: { a: "1" } } },
    paths: [
      ["f:spec", "f:type", "f:x"],
      ["f:metadata", "f:labels", "f:a", "f:x"],
    ],
    rest: { spec: { type: "ClusterIP" }, metadata: { labels: { a: "1" } } },
  },
  {
    what: "a part of what is one field now",
    object: { spec: { selector: { a: "1", b: "2" } } },
    paths: [["f:spec", "f:selector", "f:a"]],
    rest: { spec: { selector: null } },
  },
  {
    what: "members that the schema does not name",
    object: { other: { a: 1, b: { c: 2 }, d: 3 }, text: "x" },
    paths: [
      ["f:other", "f:a"],
      ["f:other", "f:b", "f:c"],
      ["f:text", "f:a"],
    ],
    rest: { other: { b: null, d: 3 }, text: "x" },
  },
  {
    what: "a part of values that are not what the schema says",
    object: { spec: "x", metadata: { labels: "x", finalizers: "x", name: "a" } },
    paths: [
      ["f:spec", "f:type"],
      ["f:metadata", "f:labels", "f:a"],
      ["f:metadata", "f:finalizers", 'v:"x"'],
    ],
    rest: { spec: null, metadata: { labels: null, finalizers: null, name: "a" } },
  },
])("$what: removed, and the object that was given stays", ({ object, paths, rest }) => {
  const before = structuredClone(object);
  expect(removeItems(object, PathSet.of(paths), servicesDefinition.schema)).toEqual(rest);
  expect(object).toEqual(before);
});
