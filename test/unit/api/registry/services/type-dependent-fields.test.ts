import { describe, expect, it } from "vitest";
import type { Service } from "../../../../../src/api/meta/kubernetes";
import { dropTypeDependentFields } from "../../../../../src/api/registry/services/type-dependent-fields";
import { deepFreeze, type Spec } from "./a-service";

const ADDRESS = { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" };
const CLUSTER_IP: Spec = { type: "ClusterIP", ...ADDRESS };
const NODE_PORT: Spec = { type: "NodePort", externalTrafficPolicy: "Cluster", ports: [{ port: 80, nodePort: 30001 }] };
const LOAD_BALANCER: Spec = {
  type: "LoadBalancer",
  externalTrafficPolicy: "Local",
  healthCheckNodePort: 31000,
  allocateLoadBalancerNodePorts: true,
  loadBalancerClass: "a/b",
  ports: [{ port: 80, nodePort: 30001 }],
};

function changed(old: Spec, next: Spec, status?: Service["status"]): Service {
  const after: Service = { spec: structuredClone(next), status };
  dropTypeDependentFields({ after, before: deepFreeze({ spec: structuredClone(old) }) });
  return after;
}

describe("dropTypeDependentFields", () => {
  it.each<{ name: string; old: Spec; next: Spec; want: Spec }>([
    {
      name: "to ExternalName",
      old: { ...CLUSTER_IP, selector: { a: "b" } },
      next: { ...CLUSTER_IP, type: "ExternalName", externalName: "a.b", selector: { a: "b" } },
      want: { type: "ExternalName", externalName: "a.b", selector: { a: "b" } },
    },
    {
      name: "to ExternalName with values that the client changed",
      old: CLUSTER_IP,
      next: { ...CLUSTER_IP, type: "ExternalName", clusterIPs: ["10.0.0.2"], ipFamilies: ["IPv6"], ipFamilyPolicy: "PreferDualStack" },
      want: {
        type: "ExternalName",
        clusterIP: "10.0.0.1",
        clusterIPs: ["10.0.0.2"],
        ipFamilies: ["IPv6"],
        ipFamilyPolicy: "PreferDualStack",
      },
    },
    {
      name: "headless to ExternalName",
      old: { type: "ClusterIP", clusterIP: "None", clusterIPs: ["None"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
      next: { type: "ExternalName", clusterIP: "None", clusterIPs: ["None"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
      want: { type: "ExternalName" },
    },
    {
      name: "NodePort to ClusterIP",
      old: NODE_PORT,
      next: { ...NODE_PORT, type: "ClusterIP" },
      want: { type: "ClusterIP", ports: [{ port: 80 }] },
    },
    {
      name: "NodePort to ClusterIP with a new node port",
      old: NODE_PORT,
      next: { ...NODE_PORT, type: "ClusterIP", ports: [{ port: 80, nodePort: 30002 }], externalTrafficPolicy: "Local" },
      want: { type: "ClusterIP", ports: [{ port: 80, nodePort: 30002 }], externalTrafficPolicy: "Local" },
    },
    {
      name: "NodePort to LoadBalancer",
      old: NODE_PORT,
      next: { ...NODE_PORT, type: "LoadBalancer" },
      want: { ...NODE_PORT, type: "LoadBalancer" },
    },
    {
      name: "LoadBalancer to NodePort",
      old: LOAD_BALANCER,
      next: { ...LOAD_BALANCER, type: "NodePort" },
      want: { type: "NodePort", externalTrafficPolicy: "Local", ports: [{ port: 80, nodePort: 30001 }] },
    },
    {
      name: "LoadBalancer to ClusterIP",
      old: LOAD_BALANCER,
      next: { ...LOAD_BALANCER, type: "ClusterIP" },
      want: { type: "ClusterIP", ports: [{ port: 80 }] },
    },
    {
      name: "LoadBalancer to ClusterIP with values that the client changed",
      old: LOAD_BALANCER,
      next: {
        ...LOAD_BALANCER,
        type: "ClusterIP",
        allocateLoadBalancerNodePorts: false,
        loadBalancerClass: "c",
        healthCheckNodePort: 31001,
      },
      want: {
        type: "ClusterIP",
        ports: [{ port: 80 }],
        allocateLoadBalancerNodePorts: false,
        loadBalancerClass: "c",
        healthCheckNodePort: 31001,
      },
    },
    {
      name: "no longer local",
      old: LOAD_BALANCER,
      next: { ...LOAD_BALANCER, externalTrafficPolicy: "Cluster" },
      want: {
        type: "LoadBalancer",
        externalTrafficPolicy: "Cluster",
        allocateLoadBalancerNodePorts: true,
        loadBalancerClass: "a/b",
        ports: [{ port: 80, nodePort: 30001 }],
      },
    },
    {
      name: "externalIPs removed",
      old: { type: "ClusterIP", externalIPs: ["192.0.2.1"], externalTrafficPolicy: "Cluster" },
      next: { type: "ClusterIP", externalTrafficPolicy: "Cluster" },
      want: { type: "ClusterIP" },
    },
    {
      name: "externalIPs kept",
      old: { type: "ClusterIP", externalIPs: ["192.0.2.1"], externalTrafficPolicy: "Cluster" },
      next: { type: "ClusterIP", externalIPs: ["192.0.2.1"], externalTrafficPolicy: "Cluster" },
      want: { type: "ClusterIP", externalIPs: ["192.0.2.1"], externalTrafficPolicy: "Cluster" },
    },
  ])("$name: only fields of the new type stay", ({ old, next, want }) => {
    expect(changed(old, next).spec).toEqual(want);
  });

  it("a change from LoadBalancer: the status of the load balancer is dropped", () => {
    const status = deepFreeze({ loadBalancer: { ingress: [{ ip: "192.0.2.1" }] }, conditions: [] });
    expect(changed(LOAD_BALANCER, { ...LOAD_BALANCER, type: "NodePort" }, status).status).toEqual({ loadBalancer: {}, conditions: [] });
    expect(changed(LOAD_BALANCER, LOAD_BALANCER, status).status).toBe(status);
  });
});
