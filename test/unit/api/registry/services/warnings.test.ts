import { describe, expect, it } from "vitest";
import type { Service } from "../../../../../src/api/meta/kubernetes";
import { statusWarningsFor, warningsFor } from "../../../../../src/api/registry/services/warnings";
import { complete, deepFreeze, sent, type Spec } from "./a-service";

describe("warningsFor", () => {
  it("a plain Service: no warning", () => {
    expect(warningsFor(deepFreeze(complete({ clusterIP: "10.0.0.1" })))).toEqual([]);
  });

  it.each<{ name: string; spec: Spec; rest?: Omit<Service, "spec">; want: string[] }>([
    {
      name: "deprecated annotation",
      spec: { type: "ClusterIP" },
      rest: { metadata: { annotations: { "service.kubernetes.io/topology-aware-hints": "Auto" } } },
      want: ["annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead"],
    },
    {
      name: "headless",
      spec: {
        type: "ClusterIP",
        clusterIP: "None",
        clusterIPs: ["None"],
        loadBalancerIP: "x",
        externalIPs: ["192.0.2.1"],
        sessionAffinity: "ClientIP",
      },
      want: [
        "spec.loadBalancerIP is ignored for headless services",
        "spec.externalIPs is ignored for headless services",
        "spec.SessionAffinity is ignored for headless services",
      ],
    },
    {
      name: "externalIPs",
      spec: { type: "NodePort", externalIPs: ["192.0.2.1", "2001:DB8::1"] },
      want: [
        'spec.externalIPs[1]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
        "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
      ],
    },
    {
      name: "externalIPs of an ExternalName",
      spec: { type: "ExternalName", externalName: "a.b", externalIPs: ["192.0.2.1"] },
      want: ['spec.externalIPs is ignored when spec.type is "ExternalName"'],
    },
    {
      name: "externalName of another type",
      spec: { type: "ClusterIP", externalName: "a.b" },
      want: ['spec.externalName is ignored when spec.type is not "ExternalName"'],
    },
    {
      name: "PreferClose",
      spec: { type: "ClusterIP", trafficDistribution: "PreferClose" },
      want: ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'],
    },
    {
      name: "clusterIPs that are not canonical",
      spec: { type: "ClusterIP", clusterIP: "2001:db8:0::1", clusterIPs: ["2001:db8:0::1", "10.0.0.1"] },
      want: ['spec.clusterIPs[0]: IPv6 address "2001:db8:0::1" should be in RFC 5952 canonical format ("2001:db8::1")'],
    },
    {
      name: "loadBalancerIP with leading zeros",
      spec: { type: "LoadBalancer", loadBalancerIP: "192.0.02.001" },
      want: ['spec.loadBalancerIP: non-standard IP address "192.0.02.001" is invalid: use "192.0.2.1"'],
    },
    {
      name: "loadBalancerIP mapped into IPv6",
      spec: { type: "LoadBalancer", loadBalancerIP: "::FFFF:c000:201" },
      want: ['spec.loadBalancerIP: non-standard IP address "::FFFF:c000:201" is invalid: use "192.0.2.1"'],
    },
    { name: "loadBalancerIP that is no address", spec: { type: "LoadBalancer", loadBalancerIP: "my-address" }, want: [] },
    {
      name: "source ranges",
      spec: { type: "LoadBalancer", loadBalancerSourceRanges: ["10.0.0.0/8", "10.0.0.1/8", "2001:DB8::/32", "2001:db8::1/64", "x"] },
      want: [
        'spec.loadBalancerSourceRanges[1]: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
        'spec.loadBalancerSourceRanges[2]: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format ("2001:db8::/32")',
        'spec.loadBalancerSourceRanges[3]: CIDR value "2001:db8::1/64" is ambiguous in this context (should be "2001:db8::/64" or "2001:db8::1/128"?)',
      ],
    },
  ])("$name: the warnings of the row", ({ spec, rest, want }) => {
    expect(warningsFor(deepFreeze(sent({ sessionAffinity: "None", ...spec }, rest)))).toEqual(want);
  });
});

it("an address of the status in another form: a warning that names its entry", () => {
  const ingress = [{ ip: "10.0.0.1" }, { hostname: "a.example" }, { ip: "2001:DB8::1" }];
  expect(statusWarningsFor({ status: { loadBalancer: { ingress } } })).toEqual([
    'status.loadBalancer.ingress[2]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
  ]);
  expect(statusWarningsFor({})).toEqual([]);
});
