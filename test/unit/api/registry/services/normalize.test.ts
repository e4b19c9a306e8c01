import { expect, it } from "vitest";
import { normalizeClusterIPs, patchAllocatedValues } from "../../../../../src/api/registry/services/normalize";
import { deepFreeze, sent, type Spec } from "./a-service";
import { upstreamRow } from "../../../../conformance/upstream-row";

const A = "10.0.0.1";
const B = "10.0.0.2";
const A6 = "2001:db8::1";
const BALANCER: Spec = { type: "LoadBalancer" };

/** Ports p and q with the given node ports; undefined = left out. */
function two(p?: number, q?: number): NonNullable<Spec["ports"]> {
  return [
    { name: "p", port: 80, ...(p === undefined ? {} : { nodePort: p }) },
    { name: "q", port: 81, ...(q === undefined ? {} : { nodePort: q }) },
  ];
}

upstreamRow("TestUpdatePatchAllocatedValues, TestNormalizeClusterIPs, TestServiceDefaultOnRead", () => {
  it.each<{ name: string; given: Spec; want: string[] | undefined }>([
    { name: "neither", given: {}, want: undefined },
    { name: "singular only", given: { clusterIP: A }, want: [A] },
    { name: "singular None", given: { clusterIP: "None" }, want: ["None"] },
    { name: "plural only", given: { clusterIPs: [A] }, want: [A] },
    { name: "both", given: { clusterIP: A, clusterIPs: [B, A6] }, want: [B, A6] },
  ])("create, $name: clusterIPs follow clusterIP", ({ given, want }) => {
    const after = sent(given);
    normalizeClusterIPs({ after });
    expect(after.spec?.clusterIPs).toEqual(want);
    expect(after.spec?.clusterIP).toBe(given.clusterIP);
  });
});

upstreamRow("TestUpdatePatchAllocatedValues, TestNormalizeClusterIPs, TestServiceDefaultOnRead", () => {
  it.each<{ name: string; old: Spec; given: Spec; want: [string | undefined, string[] | undefined] }>([
    { name: "plural left out", old: { clusterIP: A, clusterIPs: [A, A6] }, given: { clusterIP: A }, want: [A, [A, A6]] },
    { name: "plural emptied", old: { clusterIP: A, clusterIPs: [A] }, given: { clusterIP: A, clusterIPs: [] }, want: [A, [A]] },
    {
      name: "singular cleared, plural the same",
      old: { clusterIP: A, clusterIPs: [A] },
      given: { clusterIPs: [A] },
      want: [undefined, undefined],
    },
    {
      name: "singular cleared, plural changed",
      old: { clusterIP: A, clusterIPs: [A] },
      given: { clusterIPs: [B] },
      want: [undefined, [B]],
    },
    { name: "both cleared", old: { clusterIP: A, clusterIPs: [A] }, given: {}, want: [undefined, undefined] },
    {
      name: "singular changed, plural the same",
      old: { clusterIP: A, clusterIPs: [A, A6] },
      given: { clusterIP: B, clusterIPs: [A, A6] },
      want: [B, [B]],
    },
    { name: "both changed", old: { clusterIP: A, clusterIPs: [A] }, given: { clusterIP: B, clusterIPs: [B, A6] }, want: [B, [B, A6]] },
    { name: "singular appears", old: {}, given: { clusterIP: A }, want: [A, [A]] },
    { name: "nothing changes", old: { clusterIP: A, clusterIPs: [A] }, given: { clusterIP: A, clusterIPs: [A] }, want: [A, [A]] },
  ])("update, $name: both fields agree", ({ old, given, want }) => {
    const after = sent(given);
    normalizeClusterIPs({ after, before: deepFreeze(sent(old)) });
    expect([after.spec?.clusterIP, after.spec?.clusterIPs]).toEqual(want);
  });
});

upstreamRow("TestUpdatePatchAllocatedValues, TestNormalizeClusterIPs, TestServiceDefaultOnRead", () => {
  it.each<{ name: string; old: Spec; given: Spec; want: Spec }>([
    {
      name: "ClusterIP to ClusterIP",
      old: { type: "ClusterIP", clusterIP: A, clusterIPs: [A, A6] },
      given: { type: "ClusterIP" },
      want: { type: "ClusterIP", clusterIP: A, clusterIPs: [A, A6] },
    },
    {
      name: "given values",
      old: { type: "ClusterIP", clusterIP: A, clusterIPs: [A] },
      given: { type: "NodePort", clusterIP: B, clusterIPs: [B] },
      want: { type: "NodePort", clusterIP: B, clusterIPs: [B] },
    },
    {
      name: "None",
      old: { type: "ClusterIP", clusterIP: "None", clusterIPs: ["None"] },
      given: { type: "NodePort" },
      want: { type: "NodePort", clusterIP: "None", clusterIPs: ["None"] },
    },
    {
      name: "to ExternalName",
      old: { type: "ClusterIP", clusterIP: A, clusterIPs: [A] },
      given: { type: "ExternalName" },
      want: { type: "ExternalName" },
    },
    {
      name: "from ExternalName",
      old: { type: "ExternalName" },
      given: { type: "ClusterIP" },
      want: { type: "ClusterIP" },
    },
    {
      name: "node ports of renamed and reordered ports",
      old: {
        type: "NodePort",
        ports: [
          { name: "p", port: 80, nodePort: 30001 },
          { name: "q", port: 81, nodePort: 30002 },
        ],
      },
      given: {
        type: "LoadBalancer",
        ports: [
          { name: "q", port: 80 },
          { name: "p", port: 81 },
          { name: "r", port: 82 },
        ],
      },
      want: {
        type: "LoadBalancer",
        ports: [
          { name: "q", port: 80, nodePort: 30002 },
          { name: "p", port: 81, nodePort: 30001 },
          { name: "r", port: 82 },
        ],
      },
    },
    {
      name: "a node port that another port takes",
      old: {
        type: "NodePort",
        ports: [
          { name: "p", port: 80, nodePort: 30001 },
          { name: "q", port: 81, nodePort: 30002 },
        ],
      },
      given: {
        type: "NodePort",
        ports: [
          { name: "p", port: 80, nodePort: 30002 },
          { name: "q", port: 81 },
        ],
      },
      want: {
        type: "NodePort",
        ports: [
          { name: "p", port: 80, nodePort: 30002 },
          { name: "q", port: 81 },
        ],
      },
    },
    {
      name: "NodePort to ClusterIP",
      old: { type: "NodePort", ports: [{ port: 80, nodePort: 30001 }] },
      given: { type: "ClusterIP", ports: [{ port: 80 }] },
      want: { type: "ClusterIP", ports: [{ port: 80 }] },
    },
    {
      name: "allocateLoadBalancerNodePorts to false, one of two numbers zeroed",
      old: { ...BALANCER, allocateLoadBalancerNodePorts: true, ports: two(30001, 30002) },
      given: { ...BALANCER, allocateLoadBalancerNodePorts: false, ports: two(30001, 0) },
      want: { ...BALANCER, allocateLoadBalancerNodePorts: false, ports: two(30001, 0) },
    },
    {
      name: "allocateLoadBalancerNodePorts stays false, numbers left out",
      old: { ...BALANCER, allocateLoadBalancerNodePorts: false, ports: two(30001, 30002) },
      given: { ...BALANCER, allocateLoadBalancerNodePorts: false, ports: two() },
      want: { ...BALANCER, allocateLoadBalancerNodePorts: false, ports: two() },
    },
    {
      name: "allocateLoadBalancerNodePorts from false to true, numbers left out",
      old: { ...BALANCER, allocateLoadBalancerNodePorts: false, ports: two(30001, 30002) },
      given: { ...BALANCER, allocateLoadBalancerNodePorts: true, ports: two() },
      want: { ...BALANCER, allocateLoadBalancerNodePorts: true, ports: two() },
    },
    {
      name: "allocateLoadBalancerNodePorts stays true, numbers zeroed",
      old: { ...BALANCER, allocateLoadBalancerNodePorts: true, ports: two(30001, 30002) },
      given: { ...BALANCER, allocateLoadBalancerNodePorts: true, ports: two(0, 0) },
      want: { ...BALANCER, allocateLoadBalancerNodePorts: true, ports: two(30001, 30002) },
    },
    {
      name: "health check port of a local load balancer",
      old: { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 31000 },
      given: { type: "LoadBalancer", externalTrafficPolicy: "Local" },
      want: { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 31000 },
    },
    {
      name: "Local to Cluster",
      old: { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 31000 },
      given: { type: "LoadBalancer", externalTrafficPolicy: "Cluster" },
      want: { type: "LoadBalancer", externalTrafficPolicy: "Cluster" },
    },
  ])("update, $name: allocated values as in the row", ({ old, given, want }) => {
    const after = { spec: structuredClone(given) };
    const before = deepFreeze({ spec: structuredClone(old) });
    patchAllocatedValues({ after, before });
    expect(after.spec).toEqual(want);
    // nothing is shared: the caller may go on changing its object
    expect(after.spec.clusterIPs === undefined || !Object.isFrozen(after.spec.clusterIPs)).toBe(true);
  });
});
