/** The part of a dumped object that another cluster can take over, and its comparison with the stored object. Pure. */
import type { KubeObject, ObjectMeta } from "../../api/meta/kubernetes";

export interface Importable {
  object: KubeObject & { status?: unknown };
  /** sentences about dropped members that somebody may miss */
  lost: string[];
}

/** The members that users write. The server sets all others. */
const METADATA: readonly (keyof ObjectMeta)[] = ["name", "namespace", "labels", "annotations", "finalizers"];

/** Finalizers that an API server or a controller of its own sets. */
const SERVER_FINALIZERS = ["foregroundDeletion", "orphan", "networking.k8s.io/service-cidr-finalizer"];

const API_VERSIONS: Readonly<Record<string, string>> = { ServiceCIDR: "networking.k8s.io/v1", IPAddress: "networking.k8s.io/v1" };

/** A new object; of the status only a Service's is kept. */
export function importable(kind: string, dumped: KubeObject): Importable {
  const { metadata = {}, spec, status } = structuredCopy(dumped) as KubeObject & { spec?: Record<string, unknown>; status?: unknown };
  const lost: string[] = [];
  if (metadata.deletionTimestamp !== undefined) lost.push("was being deleted when it was dumped; its deletion is not imported");
  if (metadata.ownerReferences?.length) lost.push("loses its ownerReferences: they name objects of the dumped cluster by their uid");
  const kept: Record<string, unknown> = {};
  for (const key of METADATA) if (metadata[key] !== undefined) kept[key] = metadata[key];
  const finalizers = metadata.finalizers?.filter((finalizer) => !SERVER_FINALIZERS.includes(finalizer)) ?? [];
  delete kept["finalizers"];
  if (finalizers.length > 0) kept["finalizers"] = finalizers;
  const object: Importable["object"] = { apiVersion: API_VERSIONS[kind] ?? "v1", kind, metadata: kept as ObjectMeta };
  // The finalizers of a namespace are in its spec and the server's.
  if (spec !== undefined && kind !== "Namespace") Object.assign(object, { spec });
  // Alpha versions of the API kept the parent's uid.
  if (kind === "IPAddress") delete (spec?.["parentRef"] as Record<string, unknown> | undefined)?.["uid"];
  if (kind === "Service" && hasContent(status)) object.status = status;
  return { object, lost };
}

/** Whether a status has content: an empty load balancer has none. */
export function hasContent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.values(value).some(hasContent);
  return value !== undefined && value !== null;
}

/**
 * The fields of the dumped object that the stored one lacks or has with another value: `spec.ports[0].port`. Further fields of the stored object
 * are defaults of its server. Kind, version and status do not count; lists must have the same length.
 */
export function differences(dumped: KubeObject, stored: KubeObject): string[] {
  const content = ({ metadata, spec }: KubeObject & { spec?: unknown }) => ({
    metadata: { labels: metadata?.labels, annotations: metadata?.annotations },
    spec,
  });
  const found: string[] = [];
  compare(content(dumped), content(stored), "", found);
  return found;
}

function compare(wanted: unknown, there: unknown, path: string, found: string[]): void {
  if (wanted === undefined || wanted === null) return;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(there) || there.length !== wanted.length) {
      if (wanted.length > 0 || (Array.isArray(there) && there.length > 0)) found.push(path);
      return;
    }
    wanted.forEach((item, index) => compare(item, there[index], `${path}[${index}]`, found));
    return;
  }
  if (typeof wanted === "object") {
    const other = typeof there === "object" && there !== null ? (there as Record<string, unknown>) : {};
    for (const [key, value] of Object.entries(wanted)) compare(value, other[key], path === "" ? key : `${path}.${key}`, found);
    return;
  }
  if (wanted !== there) found.push(path);
}

function structuredCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
