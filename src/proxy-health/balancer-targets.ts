/**
 * The Nodes of a cluster as targets of load balancers that are configured from outside. Upstream: cloud-provider controllers/service/controller.go
 * (stableNodeSetPredicates), which takes a Node out by its label, when it is being deleted, and with the autoscaler's taint. The last two start no update
 * there, since taking a node out cuts its connections; here such a Node is marked as draining. NotReady and cordoned Nodes stay.
 */
import { isEligible } from "./rules/eligibility";
import { type Family, familyOfText } from "../core/net/family";
import { hostAndPort } from "../core/net/host-and-port";
import { PROXY_HEALTH_PORT } from "./node-connection";
import type { NodeAddress, NodeTarget } from "./pushed/node-target";

export interface BalancerTarget {
  readonly node: string;
  readonly zone?: string;
  readonly providerID?: string;
  /** those inside the cluster first */
  readonly addresses: readonly (NodeAddress & { readonly family: Family })[];
  /** where the node's own Service proxy answers /healthz */
  readonly healthPort: number;
  /** share of new connections; a node that drains gets none */
  readonly weight: 0 | 1;
  /** it is about to go: the connections that it has may end by themselves */
  readonly draining: boolean;
}

export interface TargetRules {
  /** keys of taints that say that a node is about to go, besides the autoscaler's */
  drainingTaints: readonly string[];
  /** the gate KubeProxyDrainingTerminatingNodes: off = no node is about to go */
  drainsTerminatingNodes: boolean;
}

const ORDER = ["InternalIP", "ExternalIP"];

/** By name, without those that no load balancer may have. Equal Nodes give an equal list, in whatever order they come. */
export function balancerTargets(nodes: readonly NodeTarget[], { drainingTaints, drainsTerminatingNodes }: TargetRules): BalancerTarget[] {
  return nodes
    .filter(({ isExcluded }) => !isExcluded)
    .map(({ name, zone, providerID, addresses, facts }) => {
      const draining = drainsTerminatingNodes && !isEligible(facts, drainingTaints);
      return {
        node: name,
        ...(zone && { zone }),
        ...(providerID && { providerID }),
        addresses: [...addresses]
          .sort((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type))
          .map((address) => ({ ...address, family: familyOfText(address.address) })),
        healthPort: PROXY_HEALTH_PORT,
        weight: draining ? (0 as const) : (1 as const),
        draining,
      };
    })
    .sort((a, b) => (a.node < b.node ? -1 : 1));
}

interface HttpSdGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** The list as Prometheus reads it (http_sd), with the labels of its kubernetes_sd for nodes. A node without an address is no target. */
export function httpSdGroups(targets: readonly BalancerTarget[]): HttpSdGroup[] {
  return targets.flatMap(({ node, zone, providerID, addresses, healthPort, draining }) => {
    const [first] = addresses;
    if (!first) return [];
    const labels: Record<string, string> = { __meta_kubernetes_node_name: node };
    if (zone) labels["__meta_kubernetes_node_label_topology_kubernetes_io_zone"] = zone;
    if (providerID) labels["__meta_kubernetes_node_provider_id"] = providerID;
    for (const { type, address } of addresses) labels[`__meta_kubernetes_node_address_${type}`] ??= address;
    labels["__meta_servicenet_node_draining"] = String(draining);
    return [{ targets: [hostAndPort(first.address, healthPort)], labels }];
  });
}
