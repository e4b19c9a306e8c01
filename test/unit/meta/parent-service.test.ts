import { expect, it } from "vitest";
import { parentServiceOf } from "../../../src/meta/parent-service";

const SERVICE = { resource: "services", namespace: "default", name: "web" };

it.each([
  ["a Service", { spec: { parentRef: SERVICE } }, { namespace: "default", name: "web" }],
  ["one with the group of core", { spec: { parentRef: { ...SERVICE, group: "" } } }, { namespace: "default", name: "web" }],
  ["one whose name is left out", { spec: { parentRef: { resource: "services" } } }, { namespace: "", name: "" }],
  ["Services of another group", { spec: { parentRef: { ...SERVICE, group: "example.com" } } }, undefined],
  ["another resource", { spec: { parentRef: { ...SERVICE, resource: "gateways" } } }, undefined],
  ["no parent", { spec: {} }, undefined],
  ["no spec", {}, undefined],
])("parentServiceOf: %s", (_, object, want) => {
  expect(parentServiceOf(object)).toEqual(want);
});
