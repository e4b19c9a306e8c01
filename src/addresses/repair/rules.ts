/**
 * What is wrong with a Service's address or with an IPAddress, as a decision over what was read; nothing is done here.
 * The rules, their order and the texts of the events are upstream's (pkg/registry/core/service/ipallocator/controller/repairip.go).
 * Better than upstream: addresses are compared in canonical form, so an IPv6 address in another spelling is no difference.
 */
import type { EventReport } from "../../api/events/event-recorder";
import { ORPHAN_GRACE_MS } from "./orphan-grace";
import { ALLOCATOR_NAME, FAMILY_LABEL, MANAGED_BY_LABEL } from "../../api/registry/ip-addresses/allocator-labels";
import type { IPAddress, Service } from "../../api/meta/kubernetes";
import { parentServiceOf } from "../../api/registry/ip-addresses/parent-service";
import { parseTime } from "../../api/meta/time";
import { parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";

/** An IPAddress that is newer than its Service may belong to a change that is not visible yet. */
const NEW_ADDRESS_GRACE_MS = 5_000;

const NONE = "None";

/** An address of a Service, read: canonical text and family, or undefined when it is no address. */
export interface ClusterIP {
  address: string;
  family: Family;
  value: bigint;
}

export type ServiceFinding = "fine" | "invalid" | "outOfRange" | "missing" | "wrongReference" | "wrongLabels" | "duplicate";

export interface ServiceFacts {
  /** whether any ServiceCIDR has it as a usable address, Ready or not */
  isCovered(ip: ClusterIP): boolean;
  /** the IPAddress of that name */
  object(address: string): IPAddress | undefined;
  service(namespace: string, name: string): Service | undefined;
}

/** The entries of clusterIPs that are to be judged; none of a headless Service, and of an ExternalName one. */
export function clusterIPsOf({ spec }: Service): string[] {
  const first = spec?.clusterIP ?? "";
  if (!spec || spec.type === "ExternalName" || first === "" || first === NONE) return [];
  return spec.clusterIPs?.length ? spec.clusterIPs : [first];
}

export function readClusterIP(text: string): ClusterIP | undefined {
  const parsed = parseAddress(text);
  if (!parsed.ok) return undefined;
  const { canonical, family, value } = parsed.value;
  return { address: canonical, family, value };
}

export function judgeClusterIP(ip: ClusterIP | undefined, { metadata }: Service, facts: ServiceFacts): ServiceFinding {
  if (!ip) return "invalid";
  if (!facts.isCovered(ip)) return "outOfRange";
  const object = facts.object(ip.address);
  if (!object) return "missing";
  const parent = parentServiceOf(object);
  if (!parent) return "wrongReference";
  const { namespace, name } = parent;
  if (namespace !== metadata?.namespace || name !== metadata.name) {
    const other = facts.service(namespace, name);
    return other && isHeldBy(other, ip.address) ? "duplicate" : "wrongReference";
  }
  const { labels } = object.metadata ?? {};
  return labels?.[MANAGED_BY_LABEL] === ALLOCATOR_NAME && labels[FAMILY_LABEL] === ip.family ? "fine" : "wrongLabels";
}

export type AddressFinding =
  | { kind: "fine" }
  | { kind: "notReferencing" | "leaked" | "wrongReference" }
  /** too young to be judged: look again at that time, in milliseconds since the epoch */
  | { kind: "young"; until: number };

/** Only objects that carry the allocator's label are judged; `service` = the one that it refers to. */
export function judgeIPAddress(object: IPAddress, service: Service | undefined, nowMs: number): AddressFinding {
  const { name = "", labels, creationTimestamp } = object.metadata ?? {};
  if (labels?.[MANAGED_BY_LABEL] !== ALLOCATOR_NAME) return { kind: "fine" };
  if (!parentServiceOf(object)) return { kind: "notReferencing" };
  const createdAt = parseTime(creationTimestamp) ?? 0;
  const ageMs = nowMs - createdAt;
  if (!service) return ageMs > ORPHAN_GRACE_MS ? { kind: "leaked" } : { kind: "young", until: createdAt + ORPHAN_GRACE_MS + 1 };
  if (isHeldBy(service, name)) return { kind: "fine" };
  if (service.spec?.type === "ExternalName" && ageMs < ORPHAN_GRACE_MS) return { kind: "young", until: createdAt + ORPHAN_GRACE_MS };
  const serviceCreatedAt = parseTime(service.metadata?.creationTimestamp) ?? 0;
  if (createdAt > serviceCreatedAt && ageMs < NEW_ADDRESS_GRACE_MS) return { kind: "young", until: createdAt + NEW_ADDRESS_GRACE_MS };
  return { kind: "wrongReference" };
}

/** Whether the Service has the address among its own, in whatever spelling. */
export function isHeldBy(service: Service, address: string): boolean {
  const wanted = readClusterIP(address)?.address ?? address;
  return clusterIPsOf(service).some((text) => (readClusterIP(text)?.address ?? text) === wanted);
}

export type Told = Pick<EventReport, "reason" | "action" | "note">;

/** What is told of a Service's address; wrong labels are put right without a word, as upstream does. */
export function serviceEvent(finding: ServiceFinding | "unknown", service: Service, ip: ClusterIP | undefined): Told | undefined {
  const { namespace = "", name = "" } = service.metadata ?? {};
  const shown = `[${ip?.family ?? ""}]: ${ip?.address ?? ""}`;
  const allocation = (reason: string, note: string): Told => ({ reason, action: "ClusterIPAllocation", note });
  switch (finding) {
    case "invalid":
      return {
        reason: "ClusterIPNotValid",
        action: "ClusterIPValidation",
        note: "Cluster IP <nil> is not a valid IP; please recreate Service",
      };
    case "outOfRange":
      return allocation("ClusterIPOutOfRange", `Cluster IP ${shown} is not within any configured Service CIDR; please recreate service`);
    case "missing":
      return allocation("ClusterIPNotAllocated", `Cluster IP ${shown} is not allocated; repairing`);
    case "wrongReference":
      return allocation(
        "ClusterIPNotAllocated",
        `the ClusterIP ${shown} for Service ${namespace}/${name} has a wrong reference; repairing`,
      );
    case "duplicate":
      // Upstream prints no space after the bracket here.
      return allocation(
        "ClusterIPAlreadyAllocated",
        `Cluster IP ${shown.replace(" ", "")} was assigned to multiple services; please recreate service`,
      );
    case "unknown":
      return allocation("UnknownError", `Unable to allocate ClusterIP ${shown} due to an unknown error`);
    case "wrongLabels":
    case "fine":
      return undefined;
  }
}

/** What is told of an IPAddress that goes, or (`unknown`) whose Service could not be read. */
export function addressEvent(finding: "notReferencing" | "leaked" | "wrongReference" | "unknown", object: IPAddress): Told {
  const { name = "" } = object.metadata ?? {};
  const parent = object.spec?.parentRef;
  const { group = "", resource = "", namespace = "", name: parentName = "" } = parent ?? {};
  const told = (reason: string, note: string): Told => ({ reason, action: "IPAddressAllocation", note });
  switch (finding) {
    case "notReferencing":
      return told(
        "IPAddressNotAllocated",
        `IPAddress ${name} appears to have been modified, not referencing a Service ` +
          `&ParentReference{Group:${group},Resource:${resource},Namespace:${namespace},Name:${parentName},}: cleaning up`,
      );
    case "leaked":
      return told("IPAddressNotAllocated", `IPAddress: ${name} for Service ${namespace}/${parentName} appears to have leaked: cleaning up`);
    case "wrongReference":
      return told(
        "IPAddressWrongReference",
        `IPAddress: ${name} for Service ${namespace}/${parentName} has a wrong reference; cleaning up`,
      );
    case "unknown":
      // Upstream prints the whole object in the place of its name.
      return told("UnknownError", `Unable to get parent Service for IPAddress ${name} due to an unknown error`);
  }
}
