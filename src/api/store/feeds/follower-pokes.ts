/** Pokes the controllers that follow a resource, after turns that changed it. A lost poke is made up for by cron. */
import type { Clock } from "../../../core/base/ports";
import { throttled } from "../../../core/base/throttle";
import type { ControllerRpc } from "../../rpc/store";
import type { CommittedChange } from "../state/extension";
import type { StoreObserver } from "../state/observer";

/** Between two pokes: the first change of a quiet store is told at once, and a burst asks for 20 passes in a second. */
const POKE_INTERVAL_MS = 50;

/** Whether a controller asks for a change. It is asked in the turn of each change, so it only compares. */
export type ChangeFilter = (change: Pick<CommittedChange, "before" | "after">) => boolean;

/**
 * The controllers that follow the resource and are switched on. `createdOnly`: those that ask for new objects, too. `met`: of those with a filter only
 * the ones whose filter is among these.
 */
export type Followers = (createdOnly: boolean, met: ReadonlySet<ChangeFilter>) => readonly ControllerRpc[];

/** @param filters those of all followers that have one */
export function pokingFollowers(clock: Clock, followers: Followers, filters: readonly ChangeFilter[] = []): StoreObserver {
  /** since the last poke */
  let createdOnly = true;
  const met = new Set<ChangeFilter>();
  const poke = throttled(clock, POKE_INTERVAL_MS, () => {
    for (const follower of followers(createdOnly, met)) void follower.poke().catch(() => undefined);
    createdOnly = true;
    met.clear();
  });
  return {
    turnCommitted(changes) {
      createdOnly &&= changes.every(({ before }) => before === undefined);
      for (const filter of filters) if (!met.has(filter) && changes.some((change) => isMet(filter, change))) met.add(filter);
      poke();
    },
  };
}

/** A filter that fails is met: a poke too many costs a pass, and one too few leaves its follower asleep. */
function isMet(filter: ChangeFilter, change: CommittedChange): boolean {
  try {
    return filter(change);
  } catch {
    return true;
  }
}
