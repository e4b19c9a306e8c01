import { describe, expect, it } from "vitest";
import { validateServiceUpdate } from "../../../../../src/api/registry/services/validate-update";
import { deepFreeze, type Spec, texts } from "./a-service";

const A = "10.0.0.1";
const B = "10.0.0.2";
const A6 = "2001:db8::1";
const B6 = "2001:db8::2";

const SINGLE: Spec = { type: "ClusterIP", clusterIP: A, clusterIPs: [A], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" };
const DUAL: Spec = {
  type: "ClusterIP",
  clusterIP: A,
  clusterIPs: [A, A6],
  ipFamilies: ["IPv4", "IPv6"],
  ipFamilyPolicy: "RequireDualStack",
};
const HEADLESS: Spec = { type: "ClusterIP", clusterIP: "None", clusterIPs: ["None"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" };
const LOCAL: Spec = { ...SINGLE, type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 31000 };

describe("validateServiceUpdate", () => {
  it.each<{ name: string; old: Spec; next: Spec; want: string[] }>([
    { name: "nothing changes", old: DUAL, next: DUAL, want: [] },
    { name: "grows", old: SINGLE, next: DUAL, want: [] },
    { name: "shrinks", old: DUAL, next: SINGLE, want: [] },
    { name: "ClusterIP to NodePort", old: SINGLE, next: { ...SINGLE, type: "NodePort" }, want: [] },
    {
      name: "address changes",
      old: SINGLE,
      next: { ...SINGLE, clusterIP: B, clusterIPs: [B] },
      want: [`spec.clusterIPs[0]: Invalid value: ["${B}"]: may not change once set`],
    },
    {
      name: "second address changes",
      old: DUAL,
      next: { ...DUAL, clusterIPs: [A, B6] },
      want: [`spec.clusterIPs[1]: Invalid value: ["${A}","${B6}"]: may not change once set`],
    },
    {
      name: "primary changes while growing",
      old: SINGLE,
      next: { ...DUAL, clusterIP: B, clusterIPs: [B, A6] },
      want: [`spec.clusterIPs[0]: Invalid value: ["${B}","${A6}"]: may not change once set`],
    },
    {
      name: "primary changes while shrinking",
      old: DUAL,
      next: { ...SINGLE, clusterIP: B, clusterIPs: [B] },
      want: [`spec.clusterIPs[0]: Invalid value: ["${B}"]: may not change once set`],
    },
    {
      name: "all addresses removed",
      old: SINGLE,
      next: { ...SINGLE, clusterIP: undefined, clusterIPs: undefined },
      want: ["spec.clusterIPs[0]: Invalid value: null: primary clusterIP can not be unset"],
    },
    {
      name: "shrinks without saying so",
      old: DUAL,
      next: { ...SINGLE, ipFamilyPolicy: "PreferDualStack" },
      want: [
        "spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be set to 'SingleStack' when releasing the secondary clusterIP",
        "spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be set to 'SingleStack' when releasing the secondary ipFamily",
      ],
    },
    {
      name: "families swapped: each difference counts, always at index 0",
      old: DUAL,
      next: { ...DUAL, ipFamilies: ["IPv6", "IPv4"] },
      want: [
        'spec.ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set',
        'spec.ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set',
      ],
    },
    {
      name: "primary family changes while growing",
      old: SINGLE,
      next: { ...DUAL, ipFamilies: ["IPv6", "IPv4"] },
      want: [`spec.ipFamilies[0]: Invalid value: ["${A}","${A6}"]: may not change once set`],
    },
    {
      name: "primary family changes while shrinking",
      old: DUAL,
      next: { ...SINGLE, ipFamilies: ["IPv6"] },
      want: [`spec.ipFamilies[0]: Invalid value: ["${A}"]: may not change once set`],
    },
    {
      name: "IP to headless",
      old: SINGLE,
      next: HEADLESS,
      want: ['spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set'],
    },
    {
      name: "headless to IP",
      old: HEADLESS,
      next: { ...SINGLE, ipFamilies: ["IPv6"] },
      want: [`spec.clusterIPs[0]: Invalid value: ["${A}"]: may not change once set`],
    },
    { name: "headless may change its families", old: HEADLESS, next: { ...HEADLESS, ipFamilies: ["IPv6", "IPv4"] }, want: [] },
    { name: "to ExternalName", old: DUAL, next: { type: "ExternalName", externalName: "a.b" }, want: [] },
    { name: "from ExternalName", old: { type: "ExternalName", externalName: "a.b" }, next: DUAL, want: [] },
    {
      name: "class of a load balancer",
      old: { ...LOCAL, loadBalancerClass: "a" },
      next: { ...LOCAL, loadBalancerClass: "b" },
      want: ['spec.loadBalancerClass: Invalid value: "b": may not change once set'],
    },
    {
      name: "class of a load balancer removed",
      old: { ...LOCAL, loadBalancerClass: "a" },
      next: LOCAL,
      want: ["spec.loadBalancerClass: Invalid value: null: may not change once set"],
    },
    { name: "class given when it becomes a load balancer", old: SINGLE, next: { ...LOCAL, loadBalancerClass: "b" }, want: [] },
    {
      name: "class on another type",
      old: SINGLE,
      next: { ...SINGLE, loadBalancerClass: "b" },
      want: ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    },
    {
      name: "health check port",
      old: LOCAL,
      next: { ...LOCAL, healthCheckNodePort: 31001 },
      want: ["spec.healthCheckNodePort: Forbidden: field is immutable"],
    },
    {
      name: "health check port when no longer local",
      old: LOCAL,
      next: { ...LOCAL, externalTrafficPolicy: "Cluster", healthCheckNodePort: undefined },
      want: [],
    },
  ])("$name: upstream's errors", ({ old, next, want }) => {
    const change = deepFreeze({ after: { spec: structuredClone(next) }, before: { spec: structuredClone(old) } });
    expect(texts(validateServiceUpdate(change))).toEqual(want);
  });
});
