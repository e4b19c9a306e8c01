import { expect, it } from "vitest";
import { keyOf } from "../../../../src/api/meta/object-key";

it.each([
  ["a namespace and a name", { metadata: { namespace: "default", name: "web" } }, "default/web"],
  ["no namespace", { metadata: { name: "10.0.0.1" } }, "10.0.0.1"],
  ["an empty namespace", { metadata: { namespace: "", name: "10.0.0.1" } }, "10.0.0.1"],
  ["nothing", {}, ""],
])("key of an object with %s: namespace and name, or the name alone", (_, object, want) => {
  expect(keyOf(object)).toBe(want);
});
