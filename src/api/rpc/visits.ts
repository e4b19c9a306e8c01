/** Visits of cron to objects: to those that have asked for them, and in a full visit to all that ever had something to do. */

/** `settled`: it needs no further visit until it asks again. */
export type VisitOutcome = "settled" | "left";

/** What a store answers to cron's visits. */
export interface VisitedStore {
  /** Does what a crash may have left undone, and pokes again those whom no poke has reached. */
  visit(): Promise<VisitOutcome>;
}

/** `name`: a store's qualified resource, or `controllers/<name>`. */
export interface VisitListRpc {
  /**
   * Each tick of cron visits the object of this name, until a visit finds it settled. It is known for ever as one that full visits call. Durable when it
   * answers.
   *
   * @returns whether the object was in the list already
   */
  askVisits(name: string): Promise<boolean>;
  /** Full visits call the object of this name from now on. Durable when it answers. */
  enter(name: string): Promise<void>;
  /**
   * The stores and controllers that ever had something to do. A store is among them before its first write. A store that is not has nothing but what it
   * began with.
   *
   * @returns null = unknown, as in a cluster of an earlier release until its first full visit, and beside objects of an earlier release
   */
  entered(): Promise<readonly string[] | null>;
  /** An object of an earlier release has called the caller: there may be stores that never entered. Durable when it answers. */
  doubt(): Promise<void>;
}
