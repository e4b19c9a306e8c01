/** Pokes the controllers that follow a resource, after turns that changed it. A lost poke is made up for by cron. */
import type { Clock } from "../../core/base/ports";
import { throttled } from "../../core/base/throttle";
import type { ControllerRpc } from "../rpc/store";
import type { StoreObserver } from "./observed";

/** Between two pokes: the first change of a quiet store is told at once, and a burst asks for 20 passes in a second. */
const POKE_INTERVAL_MS = 50;

/** The controllers that follow the resource and are switched on. `createdOnly`: those that ask for new objects, too. */
export type Followers = (createdOnly: boolean) => readonly ControllerRpc[];

export function pokingFollowers(clock: Clock, followers: Followers): StoreObserver {
  /** of the turn under way: whether anything changed, and whether more than creations did */
  let [changed, changedStored] = [false, false];
  let createdOnly = true;
  const poke = throttled(clock, POKE_INTERVAL_MS, () => {
    for (const follower of followers(createdOnly)) void follower.poke().catch(() => undefined);
    createdOnly = true;
  });
  return {
    committed({ before }) {
      changed = true;
      changedStored ||= before !== undefined;
    },
    turnCommitted() {
      if (!changed) return;
      createdOnly &&= !changedStored;
      changed = changedStored = false;
      poke();
    },
    turnLost() {
      changed = changedStored = false;
    },
  };
}
