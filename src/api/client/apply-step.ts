/** From the steps of a followed collection to what a consumer keeps of its objects. */
import type { FollowStep } from "./follow-collection";

export interface Keeper<T> {
  /** These are all objects; the others are gone. */
  replace(objects: readonly T[]): void;
  put(object: T): void;
  remove(object: T): void;
}

export function applyStep<T>(step: FollowStep<T>, keeper: Keeper<T>): void {
  if (step.kind === "list") {
    keeper.replace(step.objects);
    return;
  }
  for (const { type, object } of step.changes) {
    if (type === "DELETED") keeper.remove(object);
    else keeper.put(object);
  }
}
