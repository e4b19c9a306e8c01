/** Pods: the parts of upstream pkg/registry/core/pod and ValidatePod that a Service network without kubelets needs. */
import type { Int64 } from "../../../core/base/exact-json";
import { semanticEqual } from "../../meta/equality";
import { forbiddenField, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { Pod } from "../../meta/kubernetes";
import { BASE_STRATEGY, keepAllButStatus, keepStatus } from "../base-strategy";
import type { Change, Strategy } from "../resource";
import { defaultPod, qosClassOf } from "./defaults";
import { type Container, type PodSpec, validatePodSpec } from "./validate-spec";
import { keepObservedGenerations, podStatusWarnings, validatePodStatus } from "./validate-status";
import { podWarnings } from "./warnings";

const FINISHED = ["Succeeded", "Failed"];
const MUTABLE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

function validate({ spec }: Pod): FieldError[] {
  if (!spec) return [required("spec.containers")];
  const errors: FieldError[] = [];
  validatePodSpec(spec, "spec", errors);
  return errors;
}

/** The new spec with its changeable members taken from the stored one; the result must equal the stored spec. */
function withStoredMutables(after: PodSpec, before: PodSpec): PodSpec {
  const images = (wanted: Container[] | undefined, stored: Container[] | undefined): Container[] | undefined =>
    wanted?.map((container, i) => ({ ...container, image: stored?.[i]?.image }));
  return {
    ...after,
    containers: images(after.containers, before.containers) ?? [],
    initContainers: images(after.initContainers, before.initContainers),
    activeDeadlineSeconds: before.activeDeadlineSeconds,
    tolerations: before.tolerations,
    terminationGracePeriodSeconds: before.terminationGracePeriodSeconds,
  };
}

function validateUpdate({ after, before }: Change<Pod>): FieldError[] {
  const wanted = after.spec;
  const stored = before.spec;
  if (!wanted || !stored) return [];
  const added = stored.tolerations?.every((toleration) => wanted.tolerations?.some((other) => semanticEqual(other, toleration))) ?? true;
  const graceBefore = stored.terminationGracePeriodSeconds ?? 0;
  const grace = wanted.terminationGracePeriodSeconds ?? 0;
  const graceIsFine = grace === graceBefore || (graceBefore < 0 && grace === 1);
  if (added && graceIsFine && semanticEqual(withStoredMutables(wanted, stored), stored)) return [];
  return [forbiddenField("spec", MUTABLE)];
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
  prepareForCreate(pod) {
    pod.status = { phase: "Pending", ...(pod.spec ? { qosClass: qosClassOf(pod.spec) } : {}) };
  },
  validate,
  prepareForUpdate: keepStatus,
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
