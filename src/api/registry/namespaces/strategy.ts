/** Namespaces (upstream pkg/registry/core/namespace, plugin/pkg/admission namespace/lifecycle). */
import { invalidValue } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { Namespace } from "../../meta/kubernetes";
import { labelWithName } from "../name-label";
import { validateDNS1123Label, validateQualifiedName } from "../../meta/names";
import { BASE_STRATEGY } from "../base-strategy";
import type { Change, Strategy } from "../resource";
import { keepMembers } from "../base-strategy";

/** In spec.finalizers: holds the namespace until its content is gone; PUT /finalize removes it. */
export const NAMESPACE_FINALIZER = "kubernetes";

/** kube-node-lease may be deleted, as upstream */
const PROTECTED: readonly string[] = ["default", "kube-system", "kube-public"];

/** A status without a phase is that of a namespace in use (upstream SetDefaults_NamespaceStatus, pkg/apis/core/v1/defaults.go). */
function defaults(namespace: Namespace): void {
  labelWithName(namespace);
  if (!namespace.status?.phase) namespace.status = { ...namespace.status, phase: "Active" };
}

function prepareForCreate(namespace: Namespace): void {
  labelWithName(namespace);
  namespace.status = { phase: "Active" };
  const finalizers = namespace.spec?.finalizers ?? [];
  if (finalizers.includes(NAMESPACE_FINALIZER)) return;
  namespace.spec = { ...namespace.spec, finalizers: [...finalizers, NAMESPACE_FINALIZER] };
}

function validate(namespace: Namespace): FieldError[] {
  const errors: FieldError[] = [];
  namespace.spec?.finalizers?.forEach((finalizer, i) => {
    const field = `spec.finalizers[${i}]`;
    for (const message of validateQualifiedName(finalizer)) errors.push(invalidValue(field, finalizer, message));
    if (!finalizer.includes("/") && finalizer !== NAMESPACE_FINALIZER) {
      errors.push(invalidValue(field, finalizer, "name is neither a standard finalizer name nor is it fully qualified"));
    }
  });
  return errors;
}

function validateStatusUpdate({ after }: Change<Namespace>): FieldError[] {
  const phase = after.status?.phase ?? "";
  const deleting = Boolean(after.metadata?.deletionTimestamp);
  if (!deleting && phase !== "Active") {
    return [invalidValue("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")];
  }
  if (deleting && phase !== "Terminating") {
    return [invalidValue("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")];
  }
  return [];
}

export const namespaceStrategy: Strategy<Namespace> = {
  ...BASE_STRATEGY,
  validateName: validateDNS1123Label,
  defaults,
  prepareForCreate,
  // the main endpoint changes metadata only: spec.finalizers have an endpoint of their own
  prepareForUpdate: (change) => keepMembers(change, (key) => key !== "metadata"),
  validate,
  validateStatusUpdate,
  deletion: {
    storagePreconditions: true,
    refuse: (namespace) => (PROTECTED.includes(namespace.metadata?.name ?? "") ? "this namespace may not be deleted" : undefined),
    mark(namespace) {
      namespace.status = { ...namespace.status, phase: "Terminating" };
    },
    // The first DELETE only marks it, also without finalizers, so that its stores are closed before it goes (upstream's REST.Delete).
    held: ({ metadata, spec }) => !metadata?.deletionTimestamp || (spec?.finalizers?.length ?? 0) > 0,
  },
};
