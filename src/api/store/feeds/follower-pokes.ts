/** Pokes the controllers that follow a resource, after turns that changed it. A lost poke is made up for by cron. */
import type { Clock } from "../../../core/base/ports";
import { throttled } from "../../../core/base/throttle";
import type { ControllerRpc } from "../../rpc/store";
import type { CommittedChange } from "../state/extension";
import type { StoreObserver } from "./observed";

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
  /** of the turn under way: whether anything changed, and whether more than creations did */
  let [changed, changedStored] = [false, false];
  let createdOnly = true;
  const ofTurn = new Set<ChangeFilter>();
  const met = new Set<ChangeFilter>();
  const poke = throttled(clock, POKE_INTERVAL_MS, () => {
    for (const follower of followers(createdOnly, met)) void follower.poke().catch(() => undefined);
    createdOnly = true;
    met.clear();
  });
  return {
    committed(change) {
      changed = true;
      changedStored ||= change.before !== undefined;
      for (const filter of filters) if (!ofTurn.has(filter) && filter(change)) ofTurn.add(filter);
    },
    turnCommitted() {
      if (!changed) return;
      createdOnly &&= !changedStored;
      changed = changedStored = false;
      for (const filter of ofTurn) met.add(filter);
      ofTurn.clear();
      poke();
    },
    turnLost() {
      changed = changedStored = false;
      ofTurn.clear();
    },
  };
}
