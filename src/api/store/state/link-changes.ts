/** Which changes matter to garbage collection (feeds/object-links-reader.ts). */
import type { ObjectMeta } from "../../meta/kubernetes";
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from "../../meta/object-meta";
import type { CommittedChange } from "./extension";

/** Whether a change matters to garbage collection. Two looks at absent members for a plain object: this is on the path of every write. */
export function changesLinks({ type, before, after }: CommittedChange): boolean {
  if (type === "DELETED") return true;
  if (isPlain(after?.metadata) && isPlain(before?.metadata)) return false;
  return linkText(after?.metadata) !== linkText(before?.metadata);
}

function isPlain(metadata: ObjectMeta | undefined): boolean {
  return metadata?.ownerReferences === undefined && metadata?.finalizers === undefined;
}

function linkText({ ownerReferences = [], finalizers = [], deletionTimestamp }: ObjectMeta = {}): string {
  const deleting = Boolean(deletionTimestamp);
  return JSON.stringify([ownerReferences, ownerReferences.length > 0 && deleting, deleting ? finalizers.filter(isCollectors) : []]);
}

function isCollectors(finalizer: string): boolean {
  return finalizer === FINALIZER_ORPHAN || finalizer === FINALIZER_FOREGROUND;
}
