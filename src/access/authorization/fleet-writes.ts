/**
 * Who writes the kinds of the cluster `default` that are about the whole server, as Cluster is. Rules of `default` give the rights, and this takes them
 * from whoever belongs to some clusters alone: a tenant of `default` may have every right there. Reading is a matter of the rules.
 */
import { definitions } from "../../api/registry/all";
import { type Caller, serviceAccountOf } from "../identity/user";
import type { Attributes } from "./attributes";

const OF_SERVER: ReadonlySet<string> = new Set(
  definitions.flatMap(({ atRoot, group, resource }) => (atRoot ? [`${group}/${resource}`] : [])),
);
/** A review may ask for all verbs together. */
const WRITES: readonly string[] = ["create", "update", "patch", "delete", "deletecollection", "*"];

/**
 * Why the rules and the group of administrators do not count for a write in the cluster `default`; undefined = they do.
 *
 * The token of a service account is good for its cluster alone. Whoever acts as the account writes no more than the account itself. So who may act as one
 * of kube-system, whose default roles of controllers have every kind by `*`, does not have the clusters of the server by that.
 *
 * @param clusters those that the credential reaches; undefined = all
 */
export function fleetWriteProblem({ user, clusters }: Pick<Caller, "user" | "clusters">, asked: Attributes): string | undefined {
  if (asked.kind !== "resource" || !OF_SERVER.has(`${asked.group}/${asked.resource}`) || !WRITES.includes(asked.verb)) return undefined;
  if (clusters !== undefined) return "the credential is for some clusters, and this is for administrators of all";
  if (serviceAccountOf(user.name)) return "a service account belongs to one cluster, and this is for administrators of all";
  return undefined;
}
