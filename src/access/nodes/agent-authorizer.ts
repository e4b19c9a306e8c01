/**
 * What the agent of a machine may ask: what src/clients/agent asks, and nothing else. What it writes is limited further by restrictNodeWrite.
 *
 *   nodes                       get update delete, list watch by metadata.name   src/clients/agent/node/node-keeper.ts, of its own Node
 *   nodes                       create                                           the same, where there is none
 *   nodes/status                update                                           the same, its report
 *   nodes/proxy-health          update                                           src/clients/agent/node/proxy-reporter.ts
 *   leases in kube-node-lease   get create update delete                         src/clients/agent/node/lease-keeper.ts, of its own name
 *   pods                        list watch by spec.nodeName                      src/clients/agent/endpoints/keeper-life.ts, of every namespace
 *   pods                        get create patch delete                          the same, Pods of its node
 *   pods/status                 patch                                            the same
 *
 * `patch` and `update` stand for one another, so that a later agent may write either way. The agent reads no namespaces, Services or
 * EndpointSlices and writes no Events.
 */
import type { User } from "../identity/user";
import { type Attributes, NO_OPINION, type ResourceAttributes } from "../authorization/attributes";
import { ALLOWED, authorizeLease, authorizeNodeRead, authorizePodRead, type NodeDecision, withoutOpinion } from "./node-decision";
import { agentNodeOf } from "./node-identity";

const WRITES = ["update", "patch"];
const READS = ["get", "list", "watch"];

/** The answer for `servicenet:agent:NAME`; no opinion of any other user. */
export function authorizeAgent(user: User, attributes: Attributes): NodeDecision {
  const node = agentNodeOf(user);
  if (node === undefined) return NO_OPINION;
  if (node === "") return withoutOpinion(`unknown node for user "${user.name}"`);
  if (attributes.kind === "path") return NO_OPINION;
  const { group, resource } = attributes;
  if (group === "" && resource === "nodes") return authorizeNodes(node, attributes);
  if (group === "" && resource === "pods") return authorizePods(node, attributes);
  if (group === "coordination.k8s.io" && resource === "leases") return authorizeLease(node, attributes);
  return NO_OPINION;
}

/** Other Nodes are refused here and not by restrictNodeWrite alone. A creation carries no name. */
function authorizeNodes(node: string, attributes: ResourceAttributes): NodeDecision {
  const { verb, subresource, name } = attributes;
  const isOwn = name === node;
  if (subresource === "status" || subresource === "proxy-health")
    return isOwn && (WRITES.includes(verb) || (subresource === "proxy-health" && verb === "create")) ? ALLOWED : NO_OPINION;
  if (subresource !== "") return NO_OPINION;
  if (READS.includes(verb)) return authorizeNodeRead(node, attributes);
  if (verb === "create") return name === "" || isOwn ? ALLOWED : NO_OPINION;
  return isOwn && [...WRITES, "delete"].includes(verb) ? ALLOWED : NO_OPINION;
}

function authorizePods(node: string, attributes: ResourceAttributes): NodeDecision {
  const { verb, subresource } = attributes;
  if (subresource === "status") return WRITES.includes(verb) ? ALLOWED : NO_OPINION;
  if (subresource !== "") return NO_OPINION;
  if (READS.includes(verb)) return authorizePodRead(node, attributes);
  return ["create", "delete", ...WRITES].includes(verb) ? ALLOWED : NO_OPINION;
}
