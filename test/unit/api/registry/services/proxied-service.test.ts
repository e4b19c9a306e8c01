/** Rows from upstream pkg/proxy/servicechangetracker_test.go (TestServiceToServiceMap), serviceport.go and pkg/proxy/util/utils.go. */
import { describe, expect, it } from "vitest";
import type { Service } from "../../../../../src/api/meta/kubernetes";
import type { Family } from "../../../../../src/core/net/family";
import { policyUse, type ProxiedService, proxiedService } from "../../../../../src/api/registry/services/proxied-service";
import { aService } from "../../../../support/values/endpoint-objects";

const DUAL = { clusterIP: "10.96.0.5", clusterIPs: ["10.96.0.5", "fd00::5"] };

describe("proxiedService", () => {
  it("plain Service: every member has a value", () => {
    const spec = {
      ports: [
        { name: "http", port: 80, appProtocol: "h2c", nodePort: 0 },
        { port: 53, protocol: "UDP", nodePort: 30053 },
      ],
    };
    expect(proxiedService(aService("web", spec), "IPv4")).toEqual({
      namespace: "default",
      name: "web",
      family: "IPv4",
      clusterIP: "10.96.0.5",
      externalIPs: [],
      loadBalancerIPs: [],
      loadBalancerSourceRanges: [],
      affinitySeconds: undefined,
      internalTrafficPolicy: "Cluster",
      externalTrafficPolicy: "Cluster",
      healthCheckNodePort: undefined,
      ports: [
        { name: "http", protocol: "TCP", port: 80, nodePort: undefined, appProtocol: "h2c" },
        { name: "", protocol: "UDP", port: 53, nodePort: 30053, appProtocol: undefined },
      ],
    });
  });

  it.each<[string, Service, Family]>([
    ["headless", aService("web", { clusterIP: "None", clusterIPs: ["None"] }), "IPv4"],
    ["without a cluster IP", aService("web", { clusterIP: "", clusterIPs: [] }), "IPv4"],
    ["ExternalName", aService("web", { type: "ExternalName", externalName: "a.example" }), "IPv4"],
    ["of another proxy", aService("web", {}, { labels: { "service.kubernetes.io/service-proxy-name": "" } }), "IPv4"],
    ["of the other family", aService("web"), "IPv6"],
    ["of the other family, older form", aService("web", { clusterIPs: undefined }), "IPv6"],
  ])("Service %s: left alone", (_, service, family) => {
    expect(proxiedService(service, family)).toBeUndefined();
  });

  it.each<[string, Service, Family, Partial<ProxiedService>]>([
    ["dual stack, IPv4", aService("web", DUAL), "IPv4", { clusterIP: "10.96.0.5" }],
    ["dual stack, IPv6", aService("web", DUAL), "IPv6", { clusterIP: "fd00::5" }],
    ["clusterIP without clusterIPs", aService("web", { clusterIPs: undefined }), "IPv4", { clusterIP: "10.96.0.5" }],
    [
      "externalIPs of both families",
      aService("web", { ...DUAL, externalIPs: ["192.0.2.1", "2001:db8::1", "192.0.2.2"] }),
      "IPv4",
      { externalIPs: ["192.0.2.1", "192.0.2.2"] },
    ],
    ["affinity without a time", aService("web", { sessionAffinity: "ClientIP" }), "IPv4", { affinitySeconds: 10_800 }],
    [
      "affinity with a time",
      aService("web", { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 7 } } }),
      "IPv4",
      { affinitySeconds: 7 },
    ],
    [
      "time of an affinity that is off",
      aService("web", { sessionAffinity: "None", sessionAffinityConfig: { clientIP: { timeoutSeconds: 7 } } }),
      "IPv4",
      { affinitySeconds: undefined },
    ],
    ["internal Local", aService("web", { internalTrafficPolicy: "Local" }), "IPv4", { internalTrafficPolicy: "Local" }],
    [
      "external Local, NodePort",
      aService("web", { type: "NodePort", externalTrafficPolicy: "Local" }),
      "IPv4",
      { externalTrafficPolicy: "Local" },
    ],
    ["external Local, ClusterIP", aService("web", { externalTrafficPolicy: "Local" }), "IPv4", { externalTrafficPolicy: "Cluster" }],
    [
      "external Local, ClusterIP with externalIPs",
      aService("web", { externalTrafficPolicy: "Local", externalIPs: ["192.0.2.1"] }),
      "IPv4",
      { externalTrafficPolicy: "Local" },
    ],
    [
      "health check, Local",
      aService("web", { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 32000 }),
      "IPv4",
      { healthCheckNodePort: 32000 },
    ],
    [
      "health check, Cluster",
      aService("web", { type: "LoadBalancer", externalTrafficPolicy: "Cluster", healthCheckNodePort: 32000 }),
      "IPv4",
      { healthCheckNodePort: undefined },
    ],
    [
      "health check, Local, no port",
      aService("web", { type: "LoadBalancer", externalTrafficPolicy: "Local" }),
      "IPv4",
      { healthCheckNodePort: undefined },
    ],
    [
      "ingress: of the other family, by name, proxied",
      aService("web", DUAL, {
        ingress: [{ ip: "192.0.2.9" }, { ip: "2001:db8::9" }, {}, { ip: "192.0.2.8", ipMode: "Proxy" }, { ip: "192.0.2.7", ipMode: "VIP" }],
      }),
      "IPv4",
      { loadBalancerIPs: ["192.0.2.9", "192.0.2.7"] },
    ],
    [
      "source ranges: blanks, the other family",
      aService("web", { ...DUAL, loadBalancerSourceRanges: [" 192.0.2.0/24 ", "2001:db8::/32", "10.0.0.0/8"] }),
      "IPv4",
      { loadBalancerSourceRanges: ["192.0.2.0/24", "10.0.0.0/8"] },
    ],
    [
      "source range of length 0",
      aService("web", { ...DUAL, loadBalancerSourceRanges: ["10.0.0.0/8", "0.0.0.0/0"] }),
      "IPv4",
      { loadBalancerSourceRanges: [] },
    ],
    [
      "source range of length 0 of the other family",
      aService("web", { ...DUAL, loadBalancerSourceRanges: ["10.0.0.0/8", "::/0"] }),
      "IPv4",
      { loadBalancerSourceRanges: ["10.0.0.0/8"] },
    ],
  ])("%s: as kube-proxy reads it", (_, service, family, expected) => {
    expect(proxiedService(service, family)).toMatchObject(expected);
  });
});

describe("policyUse", () => {
  const INTERNAL = { internalTrafficPolicy: "Local" };
  const EXTERNAL = { type: "NodePort", externalTrafficPolicy: "Local" };
  const NODE_PORT = { ports: [{ port: 80, nodePort: 30080 }] };

  it.each<[string, Service, { cluster: boolean; local: boolean }]>([
    ["both Cluster", aService("web"), { cluster: true, local: false }],
    ["internal Local, not reached from outside", aService("web", INTERNAL), { cluster: false, local: true }],
    ["internal Local, with a node port", aService("web", { ...INTERNAL, ...NODE_PORT, type: "NodePort" }), { cluster: true, local: true }],
    ["external Local, without a node port", aService("web", EXTERNAL), { cluster: true, local: false }],
    ["external Local, with a node port", aService("web", { ...EXTERNAL, ...NODE_PORT }), { cluster: true, local: true }],
    ["external Local, with a load balancer", aService("web", EXTERNAL, { ingress: [{ ip: "192.0.2.9" }] }), { cluster: true, local: true }],
    ["external Local, with an external IP", aService("web", { ...EXTERNAL, externalIPs: ["192.0.2.1"] }), { cluster: true, local: true }],
    ["both Local, with a node port", aService("web", { ...INTERNAL, ...EXTERNAL, ...NODE_PORT }), { cluster: true, local: true }],
  ])("%s: needs the lists of its policies", (_, object, expected) => {
    const service = proxiedService(object, "IPv4");
    const port = service?.ports[0];
    expect(service && port && policyUse(service, port)).toEqual(expected);
  });
});
