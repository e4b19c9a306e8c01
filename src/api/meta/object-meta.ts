/**
 * Rules of metadata that hold for every kind (upstream apimachinery pkg/api/validation/objectmeta.go and apiserver
 * pkg/registry/rest/meta.go).
 */
import { FIELD_IMMUTABLE, forbiddenField, invalidValue, required, tooLong } from "./field-errors";
import type { FieldError } from "./field-errors";
import type { ObjectMeta, OwnerReference } from "./kubernetes";
import { maskTrailingDash } from "./generate-name";
import { validateDNS1123Label, validateLabelKey, validateLabelValue, validateQualifiedName } from "./names";
import { utf8Length } from "../../core/encoding/utf8-length";
import { rfc3339Seconds } from "./time";

export const FINALIZER_ORPHAN = "orphan";
export const FINALIZER_FOREGROUND = "foregroundDeletion";

const ANNOTATIONS_BYTES_MAX = 262144;
/** finalizers of one segment that are allowed; all others need a prefix */
const STANDARD_FINALIZERS: readonly string[] = ["kubernetes", FINALIZER_ORPHAN, FINALIZER_FOREGROUND];

export interface ObjectMetaRules {
  namespaced: boolean;
  /** messages why a name is not valid for the kind */
  validateName(name: string): string[];
  /** generateName is used verbatim (IPAddress), so it is not validated as a prefix */
  generatesNameSuffix?: boolean;
}

/** Labels at `field`: keys are qualified names, values label values. Upstream v1validation.ValidateLabels. */
export function validateLabels(labels: Record<string, string> | undefined, field: string, errors: FieldError[]): void {
  if (!labels) return;
  for (const key in labels) {
    const value = labels[key] ?? "";
    for (const message of validateLabelKey(key)) errors.push(invalidValue(field, key, message));
    for (const message of validateLabelValue(value)) errors.push(invalidValue(field, value, message));
  }
}

/** Annotations at `field`: keys are qualified names, keys and values together have a limit. Upstream ValidateAnnotations. */
export function validateAnnotations(annotations: Record<string, string> | undefined, field: string, errors: FieldError[]): void {
  if (!annotations) return;
  let bytes = 0;
  for (const key in annotations) {
    for (const message of validateQualifiedName(key.toLowerCase())) errors.push(invalidValue(field, key, message));
    bytes += utf8Length(key) + utf8Length(annotations[key] ?? "");
  }
  if (bytes > ANNOTATIONS_BYTES_MAX) errors.push(tooLong(field, `may not be more than ${ANNOTATIONS_BYTES_MAX} bytes`));
}

/** The version of `group/version` or `version`; "" when there is none. */
/** "" where there is none, and where Go's ParseGroupVersion reads none: `a/b/c`. */
function versionOf(apiVersion: string): string {
  if (apiVersion.indexOf("/") !== apiVersion.lastIndexOf("/")) return "";
  return apiVersion.slice(apiVersion.indexOf("/") + 1);
}

function validateOwnerReference(reference: OwnerReference, errors: FieldError[]): void {
  const field = "metadata.ownerReferences";
  if (versionOf(reference.apiVersion ?? "") === "") {
    errors.push(invalidValue(`${field}.apiVersion`, reference.apiVersion ?? "", "version must not be empty"));
  }
  for (const key of ["kind", "name", "uid"] as const) {
    if (!reference[key]) errors.push(invalidValue(`${field}.${key}`, reference[key] ?? "", "must not be empty"));
  }
  if (reference.apiVersion === "v1" && reference.kind === "Event") {
    errors.push(invalidValue(field, reference, "/v1, Kind=Event is disallowed from being an owner"));
  }
}

function validateOwnerReferences(references: readonly OwnerReference[] | undefined, errors: FieldError[]): void {
  if (!references) return;
  let controller = "";
  let reported = false;
  for (const reference of references) {
    validateOwnerReference(reference, errors);
    if (!reference.controller || reported) continue;
    const name = `${reference.kind}/${reference.name}`;
    if (controller === "") controller = name;
    else {
      // upstream repeats the error for each further one, with the whole list in each text: quadratic in the list's length
      reported = true;
      const text = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(invalidValue("metadata.ownerReferences", references, text));
    }
  }
}

function validateFinalizers(finalizers: readonly string[] | undefined, errors: FieldError[]): void {
  if (!finalizers) return;
  const field = "metadata.finalizers";
  finalizers.forEach((finalizer, i) => {
    for (const message of validateQualifiedName(finalizer)) errors.push(invalidValue(field, finalizer, message));
    if (!finalizer.includes("/") && !STANDARD_FINALIZERS.includes(finalizer)) {
      errors.push(invalidValue(`${field}[${i}]`, finalizer, "name is neither a standard finalizer name nor is it fully qualified"));
    }
  });
  if (finalizers.includes(FINALIZER_ORPHAN) && finalizers.includes(FINALIZER_FOREGROUND)) {
    errors.push(invalidValue(field, finalizers, `finalizer ${FINALIZER_ORPHAN} and ${FINALIZER_FOREGROUND} cannot be both set`));
  }
}

/** All errors of one object's metadata, on create and on update. `metadata` has its final name and namespace. */
export function validateObjectMeta(metadata: ObjectMeta, rules: ObjectMetaRules): FieldError[] {
  const errors: FieldError[] = [];
  if (metadata.generateName) {
    const base = rules.generatesNameSuffix === false ? metadata.generateName : maskTrailingDash(metadata.generateName);
    for (const message of rules.validateName(base)) errors.push(invalidValue("metadata.generateName", metadata.generateName, message));
  }
  if (!metadata.name) errors.push(required("metadata.name", "name or generateName is required"));
  else for (const message of rules.validateName(metadata.name)) errors.push(invalidValue("metadata.name", metadata.name, message));
  if (rules.namespaced) {
    if (!metadata.namespace) errors.push(required("metadata.namespace"));
    else {
      for (const message of validateDNS1123Label(metadata.namespace)) {
        errors.push(invalidValue("metadata.namespace", metadata.namespace, message));
      }
    }
  } else if (metadata.namespace) errors.push(forbiddenField("metadata.namespace", "not allowed on this type"));
  if ((metadata.generation ?? 0) < 0) {
    errors.push(invalidValue("metadata.generation", metadata.generation, "must be greater than or equal to 0"));
  }
  validateLabels(metadata.labels, "metadata.labels", errors);
  validateAnnotations(metadata.annotations, "metadata.annotations", errors);
  validateOwnerReferences(metadata.ownerReferences, errors);
  validateFinalizers(metadata.finalizers, errors);
  return errors;
}

/** Fields of metadata that never change once set; the first three are "" when absent, the others null. */
const IMMUTABLE_TEXTS = ["name", "namespace", "uid"] as const;
const IMMUTABLE_VALUES = ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] as const;

/** Go's %#v of a string list: `[]string{"a", "b"}`. */
function goStrings(list: readonly string[]): string {
  return `[]string{${list.map((item) => JSON.stringify(item)).join(", ")}}`;
}

/** The rules that need both objects; The caller also runs `validateObjectMeta(after)`. Upstream ValidateObjectMetaAccessorUpdate. */
export function validateObjectMetaUpdate(change: { after: ObjectMeta; before: ObjectMeta }): FieldError[] {
  const { after, before } = change;
  const errors: FieldError[] = [];
  if (before.deletionTimestamp) {
    const known = new Set(before.finalizers);
    const added = (after.finalizers ?? []).filter((finalizer) => !known.has(finalizer)).sort();
    if (added.length > 0) {
      const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${goStrings(added)}`;
      errors.push(forbiddenField("metadata.finalizers", why));
    }
  }
  for (const key of IMMUTABLE_TEXTS) {
    if ((after[key] ?? "") !== (before[key] ?? "")) errors.push(invalidValue(`metadata.${key}`, after[key] ?? "", FIELD_IMMUTABLE));
  }
  for (const key of IMMUTABLE_VALUES) {
    if ((after[key] ?? null) !== (before[key] ?? null)) errors.push(invalidValue(`metadata.${key}`, after[key], FIELD_IMMUTABLE));
  }
  return errors;
}

/** Clears the members that only the server sets, then sets uid and creationTimestamp. `now` in milliseconds since the epoch. */
export function stampCreate(metadata: ObjectMeta, stamp: { now: number; uid: string }): void {
  metadata.uid = stamp.uid;
  metadata.creationTimestamp = rfc3339Seconds(stamp.now);
  if (metadata.deletionTimestamp !== undefined) delete metadata.deletionTimestamp;
  if (metadata.deletionGracePeriodSeconds !== undefined) delete metadata.deletionGracePeriodSeconds;
  if (metadata.selfLink !== undefined) delete metadata.selfLink;
  if (metadata.resourceVersion !== undefined) delete metadata.resourceVersion;
}

/** On update: takes from the stored object the members that a client may leave out or cannot change (upstream rest.BeforeUpdate). */
export function stampUpdate(change: { after: ObjectMeta; before: ObjectMeta }): void {
  const { after, before } = change;
  if (!after.uid) after.uid = before.uid;
  after.creationTimestamp = before.creationTimestamp;
  if (before.deletionTimestamp) after.deletionTimestamp = before.deletionTimestamp;
  if (before.deletionGracePeriodSeconds !== undefined && (after.deletionGracePeriodSeconds ?? null) === null) {
    after.deletionGracePeriodSeconds = before.deletionGracePeriodSeconds;
  }
  if (after.selfLink !== undefined) delete after.selfLink;
}

/**
 * Drops exact duplicates among the owner references, in place; returns the warning about them (upstream
 * apiserver pkg/endpoints/handlers DedupOwnerReferencesAndAddWarning).
 */
export function dropDuplicateOwners(metadata: ObjectMeta): string[] {
  const references = metadata.ownerReferences;
  if (!references || references.length < 2) return [];
  const kept = new Map<string, OwnerReference>();
  const duplicated = new Set<string>();
  for (const reference of references) {
    const { apiVersion, kind, name, uid, controller = null, blockOwnerDeletion = null } = reference;
    const key = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
    if (kept.has(key)) duplicated.add(uid);
    else kept.set(key, reference);
  }
  if (duplicated.size === 0) return [];
  metadata.ownerReferences = [...kept.values()];
  return [
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...duplicated].join(", ")}`,
  ];
}
