/** Nodes: the parts of upstream pkg/apis/core/validation ValidateNode that the Service network relies on, and its defaulting. */
import { semanticEqual } from "../../meta/equality";
import { duplicate, forbiddenField, internalProblem, invalidValue, oneOf } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { Node, Taint } from "../../meta/kubernetes";
import { validateLabelValue, validateQualifiedName } from "../../meta/names";
import { parsePrefix, prefixErrorText } from "../../../core/net/prefix";
import { warnOfCIDR } from "../address-warnings";
import { BASE_STRATEGY, keepAllButStatus, keepStatus } from "../base-strategy";
import type { Change, Strategy } from "../resource";
import { compareQuantities } from "../../schema/quantity";
import { validateAmount } from "../resource-names";

/** `declaredFeatures` is newer than the client library's types. */
type NodeStatus = NonNullable<Node["status"]> & { declaredFeatures?: string[] };

type Amounts = Readonly<Record<string, string>>;

/** A path of words. */
const FEATURE = /^[A-Z][a-zA-Z0-9]*(?:\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const FEATURE_LENGTH_MAX = 253;
const FEATURE_LENGTH = `must be no more than ${FEATURE_LENGTH_MAX} characters`;
const FEATURE_FORM =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), " +
  "and contain only alphanumeric characters and slashes";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** podCIDR is the first of podCIDRs, and counts where they differ. allocatable is the capacity unless said otherwise. */
function defaults(node: Node): void {
  const spec = (node.spec ??= {});
  const first = spec.podCIDRs?.[0];
  if (spec.podCIDR && spec.podCIDR !== first) spec.podCIDRs = [spec.podCIDR];
  else if (first) spec.podCIDR = first;
  if (node.status?.capacity && !node.status.allocatable) node.status.allocatable = { ...node.status.capacity };
}

/** The rules of a create. This and the functions below judge only those members of the status that are not stored so already. */
function validateNode(node: Node, before?: Node): FieldError[] {
  const errors: FieldError[] = [];
  validateTaints(node.spec?.taints ?? [], errors);
  validateResources(node.status, before?.status, errors);
  const swap = node.status?.nodeInfo?.swap?.capacity;
  if (swap !== undefined && swap <= 0 && swap !== before?.status?.nodeInfo?.swap?.capacity) {
    errors.push(invalidValue("metadata.nodeSwapStatus.capacity", swap, "must be greater than zero"));
  }
  validateFeatures(node.status, before?.status, errors);
  validatePodCIDRs(node.spec?.podCIDRs ?? [], errors);
  return errors;
}

/** Upstream names the members of the spec so. */
const TAINTS = "metadata.taints";

function validateTaints(taints: readonly Taint[], errors: FieldError[]): void {
  const seen = new Set<string>();
  taints.forEach((taint, i) => {
    const field = `${TAINTS}[${i}]`;
    for (const message of validateQualifiedName(taint.key ?? "")) errors.push(invalidValue(`${field}.key`, taint.key ?? "", message));
    const value = taint.value ?? "";
    const messages = validateLabelValue(value);
    if (messages.length > 0) errors.push(invalidValue(`${field}.value`, value, messages.join(";")));
    oneOf(`${field}.effect`, taint.effect, EFFECTS, errors);
    const identity = `${taint.key}:${taint.effect}`;
    if (seen.has(identity)) errors.push(duplicateTaint(field, taint));
    seen.add(identity);
  });
}

function validateResources(status: NodeStatus | undefined, before: NodeStatus | undefined, errors: FieldError[]): void {
  for (const list of ["capacity", "allocatable"] as const) {
    const quantities: Amounts = status?.[list] ?? {};
    const stored: Amounts = before?.[list] ?? before?.capacity ?? {};
    for (const name of Object.keys(quantities).sort()) {
      const [quantity = "", known] = [quantities[name], stored[name]];
      // earlier releases kept other texts of one amount
      if (known !== undefined && compareQuantities(quantity, known) === 0) continue;
      validateAmount(`status.${list}.${name}`, name, quantity, errors);
    }
  }
}

/** The taint as upstream prints it: an internal struct without JSON names. */
function duplicateTaint(field: string, { key = "", value = "", effect, timeAdded }: Taint): FieldError {
  const error = duplicate(field, { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null });
  return { ...error, body: `${error.body}: taints must be unique by key and effect pair` };
}

/** Names of features are sorted, and none stands twice. */
function validateFeatures(status: NodeStatus | undefined, before: NodeStatus | undefined, errors: FieldError[]): void {
  const features = status?.declaredFeatures ?? [];
  if (semanticEqual(features, before?.declaredFeatures)) return;
  features.forEach((feature, i) => {
    const field = `status.declaredFeatures[${i}]`;
    const previous = features[i - 1];
    if (previous === feature) errors.push(duplicate(field, feature));
    else if (previous !== undefined && previous > feature) errors.push(invalidValue(field, feature, "list must be sorted alphabetically"));
    const problem = feature.length > FEATURE_LENGTH_MAX ? FEATURE_LENGTH : FEATURE.test(feature) ? undefined : FEATURE_FORM;
    if (problem !== undefined) errors.push(invalidValue(field, feature, `invalid feature name ${JSON.stringify(feature)}: ${problem}`));
  });
}

function validatePodCIDRs(cidrs: readonly string[], errors: FieldError[]): void {
  const families = cidrs.map((cidr, i) => {
    const parsed = parsePrefix(cidr);
    if (parsed.ok) return parsed.value.family;
    if (parsed.error.reason === "notCanonical") return parsed.error.prefix.family;
    errors.push(invalidValue(`spec.podCIDRs[${i}]`, cidr, prefixErrorText(parsed.error)));
    return undefined;
  });
  if (cidrs.length < 2) return;
  const unknown = families.indexOf(undefined);
  if (unknown >= 0) {
    const cidr = cidrs[unknown] ?? "";
    const why = `invalid CIDR[${unknown}]: <nil> (invalid CIDR address: ${cidr})`;
    errors.push(internalProblem("spec.podCIDRs", `invalid PodCIDRs. failed to check with dual stack with error:${why}`));
  }
  if (unknown >= 0 || cidrs.length > 2 || families[0] === families[1]) {
    errors.push(invalidValue("spec.podCIDRs", cidrs, "may specify no more than one CIDR for each IP family"));
  }
}

/** The rules for all updates, those of the status too. Updates of the rest follow the rules of a create before, so some errors come twice as upstream's do. */
function validateChange({ after, before }: Change<Node>): FieldError[] {
  const errors: FieldError[] = [];
  validateResources(after.status, before.status, errors);
  validateFeatures(after.status, before.status, errors);
  validateAddresses(after.status, before.status, errors);
  const stored = before.spec ?? {};
  const cidrs = stored.podCIDRs ?? [];
  const wanted = after.spec?.podCIDRs ?? [];
  const changed = cidrs.length === wanted.length ? cidrs.filter((cidr, i) => cidr !== wanted[i]) : cidrs.slice(0, 1);
  for (const _ of changed) errors.push(forbiddenField("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
  if (stored.providerID && after.spec?.providerID !== stored.providerID) {
    errors.push(forbiddenField("spec.providerID", 'node updates may not change providerID except from "" to valid'));
  }
  validateTaints(after.spec?.taints ?? [], errors);
  if ((after.spec?.externalID ?? "") !== (stored.externalID ?? "")) errors.push(forbiddenField("spec.externalID", "may not be updated"));
  return errors;
}

function validateAddresses(status: NodeStatus | undefined, before: NodeStatus | undefined, errors: FieldError[]): void {
  if (semanticEqual(status?.addresses, before?.addresses)) return;
  const seen = new Set<string>();
  (status?.addresses ?? []).forEach(({ type = "", address = "" }, i) => {
    // upstream prints its internal type, whose members have Go's names
    const printed = { Type: type, Address: address };
    const identity = JSON.stringify(printed);
    if (seen.has(identity)) errors.push(duplicate(`status.addresses[${i}]`, printed));
    seen.add(identity);
  });
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
  prepareForCreate({ spec, status }) {
    // The kubelet's configuration from a ConfigMap is no more: only what is stored may stay.
    delete spec?.configSource;
    delete status?.config;
  },
  // upstream judges an update by these rules first: see validateUpdate
  validate: (node, _, before) => (before ? [] : validateNode(node)),
  prepareForUpdate(change) {
    keepStatus(change);
    if (!change.before.spec?.configSource) delete change.after.spec?.configSource;
  },
  validateUpdate: (change) => validateNode(change.after, change.before).concat(validateChange(change)),
  prepareForStatusUpdate(change) {
    keepAllButStatus(change);
    if (!change.before.status?.config) delete change.after.status?.config;
  },
  validateStatusUpdate: validateChange,
  warnings: warningsOf,
};
