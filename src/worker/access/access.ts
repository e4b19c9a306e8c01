/** The sender of a request and his rights in its cluster, for handlers that check more than every request has passed. */
import type { Result } from "../../core/base/result";
import type { Attributes } from "../../access/authorization/attributes";
import type { KubeObject } from "../../api/meta/kubernetes";
import type { Status } from "../../api/meta/status";
import type { Policy } from "../../access/rbac/policy";
import type { NodeDecision } from "../../access/nodes/node-decision";
import type { Caller, User } from "../../access/identity/user";

/** Whether a user may do something in the cluster of the request. */
export type Judge = (user: User, attributes: Attributes) => NodeDecision;

export interface ReviewedToken {
  readonly user: User;
  /** those that the token and the question name */
  readonly audiences: readonly string[];
}

export interface Access {
  readonly caller: Caller;
  /** what the request asks for */
  readonly asked: Attributes;
  /** the server does not authenticate, and everything is allowed */
  readonly isOpen: boolean;
  /** an administrator of all clusters sends it, or nobody is asked: it may make its cluster, and no limit of a tenant holds for it */
  readonly makesClusters: boolean;
  /** the id of the cluster whose rules were asked; undefined where none were */
  readonly clusterId: string | undefined;
  /** its rules; undefined where none are asked */
  readonly policy: Policy | undefined;
  readonly judge: Judge;
  /** why the Pod forbids the request: to read it, or a token that is bound to it; undefined = it does not */
  readonly hides?: (object: KubeObject | undefined) => Status | undefined;
  /** whom a token of the request's cluster names; an error is why nobody */
  reviewToken(token: string, audiences: readonly string[]): Promise<Result<ReviewedToken, string>>;
}

/** The name of whoever sends the request, whomever he acts as: what he uses counts as his. */
export function senderOf({ caller }: Access): string {
  return (caller.impersonator ?? caller.user).name;
}
