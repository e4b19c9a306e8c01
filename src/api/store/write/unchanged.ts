/** Whether a write would store what is stored already: then the resourceVersion stays, and nobody hears of it (apiserver storage/etcd3/store.go). */
import { onlyTimesDiffer } from "../../fields/managed-fields";
import { semanticEqual } from "../../meta/equality";
import type { KubeObject } from "../../meta/kubernetes";

/** An entry of managedFields that differs in its time alone is no change (apiserver handlers/fieldmanager/equality.go). */
export function isUnchanged(after: KubeObject, before: KubeObject): boolean {
  const { managedFields: fields, ...metadata } = after.metadata ?? {};
  const { managedFields: stored, ...others } = before.metadata ?? {};
  if (!semanticEqual(metadata, others) || !semanticEqual({ ...after, metadata }, { ...before, metadata })) return false;
  // Not semantically: each owned field is an empty value, which is no different from an absent one there.
  return fields === stored || onlyTimesDiffer(fields, stored);
}
