import { describe, expect, it } from "vitest";
import type { Endpoints, EndpointSlice } from "../../../../src/api/meta/kubernetes";
import { endpointsChange, sliceChange } from "../../../../src/controllers/advertised/advertised-objects";

const KEY = { name: "kubernetes", namespace: "default" };
const ports = [{ name: "https", port: 6443, protocol: "TCP" }];

describe("Endpoints default/kubernetes", () => {
  const wanted: Endpoints = {
    metadata: { ...KEY, labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
    subsets: [{ addresses: [{ ip: "192.0.2.1" }, { ip: "2001:db8::1" }], ports }],
  };
  const change = (stored?: Endpoints) => endpointsChange(["192.0.2.1", "2001:db8::1"], stored);

  it("none yet: written with all addresses and the label that nobody mirrors it", () => {
    expect(change()).toEqual({ kind: "write", object: wanted });
  });

  it.each<[string, Endpoints]>([
    ["as it has to be", wanted],
    ["with labels of others", { ...wanted, metadata: { ...KEY, labels: { ...wanted.metadata?.labels, mine: "yes" } } }],
  ])("%s: left alone", (_, stored) => {
    expect(change(stored)).toEqual({ kind: "none" });
  });

  it.each<[string, Endpoints]>([
    ["another address", { ...wanted, subsets: [{ addresses: [{ ip: "192.0.2.9" }], ports }] }],
    ["no subsets", { metadata: wanted.metadata ?? {} }],
    ["without the label", { ...wanted, metadata: KEY }],
    ["another port", { ...wanted, subsets: [{ addresses: [{ ip: "192.0.2.1" }, { ip: "2001:db8::1" }], ports: [{ port: 443 }] }] }],
  ])("%s: written", (_, stored) => {
    expect(change(stored)).toEqual({ kind: "write", object: wanted });
  });

  it("written over: uid and labels of others stay", () => {
    const metadata = { ...KEY, uid: "u", labels: { mine: "yes" } };
    expect(change({ metadata })).toMatchObject({ object: { metadata: { uid: "u", labels: { mine: "yes" } } } });
  });
});

describe("EndpointSlice default/kubernetes", () => {
  const labels = { "kubernetes.io/service-name": "kubernetes" };
  const slice = (addressType: EndpointSlice["addressType"], ...addresses: string[]): EndpointSlice => ({
    metadata: { ...KEY, labels },
    addressType,
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports,
  });

  it.each<[string[], EndpointSlice]>([
    [["192.0.2.1", "192.0.2.2"], slice("IPv4", "192.0.2.1", "192.0.2.2")],
    [["2001:db8::1"], slice("IPv6", "2001:db8::1")],
    [["192.0.2.1", "2001:db8::1"], slice("IPv4", "192.0.2.1")],
  ])("addresses %j: one family, IPv4 where there is one", (addresses, object) => {
    expect(sliceChange(addresses, undefined)).toEqual({ kind: "write", object });
    expect(sliceChange(addresses, object)).toEqual({ kind: "none" });
  });

  it("conditions of its endpoints changed by hand: written", () => {
    const stored = slice("IPv4", "192.0.2.1");
    stored.endpoints = [{ addresses: ["192.0.2.1"], conditions: { ready: false } }];
    expect(sliceChange(["192.0.2.1"], stored)).toEqual({ kind: "write", object: slice("IPv4", "192.0.2.1") });
  });

  it("another family: deleted and made anew, because the type cannot change", () => {
    expect(sliceChange(["2001:db8::1"], slice("IPv4", "192.0.2.1"))).toEqual({ kind: "recreate", object: slice("IPv6", "2001:db8::1") });
  });
});
