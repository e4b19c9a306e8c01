/** A dump of a live cluster, as `kubectl get -o json` or `-o yaml` writes it, sorted by what its objects are. Pure. */
import type { IPAddress, KubeObject, Namespace, Service, ServiceCIDR } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import type { RangeAllocation } from "./range-allocation";
import type { ImportFinding } from "./report";
import { differences, importable } from "./importable";

export interface Dump {
  namespaces: Namespace[];
  serviceCIDRs: ServiceCIDR[];
  services: Service[];
  ipAddresses: IPAddress[];
  rangeAllocations: RangeAllocation[];
  conflicts: ImportFinding[];
  notices: ImportFinding[];
}

/** One document of a file. */
export interface DumpDocument {
  /** for messages */
  source: string;
  value: unknown;
}

const GROUPS: Readonly<Record<string, string>> = {
  Namespace: "",
  ServiceCIDR: "networking.k8s.io",
  Service: "",
  IPAddress: "networking.k8s.io",
  RangeAllocation: "",
};

/** `Service default/web`, `ServiceCIDR kubernetes`: how messages name an object. */
export function labelOf(kind: string, metadata: KubeObject["metadata"]): string {
  return `${kind} ${keyOf({ metadata })}`;
}

/** Sorts the objects of all documents; an object that stands in several of them is taken once. */
export function readDump(documents: readonly DumpDocument[]): Dump {
  const dump: Dump = {
    namespaces: [],
    serviceCIDRs: [],
    services: [],
    ipAddresses: [],
    rangeAllocations: [],
    conflicts: [],
    notices: [],
  };
  const seen = new Map<string, KubeObject>();
  for (const { source, value } of documents) {
    for (const item of itemsOf(value)) take(dump, seen, source, item);
  }
  return dump;
}

function take(dump: Dump, seen: Map<string, KubeObject>, source: string, item: unknown): void {
  const object = asObject(item);
  const kind = object?.kind ?? "";
  if (!object || kind === "") {
    dump.conflicts.push({ object: source, reason: "Invalid", message: "holds something that is no Kubernetes object" });
    return;
  }
  const label = kind === "RangeAllocation" ? `RangeAllocation ${(object as RangeAllocation).range ?? ""}` : labelOf(kind, object.metadata);
  const [group = ""] = (object.apiVersion ?? "").includes("/") ? (object.apiVersion ?? "").split("/") : [""];
  if (GROUPS[kind] !== group) {
    dump.notices.push({ object: label, reason: "Ignored", message: "is of a kind that is not imported" });
    return;
  }
  if (kind === "RangeAllocation") {
    dump.rangeAllocations.push(object as RangeAllocation);
    return;
  }
  if (typeof object.metadata?.name !== "string" || (kind === "Service" && typeof object.metadata.namespace !== "string")) {
    dump.conflicts.push({ object: `${label} in ${source}`, reason: "Invalid", message: "has no name or no namespace" });
    return;
  }
  const before = seen.get(label);
  const cleaned = importable(kind, object);
  if (before) {
    const other = differences(cleaned.object, before).concat(differences(before, cleaned.object));
    if (other.length > 0) {
      const message = `stands in the dump twice, with different ${[...new Set(other)].join(", ")}`;
      dump.conflicts.push({ object: label, reason: "Duplicate", message });
    }
    return;
  }
  seen.set(label, cleaned.object);
  for (const message of cleaned.lost) dump.notices.push({ object: label, reason: "Changed", message });
  switch (kind) {
    case "Namespace":
      dump.namespaces.push(cleaned.object as Namespace);
      return;
    case "ServiceCIDR":
      dump.serviceCIDRs.push(cleaned.object as ServiceCIDR);
      return;
    case "Service":
      dump.services.push(cleaned.object as Service);
      return;
    case "IPAddress":
      dump.ipAddresses.push(cleaned.object as IPAddress);
  }
}

/** The objects of a List or of a typed list, whose items may lack their kind; anything else is an object itself. */
function itemsOf(value: unknown): unknown[] {
  if (value === null || value === undefined) return [];
  const list = value as { kind?: unknown; apiVersion?: unknown; items?: unknown };
  if (typeof list.kind !== "string" || !list.kind.endsWith("List") || !(Array.isArray(list.items) || list.items === null)) return [value];
  const items: unknown[] = list.items ?? [];
  if (list.kind === "List") return items.flatMap(itemsOf);
  const kind = list.kind.slice(0, -"List".length);
  return items.map((item) => {
    const object = asObject(item);
    return object ? { kind, apiVersion: list.apiVersion, ...object } : item;
  });
}

function asObject(value: unknown): KubeObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}
