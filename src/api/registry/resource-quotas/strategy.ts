/** ResourceQuotas: upstream pkg/registry/core/resourcequota and pkg/apis/core/validation ValidateResourceQuota. */
import { semanticEqual } from "../../meta/equality";
import { FIELD_IMMUTABLE, invalidValue, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { ResourceQuota } from "../../meta/kubernetes";
import { validateQualifiedName } from "../../meta/names";
import { compareQuantities } from "../../schema/quantity";
import { BASE_STRATEGY, keepStatus } from "../base-strategy";
import type { Change, Strategy } from "../resource";
import { isQuotaResource, isStandardResource, validateAmount } from "../resource-names";

type Spec = NonNullable<ResourceQuota["spec"]>;
type QuotaQuantities = Readonly<Record<string, string>> | undefined;

const COMPUTE = ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const POD_SCOPES = ["Terminating", "NotTerminating", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity"];
const SCOPES = [...POD_SCOPES, "BestEffort", "VolumeAttributesClass"];
const EXCLUSIVE = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
];
const ONLY_EXISTS = ["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"];
const ONLY_EXISTS_TEXT =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, " +
  "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

/** The errors of limits, or of amounts, by resource. */
export function validateQuantities(field: string, quantities: QuotaQuantities, errors: FieldError[]): void {
  for (const [name, quantity] of Object.entries(quantities ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const at = `${field}[${name}]`;
    const messages = [...validateQualifiedName(name)];
    const isPlain = !name.includes("/");
    if (messages.length === 0 && isPlain && !isStandardResource(name)) {
      messages.push("must be a standard resource type or fully qualified");
    }
    for (const message of messages) errors.push(invalidValue(at, name, message));
    if (isPlain && !isQuotaResource(name)) errors.push(invalidValue(at, name, "must be a standard resource for quota"));
    validateAmount(at, name, quantity, errors);
  }
}

/** Of each scope the resources that it may not limit. Scopes repeat in hostile quotas, and each would look at all resources anew. */
function misfitsIn(hard: Spec["hard"]): (scope: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (scope) => {
    const found = known.get(scope) ?? Object.keys(hard ?? {}).filter((name) => !fits(scope, name));
    if (SCOPES.includes(scope)) known.set(scope, found);
    return found;
  };
}

/** Whether a quota with this scope may limit the resource. */
function fits(scope: string, name: string): boolean {
  if (!isQuotaResource(name)) return true;
  if (POD_SCOPES.includes(scope)) return name === "pods" || COMPUTE.includes(name);
  if (scope === "BestEffort") return name === "pods";
  return scope !== "VolumeAttributesClass" || name === "persistentvolumeclaims" || name === "requests.storage";
}

function validateScopes({ scopes, hard }: Spec, errors: FieldError[]): void {
  const field = "spec.scopes";
  if (!scopes?.length) return;
  const misfits = misfitsIn(hard);
  for (const scope of scopes) {
    if (!SCOPES.includes(scope)) errors.push(invalidValue(field, scopes, "unsupported scope"));
    for (const _ of misfits(scope)) errors.push(invalidValue(field, scopes, "unsupported scope applied to resource"));
  }
  validateConflicts(field, scopes, scopes, errors);
}

function validateConflicts(field: string, scopes: readonly string[], shown: unknown, errors: FieldError[]): void {
  for (const pair of EXCLUSIVE) {
    if (pair.every((scope) => scopes.includes(scope))) errors.push(invalidValue(field, shown, "conflicting scopes"));
  }
}

function validateScopeSelector({ scopeSelector, scopes, hard }: Spec, errors: FieldError[]): void {
  if (!scopeSelector) return;
  const field = "spec.scopeSelector.matchExpressions";
  const requirements = scopeSelector.matchExpressions ?? [];
  const misfits = misfitsIn(hard);
  for (const { scopeName, operator, values = [] } of requirements) {
    if (!SCOPES.includes(scopeName)) errors.push(invalidValue(`${field}.scopeName`, scopeName, "unsupported scope"));
    for (const _ of misfits(scopeName)) {
      // upstream prints its internal type, whose members have Go's names
      const printed = {
        MatchExpressions: requirements.map((one) => ({ ScopeName: one.scopeName, Operator: one.operator, Values: one.values ?? null })),
      };
      errors.push(invalidValue(field, printed, "unsupported scope applied to resource"));
    }
    if (ONLY_EXISTS.includes(scopeName) && operator !== "Exists")
      errors.push(invalidValue(`${field}.operator`, operator, ONLY_EXISTS_TEXT));
    if (operator === "In" || operator === "NotIn") {
      const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      if (values.length === 0) errors.push(required(`${field}.values`, detail));
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      if (values.length > 0) errors.push(invalidValue(`${field}.values`, values, detail));
    } else errors.push(invalidValue(`${field}.operator`, operator, "not a valid selector operator"));
  }
  const names = requirements.map(({ scopeName }) => scopeName);
  validateConflicts(field, names, scopes ?? null, errors);
}

function validate({ spec = {} }: ResourceQuota): FieldError[] {
  const errors: FieldError[] = [];
  validateQuantities("spec.hard", spec.hard, errors);
  validateScopes(spec, errors);
  validateScopeSelector(spec, errors);
  return errors;
}

function validateUpdate({ after, before }: Change<ResourceQuota>): FieldError[] {
  const sorted = (quota: ResourceQuota): string[] => [...new Set(quota.spec?.scopes)].sort();
  if (semanticEqual(sorted(after), sorted(before))) return [];
  return [invalidValue("spec.scopes", after.spec?.scopes ?? null, FIELD_IMMUTABLE)];
}

function validateStatusUpdate({ after }: Change<ResourceQuota>): FieldError[] {
  const errors: FieldError[] = [];
  validateQuantities("status.hard", after.status?.hard, errors);
  validateQuantities("status.used", after.status?.used, errors);
  return errors;
}

/** Requests beyond their limit. */
function warnings({ spec }: ResourceQuota): string[] {
  const hard: Readonly<Record<string, string>> = spec?.hard ?? {};
  const found: string[] = [];
  for (const name of ["cpu", "memory", "storage", "ephemeral-storage"]) {
    const bare = name === "cpu" || name === "memory" ? name : `requests.${name}`;
    const requested = Object.hasOwn(hard, `requests.${name}`) ? `requests.${name}` : bare;
    const request = hard[requested];
    const limit = hard[`limits.${name}`];
    if (request === undefined || limit === undefined || compareQuantities(request, limit) <= 0) continue;
    found.push(`ResourceQuota ${requested} (${request}) should be less than limits.${name} (${limit})`);
  }
  return found;
}

export const resourceQuotaStrategy: Strategy<ResourceQuota> = {
  ...BASE_STRATEGY,
  // To Go both are structs, which are never absent.
  defaults(quota) {
    quota.spec ??= {};
    quota.status ??= {};
  },
  prepareForCreate(quota) {
    quota.status = {};
  },
  validate,
  prepareForUpdate: keepStatus,
  validateUpdate,
  validateStatusUpdate,
  warnings: (quota, before) => (before ? [] : warnings(quota)),
};
