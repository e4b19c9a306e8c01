/**
 * What is wrong with a Service's address or with an IPAddress: decisions over what was read. The rules and their order are upstream's
 * (pkg/registry/core/service/ipallocator/controller/repairip.go). Better than upstream: addresses are compared in canonical form, so another
 * spelling of an IPv6 address is no difference.
 */
import { ORPHAN_GRACE_MS } from "./orphan-grace";
import { ALLOCATOR_NAME, FAMILY_LABEL, MANAGED_BY_LABEL } from "../../api/registry/ip-addresses/allocator-labels";
import type { IPAddress, Service } from "../../api/meta/kubernetes";
import { clusterIPTextsOf } from "../../api/registry/services/held-by-service";
import { parentServiceOf } from "../../api/registry/ip-addresses/parent-service";
import { parseTime } from "../../api/meta/time";
import { parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";

/** An IPAddress that is newer than its Service may belong to a change that is not visible yet. It is judged when it is older than this. */
const NEW_ADDRESS_GRACE_MS = 5_000;

/** An address of a Service. */
export interface ClusterIP {
  /** canonical text */
  address: string;
  family: Family;
  value: bigint;
}

export type ServiceFinding = "fine" | "invalid" | "outOfRange" | "missing" | "wrongReference" | "wrongLabels" | "duplicate";

export interface ServiceFacts {
  /** whether the address is usable in any ServiceCIDR, Ready or not */
  isCovered(ip: ClusterIP): boolean;
  /** the IPAddress of that name */
  object(address: string): IPAddress | undefined;
  service(namespace: string, name: string): Service | undefined;
}

/** Undefined when the text is no address. */
export function readClusterIP(text: string): ClusterIP | undefined {
  const parsed = parseAddress(text);
  if (!parsed.ok) return undefined;
  const { canonical, family, value } = parsed.value;
  return { address: canonical, family, value };
}

/** `ip` undefined: the entry is no address. */
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

export type WrongAddressKind = "notReferencing" | "leaked" | "wrongReference";

export type AddressFinding =
  | { kind: "fine" }
  | { kind: WrongAddressKind }
  /** Too young to be judged. Look again at `until` (milliseconds since the epoch). */
  | { kind: "young"; until: number };

/** Judges an object that carries the allocator's label; any other is fine. `service`: the one that the object refers to, if it exists. */
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

/** Whether the address is one of the Service's, in whatever spelling. */
export function isHeldBy(service: Service, address: string): boolean {
  const texts = clusterIPTextsOf(service);
  if (texts.includes(address)) return true;
  const wanted = readClusterIP(address)?.address ?? address;
  return texts.some((text) => (readClusterIP(text)?.address ?? text) === wanted);
}
