/** What the authorizers of nodes and of agents share: the rules for Leases, for reads of Nodes and of Pods. */
import { parseFieldSelector } from "../../api/meta/field-selector";
import type { Pod } from "../../api/meta/kubernetes";
import type { Decision, ResourceAttributes } from "../authorization/attributes";

/**
 * `podOf`: upstream asks its graph of Pods; here the object answers. One Pod may be read when podReadProblem finds nothing. A token may be had when it finds
 * nothing of the Pod that the token is bound to, and the Pod runs as that account. Otherwise the next authorizer is asked.
 */
export interface NodeDecision extends Decision {
  readonly podOf?: string;
}

export const NODE_LEASE_NAMESPACE = "kube-node-lease";

const LEASE_VERBS = ["get", "create", "update", "patch", "delete"];
const NAMED_READS = ["get", "list", "watch"];

export const ALLOWED: NodeDecision = { decision: "allow", reason: "" };

export function withoutOpinion(reason = ""): NodeDecision {
  return { decision: "noOpinion", reason };
}

/** Why the node must not see the Pod; undefined = it may. A Pod that does not exist is refused in the same words. */
export function podReadProblem(node: string, pod: Pod | undefined): string | undefined {
  return pod?.spec?.nodeName === node ? undefined : unrelated(node);
}

/** Source: upstream plugin/pkg/auth/authorizer/node, authorize. */
export function unrelated(node: string): string {
  return `no relationship found between node '${node}' and this object`;
}

/** A Lease has its node's name. Its creation carries no name here: restrictNodeWrite looks at the object. Source: upstream authorizeLease. */
export function authorizeLease(node: string, { verb, namespace, name, subresource }: ResourceAttributes): NodeDecision {
  if (subresource !== "") return withoutOpinion();
  if (!LEASE_VERBS.includes(verb)) return withoutOpinion("can only get, create, update, patch, or delete a node lease");
  if (namespace !== NODE_LEASE_NAMESPACE) return withoutOpinion(`can only access leases in the "${NODE_LEASE_NAMESPACE}" system namespace`);
  if (verb !== "create" && name !== node) return withoutOpinion("can only access node lease with the same name as the requesting node");
  return ALLOWED;
}

/** A list and a watch have a name when their field selector is `metadata.name=NAME`. Source: upstream authorizeNode. */
export function authorizeNodeRead(node: string, { verb, name }: ResourceAttributes): NodeDecision {
  if (!NAMED_READS.includes(verb)) return withoutOpinion();
  if (name === node) return ALLOWED;
  if (name === "") return withoutOpinion(`node '${node}' cannot read all nodes, only its own Node object`);
  return withoutOpinion(`node '${node}' cannot read '${name}', only its own Node object`);
}

/** A watch of one Pod by its name is refused, since no object answers before the watch has begun. Source: upstream authorizePod. */
export function authorizePodRead(node: string, { verb, name, fieldSelector = "" }: ResourceAttributes): NodeDecision {
  if (verb === "get") return name === "" ? withoutOpinion("No Object name found") : { ...ALLOWED, podOf: node };
  if (selectsNode(fieldSelector, node)) return ALLOWED;
  return withoutOpinion("can only list/watch pods with spec.nodeName field selector");
}

function selectsNode(fieldSelector: string, node: string): boolean {
  const selector = parseFieldSelector(fieldSelector);
  const selects = (field: string, operator: string, value: string): boolean =>
    field === "spec.nodeName" && operator === "=" && value === node;
  return selector.ok && selector.value.terms.some(({ field, operator, value }) => selects(field, operator, value));
}
