/**
 * The feeds of an isolate by their cohort: watches of one cohort see the same, byte for byte. Two feeds of a cohort that stand at one place become one.
 * While one watch opens a socket at a place, others at that place wait for it.
 */
import type { Status } from "../meta/status";
import type { Feed, Follower, KeptBytes } from "./feed";

/** A watch that opens a socket. */
interface Opener {
  /** its request was dropped */
  isSilent(): boolean;
}

/** Why there is no socket: the store's refusal, or what the call has failed with. */
export type NotOpened = { refusal: Status } | { error: unknown };

/** A watch that waits while another one opens a socket. */
type Waiting = Pick<Follower, "wake"> & {
  /** Hears why there is no socket at this place. Then it is woken. */
  notOpened?(place: number, why: NotOpened): void;
};

interface Cohort {
  readonly feeds: Set<Feed>;
  /** by the place at which it opens */
  readonly opening: Map<number, Opener>;
  readonly waiting: Set<Waiting>;
}

export class Feeds {
  readonly #cohorts = new Map<string, Cohort>();
  readonly kept: KeptBytes = { sum: 0 };

  /** A feed that a watch at this place may follow. */
  find(name: string, place: number): Feed | undefined {
    const { feeds } = this.#cohorts.get(name) ?? {};
    for (const feed of feeds ?? []) if (feed.takes(place)) return feed;
    return undefined;
  }

  add(name: string, feed: Feed): void {
    this.#cohort(name).feeds.add(feed);
  }

  remove(name: string, feed: Feed): void {
    this.#cohorts.get(name)?.feeds.delete(feed);
    this.#tidy(name);
  }

  /** The largest feed takes over those whose place it has. To be called when one of them has gone on. */
  join(name: string): void {
    const { feeds } = this.#cohorts.get(name) ?? {};
    if (!feeds || feeds.size < 2) return;
    const [largest, ...others] = [...feeds].sort((a, b) => b.followers.size - a.followers.size);
    for (const other of others) if (largest && other.moveTo(largest)) feeds.delete(other);
  }

  /** Whether another watch opens a socket at this place; `waiting` is woken when that is over. */
  isOpening(name: string, place: number, waiting: Waiting): boolean {
    const cohort = this.#cohorts.get(name);
    const opener = cohort?.opening.get(place);
    if (!cohort || !opener || opener.isSilent()) return false;
    cohort.waiting.add(waiting);
    return true;
  }

  /** `waiting` is woken when somebody has opened a socket, or failed to. */
  wait(name: string, waiting: Waiting): void {
    this.#cohort(name).waiting.add(waiting);
  }

  /** The watch is over, and waits no more. */
  leave(name: string, waiting: Waiting): void {
    this.#cohorts.get(name)?.waiting.delete(waiting);
    this.#tidy(name);
  }

  beginOpening(name: string, place: number, opener: Opener): void {
    this.#cohort(name).opening.set(place, opener);
  }

  /** `why`: there is no socket; those that have waited do not ask one after the other for the same. */
  endOpening(name: string, place: number, opener: Opener, why?: NotOpened): void {
    const cohort = this.#cohorts.get(name);
    if (!cohort) return;
    // Another one has come in place of one that was silent: that one may yet get a socket.
    const isLast = cohort.opening.get(place) === opener;
    if (isLast) cohort.opening.delete(place);
    const waiting = [...cohort.waiting];
    cohort.waiting.clear();
    for (const one of waiting) {
      if (why && isLast) one.notOpened?.(place, why);
      one.wake();
    }
    this.#tidy(name);
  }

  /** Cohorts with a feed or a watch that opens one. */
  get size(): number {
    return this.#cohorts.size;
  }

  #cohort(name: string): Cohort {
    let cohort = this.#cohorts.get(name);
    if (!cohort) this.#cohorts.set(name, (cohort = { feeds: new Set(), opening: new Map(), waiting: new Set() }));
    return cohort;
  }

  #tidy(name: string): void {
    const cohort = this.#cohorts.get(name);
    if (cohort && cohort.feeds.size + cohort.opening.size + cohort.waiting.size === 0) this.#cohorts.delete(name);
  }
}
