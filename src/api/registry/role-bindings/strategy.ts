/**
 * RoleBindings and ClusterRoleBindings (upstream pkg/apis/rbac/v1/defaults.go, pkg/apis/rbac/validation ValidateRoleBinding,
 * ValidateClusterRoleBinding, ValidateRoleBindingSubject).
 */
import { invalidValue, notSupported, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { ClusterRoleBinding, RbacSubject, RoleBinding } from "../../meta/kubernetes";
import { validateDNS1123Subdomain, validatePathSegmentName } from "../../meta/names";
import { RBAC_GROUP } from "../../meta/rbac-names";
import { BASE_STRATEGY } from "../base-strategy";
import type { Change, Strategy } from "../resource";
import { validateSegmentName } from "../segment-names";

/** Bindings of both kinds have the same members. */
export type AnyRoleBinding = RoleBinding | ClusterRoleBinding;

const SERVICE_ACCOUNT = "ServiceAccount";
const NAMED = ["User", "Group"];

function defaultGroups(binding: AnyRoleBinding): void {
  // a document may lack the member: Go reads a reference without texts
  const roleRef: Partial<AnyRoleBinding["roleRef"]> = (binding as Partial<AnyRoleBinding>).roleRef ?? {};
  const { apiGroup, kind = "", name = "" } = roleRef;
  binding.roleRef = { apiGroup: apiGroup || RBAC_GROUP, kind, name };
  for (const subject of binding.subjects ?? []) {
    if (!subject.apiGroup && NAMED.includes(subject.kind)) subject.apiGroup = RBAC_GROUP;
  }
}

function validateRoleRef({ roleRef }: AnyRoleBinding, kinds: readonly string[], errors: FieldError[]): void {
  const { apiGroup, kind, name } = roleRef;
  if (apiGroup !== RBAC_GROUP) errors.push(notSupported("roleRef.apiGroup", apiGroup, [RBAC_GROUP]));
  if (!kinds.includes(kind)) errors.push(notSupported("roleRef.kind", kind, kinds));
  if (name === "") errors.push(required("roleRef.name"));
  else for (const message of validatePathSegmentName(name)) errors.push(invalidValue("roleRef.name", name, message));
}

function validateSubject(subject: RbacSubject, field: string, namespaced: boolean, errors: FieldError[]): void {
  const { kind, name, apiGroup = "", namespace } = subject;
  if (name === "") errors.push(required(`${field}.name`));
  if (kind === SERVICE_ACCOUNT) {
    if (name !== "") for (const message of validateDNS1123Subdomain(name)) errors.push(invalidValue(`${field}.name`, name, message));
    if (apiGroup !== "") errors.push(notSupported(`${field}.apiGroup`, apiGroup, [""]));
    // in a RoleBinding it is that of the binding
    if (!namespaced && !namespace) errors.push(required(`${field}.namespace`));
  } else if (NAMED.includes(kind)) {
    if (apiGroup !== RBAC_GROUP) errors.push(notSupported(`${field}.apiGroup`, apiGroup, [RBAC_GROUP]));
  } else errors.push(notSupported(`${field}.kind`, kind, [SERVICE_ACCOUNT, ...NAMED]));
}

/** Changing roleRef would give the subjects another role. */
function keepsRole({ after, before }: Change<AnyRoleBinding>): FieldError[] {
  const { apiGroup, kind, name } = after.roleRef;
  const { roleRef: old } = before;
  if (apiGroup === old.apiGroup && kind === old.kind && name === old.name) return [];
  // upstream shows its internal type, whose members have no JSON names
  return [invalidValue("roleRef", { APIGroup: apiGroup, Kind: kind, Name: name }, "cannot change roleRef")];
}

function bindingStrategy(namespaced: boolean, kinds: readonly string[]): Strategy<AnyRoleBinding> {
  return {
    ...BASE_STRATEGY,
    validateName: validateSegmentName,
    defaults: defaultGroups,
    validate(binding) {
      const errors: FieldError[] = [];
      validateRoleRef(binding, kinds, errors);
      binding.subjects?.forEach((subject, i) => validateSubject(subject, `subjects[${i}]`, namespaced, errors));
      return errors;
    },
    validateUpdate: keepsRole,
  };
}

export const roleBindingStrategy: Strategy<RoleBinding> = bindingStrategy(true, ["Role", "ClusterRole"]);

export const clusterRoleBindingStrategy: Strategy<ClusterRoleBinding> = bindingStrategy(false, ["ClusterRole"]);
