/**
 * A cluster's name may be used again after a deletion. Its objects may not: a call that was sent to one of them can arrive at any later time (hazard
 * 4). So each life of a name has an id of its own, and objects are named by the id.
 *
 * The id also says where the objects of this life are (location.ts). So whoever calls one of them knows the place, costs no row and asks nobody. It is part
 * of the number of the life: releases that know no places make the same ids of it.
 */
import { type Location, locationNumber, locationNumbered } from "../core/config/location";

/** The cluster that is always there. It cannot be deleted. */
export const DEFAULT_CLUSTER = "default";

/** Whether the cluster of this id, or of this name, is `default`: the kinds of the fleet are served there. */
export function isRootCluster(id: string): boolean {
  return clusterName(id) === DEFAULT_CLUSTER;
}

/** Never part of a name: names are DNS labels. */
const LIFE_MARK = "~";

/** More lives than a name can have: one that begins each second lives 31 years. */
const LIVES_OF_PLACE = 1_000_000_000;

/** The id of a life, by its number. That of number 1 is the name itself. */
export function clusterId(name: string, life: number): string {
  return life === 1 ? name : `${name}${LIFE_MARK}${life}`;
}

/**
 * The number of a life that begins in this place.
 *
 * @param life the number that the record has for it, whatever place the life before had
 * @param location undefined = wherever the first caller of each object is
 */
export function lifeIn(location: Location | undefined, life: number): number {
  return locationNumber(location) * LIVES_OF_PLACE + (life % LIVES_OF_PLACE);
}

/** Where the objects of the cluster of this id are made; undefined = wherever their first callers are. */
export function locationOf(id: string): Location | undefined {
  const mark = id.indexOf(LIFE_MARK);
  return mark < 0 ? undefined : locationNumbered(Math.floor(Number(id.slice(mark + 1)) / LIVES_OF_PLACE));
}

/** The name that clients know the cluster by. */
export function clusterName(id: string): string {
  const mark = id.indexOf(LIFE_MARK);
  return mark < 0 ? id : id.slice(0, mark);
}
