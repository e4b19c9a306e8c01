/** Which Clusters of the cluster `default` somebody reads. Its rules give the right. A credential that is for some clusters reads those alone: a tenant sees his own. */
import { representationsOf, type StoredResource } from "../../api/registry/all";
import { clustersDefinition } from "../../api/registry/clusters/definition";
import { NAME_LABEL } from "../../api/registry/name-label";
import { parseLabelSelector } from "../../api/meta/selector";
import type { Caller } from "../identity/user";
import type { Attributes } from "./attributes";

const READS: readonly string[] = ["get", "list", "watch"];

/** Clusters, in each of their representations. */
const OF_FLEET: ReadonlySet<string> = new Set([clustersDefinition, ...representationsOf(clustersDefinition)].map(nameOf));

/** Whether Clusters are read, and nothing else. */
function readsClusters(asked: Attributes): boolean {
  return asked.kind === "resource" && OF_FLEET.has(nameOf(asked)) && READS.includes(asked.verb);
}

function nameOf({ group, resource }: StoredResource): string {
  return `${group}/${resource}`;
}

/**
 * Why the rules do not count for a read of this Cluster in the cluster `default`; undefined = they do.
 *
 * @param clusters those that the credential reaches; undefined = all
 */
export function fleetReadProblem({ clusters }: Pick<Caller, "clusters">, asked: Attributes): string | undefined {
  const isOther = clusters && readsClusters(asked) && asked.kind === "resource" && asked.name !== "" && !clusters.includes(asked.name);
  return isOther ? "the credential is for other clusters" : undefined;
}

/** The selector of a client as it selects among these Clusters. One that cannot be read stays as it is, for the store to refuse. */
export function selectorWithin(clusters: readonly string[], selector: string): string {
  if (!parseLabelSelector(selector).ok) return selector;
  const own = `${NAME_LABEL} in (${clusters.join(",")})`;
  return selector.trim() === "" ? own : `${selector},${own}`;
}
