/** From an object of a backup to the requests that make the same object in another cluster. Pure. */
import { nearestInt64 } from "../../core/encoding/exact-json";
import { semanticEqual } from "../../api/meta/equality";
import type { KubeObject, ObjectMeta, OwnerReference } from "../../api/meta/kubernetes";
import type { BackupType } from "./format";
import { ADDRESS_CLAIMS, IP_POOLS, NAMESPACES, RESOURCE_QUOTAS, SERVICE_CIDRS, typeName } from "./order";

/** uid in the backup -> uid in the new cluster */
export type Uids = ReadonlyMap<string, string>;

/** Set by a deletion that waits, and by its options. */
const DELETION_FINALIZERS: Readonly<Record<string, string>> = { foregroundDeletion: "Foreground", orphan: "Orphan" };
/** Set by the server itself on every object of the kind. */
const SERVER_FINALIZERS = ["networking.k8s.io/service-cidr-finalizer"];
/** Kinds whose status the server makes. */
const SERVER_STATUSES = [NAMESPACES, SERVICE_CIDRS, RESOURCE_QUOTAS, ADDRESS_CLAIMS, ...IP_POOLS];
const METADATA: readonly (keyof ObjectMeta)[] = ["name", "generateName", "namespace", "labels", "annotations"];

type Content = Record<string, unknown>;

/**
 * The body of a create or an update: every member that clients may set. References by uid have the new cluster's uids, as far as these are known.
 * `waits`: a reference is unknown although its object is in the backup (`isBackedUp`). Such ownerReferences are left out for now, because the
 * garbage collector would take the object for an orphan.
 */
export function wanted(
  object: KubeObject,
  type: BackupType,
  uids: Uids,
  isBackedUp: (uid: string) => boolean,
): { object: KubeObject; waits: boolean } {
  const { metadata = {}, ...rest } = object as KubeObject & Content;
  const kept: Content = {};
  for (const key of METADATA) if (metadata[key] !== undefined) kept[key] = metadata[key];
  const finalizers = finalizersOf(metadata);
  if (finalizers.length > 0) kept["finalizers"] = finalizers;
  let waits = false;
  const isMissing = (uid: string): boolean => !uids.has(uid) && isBackedUp(uid);
  const references = (metadata.ownerReferences ?? []).filter(({ uid }) => !isMissing(uid));
  waits ||= references.length < (metadata.ownerReferences?.length ?? 0);
  if (references.length > 0)
    kept["ownerReferences"] = references.map((reference): OwnerReference => ({
      ...reference,
      uid: uids.get(reference.uid) ?? reference.uid,
    }));
  const content: Content = {};
  for (const [key, value] of Object.entries(rest)) {
    // The finalizers in the spec of a namespace are the server's.
    if (key === "status" || (key === "spec" && typeName(type) === NAMESPACES)) continue;
    content[key] = remapped(value, uids, (uid) => (waits ||= isMissing(uid)));
  }
  return { object: { ...content, metadata: kept } as KubeObject, waits };
}

/** The status to restore; undefined = there is none, or the server makes it. */
export function wantedStatus(object: KubeObject, type: BackupType, uids: Uids): unknown {
  const { status } = object as { status?: unknown };
  if (!type.hasStatus || SERVER_STATUSES.includes(typeName(type)) || semanticEqual(status, undefined)) return undefined;
  return remapped(status, uids, () => undefined);
}

/** managedFields, in which owner references are named by their uids. */
export function wantedManagedFields({ metadata }: KubeObject, uids: Uids): ObjectMeta["managedFields"] {
  if (!metadata?.managedFields?.length) return undefined;
  const text = JSON.stringify(metadata.managedFields);
  const mapped = text.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (uid) => uids.get(uid) ?? uid);
  return JSON.parse(mapped) as ObjectMeta["managedFields"];
}

/** The owners of fields without their times, for comparison. A field is a key with an empty value, so empty values count. */
export function isSameOwnership(one: ObjectMeta["managedFields"], other: ObjectMeta["managedFields"]): boolean {
  const plain = (entries: ObjectMeta["managedFields"]): string[] =>
    (entries ?? []).map((entry) => sortedText({ ...entry, time: undefined })).sort();
  return plain(one).join("\n") === plain(other).join("\n");
}

/** The field manager of the only client that ever wrote the object: its create needs no second write for managedFields. */
export function creatorOf({ metadata }: KubeObject): string | undefined {
  const [entry, ...more] = (metadata?.managedFields ?? []).filter(({ subresource }) => !subresource);
  return more.length === 0 && entry?.operation === "Update" ? entry.manager : undefined;
}

/** The members in which the stored object differs from the wanted one; [] = none. Members that a server fills in count, too. */
export function differing(want: KubeObject, stored: KubeObject, type: BackupType): string[] {
  const wantMeta = want.metadata ?? {};
  const storedMeta = stored.metadata ?? {};
  const found: string[] = [];
  if (!semanticEqual(wantMeta.labels, storedMeta.labels)) found.push("metadata.labels");
  if (!semanticEqual(wantMeta.annotations, storedMeta.annotations)) found.push("metadata.annotations");
  if (!semanticEqual(wantMeta.ownerReferences, storedMeta.ownerReferences)) found.push("metadata.ownerReferences");
  if (!semanticEqual(wantMeta.finalizers, finalizersOf(storedMeta))) found.push("metadata.finalizers");
  const one = want as unknown as Content;
  const other = stored as unknown as Content;
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    if (["apiVersion", "kind", "metadata", "status"].includes(key) || (key === "spec" && typeName(type) === NAMESPACES)) continue;
    if (!semanticEqual(one[key], other[key])) found.push(key);
  }
  return found;
}

/** The options that repeat the deletion of an object in deletion; undefined = the object was not in deletion. */
export function deletionOf({ metadata = {} }: KubeObject): object | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  const policy = metadata.finalizers?.map((finalizer) => DELETION_FINALIZERS[finalizer]).find((known) => known !== undefined);
  const seconds = metadata.deletionGracePeriodSeconds;
  return {
    kind: "DeleteOptions",
    apiVersion: "v1",
    propagationPolicy: policy ?? "Background",
    ...(seconds === undefined ? {} : { gracePeriodSeconds: nearestInt64(seconds) }),
  };
}

function finalizersOf({ finalizers = [] }: ObjectMeta): string[] {
  return finalizers.filter((finalizer) => !(finalizer in DELETION_FINALIZERS) && !SERVER_FINALIZERS.includes(finalizer));
}

/** Replaces every member `uid` of the value, at any depth, by the map; `unmapped` gets those that the map lacks. */
function remapped(value: unknown, uids: Uids, unmapped: (uid: string) => void): unknown {
  if (Array.isArray(value)) return value.map((item) => remapped(item, uids, unmapped));
  if (typeof value !== "object" || value === null) return value;
  const result: Content = {};
  for (const [key, member] of Object.entries(value)) {
    if (key === "uid" && typeof member === "string") {
      const mapped = uids.get(member);
      if (mapped === undefined) unmapped(member);
      result[key] = mapped ?? member;
    } else result[key] = remapped(member, uids, unmapped);
  }
  return result;
}

/** JSON with its keys in order. */
function sortedText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
