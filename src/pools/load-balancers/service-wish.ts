/** What a Service of type LoadBalancer wants of pools, and whether it is one of ours. */
import type { Service } from "../../api/meta/kubernetes";
import { isNil, listOf, specOf } from "../../api/registry/services/predicates";
import type { AskingService } from "../../api/rpc/load-balancers";
import { POOL_CLASS } from "../../core/config/variables";
import { canonicalAddress, parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import { sharingOf } from "./sharing";

/** Names of pools, between commas: MetalLB's own pools have both families, these have one. */
const POOLS_ANNOTATIONS = ["metallb.io/address-pool", "metallb.universe.tf/address-pool"];
const METALLB_ADDRESSES = ["metallb.io/loadBalancerIPs", "metallb.universe.tf/loadBalancerIPs"];
const CILIUM_ADDRESSES = ["lbipam.cilium.io/ips", "io.cilium/lb-ipam-ips"];

export interface ServiceWish {
  /** one address of each, the first family first */
  readonly families: readonly Family[];
  /** one of both families, or none */
  readonly all: boolean;
  readonly pools?: readonly string[];
  /** addresses that the Service asks for, canonical */
  readonly asked?: Readonly<Partial<Record<Family, string>>>;
  /** see sharing.ts */
  readonly sharing?: string;
  /** What the Service asks for cannot be read: it keeps what it has, and gets nothing. */
  readonly problem?: string;
}

/**
 * Whether pools serve the Service. `isDefault`: also those without a class. `hasAddress`: it has one, and keeps it whatever the default becomes.
 */
export function isBalanced(service: Service, isDefault: boolean, hasAddress: boolean): boolean {
  const { type, loadBalancerClass } = specOf(service);
  if (type !== "LoadBalancer") return false;
  return isNil(loadBalancerClass) ? isDefault || hasAddress : loadBalancerClass === POOL_CLASS;
}

export function isLoadBalancer(service: Service | undefined): boolean {
  return service?.spec?.type === "LoadBalancer";
}

/** The families of the Service are settled. */
export function wishOf(service: Service): ServiceWish {
  const { ipFamilies, ipFamilyPolicy } = specOf(service);
  const families = listOf(ipFamilies).map((family): Family => (family === "IPv6" ? "IPv6" : "IPv4"));
  const isDual = ipFamilyPolicy === "PreferDualStack" || ipFamilyPolicy === "RequireDualStack";
  const pools = listIn(service, POOLS_ANNOTATIONS);
  const sharing = sharingOf(service);
  const wanted = isDual ? families : families.slice(0, 1);
  return {
    families: wanted,
    all: ipFamilyPolicy === "RequireDualStack",
    ...(pools && { pools }),
    ...(sharing !== undefined && { sharing }),
    ...askedAddresses(service, wanted),
  };
}

/** One of each family at most. MetalLB's annotation and the field exclude each other, as there; of Cilium's texts those that are no address are passed over. */
function askedAddresses(service: Service, families: readonly Family[]): Pick<ServiceWish, "asked" | "problem"> {
  const { loadBalancerIP = "" } = specOf(service);
  const listed = listIn(service, METALLB_ADDRESSES) ?? [];
  if (listed.length > 0 && loadBalancerIP !== "")
    return { problem: `service can not have both ${METALLB_ADDRESSES[0]} and svc.Spec.LoadBalancerIP` };
  const texts = loadBalancerIP === "" ? listed : [loadBalancerIP];
  const wrong = texts.find((text) => !isAddress(text));
  if (wrong !== undefined) return { problem: `invalid requested loadbalancer IPs: invalid IP ${JSON.stringify(wrong)}` };
  const all = [...texts, ...(listIn(service, CILIUM_ADDRESSES) ?? []).filter(isAddress)].map(canonicalAddress);
  const asked: Partial<Record<Family, string>> = {};
  for (const address of new Set(all)) {
    const parsed = parseAddress(address);
    const family = parsed.ok ? parsed.value.family : undefined;
    if (family === undefined || !families.includes(family))
      return { problem: `requested loadBalancer IP(s) ${JSON.stringify(all)} does not match the ipFamily of the service` };
    if (asked[family] !== undefined) return { problem: `invalid requested loadbalancer IPs: more than one ${family} address` };
    asked[family] = address;
  }
  return all.length > 0 ? { asked } : {};
}

/** What of the Service decides which addresses it gets: where it is the same, waiting goes on. */
export function wishKey(service: Service): string {
  return JSON.stringify([wishOf(service), service.metadata?.labels]);
}

export function askingService({ metadata }: Service, { pools, sharing }: Pick<ServiceWish, "pools" | "sharing">): AskingService {
  const { namespace = "", name = "", uid = "", labels } = metadata ?? {};
  return { namespace, name, uid, ...(labels && { labels }), ...(pools && { pools }), ...(sharing !== undefined && { sharing }) };
}

/** The addresses in the status, canonical. */
export function ingressAddresses(service: Service | undefined): string[] {
  return (service?.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip ? [canonicalAddress(ip)] : []));
}

/** Whether the text is one: a status may have others, which nobody can hold. */
export function isAddress(text: string): boolean {
  return parseAddress(text).ok;
}

/**
 * The Service with `own` in its status, and without `lost`. What other controllers wrote stays, as do the ports that they added to ours.
 * Both are canonical texts.
 */
export function withIngress(service: Service, own: readonly string[], lost: readonly string[]): void {
  const shown = service.status?.loadBalancer?.ingress ?? [];
  const isOf = (ip: string | undefined, list: readonly string[]): boolean => Boolean(ip) && list.includes(canonicalAddress(ip ?? ""));
  const ours = own.map((ip) => ({ ...shown.find((entry) => isOf(entry.ip, [ip])), ip, ipMode: "VIP" }));
  const all = [...ours, ...shown.filter(({ ip }) => !isOf(ip, own) && !isOf(ip, lost))];
  service.status = { ...service.status, loadBalancer: all.length > 0 ? { ingress: all } : {} };
}

/** The parts of the first of these annotations that is there; undefined = there are none. */
function listIn({ metadata }: Service, annotations: readonly string[]): string[] | undefined {
  const value = annotations.map((name) => metadata?.annotations?.[name]).find((text) => text !== undefined);
  const parts = value?.split(",").flatMap((part) => part.trim() || []);
  return parts && parts.length > 0 ? parts : undefined;
}
