/** A DELETE of one stored object: the rules of its kind around the plan of meta/finalizers.ts. */
import type { Int64 } from "../../core/encoding/exact-json";
import { applyDeletionMark, isDeletionComplete, planDeletion } from "../meta/finalizers";
import type { PropagationPolicy } from "../meta/finalizers";
import type { KubeObject, ObjectMeta } from "../meta/kubernetes";
import { checkDeletePreconditions, checkStoragePreconditions, type DeletePreconditions } from "../meta/preconditions";
import { forbidden } from "../meta/status";
import type { Status } from "../meta/status";
import type { ResourceDefinition } from "./resource";

export interface DeleteInput {
  preconditions: DeletePreconditions;
  propagationPolicy: PropagationPolicy;
  /** undefined = the kind's default; negative counts as 1 */
  gracePeriodSeconds: Int64 | undefined;
  /** milliseconds since the epoch */
  now: number;
}

export type DeleteOutcome =
  | { action: "refused"; status: Status }
  /** the object goes now */
  | { action: "remove" }
  /** the object stays and was changed: store it */
  | { action: "mark" }
  /** the object stays as it is: store nothing */
  | { action: "keep" };

/** `object` is the caller's own copy of the stored one; it is changed only when the answer is "mark". */
export function planDelete(definition: ResourceDefinition, object: KubeObject, input: DeleteInput): DeleteOutcome {
  const metadata: ObjectMeta = (object.metadata ??= {});
  const rules = definition.strategy.deletion;
  const check = rules?.storagePreconditions ? checkStoragePreconditions : checkDeletePreconditions;
  const failed = check(definition, metadata, input.preconditions);
  if (failed) return { action: "refused", status: failed };
  const why = rules?.refuse?.(object);
  if (why !== undefined) return { action: "refused", status: forbidden(definition, metadata.name ?? "", why) };
  const requested = input.gracePeriodSeconds !== undefined && input.gracePeriodSeconds < 0 ? 1 : input.gracePeriodSeconds;
  const plan = planDeletion(metadata, {
    propagationPolicy: rules?.hasNoDependents ? "Background" : input.propagationPolicy,
    requestedSeconds: requested,
    graceSeconds: rules?.graceSeconds?.(object, requested) ?? 0,
    held: isHeld(definition, object),
    now: input.now,
  });
  if (plan.action === "mark") {
    applyDeletionMark(metadata, plan.mark);
    rules?.mark?.(object);
  }
  return { action: plan.action };
}

/** Whether something besides metadata.finalizers holds the object. */
function isHeld(definition: ResourceDefinition, object: KubeObject): boolean {
  return definition.strategy.deletion?.held?.(object) ?? false;
}

/** Whether an update has released the last hold of an object, which is then removed. */
export function isGone(definition: ResourceDefinition, object: KubeObject): boolean {
  return isDeletionComplete(object.metadata ?? {}, isHeld(definition, object));
}
