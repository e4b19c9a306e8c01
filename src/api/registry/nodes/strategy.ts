/** Nodes: the parts of upstream pkg/apis/core/validation ValidateNode that the Service network relies on, and its defaulting. */
import { duplicate, forbiddenField, invalidValue, notSupported, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { Node } from "../../meta/kubernetes";
import { validateLabelValue, validateQualifiedName } from "../../meta/names";
import { semanticEqual } from "../../meta/equality";
import { parsePrefix, prefixErrorText } from "../../../core/net/prefix";
import { warnOfCIDR } from "../address-warnings";
import { BASE_STRATEGY, keepStatus } from "../base-strategy";
import type { Change, Strategy } from "../resource";

type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number];

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** podCIDR is the first of podCIDRs; allocatable is the capacity unless said otherwise. */
function defaults(node: Node): void {
  const spec = (node.spec ??= {});
  if (spec.podCIDRs?.length) spec.podCIDR = spec.podCIDRs[0];
  else if (spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  if (node.status?.capacity && !node.status.allocatable) node.status.allocatable = { ...node.status.capacity };
}

function validate(node: Node): FieldError[] {
  const errors: FieldError[] = [];
  validateTaints(node.spec?.taints ?? [], errors);
  validatePodCIDRs(node.spec?.podCIDRs ?? [], errors);
  return errors;
}

function validateTaints(taints: readonly Taint[], errors: FieldError[]): void {
  const seen = new Set<string>();
  taints.forEach((taint, i) => {
    const field = `spec.taints[${i}]`;
    for (const message of validateQualifiedName(taint.key ?? "")) errors.push(invalidValue(`${field}.key`, taint.key ?? "", message));
    const value = taint.value ?? "";
    for (const message of validateLabelValue(value)) errors.push(invalidValue(`${field}.value`, value, message));
    if (!taint.effect) errors.push(required(`${field}.effect`));
    else if (!EFFECTS.includes(taint.effect)) errors.push(notSupported(`${field}.effect`, taint.effect, EFFECTS));
    const identity = `${taint.key}:${taint.effect}`;
    if (seen.has(identity)) errors.push(duplicateTaint(field, taint));
    seen.add(identity);
  });
}

/** The taint as upstream prints it: an internal struct without JSON names. */
function duplicateTaint(field: string, { key = "", value = "", effect, timeAdded }: Taint): FieldError {
  const error = duplicate(field, { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null });
  return { ...error, body: `${error.body}: taints must be unique by key and effect pair` };
}

function validatePodCIDRs(cidrs: readonly string[], errors: FieldError[]): void {
  const families = new Set<string>();
  cidrs.forEach((cidr, i) => {
    const parsed = parsePrefix(cidr);
    if (parsed.ok) families.add(parsed.value.family);
    else if (parsed.error.reason === "notCanonical") families.add(parsed.error.prefix.family);
    else errors.push(invalidValue(`spec.podCIDRs[${i}]`, cidr, prefixErrorText(parsed.error)));
  });
  if (errors.length === 0 && (cidrs.length > 2 || (cidrs.length === 2 && families.size === 1))) {
    errors.push(invalidValue("spec.podCIDRs", cidrs, "may specify no more than one CIDR for each IP family"));
  }
}

function validateUpdate({ after, before }: Change<Node>): FieldError[] {
  const errors: FieldError[] = [];
  const stored = before.spec ?? {};
  if (stored.podCIDRs?.length && !semanticEqual(after.spec?.podCIDRs, stored.podCIDRs)) {
    errors.push(forbiddenField("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
  }
  if (stored.providerID && after.spec?.providerID !== stored.providerID) {
    errors.push(forbiddenField("spec.providerID", 'node updates may not change providerID except from "" to valid'));
  }
  return errors;
}

/** Source: upstream pkg/registry/core/node/strategy.go (nodeWarnings). */
function warningsOf({ spec }: Node): string[] {
  const warnings: string[] = [];
  if (spec?.configSource) warnings.push("spec.configSource: the feature is removed");
  if (spec?.externalID) warnings.push("spec.externalID: this field is deprecated, and is unused by Kubernetes");
  (spec?.podCIDRs ?? []).forEach((cidr, i) => warnOfCIDR(`spec.podCIDRs[${i}]`, cidr, warnings));
  return warnings;
}

/** A create keeps its status: kubelets register with it. */
export const nodeStrategy: Strategy<Node> = {
  ...BASE_STRATEGY,
  defaults,
  validate,
  prepareForUpdate: keepStatus,
  validateUpdate,
  warnings: warningsOf,
};
