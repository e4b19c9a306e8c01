/** What a Service of type LoadBalancer wants of pools, and whether it is one of ours. */
import type { Service } from "../../api/meta/kubernetes";
import { isNil, listOf, specOf } from "../../api/registry/services/predicates";
import type { AskingService } from "../../api/rpc/load-balancers";
import { POOL_CLASS } from "../../core/config/variables";
import { canonicalAddress, parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";

/** Names of pools, between commas: MetalLB's own pools have both families, these have one. */
const POOLS_ANNOTATIONS = ["metallb.io/address-pool", "metallb.universe.tf/address-pool"];

export interface ServiceWish {
  /** one address of each, the first family first */
  readonly families: readonly Family[];
  /** one of both families, or none */
  readonly all: boolean;
  readonly pools?: readonly string[];
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
  const pools = namesIn(service, POOLS_ANNOTATIONS);
  return {
    families: isDual ? families : families.slice(0, 1),
    all: ipFamilyPolicy === "RequireDualStack",
    ...(pools && { pools }),
  };
}

/** What of the Service decides which addresses it gets: where it is the same, waiting goes on. */
export function wishKey(service: Service): string {
  return JSON.stringify([wishOf(service), service.metadata?.labels]);
}

export function askingService({ metadata }: Service, { pools }: Pick<ServiceWish, "pools">): AskingService {
  const { namespace = "", name = "", uid = "", labels } = metadata ?? {};
  return { namespace, name, uid, ...(labels && { labels }), ...(pools && { pools }) };
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

function namesIn({ metadata }: Service, annotations: readonly string[]): string[] | undefined {
  const value = annotations.map((name) => metadata?.annotations?.[name]).find((text) => text !== undefined);
  const names = value?.split(",").map((name) => name.trim());
  return names?.some((name) => name !== "") ? names : undefined;
}
