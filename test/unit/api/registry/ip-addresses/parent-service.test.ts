import { expect, it } from "vitest";
import { isDerived, parentServiceOf } from "../../../../../src/api/registry/ip-addresses/parent-service";

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

it.each([
  ["the allocator's for a Service", "ipallocator.k8s.io", SERVICE, true],
  ["somebody's for a Service", "me", SERVICE, false],
  ["somebody's for something else", "me", { ...SERVICE, resource: "gateways" }, false],
  ["the allocator's for something else, which it never makes", "ipallocator.k8s.io", { ...SERVICE, resource: "gateways" }, false],
])("isDerived: %s", (_, manager, parentRef, want) => {
  expect(isDerived({ metadata: { labels: { "ipaddress.kubernetes.io/managed-by": manager } }, spec: { parentRef } })).toBe(want);
});

it("isDerived: false for an empty object", () => {
  expect(isDerived({})).toBe(false);
});
