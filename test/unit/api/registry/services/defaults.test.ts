import { describe, expect, it } from "vitest";
import type { Service } from "../../../../../src/api/meta/kubernetes";
import { applyDefaults, applyReadDefaults, withReadDefaults } from "../../../../../src/api/registry/services/defaults";
import { deepFreeze, type Spec } from "./a-service";
import { upstreamRow } from "../../../../conformance/upstream-row";

function defaulted(service: Service): Service {
  applyDefaults(service);
  const once = JSON.stringify(service);
  applyDefaults(service);
  expect(JSON.stringify(service)).toBe(once);
  return service;
}

const PLAIN = { type: "ClusterIP", sessionAffinity: "None", internalTrafficPolicy: "Cluster" };

describe("applyDefaults", () => {
  it.each<{ name: string; given: Spec | undefined; want: Spec }>([
    { name: "no spec at all", given: undefined, want: PLAIN },
    {
      name: "port",
      given: {
        ports: [{ port: 80 }, { port: 81, targetPort: 0 }, { port: 82, targetPort: "" }, { port: 83, targetPort: "web", protocol: "UDP" }],
      },
      want: {
        ...PLAIN,
        ports: [
          { port: 80, protocol: "TCP", targetPort: 80 },
          { port: 81, protocol: "TCP", targetPort: 81 },
          { port: 82, protocol: "TCP", targetPort: 82 },
          { port: 83, protocol: "UDP", targetPort: "web" },
        ],
      },
    },
    {
      name: "affinity None drops its settings",
      given: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
      want: PLAIN,
    },
    {
      name: "affinity ClientIP",
      given: { sessionAffinity: "ClientIP" },
      want: { ...PLAIN, sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } } },
    },
    {
      name: "affinity ClientIP with an empty setting",
      given: { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: {} } },
      want: { ...PLAIN, sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } } },
    },
    {
      name: "affinity ClientIP with its own timeout, even a wrong one",
      given: { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
      want: { ...PLAIN, sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
    },
    { name: "NodePort", given: { type: "NodePort" }, want: { ...PLAIN, type: "NodePort", externalTrafficPolicy: "Cluster" } },
    {
      name: "LoadBalancer",
      given: { type: "LoadBalancer" },
      want: { ...PLAIN, type: "LoadBalancer", externalTrafficPolicy: "Cluster", allocateLoadBalancerNodePorts: true },
    },
    {
      name: "LoadBalancer without node ports",
      given: { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, externalTrafficPolicy: "Local", internalTrafficPolicy: "Local" },
      want: {
        sessionAffinity: "None",
        type: "LoadBalancer",
        allocateLoadBalancerNodePorts: false,
        externalTrafficPolicy: "Local",
        internalTrafficPolicy: "Local",
      },
    },
    {
      name: "ClusterIP with externalIPs",
      given: { externalIPs: ["192.0.2.1"] },
      want: { ...PLAIN, externalIPs: ["192.0.2.1"], externalTrafficPolicy: "Cluster" },
    },
    { name: "headless", given: { clusterIP: "None" }, want: { ...PLAIN, clusterIP: "None" } },
    {
      name: "ExternalName",
      given: { type: "ExternalName", externalName: "a.example", externalIPs: ["192.0.2.1"] },
      want: { type: "ExternalName", sessionAffinity: "None", externalName: "a.example", externalIPs: ["192.0.2.1"] },
    },
  ])("$name: the defaults of the row", ({ given, want }) => {
    expect(defaulted({ spec: structuredClone(given) }).spec).toEqual(want);
  });

  it("families: left to the allocation", () => {
    const spec = defaulted({}).spec;
    expect(spec).not.toHaveProperty("ipFamilies");
    expect(spec).not.toHaveProperty("ipFamilyPolicy");
    expect(spec).not.toHaveProperty("clusterIP");
  });

  it("ipMode of a load balancer's addresses: VIP where an ip is set", () => {
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2", ipMode: "Proxy" }, { hostname: "a.example" }] } };
    const ingress = defaulted({ spec: { type: "LoadBalancer" }, status: structuredClone(status) }).status?.loadBalancer?.ingress;
    expect(ingress?.map((entry) => entry.ipMode)).toEqual(["VIP", "Proxy", undefined]);
    expect(defaulted({ spec: {}, status: structuredClone(status) }).status).toEqual(status);
  });
});

upstreamRow("TestUpdatePatchAllocatedValues, TestNormalizeClusterIPs, TestServiceDefaultOnRead", () => {
  it.each<{ name: string; given: Spec; families?: ("IPv4" | "IPv6")[]; want: Spec }>([
    {
      name: "one address, from before clusterIPs",
      given: { type: "ClusterIP", clusterIP: "10.0.0.1" },
      want: { type: "ClusterIP", clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
    },
    {
      name: "one IPv6 address on an IPv4 cluster",
      given: { type: "NodePort", clusterIP: "2001:db8::1", clusterIPs: ["2001:db8::1"] },
      want: {
        type: "NodePort",
        clusterIP: "2001:db8::1",
        clusterIPs: ["2001:db8::1"],
        ipFamilies: ["IPv6"],
        ipFamilyPolicy: "SingleStack",
      },
    },
    {
      name: "two addresses",
      given: { type: "ClusterIP", clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "2001:db8::1"] },
      want: {
        type: "ClusterIP",
        clusterIP: "10.0.0.1",
        clusterIPs: ["10.0.0.1", "2001:db8::1"],
        ipFamilies: ["IPv4", "IPv6"],
        ipFamilyPolicy: "RequireDualStack",
      },
    },
    {
      name: "headless with selector",
      given: { type: "ClusterIP", clusterIP: "None", clusterIPs: ["None"], selector: { a: "b" } },
      families: ["IPv6"],
      want: {
        type: "ClusterIP",
        clusterIP: "None",
        clusterIPs: ["None"],
        selector: { a: "b" },
        ipFamilies: ["IPv6"],
        ipFamilyPolicy: "SingleStack",
      },
    },
    {
      name: "headless without selector",
      given: { type: "ClusterIP", clusterIP: "None", clusterIPs: ["None"] },
      want: {
        type: "ClusterIP",
        clusterIP: "None",
        clusterIPs: ["None"],
        ipFamilies: ["IPv4", "IPv6"],
        ipFamilyPolicy: "RequireDualStack",
      },
    },
    {
      name: "families that are there stay",
      given: { type: "ClusterIP", clusterIP: "None", clusterIPs: ["None"], ipFamilies: ["IPv6"], ipFamilyPolicy: "SingleStack" },
      want: { type: "ClusterIP", clusterIP: "None", clusterIPs: ["None"], ipFamilies: ["IPv6"], ipFamilyPolicy: "SingleStack" },
    },
    {
      name: "ExternalName shows no internalTrafficPolicy",
      given: { type: "ExternalName", externalName: "a.example", internalTrafficPolicy: "Cluster" },
      want: { type: "ExternalName", externalName: "a.example" },
    },
  ])("read defaults, $name: the values of the row", ({ given, families = ["IPv4"], want }) => {
    const service = { spec: structuredClone(given) };
    applyReadDefaults(service, families);
    expect(service.spec).toEqual(want);
    const kept = deepFreeze({ spec: structuredClone(given) });
    expect(withReadDefaults(kept, families).spec).toEqual(want);
  });

  it("withReadDefaults of a complete object: answers the object itself", () => {
    const whole = deepFreeze({ spec: { type: "ClusterIP", clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"] } });
    expect(withReadDefaults(whole, ["IPv4"])).toBe(whole);
  });
});
