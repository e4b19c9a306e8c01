import { describe, expect, it } from "vitest";
import type { EndpointSlice } from "../../../../src/api/meta/kubernetes";
import { addressLabel, namedService, namedSlice } from "../../../../src/clients/dns/named-service";
import { aService, aSlice, anEndpoint, type EndpointState, type SliceEndpoint } from "../../../support/values/endpoint-objects";

describe("namedService", () => {
  it.each([
    ["one ClusterIP", aService("web"), ["10.96.0.5"]],
    ["two families", aService("web", { clusterIPs: ["10.96.0.5", "fd00::5"] }), ["10.96.0.5", "fd00::5"]],
    ["an older API server, clusterIP alone", aService("web", { clusterIPs: [] }), ["10.96.0.5"]],
    ["an address that is none", aService("web", { clusterIPs: ["10.96.0.5", "10.96.0.6 evil.example"] }), ["10.96.0.5"]],
    ["headless", aService("web", { clusterIP: "None", clusterIPs: ["None"] }), undefined],
  ])("%s: its name and addresses", (_, service, clusterIPs) => {
    expect(namedService(service)).toEqual({ namespace: "default", name: "web", clusterIPs });
  });

  it.each([
    ["ExternalName", aService("out", { type: "ExternalName", clusterIP: "", clusterIPs: [], externalName: "www.example.com" })],
    ["a ClusterIP that is still to come", aService("web", { clusterIP: "", clusterIPs: [] })],
    ["a name with a line in it", aService("web\n10.0.0.1 evil")],
    ["no spec", { metadata: { namespace: "default", name: "web" } }],
    ["no namespace", { ...aService("web"), metadata: { name: "web" } }],
  ])("%s: no names", (_, service) => {
    expect(namedService(service)).toBeUndefined();
  });
});

describe("namedSlice", () => {
  const endpointsOf = (endpoints: SliceEndpoint[]): string[] | undefined =>
    namedSlice(aSlice("db-a", "db", endpoints))?.endpoints.map(({ address, label }) => `${address} ${label}`);

  it.each<[EndpointState, string[]]>([
    ["ready", ["192.0.2.1 192-0-2-1"]],
    ["notReady", []],
    ["servingLast", []],
    ["ending", []],
    ["published", ["192.0.2.1 192-0-2-1"]],
  ])("an endpoint that is %s: %j", (state, expected) => {
    expect(endpointsOf([anEndpoint("192.0.2.1", state)])).toEqual(expected);
  });

  it.each<[string, SliceEndpoint, string[]]>([
    ["no conditions", { addresses: ["192.0.2.1"] }, ["192.0.2.1 192-0-2-1"]],
    ["a hostname", { addresses: ["192.0.2.1"], hostname: "db-0" }, ["192.0.2.1 db-0"]],
    ["two addresses", { addresses: ["192.0.2.1", "192.0.2.2"], hostname: "db-0" }, ["192.0.2.1 db-0", "192.0.2.2 db-0"]],
    ["a hostname with a line in it", { addresses: ["192.0.2.1"], hostname: "db\n10.0.0.1 evil" }, ["192.0.2.1 192-0-2-1"]],
    ["a name instead of an address", { addresses: ["db.example.com"] }, []],
  ])("an endpoint with %s: %j", (_, endpoint, expected) => {
    expect(endpointsOf([endpoint])).toEqual(expected);
  });

  it("Service: the one of the label", () => {
    expect(namedSlice(aSlice("db-a", "db", []))).toEqual({ namespace: "default", service: "db", endpoints: [] });
    expect(namedSlice({ ...aSlice("db-a", "db", []), metadata: { name: "db-a" } })).toBeUndefined();
  });

  it("slice without endpoints: none", () => {
    const slice = { ...aSlice("db-a", "db", []), endpoints: null } as unknown as EndpointSlice;
    expect(namedSlice(slice)?.endpoints).toEqual([]);
  });
});

it.each([
  ["192.0.2.21", "192-0-2-21"],
  ["fd00:1::5", "fd00-1--5"],
  ["fd00:1::", "fd00-1--0"],
  ["::5", "0--5"],
  ["::", "0--0"],
])("addressLabel, %s: %s", (address, label) => {
  expect(addressLabel(address)).toBe(label);
});
