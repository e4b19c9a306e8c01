/** Optimistic concurrency: what a write demands of the stored object, and the refusals (upstream apiserver registry/generic/registry/store.go). */
import { invalidValue } from "./field-errors";
import type { ObjectMeta } from "./kubernetes";
import { conflict, invalid } from "./status";
import type { ResourceName, Status } from "./status";

/** DELETE: uid and resourceVersion of DeleteOptions.preconditions. undefined = they hold. */
export function checkDeletePreconditions(
  of: ResourceName,
  metadata: ObjectMeta,
  preconditions: { uid?: string; resourceVersion?: string },
): Status | undefined {
  // upstream names the kind where every other conflict names the resource
  const named = { ...of, resource: of.kind };
  const name = metadata.name ?? "";
  const { uid, resourceVersion } = preconditions;
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ""}). The object might have been deleted and then recreated`;
    return conflict(named, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion ?? ""}). The object might have been modified`;
    return conflict(named, name, why);
  }
  return undefined;
}

/** Whether a write names no revision: upstream reads "0" as it reads an absent one (apiserver storage/api_object_versioner.go). */
export function isNoRevision(resourceVersion: string | undefined): boolean {
  return resourceVersion === undefined || /^0*$/.test(resourceVersion);
}

/** Where upstream keeps resources below another name. */
const ETCD_FOLDERS: Readonly<Record<string, string>> = { services: "services/specs", endpoints: "services/endpoints", nodes: "minions" };

/** PUT of a body whose uid differs from the stored one. `storedUid` "" = there is no object: the body is a stale copy of a deleted one. */
export function uidConflict(of: ResourceName, metadata: ObjectMeta, storedUid: string): Status {
  const name = metadata.name ?? "";
  const key = ["/registry", ETCD_FOLDERS[of.resource] ?? of.resource, metadata.namespace, name].filter(Boolean).join("/");
  const failed = `Precondition failed: UID in precondition: ${metadata.uid ?? ""}, UID in object meta: ${storedUid}`;
  return conflict(of, name, `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`);
}

/** Apply of a configuration with a uid where no object exists. */
export function appliedUidConflict(of: ResourceName, { name = "", uid = "" }: ObjectMeta): Status {
  return conflict(of, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`);
}

/** PUT without a resourceVersion of a kind that demands one (Lease). Upstream's text names the resource in place of the kind. */
export function resourceVersionRequired(of: ResourceName, name: string): Status {
  return invalid({ ...of, kind: of.resource }, name, [invalidValue("metadata.resourceVersion", 0, "must be specified for an update")]);
}
