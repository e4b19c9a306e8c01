import { expect, it } from "vitest";
import { isDerived, parentServiceOf } from "../../../../../src/api/registry/ip-addresses/parent-service";

const SERVICE = { resource: "services", namespace: "default", name: "web" };

it.each([
  ["a Service", { spec: { parentRef: SERVICE } }, { namespace: "default", name: "web" }],
  ["a Service with the core group", { spec: { parentRef: { ...SERVICE, group: "" } } }, { namespace: "default", name: "web" }],
  ["a Service without a name", { spec: { parentRef: { resource: "services" } } }, { namespace: "", name: "" }],
  ["a Service of another group", { spec: { parentRef: { ...SERVICE, group: "example.com" } } }, undefined],
  ["another resource", { spec: { parentRef: { ...SERVICE, resource: "gateways" } } }, undefined],
  ["absent", { spec: {} }, undefined],
  ["absent, no spec", {}, undefined],
])("parentServiceOf, parent %s: the Service, or undefined", (_, object, want) => {
  expect(parentServiceOf(object)).toEqual(want);
});

it.each([
  ["the allocator for a Service", "ipallocator.k8s.io", SERVICE, true],
  ["a client for a Service", "me", SERVICE, false],
  ["a client for another object", "me", { ...SERVICE, resource: "gateways" }, false],
  ["the allocator for another object, which upstream never makes", "ipallocator.k8s.io", { ...SERVICE, resource: "gateways" }, false],
])("isDerived, IPAddress of %s: true for the allocator's objects of Services alone", (_, manager, parentRef, want) => {
  expect(isDerived({ metadata: { labels: { "ipaddress.kubernetes.io/managed-by": manager } }, spec: { parentRef } })).toBe(want);
});

it("isDerived: false for an empty object", () => {
  expect(isDerived({})).toBe(false);
});
