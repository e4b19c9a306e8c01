/** Pokes the controllers that follow a resource, after turns that changed it. A lost poke is sent again with cron's next visit (deliveries.ts). */
import type { Clock } from "../../../core/base/ports";
import { throttled } from "../../../core/turns/throttle";
import type { ControllerRpc, StoreNews } from "../../rpc/store";
import type { CommittedChange } from "../state/extension";
import type { StoreObserver } from "../state/observer";
import type { Deliveries, Poke } from "./deliveries";

/** Between two pokes: the first change of a quiet store is told at once, and a burst asks for 20 passes in a second. */
const POKE_INTERVAL_MS = 50;

/** Whether a controller asks for a change. It is asked in the turn of each change, so it only compares. */
export type ChangeFilter = (change: Pick<CommittedChange, "before" | "after">) => boolean;

/**
 * The controllers that follow the resource and are switched on. `createdOnly`: those that ask for new objects, too. `met`: of those with a filter only
 * the ones whose filter is among these.
 */
export type Followers = (createdOnly: boolean, met: ReadonlySet<ChangeFilter>) => readonly ControllerRpc[];

export interface FollowerPokePorts {
  clock: Clock;
  followers: Followers;
  /** which store pokes, and its newest revision */
  news(): StoreNews;
  /** those of all followers that have one */
  filters?: readonly ChangeFilter[] | undefined;
  /** notes which pokes are answered */
  deliveries(): Pick<Deliveries, "send">;
}

/** Pokes of every follower that is switched on, with what the store has by now. */
export function pokesOfAll({ followers, news, filters = [] }: Pick<FollowerPokePorts, "followers" | "news" | "filters">): Poke[] {
  const told = [news()];
  return followers(false, new Set(filters)).map((follower) => () => follower.poke(told, true));
}

export function pokingFollowers({ clock, deliveries, followers, news, filters = [] }: FollowerPokePorts): StoreObserver {
  /** Followers may share one. */
  const asked = new Set(filters);
  /** since the last poke */
  let createdOnly = true;
  const met = new Set<ChangeFilter>();
  const poke = throttled(clock, POKE_INTERVAL_MS, () => {
    const told = [news()];
    for (const follower of followers(createdOnly, met)) deliveries().send(() => follower.poke(told, true));
    createdOnly = true;
    met.clear();
  });
  return {
    turnCommitted(changes) {
      createdOnly &&= changes.every(({ before }) => before === undefined);
      for (const filter of asked) if (!met.has(filter) && changes.some((change) => isMet(filter, change))) met.add(filter);
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
