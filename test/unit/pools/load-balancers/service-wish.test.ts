/** What a Service asks of pools, and what its status shows. */
import { describe, expect, it } from "vitest";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { withIngress, wishOf } from "../../../../src/pools/load-balancers/service-wish";

const METALLB = "metallb.io/loadBalancerIPs";
const CILIUM = "lbipam.cilium.io/ips";
const DUAL = { ipFamilies: ["IPv6", "IPv4"], ipFamilyPolicy: "RequireDualStack" };

function service(annotations: Record<string, string>, spec: Service["spec"] = {}): Service {
  return { metadata: { annotations }, spec: { ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack", ...spec } };
}

describe("addresses that a Service asks for", () => {
  it.each<[string, Service, object]>([
    ["none", service({}), {}],
    ["by the field", service({}, { loadBalancerIP: "10.0.0.1" }), { asked: { IPv4: "10.0.0.1" } }],
    ["by MetalLB's annotation", service({ [METALLB]: "10.0.0.1, FD00::0:1" }, DUAL), { asked: { IPv4: "10.0.0.1", IPv6: "fd00::1" } }],
    ["by its earlier name", service({ "metallb.universe.tf/loadBalancerIPs": "10.0.0.1" }), { asked: { IPv4: "10.0.0.1" } }],
    ["by Cilium's, whose texts that are none are passed over", service({ [CILIUM]: "x,10.0.0.1" }), { asked: { IPv4: "10.0.0.1" } }],
    [
      "by Cilium's and the field",
      service({ [CILIUM]: "fd00::1" }, { ...DUAL, loadBalancerIP: "10.0.0.1" }),
      { asked: { IPv4: "10.0.0.1", IPv6: "fd00::1" } },
    ],
    [
      "by MetalLB's and the field",
      service({ [METALLB]: "10.0.0.1" }, { loadBalancerIP: "10.0.0.1" }),
      { problem: "service can not have both metallb.io/loadBalancerIPs and svc.Spec.LoadBalancerIP" },
    ],
    ["that are none", service({ [METALLB]: "10.0.0.300" }), { problem: 'invalid requested loadbalancer IPs: invalid IP "10.0.0.300"' }],
    [
      "of another family",
      service({ [METALLB]: "fd00::1" }),
      { problem: 'requested loadBalancer IP(s) ["fd00::1"] does not match the ipFamily of the service' },
    ],
    [
      "two of one family",
      service({ [CILIUM]: "10.0.0.1,10.0.0.2" }),
      { problem: "invalid requested loadbalancer IPs: more than one IPv4 address" },
    ],
  ])("%s", (_, asking, expected) => {
    const { asked, problem } = wishOf(asking);
    expect({ ...(asked && { asked }), ...(problem !== undefined && { problem }) }).toEqual(expected);
  });
});

describe("the status", () => {
  const ports = [{ port: 80, protocol: "TCP" }];
  it.each<[string, object[], string[], string[], object[]]>([
    ["shows what the Service has", [], ["10.0.0.1"], [], [{ ip: "10.0.0.1", ipMode: "VIP" }]],
    [
      "keeps what others wrote",
      [{ hostname: "h" }, { ip: "192.0.2.1" }],
      ["10.0.0.1"],
      [],
      [{ ip: "10.0.0.1", ipMode: "VIP" }, { hostname: "h" }, { ip: "192.0.2.1" }],
    ],
    ["keeps ports at its own", [{ ip: "10.0.0.1", ipMode: "Proxy", ports }], ["10.0.0.1"], [], [{ ip: "10.0.0.1", ipMode: "VIP", ports }]],
    ["loses what the Service lost", [{ ip: "fd00:0::1" }, { hostname: "h" }], [], ["fd00::1"], [{ hostname: "h" }]],
  ])("%s", (_, ingress, own, lost, expected) => {
    const shown: Service = { status: { loadBalancer: { ingress } } };
    withIngress(shown, own, lost);
    expect(shown.status?.loadBalancer?.ingress).toEqual(expected);
  });
});
