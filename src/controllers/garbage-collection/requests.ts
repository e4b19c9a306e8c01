/** The collector's writes: ordinary requests to a store, bound to the uid and the resourceVersion that were read. */
import type { OwnerReference } from "../../api/meta/kubernetes";
import type { ObjectLinks } from "../../api/rpc/object-links";
import type { WriteRequest } from "../../api/rpc/store";
import { optionsOf } from "../followed/write-requests";

/** The group and version that the store's patches speak of. */
export interface Representation {
  group: string;
  version: string;
}

export function deleteAsReadRequest(
  { key, uid, resourceVersion }: ObjectLinks,
  propagationPolicy: "Background" | "Foreground" | "Orphan",
): WriteRequest {
  const preconditions = { uid, resourceVersion };
  return { verb: "delete", key, options: { dryRun: false, preconditions, propagationPolicy, gracePeriodSeconds: undefined } };
}

/** Replaces the ownerReferences of the object. */
export function ownerReferencesRequest(links: ObjectLinks, ownerReferences: OwnerReference[], spoken: Representation): WriteRequest {
  return metadataRequest(links, { ownerReferences: ownerReferences.length > 0 ? ownerReferences : null }, spoken);
}

/** Removes one finalizer. The object goes with the last one. */
export function withoutFinalizerRequest(links: ObjectLinks, finalizer: string, spoken: Representation): WriteRequest {
  const finalizers = links.finalizers.filter((other) => other !== finalizer);
  return metadataRequest(links, { finalizers: finalizers.length > 0 ? finalizers : null }, spoken);
}

/** A merge patch replaces lists. Its resourceVersion makes a changed object a conflict. */
function metadataRequest({ key, uid, resourceVersion }: ObjectLinks, change: object, { group, version }: Representation): WriteRequest {
  const options = { ...optionsOf({ manager: "garbage-collector", group }), version };
  const patch = JSON.stringify({ metadata: { uid, resourceVersion, ...change } });
  return { verb: "patch", key, subresource: "", patchType: "merge", patch, options };
}
