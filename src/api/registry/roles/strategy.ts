/** Roles and ClusterRoles (upstream pkg/apis/rbac/validation ValidateRole, ValidateClusterRole, ValidatePolicyRule). */
import { invalidValue, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { ClusterRole, PolicyRule, Role } from "../../meta/kubernetes";
import { BASE_STRATEGY } from "../base-strategy";
import { validateLabelSelector } from "../label-selector";
import type { Strategy } from "../resource";
import { validateSegmentName } from "../segment-names";

/** Answers always have the list; storage does not distinguish an empty list from an absent one. */
function defaultRules(role: { rules?: PolicyRule[] | null }): void {
  if (!role.rules?.length) role.rules = null;
}

function validateRules(rules: readonly PolicyRule[] | null | undefined, namespaced: boolean, errors: FieldError[]): void {
  rules?.forEach((rule, i) => validateRule(rule, `rules[${i}]`, namespaced, errors));
}

function validateRule(rule: PolicyRule, field: string, namespaced: boolean, errors: FieldError[]): void {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule as Partial<PolicyRule>;
  if (!verbs?.length) errors.push(required(`${field}.verbs`, "verbs must contain at least one value"));
  if (nonResourceURLs.length > 0) {
    const refuse = (text: string) => errors.push(invalidValue(`${field}.nonResourceURLs`, nonResourceURLs, text));
    if (namespaced) refuse("namespaced rules cannot apply to non-resource URLs");
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      refuse("rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  if (apiGroups.length === 0) errors.push(required(`${field}.apiGroups`, "resource rules must supply at least one api group"));
  if (resources.length === 0) errors.push(required(`${field}.resources`, "resource rules must supply at least one resource"));
}

function validateAggregation({ aggregationRule }: ClusterRole, errors: FieldError[]): void {
  if (!aggregationRule) return;
  const field = "aggregationRule.clusterRoleSelectors";
  const selectors = aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    errors.push(required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  }
  selectors.forEach((selector, i) => {
    const before = errors.length;
    validateLabelSelector(selector, `${field}[${i}]`, errors);
    // what upstream could not parse it shows as null
    if (errors.length > before) errors.push(invalidValue(`${field}[${i}]`, null, "invalid label selector."));
  });
}

const COMMON_RULES = { ...BASE_STRATEGY, validateName: validateSegmentName, defaults: defaultRules };

export const roleStrategy: Strategy<Role> = {
  ...COMMON_RULES,
  validate({ rules }) {
    const errors: FieldError[] = [];
    validateRules(rules, true, errors);
    return errors;
  },
};

export const clusterRoleStrategy: Strategy<ClusterRole> = {
  ...COMMON_RULES,
  validate(role) {
    const errors: FieldError[] = [];
    validateRules(role.rules, false, errors);
    validateAggregation(role, errors);
    return errors;
  },
};
