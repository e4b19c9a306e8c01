/**
 * Why a review cannot be answered. Source: upstream pkg/apis/authorization/validation and the registries' own checks. A refusal with 422 names
 * neither kind nor name of the review, as upstream's.
 */
import { collected, type FieldError, forbiddenField, invalidValue, required, tooMany } from "../../api/meta/field-errors";
import type { KubeObject } from "../../api/meta/kubernetes";
import { validateLabelValue, validateQualifiedName } from "../../api/meta/names";
import { badRequest, invalid, type Status } from "../../api/meta/status";
import type { Review } from "../routing/review-kinds";

/** The most groups that a review names: a decision looks at the bindings of each. Upstream bounds the body alone. */
const GROUPS_MAX = 1_000;
const EXTRA_VALUES_MAX = 1_000;

interface Requirement {
  key?: string;
  operator?: string;
  values?: string[];
}

export interface SelectorAttributes {
  rawSelector?: string;
  requirements?: Requirement[];
}

interface ReviewedAttributes {
  verb?: string;
  group?: string;
  version?: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  fieldSelector?: SelectorAttributes;
  labelSelector?: SelectorAttributes;
}

export interface ReviewSpec {
  token?: string;
  audiences?: string[];
  namespace?: string;
  user?: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
  resourceAttributes?: ReviewedAttributes;
  nonResourceAttributes?: { path?: string; verb?: string };
}

export type ReviewBody = KubeObject & { spec?: ReviewSpec };

/** `body` passed its schema and has no metadata of the system; `namespace` is that of the URL, "" for cluster-scoped reviews. */
export function reviewProblem(review: Review, body: ReviewBody, namespace: string): Status | undefined {
  const spec = body.spec ?? {};
  switch (review.kind) {
    case "SelfSubjectReview":
      return undefined;
    case "TokenReview":
      return spec.token ? undefined : badRequest("token is required for TokenReview in authentication");
    case "SelfSubjectRulesReview":
      return spec.namespace ? undefined : badRequest("no namespace on request");
    default: {
      const errors = collected(() => accessErrors(review, body, spec, namespace));
      return errors.length === 0 ? undefined : invalid({ group: review.group, resource: "", kind: "" }, "", errors);
    }
  }
}

function accessErrors(review: Review, body: ReviewBody, spec: ReviewSpec, namespace: string): FieldError[] {
  const { resourceAttributes: ofResource, nonResourceAttributes: ofPath } = spec;
  const errors: FieldError[] = [];
  const printedPath = ofPath && { Path: ofPath.path ?? "", Verb: ofPath.verb ?? "" };
  if (ofResource && ofPath) {
    errors.push(invalidValue("spec.nonResourceAttributes", printedPath, "cannot be specified in combination with resourceAttributes"));
  }
  if (!ofResource && !ofPath) {
    const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    errors.push(invalidValue("spec.resourceAttributes", null, detail));
  }
  const local = review.kind === "LocalSubjectAccessReview";
  if ((local || review.kind === "SubjectAccessReview") && !spec.user && !spec.groups?.length) {
    errors.push(invalidValue("spec.user", "", "at least one of user or group must be specified"));
  }
  subjectErrors(spec, errors);
  selectorErrors("spec.resourceAttributes.fieldSelector", ofResource?.fieldSelector, fieldKeyErrors, errors);
  selectorErrors("spec.resourceAttributes.labelSelector", ofResource?.labelSelector, labelRequirementErrors, errors);
  metadataErrors(body, local, errors);
  if (!local) return errors;
  const asked = ofResource?.namespace ?? "";
  if (ofResource && asked !== namespace) {
    errors.push(invalidValue("spec.resourceAttributes.namespace", asked, "must match metadata.namespace"));
  }
  if (ofPath) errors.push(invalidValue("spec.nonResourceAttributes", printedPath, "disallowed on this kind of request"));
  return errors;
}

function subjectErrors({ groups = [], extra = {} }: ReviewSpec, errors: FieldError[]): void {
  if (groups.length > GROUPS_MAX) errors.push(tooMany("spec.groups", groups.length, GROUPS_MAX));
  // A key without values counts, too.
  const values = Object.values(extra).reduce((sum, list) => sum + Math.max(list.length, 1), 0);
  if (values > EXTRA_VALUES_MAX) errors.push(tooMany("spec.extra", values, EXTRA_VALUES_MAX));
}

function metadataErrors({ metadata = {} }: ReviewBody, local: boolean, errors: FieldError[]): void {
  const given = Object.entries(metadata).filter(([name]) => name !== "managedFields" && !(local && name === "namespace"));
  if (given.length > 0) errors.push(invalidValue("metadata", metadata, local ? "must be empty except for namespace" : "must be empty"));
}

type RequirementErrors = (field: string, requirement: Requirement) => FieldError[];

function selectorErrors(field: string, selector: SelectorAttributes | undefined, own: RequirementErrors, errors: FieldError[]): void {
  if (!selector) return;
  const { rawSelector = "", requirements = [] } = selector;
  if (rawSelector !== "" && requirements.length > 0) {
    errors.push(invalidValue(`${field}.rawSelector`, rawSelector, "may not specified at the same time as requirements"));
  }
  if (rawSelector === "" && requirements.length === 0) {
    errors.push(required(`${field}.requirements`, `when ${field} is specified, requirements or rawSelector is required`));
  }
  requirements.forEach((requirement, i) => {
    const at = `${field}.requirements[${i}]`;
    errors.push(...valueErrors(at, requirement), ...own(at, requirement));
  });
}

/** An operator that is not known here is somebody else's to judge. */
function valueErrors(field: string, { operator, values = [] }: Requirement): FieldError[] {
  if ((operator === "In" || operator === "NotIn") && values.length === 0) {
    return [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0) {
    return [forbiddenField(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  }
  return [];
}

function fieldKeyErrors(field: string, { key }: Requirement): FieldError[] {
  return key ? [] : [required(`${field}.key`, "must be specified")];
}

function labelRequirementErrors(field: string, { key = "", values = [] }: Requirement): FieldError[] {
  const ofKey = validateQualifiedName(key).map((message) => invalidValue(`${field}.key`, key, message));
  const ofValues = values.flatMap((value, i) =>
    validateLabelValue(value).map((message) => invalidValue(`${field}.values[${i}]`, value, message)),
  );
  return ofKey.concat(ofValues);
}
