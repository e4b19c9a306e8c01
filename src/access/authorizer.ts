/**
 * The authorizers in their order. The first that allows or denies a request decides. Source: upstream pkg/kubeapiserver/authorizer, apiserver
 * pkg/authorization/union.
 */
import type { AuthorizationMode } from "../core/config/config";
import { type Attributes, type Decision, NO_OPINION } from "./authorization/attributes";
import { isMaster, type User } from "./identity/user";
import { authorizeAgent } from "./nodes/agent-authorizer";
import { authorizeNode } from "./nodes/node-authorizer";
import { type NodeDecision, unrelated } from "./nodes/node-decision";
import { authorizeByRbac } from "./rbac/authorize";
import type { Policy } from "./rbac/policy";

const ALLOWED: Decision = { decision: "allow", reason: "" };

export interface Authorizers {
  readonly modes: readonly AuthorizationMode[];
  /** the rules of the cluster; undefined = there are none, so they allow nothing */
  readonly policy: Policy | undefined;
}

/** The decision about a request of `user`. Where nobody has an opinion, the reasons of all of them are told. */
export function authorize(user: User, attributes: Attributes, { modes, policy }: Authorizers): NodeDecision {
  if (modes.includes("AlwaysAllow") || isMaster(user)) return ALLOWED;
  const reasons: string[] = [];
  for (const decide of authorizersOf(modes, policy)) {
    const decision = decide(user, attributes);
    if (decision.decision !== "noOpinion") return decision;
    if (decision.reason !== "") reasons.push(decision.reason);
  }
  return { ...NO_OPINION, reason: reasons.join("\n") };
}

/** The decision about a node without a related Pod: the rules alone decide. A refusal names the missing relationship. */
export function authorizeUnrelated(node: string, user: User, attributes: Attributes, policy: Policy | undefined): Decision {
  const { decision, reason } = policy ? authorizeByRbac(policy, user, attributes) : NO_OPINION;
  if (decision === "allow") return { decision, reason };
  return { ...NO_OPINION, reason: [unrelated(node), reason].filter((text) => text !== "").join("\n") };
}

type Decide = (user: User, attributes: Attributes) => NodeDecision;

function authorizersOf(modes: readonly AuthorizationMode[], policy: Policy | undefined): Decide[] {
  return modes.flatMap((mode): Decide[] => {
    if (mode === "Node") return [authorizeNode, authorizeAgent];
    return mode === "RBAC" && policy ? [(user, attributes) => authorizeByRbac(policy, user, attributes)] : [];
  });
}
