/** Optimistic concurrency: what a write demands of the stored object, and the refusals (upstream apiserver registry/generic/registry/store.go). */
import { invalidValue } from "./field-errors";
import type { ObjectMeta } from "./kubernetes";
import { conflict, invalid } from "./status";
import type { ResourceName, Status } from "./status";

export interface DeletePreconditions {
  uid?: string;
  resourceVersion?: string;
}

/** DELETE: uid and resourceVersion of DeleteOptions.preconditions. undefined = they hold. Upstream: registry/rest/delete.go (BeforeDelete). */
export function checkDeletePreconditions(of: ResourceName, metadata: ObjectMeta, preconditions: DeletePreconditions): Status | undefined {
  const failed = failedPrecondition(metadata, preconditions);
  if (!failed) return undefined;
  const { what, given, stored } = failed;
  const hint = what === "UID" ? "The object might have been deleted and then recreated" : "The object might have been modified";
  const why = `the ${what} in the precondition (${given}) does not match the ${what} in record (${stored}). ${hint}`;
  // upstream names the kind where every other conflict names the resource
  return conflict({ ...of, resource: of.kind }, metadata.name ?? "", why);
}

/** The same of a kind whose REST judges them itself, in the words of storage. Upstream: pkg/registry/core/namespace/storage (Delete). */
export function checkStoragePreconditions(of: ResourceName, metadata: ObjectMeta, preconditions: DeletePreconditions): Status | undefined {
  const failed = failedPrecondition(metadata, preconditions);
  return failed && conflict(of, metadata.name ?? "", storageWords(failed));
}

interface FailedPrecondition {
  what: "UID" | "ResourceVersion";
  given: string;
  stored: string;
}

function failedPrecondition(metadata: ObjectMeta, { uid, resourceVersion }: DeletePreconditions): FailedPrecondition | undefined {
  if (uid !== undefined && uid !== metadata.uid) return { what: "UID", given: uid, stored: metadata.uid ?? "" };
  if (resourceVersion === undefined || resourceVersion === metadata.resourceVersion) return undefined;
  return { what: "ResourceVersion", given: resourceVersion, stored: metadata.resourceVersion ?? "" };
}

function storageWords({ what, given, stored }: FailedPrecondition): string {
  return `Precondition failed: ${what} in precondition: ${given}, ${what} in object meta: ${stored}`;
}

/** Whether a write names no revision: upstream reads "0" as it reads an absent one (apiserver storage/api_object_versioner.go). */
export function isNoRevision(resourceVersion: string | undefined): boolean {
  return resourceVersion === undefined || /^0*$/.test(resourceVersion);
}

const UINT64_MAX = "18446744073709551615";

/** Go's error for a resourceVersion that is no integer of 64 bits; undefined = it is one, or "". */
export function revisionProblem(text: string): string | undefined {
  const problem = (why: string): string => `strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`;
  if (text === "") return undefined;
  if (!/^\d+$/.test(text)) return problem("invalid syntax");
  const digits = text.replace(/^0+/, "");
  const isTooLarge = digits.length > UINT64_MAX.length || (digits.length === UINT64_MAX.length && digits > UINT64_MAX);
  return isTooLarge ? problem("value out of range") : undefined;
}

/** Where upstream keeps resources below another name. */
const ETCD_FOLDERS: Readonly<Record<string, string>> = { services: "services/specs", endpoints: "services/endpoints", nodes: "minions" };

/** PUT of a body whose uid differs from the stored one. `key`: as objects are stored. `stored` "" = there is no object: the body is a stale copy of a deleted one. */
export function uidConflict(of: ResourceName, key: string, uids: { given: string; stored: string }): Status {
  const path = `/registry/${ETCD_FOLDERS[of.resource] ?? of.resource}/${key}`;
  const failed = storageWords({ what: "UID", ...uids });
  return conflict(
    of,
    key.split("/").at(-1) ?? key,
    `StorageError: invalid object, Code: 4, Key: ${path}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`,
  );
}

/** Apply of a configuration with a uid where no object exists. */
export function appliedUidConflict(of: ResourceName, { name = "", uid = "" }: ObjectMeta): Status {
  return conflict(of, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`);
}

/** PUT without a resourceVersion of a kind that demands one (Lease). Upstream's text names the resource in place of the kind. */
export function resourceVersionRequired(of: ResourceName, name: string): Status {
  return invalid({ ...of, kind: of.resource }, name, [invalidValue("metadata.resourceVersion", 0, "must be specified for an update")]);
}
