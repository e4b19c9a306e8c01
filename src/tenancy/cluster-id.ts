/**
 * A cluster's name may be used again after a deletion. Its objects may not: a call that was sent to one of them can arrive at any later time (hazard
 * 4). So each life of a name has an id of its own, and objects are named by the id.
 */

/** The cluster that is always there. It cannot be deleted. */
export const DEFAULT_CLUSTER = "default";

/** Never part of a name: names are DNS labels. */
const LIFE_MARK = "~";

/** The id of the n-th cluster of this name, from 1. The first one's is the name itself. */
export function clusterId(name: string, life: number): string {
  return life === 1 ? name : `${name}${LIFE_MARK}${life}`;
}

/** The name that clients know the cluster by. */
export function clusterName(id: string): string {
  const mark = id.indexOf(LIFE_MARK);
  return mark < 0 ? id : id.slice(0, mark);
}
