import { describe, expect, it } from "vitest";
import type { Node } from "../../../src/api/meta/kubernetes";
import { balancerTargets, httpSdGroups } from "../../../src/proxy-health/balancer-targets";
import { nodeTarget } from "../../../src/proxy-health/pushed/node-target";

const RULES = { drainingTaints: ["karpenter.sh/disrupted"], drainsTerminatingNodes: true };
const EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers";

function aNode(name: string, { metadata, spec, status }: Node = {}): Node {
  return { metadata: { name, ...metadata }, spec: { ...spec }, status: { ...status } };
}
const taint = (key: string): Node => ({ spec: { taints: [{ key, effect: "NoSchedule" }] } });

/** `name`, with `-` before one that drains. */
function names(nodes: readonly Node[], rules = RULES): string {
  return balancerTargets(nodes.map(nodeTarget), rules)
    .map(({ node, draining, weight }) => `${draining ? "-" : ""}${node}${weight === (draining ? 0 : 1) ? "" : " with another weight"}`)
    .join(" ");
}

describe("targets of load balancers", () => {
  it.each<[string, Node, string]>([
    ["nothing special", {}, "a"],
    ["cordoned", { spec: { unschedulable: true } }, "a"],
    ["not ready", { status: { conditions: [{ type: "Ready", status: "False" }] } }, "a"],
    ["tainted otherwise", taint("dedicated"), "a"],
    ["the autoscaler's taint", taint("ToBeDeletedByClusterAutoscaler"), "-a"],
    ["a taint of DRAINING_TAINTS", taint("karpenter.sh/disrupted"), "-a"],
    ["being deleted", { metadata: { deletionTimestamp: "2025-01-01T00:00:00Z" } as Node["metadata"] & object }, "-a"],
    ...["", "true", "1", "yes"].map((value): [string, Node, string] => [
      `excluded by "${value}"`,
      { metadata: { labels: { [EXCLUDED]: value } } },
      "",
    ]),
    ...["0", "f", "F", "false", "False", "FALSE"].map((value): [string, Node, string] => [
      `not excluded by "${value}"`,
      { metadata: { labels: { [EXCLUDED]: value } } },
      "a",
    ]),
  ])("a Node, %s: is a target or not", (_, node, expected) => {
    expect(names([aNode("a", node)])).toBe(expected);
  });

  it("the gate off: nothing drains", () => {
    const nodes = [aNode("a", taint("ToBeDeletedByClusterAutoscaler"))];
    expect(names(nodes, { ...RULES, drainsTerminatingNodes: false })).toBe("a");
  });

  it("Nodes in any order: one list, by name", () => {
    const nodes = ["b", "a-1", "a"].map((name) => aNode(name));
    expect([names(nodes), names([...nodes].reverse())]).toEqual(["a a-1 b", "a a-1 b"]);
  });

  const whole = aNode("a", {
    metadata: { labels: { "topology.kubernetes.io/zone": "z1" } },
    spec: { providerID: "p://1" },
    status: {
      addresses: [
        { type: "ExternalIP", address: "192.0.2.1" },
        { type: "Hostname", address: "a.example" },
        { type: "InternalIP", address: "fd00::1" },
        { type: "InternalIP", address: "10.0.0.1" },
      ],
    },
  });

  it("a Node with everything: its addresses with types and families, those inside the cluster first", () => {
    expect(balancerTargets([nodeTarget(whole)], RULES)).toEqual([
      {
        node: "a",
        zone: "z1",
        providerID: "p://1",
        addresses: [
          { type: "InternalIP", address: "fd00::1", family: "IPv6" },
          { type: "InternalIP", address: "10.0.0.1", family: "IPv4" },
          { type: "ExternalIP", address: "192.0.2.1", family: "IPv4" },
        ],
        healthPort: 10_256,
        weight: 1,
        draining: false,
      },
    ]);
  });

  it.each([
    "10.0.0.1:80 weight 256\n  server evil 192.0.2.1",
    "10.0.0.1 ",
    "10.0.0.01",
    "::ffff:10.0.0.1",
    "fd00::1%eth0",
    "$(reboot)",
    "",
  ])("the address %j: is none, in either form of the list", (address) => {
    const node = aNode("a", { status: { addresses: [{ type: "InternalIP", address }] } });
    const targets = balancerTargets([nodeTarget(node)], RULES);
    expect([targets.map(({ addresses }) => addresses), httpSdGroups(targets)]).toEqual([[[]], []]);
  });

  it("an address in another form: its canonical one", () => {
    const node = aNode("a", { status: { addresses: [{ type: "InternalIP", address: "FD00:0::1" }] } });
    expect(httpSdGroups(balancerTargets([nodeTarget(node)], RULES))).toMatchObject([{ targets: ["[fd00::1]:10256"] }]);
  });

  it("http_sd: the first address, and the labels of Prometheus's own discovery of nodes; nothing for a Node without an address", () => {
    expect(httpSdGroups(balancerTargets([whole, aNode("b")].map(nodeTarget), RULES))).toEqual([
      {
        targets: ["[fd00::1]:10256"],
        labels: {
          __meta_kubernetes_node_name: "a",
          __meta_kubernetes_node_label_topology_kubernetes_io_zone: "z1",
          __meta_kubernetes_node_provider_id: "p://1",
          __meta_kubernetes_node_address_InternalIP: "fd00::1",
          __meta_kubernetes_node_address_ExternalIP: "192.0.2.1",
          __meta_servicenet_node_draining: "false",
        },
      },
    ]);
  });
});
