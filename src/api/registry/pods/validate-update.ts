/** What an update of a Pod may change (upstream ValidatePodUpdate). */
import { semanticEqual } from "../../meta/equality";
import { type FieldError, forbiddenField, invalidValue, required } from "../../meta/field-errors";
import type { Container, NodeSelectorTerm, PodSpec } from "../../meta/kubernetes";
import { validateTolerations } from "./validate-spec";
import { validateImages } from "./validate-container";

type Affinity = NonNullable<PodSpec["affinity"]>;
type Terms = NonNullable<NonNullable<Affinity["nodeAffinity"]>["requiredDuringSchedulingIgnoredDuringExecution"]>["nodeSelectorTerms"];
type Requirements = NonNullable<NodeSelectorTerm["matchExpressions"]>;

const TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
const SECONDS_MAX = 2 ** 31 - 1;
/** Upstream adds a dump of the difference between two Go structs. */
const MUTABLE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** The errors of the change from one spec to another, in upstream's order. Both have today's defaults. */
export function validatePodChange(wanted: PodSpec, stored: PodSpec, errors: FieldError[]): void {
  for (const kind of ["containers", "initContainers"] as const) {
    if ((wanted[kind]?.length ?? 0) !== (stored[kind]?.length ?? 0)) {
      errors.push(forbiddenField(`spec.${kind}`, "pod updates may not add or remove containers"));
      return;
    }
    (wanted[kind] ?? []).forEach(({ image }, i) => {
      if (!image) errors.push(required(`spec.${kind}[${i}].image`));
    });
    validateImages(wanted[kind], `spec.${kind}`, errors);
  }
  if (!validateDeadline(wanted, stored, errors)) return;
  validateAddedTolerations(wanted, stored, errors);
  validateGates(wanted, stored, errors);
  if (stored.schedulingGates?.length) {
    validateSelectors(wanted, stored, errors);
    validateNodeAffinity(wanted, stored, errors);
  }
  if (!isFixed(wanted, stored)) errors.push(forbiddenField("spec", MUTABLE));
}

/** Answers whether the other rules are to be judged, too. */
function validateDeadline(
  { activeDeadlineSeconds: wanted }: PodSpec,
  { activeDeadlineSeconds: stored }: PodSpec,
  errors: FieldError[],
): boolean {
  const field = "spec.activeDeadlineSeconds";
  if (wanted === undefined) {
    if (stored !== undefined) errors.push(invalidValue(field, null, "must not update from a positive integer to nil value"));
    return true;
  }
  if (wanted < 0 || wanted > SECONDS_MAX) errors.push(invalidValue(field, wanted, `must be between 0 and ${SECONDS_MAX}, inclusive`));
  else if (stored !== undefined && stored < wanted) {
    errors.push(invalidValue(field, wanted, "must be less than or equal to previous value"));
  } else return true;
  return false;
}

function validateAddedTolerations(wanted: PodSpec, stored: PodSpec, errors: FieldError[]): void {
  const field = "spec.tolerations";
  const withoutSeconds = ({ tolerations = [] }: PodSpec): object[] => tolerations.map((one) => ({ ...one, tolerationSeconds: undefined }));
  const kept = withoutSeconds(wanted);
  if (withoutSeconds(stored).every((toleration) => kept.some((other) => semanticEqual(other, toleration)))) {
    validateTolerations(wanted.tolerations, field, errors);
  } else errors.push(forbiddenField(field, "existing toleration can not be modified except its tolerationSeconds"));
}

function validateGates({ schedulingGates = [] }: PodSpec, stored: PodSpec, errors: FieldError[]): void {
  schedulingGates.forEach(({ name }, i) => {
    if (stored.schedulingGates?.some((gate) => gate.name === name)) return;
    errors.push(forbiddenField(`spec.schedulingGates[${i}].name`, `only deletion is allowed, but found new scheduling gate '${name}'`));
  });
}

/** A Pod that no scheduler has seen may ask for fewer nodes. */
function validateSelectors({ nodeSelector: wanted = {} }: PodSpec, { nodeSelector: stored = {} }: PodSpec, errors: FieldError[]): void {
  if (Object.keys(stored).every((key) => Object.hasOwn(wanted, key) && wanted[key] === stored[key])) return;
  const detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
  errors.push(invalidValue("spec.nodeSelector", wanted, detail));
}

/** Terms that are required may ask for more. Where there were none, all may come (upstream validateNodeAffinityMutation). */
function validateNodeAffinity(wanted: PodSpec, stored: PodSpec, errors: FieldError[]): void {
  const termsOf = ({ affinity }: PodSpec): Terms | undefined =>
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const [terms, known = []] = [termsOf(wanted), termsOf(stored)];
  if (known.length > 0 && known.length !== (terms?.length ?? 0)) {
    const detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
    errors.push(invalidValue(TERMS, terms?.map(printedTerm) ?? null, detail));
    return;
  }
  known.forEach((before, i) => {
    const term = terms?.[i] ?? {};
    if (isNarrower(term, before)) return;
    errors.push(invalidValue(`${TERMS}[${i}]`, printedTerm(term), "only additions are allowed (no mutations or deletions)"));
  });
}

/** Whether a term has all requirements of the other at their places. A term without any matches no node, and gets none. */
function isNarrower(term: NodeSelectorTerm, before: NodeSelectorTerm): boolean {
  const members = ["matchExpressions", "matchFields"] as const;
  if (members.every((member) => !before[member]?.length)) return members.every((member) => !term[member]?.length);
  return members.every((member) => semanticEqual(term[member]?.slice(0, before[member]?.length ?? 0), before[member]));
}

/** Upstream prints its internal type, whose members have Go's names. */
function printedTerm({ matchExpressions, matchFields }: NodeSelectorTerm): object {
  const printed = (requirements: Requirements | undefined): object[] | null =>
    requirements?.map(({ key, operator, values }) => ({ Key: key, Operator: operator, Values: values ?? null })) ?? null;
  return { MatchExpressions: printed(matchExpressions), MatchFields: printed(matchFields) };
}

/** Whether all that may not change is as stored. */
function isFixed(wanted: PodSpec, stored: PodSpec): boolean {
  const images = (list: Container[] | undefined, from: Container[] | undefined): Container[] | undefined =>
    list?.map((container, i) => ({ ...container, image: from?.[i]?.image }));
  const { activeDeadlineSeconds, tolerations, schedulingGates } = stored;
  const isGated = schedulingGates !== undefined && schedulingGates.length > 0;
  const nodeSelector = isGated ? stored.nodeSelector : wanted.nodeSelector;
  const fixedAffinity = ({ affinity }: PodSpec): Affinity | undefined => (isGated ? { ...affinity, nodeAffinity: undefined } : affinity);
  const munged: PodSpec = {
    ...wanted,
    ...{ activeDeadlineSeconds, tolerations, schedulingGates, nodeSelector, affinity: fixedAffinity(wanted) },
    containers: images(wanted.containers, stored.containers) ?? [],
    initContainers: images(wanted.initContainers, stored.initContainers),
  };
  return semanticEqual(munged, { ...stored, affinity: fixedAffinity(stored) });
}
