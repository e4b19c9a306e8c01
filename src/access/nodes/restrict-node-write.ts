/**
 * NodeRestriction: what nodes and agents may write of what they are allowed to name. Source: upstream plugin/pkg/admission/noderestriction/admission.go,
 * whose texts these are. An agent has the same rules, except that its Pods are plain ones which it also changes, and that it writes its Node's taints.
 */
import { semanticEqual } from "../../api/meta/equality";
import type { KubeObject, Node, Pod } from "../../api/meta/kubernetes";
import type { User } from "../identity/user";
import type { ResourceAttributes } from "../authorization/attributes";
import { podLimitProblem } from "../identity/agent-limits";
import { NODE_LEASE_NAMESPACE } from "./node-decision";
import { agentNodeOf, nodeOf, unknownNode } from "./node-identity";
import { forbiddenLabels } from "./node-labels";
import { agentPodProblem, mirrorPodProblem } from "./node-pods";

/** The objects of a write. */
interface NodeWrite {
  readonly attributes: ResourceAttributes;
  /** as it is stored: undefined = it is created, or the question is about no object */
  readonly before: KubeObject | undefined;
  /** as it would be stored: undefined = it is deleted, or the question is about no object */
  readonly after: KubeObject | undefined;
}

interface NodeWriter {
  readonly node: string;
  readonly user: User;
  readonly isAgent: boolean;
}

/**
 * Why the user must not make this write; undefined = no rule of nodes forbids it. Asked before validation and after defaults, once for each object.
 * A write of a subresource has the object of the resource; of pods/eviction `before` is the Pod. Tokens have rules of their own (node-tokens.ts).
 */
export function restrictNodeWrite(user: User, attributes: ResourceAttributes, before?: KubeObject, after?: KubeObject): string | undefined {
  const node = nodeOf(user) ?? agentNodeOf(user);
  if (node === undefined) return undefined;
  if (node === "") return unknownNode(user.name);
  const writer = { node, user, isAgent: nodeOf(user) === undefined };
  const written = { attributes, before, after };
  const { group, resource } = attributes;
  if (group === "" && resource === "pods") return podProblem(writer, written);
  if (group === "" && resource === "nodes") return nodeProblem(writer, written);
  if (group === "coordination.k8s.io" && resource === "leases") return leaseProblem(writer, written);
  return undefined;
}

function podProblem(writer: NodeWriter, written: NodeWrite): string | undefined {
  const { before, after } = written;
  const problem = podRuleProblem(writer, written);
  // A question about no object is answered when there is one.
  if (problem !== undefined || !writer.isAgent || (!before && !after)) return problem;
  return podLimitProblem(writer.node, writer.user, before, after);
}

function podRuleProblem(writer: NodeWriter, { attributes, before, after }: NodeWrite): string | undefined {
  const { node, isAgent } = writer;
  const [pod, next] = [before as Pod | undefined, after as Pod | undefined];
  const isOwn = pod?.spec?.nodeName === node;
  const { subresource, verb } = attributes;
  if (subresource === "status") {
    if (!isOwn) return `node "${node}" can only update pod status for pods with spec.nodeName set to itself`;
    return semanticEqual(pod.metadata?.labels, next?.metadata?.labels)
      ? undefined
      : `node "${node}" cannot update labels through pod status`;
  }
  if (subresource === "eviction") return isOwn ? undefined : `node ${node} can only evict pods with spec.nodeName set to itself`;
  if (subresource !== "") return `unexpected pod subresource "${subresource}", only 'status' and 'eviction' are allowed`;
  if (isDeletion(verb)) return isOwn ? undefined : `node "${node}" can only delete pods with spec.nodeName set to itself`;
  if (!pod) return (isAgent ? agentPodProblem : mirrorPodProblem)(node, next ?? {});
  if (!isAgent) return `unexpected operation "UPDATE", node "${node}" can only create and delete mirror pods`;
  return isOwn && next?.spec?.nodeName === node ? undefined : `node "${node}" can only update pods with spec.nodeName set to itself`;
}

function nodeProblem({ node, isAgent }: NodeWriter, { attributes, before, after }: NodeWrite): string | undefined {
  const name = attributes.name || ((before ?? after)?.metadata?.name ?? "");
  if (name !== node) return `node "${node}" is not allowed to modify node "${name}"`;
  const [one, next] = [before as Node | undefined, after as Node | undefined];
  if (!next) return undefined;
  const { configSource } = next.spec ?? {};
  const labels = forbiddenLabels(one?.metadata?.labels ?? {}, next.metadata?.labels ?? {}).join(", ");
  if (!one) {
    if (configSource) return `node "${node}" is not allowed to create pods with a non-nil configSource`;
    return labels === "" ? undefined : `node "${node}" is not allowed to set the following labels: ${labels}`;
  }
  if (configSource && !semanticEqual(configSource, one.spec?.configSource))
    return `node "${node}" is not allowed to update configSource to a new non-nil configSource`;
  if (!isAgent && !semanticEqual(one.spec?.taints, next.spec?.taints)) return `node "${node}" is not allowed to modify taints`;
  if (!semanticEqual(one.metadata?.ownerReferences, next.metadata?.ownerReferences))
    return `node "${node}" is not allowed to modify ownerReferences`;
  return labels === "" ? undefined : `is not allowed to modify labels: ${labels}`;
}

function leaseProblem({ node }: NodeWriter, { attributes, before, after }: NodeWrite): string | undefined {
  if (attributes.namespace !== NODE_LEASE_NAMESPACE) return `can only access leases in the "${NODE_LEASE_NAMESPACE}" system namespace`;
  const name = before?.metadata?.name ?? after?.metadata?.name ?? attributes.name;
  return name === node ? undefined : "can only access node lease with the same name as the requesting node";
}

function isDeletion(verb: string): boolean {
  return verb === "delete" || verb === "deletecollection";
}
