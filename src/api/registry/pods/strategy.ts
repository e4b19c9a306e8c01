/** Pods: the parts of upstream pkg/registry/core/pod and ValidatePod that a Service network without kubelets needs. */
import type { Int64 } from "../../../core/encoding/exact-json";
import { semanticEqual } from "../../meta/equality";
import { forbiddenField } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { Pod, PodSpec } from "../../meta/kubernetes";
import { rfc3339Seconds } from "../../meta/time";
import { PodSchema } from "../../schema/kinds/core-pods";
import { BASE_STRATEGY, keepAllButStatus, keepStatus } from "../base-strategy";
import type { Change, Strategy } from "../resource";
import { inTodaysForm } from "../stored-form";
import { addDefaultTolerations } from "./default-tolerations";
import { defaultPod, qosClassOf } from "./defaults";
import { validatePodSpec } from "./validate-spec";
import { keepObservedGenerations, podStatusWarnings, validatePodStatus } from "./validate-status";
import { validatePodChange } from "./validate-update";
import { podWarnings } from "./warnings";

const FINISHED = ["Succeeded", "Failed"];
function validate(pod: Pod): FieldError[] {
  const errors: FieldError[] = [];
  validatePodSpec(pod.spec ?? { containers: [] }, "spec", true, errors);
  return errors;
}

function validateCreate(pod: Pod): FieldError[] {
  const errors = validate(pod);
  const { ephemeralContainers, nodeName, schedulingGates } = pod.spec ?? {};
  if (ephemeralContainers?.length) errors.push(forbiddenField("spec.ephemeralContainers", "cannot be set on create"));
  if (nodeName && schedulingGates?.length) {
    errors.push(forbiddenField("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
  return errors;
}

/** A spec that does not change is good, whatever rules came since it was stored. */
function validateUpdate({ after, before }: Change<Pod>): FieldError[] {
  const none: PodSpec = { containers: [] };
  const wanted = after.spec ?? none;
  if (semanticEqual(wanted, before.spec)) return [];
  const { spec: stored = none } = inTodaysForm<Pod>({ spec: before.spec ?? none }, PodSchema, defaultPod);
  const tolerant = { spec: { ...stored } };
  addDefaultTolerations(tolerant);
  if (semanticEqual(wanted, tolerant.spec)) return [];
  const errors = validate(after);
  validatePodChange(wanted, stored, errors);
  return errors;
}

/** What says that no scheduler looks at the Pod yet. */
function schedulingGated(now: number): NonNullable<NonNullable<Pod["status"]>["conditions"]>[number] {
  const message = "Scheduling is blocked due to non-empty scheduling gates";
  return { type: "PodScheduled", status: "False", reason: "SchedulingGated", message, lastTransitionTime: rfc3339Seconds(now) };
}

/** Pods that no node runs, or that have ended, go at once. */
function graceSeconds(pod: Pod, requested: Int64 | undefined): Int64 {
  if (!pod.spec?.nodeName || FINISHED.includes(pod.status?.phase ?? "")) return 0;
  const grace = requested ?? pod.spec.terminationGracePeriodSeconds ?? 30;
  return grace < 0 ? 1 : grace;
}

export const podStrategy: Strategy<Pod> = {
  ...BASE_STRATEGY,
  defaults: defaultPod,
  prepareForCreate(pod, { now }) {
    pod.status = { phase: "Pending", ...(pod.spec ? { qosClass: qosClassOf(pod.spec) } : {}) };
    if (pod.spec?.schedulingGates?.length) pod.status.conditions = [schedulingGated(now)];
    addDefaultTolerations(pod);
  },
  // upstream judges an update by these rules first: see validateUpdate
  validate: (pod, _, before) => (before ? [] : validateCreate(pod)),
  prepareForUpdate(change) {
    keepStatus(change);
    addDefaultTolerations(change.after);
  },
  validateUpdate,
  prepareForStatusUpdate(change) {
    keepAllButStatus(change);
    const { after, before } = change;
    if (!after.metadata) return;
    if (before.metadata?.ownerReferences) after.metadata.ownerReferences = before.metadata.ownerReferences;
    else delete after.metadata.ownerReferences;
    const qosClass = before.status?.qosClass;
    // Older kubelets drop it when they reject a Pod.
    if (qosClass && !after.status?.qosClass) (after.status ??= {}).qosClass = qosClass;
    keepObservedGenerations(change);
  },
  validateStatusUpdate: validatePodStatus,
  statusWarnings: podStatusWarnings,
  // Upstream warns of no update: people seldom change Pods themselves.
  warnings: (pod, before) => (before ? [] : podWarnings(pod)),
  deletion: { graceSeconds },
};
