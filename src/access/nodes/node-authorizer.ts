/**
 * What a kubelet may ask, besides what RBAC gives it. Source: upstream plugin/pkg/auth/authorizer/node and NodeRules of
 * plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go. What a node writes is limited further by restrictNodeWrite.
 *
 * Upstream relates Secrets, ConfigMaps and ServiceAccounts to nodes by a graph of their Pods. There is no graph here: a token is allowed for the Pod that
 * it is to be bound to, and Secrets and ConfigMaps are not; RBAC may give more. EndpointSlices are upstream's system:node-proxier's, not a node's.
 */
import type { User } from "../identity/user";
import { type Attributes, NO_OPINION, type ResourceAttributes } from "../authorization/attributes";
import {
  ALLOWED,
  authorizeLease,
  authorizeNodeRead,
  authorizePodRead,
  type NodeDecision,
  unrelated,
  withoutOpinion,
} from "./node-decision";
import { nodeOf } from "./node-identity";

type NodeRule = (node: string, attributes: ResourceAttributes) => NodeDecision;

const READS = ["get", "list", "watch"];

/** By `resource` or `resource.group`. Resources that are not here are no node's. */
const RULES: Readonly<Record<string, NodeRule>> = {
  nodes: authorizeNodes,
  pods: authorizePods,
  "leases.coordination.k8s.io": authorizeLease,
  secrets: authorizeRelated,
  configmaps: authorizeRelated,
  serviceaccounts: authorizeToken,
  services: verbs(READS),
  endpoints: verbs(["get"]),
  events: verbs(["create", "update", "patch"]),
  "events.events.k8s.io": verbs(["create", "update", "patch"]),
  "tokenreviews.authentication.k8s.io": verbs(["create"]),
  "subjectaccessreviews.authorization.k8s.io": verbs(["create"]),
  "localsubjectaccessreviews.authorization.k8s.io": verbs(["create"]),
};

/** The answer for `system:node:NAME`; no opinion of any other user. */
export function authorizeNode(user: User, attributes: Attributes): NodeDecision {
  const node = nodeOf(user);
  if (node === undefined) return NO_OPINION;
  if (node === "") return withoutOpinion(`unknown node for user "${user.name}"`);
  if (attributes.kind === "path") return NO_OPINION;
  const { group, resource } = attributes;
  const id = group === "" ? resource : `${resource}.${group}`;
  return (Object.hasOwn(RULES, id) ? RULES[id] : undefined)?.(node, attributes) ?? NO_OPINION;
}

/** Writes of other Nodes pass here and are refused by restrictNodeWrite. This server's reports and views are of the node's own alone. */
function authorizeNodes(node: string, attributes: ResourceAttributes): NodeDecision {
  const { verb, subresource, name } = attributes;
  switch (subresource) {
    case "":
      return ["create", "update", "patch"].includes(verb) ? ALLOWED : authorizeNodeRead(node, attributes);
    case "status":
      return allowedIf(["update", "patch"].includes(verb));
    case "proxy-health":
      return allowedIf(name === node && ["create", "update"].includes(verb));
    case "proxy-config":
      return allowedIf(name === node && verb === "get");
    default:
      return NO_OPINION;
  }
}

function authorizePods(node: string, attributes: ResourceAttributes): NodeDecision {
  const { verb, subresource } = attributes;
  switch (subresource) {
    case "":
      if (READS.includes(verb)) return authorizePodRead(node, attributes);
      return allowedIf(["create", "delete"].includes(verb));
    case "status":
      return allowedIf(["update", "patch"].includes(verb));
    case "eviction":
      return allowedIf(verb === "create");
    default:
      return NO_OPINION;
  }
}

/** Source: upstream authorizeReadNamespacedObject, with a graph that knows nothing. */
function authorizeRelated(node: string, { verb, subresource, namespace, name }: ResourceAttributes): NodeDecision {
  if (!READS.includes(verb)) return withoutOpinion("can only read resources of this type");
  if (subresource !== "") return withoutOpinion("cannot read subresource");
  if (namespace === "") return withoutOpinion("can only read namespaced object of this type");
  return withoutOpinion(name === "" ? "No Object name found" : unrelated(node));
}

/** Source: upstream authorizeCreateToken, whose graph knows the accounts of the node's Pods. */
function authorizeToken(node: string, { verb, subresource, name }: ResourceAttributes): NodeDecision {
  if (verb !== "create" || name === "") return withoutOpinion("can only create tokens for individual service accounts");
  if (subresource !== "token") return withoutOpinion("can only create token subresource of serviceaccount");
  return { ...ALLOWED, podOf: node };
}

function verbs(allowed: readonly string[]): NodeRule {
  return (_, { verb, subresource }) => allowedIf(subresource === "" && allowed.includes(verb));
}

function allowedIf(isAllowed: boolean): NodeDecision {
  return isAllowed ? ALLOWED : NO_OPINION;
}
