/**
 * Questions about a Service that several of its rules ask. Go's zero values and JSON's absent members are one thing here: clients send `""`, `0`,
 * `[]` and null for "not set". Pointer fields, where `""` is a value, are compared with `isNil` instead.
 */
import type { Family } from "../../../core/net/family";
import type { Service, ServicePort } from "../../meta/kubernetes";

export type ServiceSpec = NonNullable<Service["spec"]>;

/** `clusterIP` and `clusterIPs[0]` of a headless Service */
export const NONE = "None";

const NO_SPEC: ServiceSpec = Object.freeze({});
const NO_TEXTS: readonly string[] = Object.freeze([]);
const NO_PORTS: readonly ServicePort[] = Object.freeze([]);

/** For reading. Code that changes a Service runs after `defaults`, which adds the spec. */
export function specOf(service: Service): ServiceSpec {
  return service.spec ?? NO_SPEC;
}

export function isNil(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

export function listOf(list: readonly string[] | undefined | null): readonly string[] {
  return list ?? NO_TEXTS;
}

export function portsOf(spec: ServiceSpec): readonly ServicePort[] {
  return spec.ports ?? NO_PORTS;
}

export function hasSelector(spec: ServiceSpec): boolean {
  for (const _ in spec.selector) return true;
  return false;
}

/** Everything but ExternalName has a value in clusterIPs, be it `None`. */
export function needsClusterIP(spec: ServiceSpec): boolean {
  return spec.type !== "ExternalName";
}

/** By the singular field, which allocation and the rules of families read. */
export function isHeadless(spec: ServiceSpec): boolean {
  return spec.clusterIP === NONE;
}

/** By the plural field, which validation reads. */
export function isHeadlessList(spec: ServiceSpec): boolean {
  return spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === NONE;
}

export function needsNodePort(spec: ServiceSpec): boolean {
  return spec.type === "NodePort" || spec.type === "LoadBalancer";
}

/** Whether the server chooses node ports. A load balancer that reaches endpoints by itself needs none (KEP-1864). */
export function choosesNodePorts(spec: ServiceSpec): boolean {
  return spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);
}

export function needsHealthCheckNodePort(spec: ServiceSpec): boolean {
  return spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";
}

export function isExternallyAccessible(spec: ServiceSpec): boolean {
  return needsNodePort(spec) || (spec.type === "ClusterIP" && listOf(spec.externalIPs).length > 0);
}

/** Lists compare in order; absent and empty are the same. */
export function sameList(a: readonly string[] | undefined | null, b: readonly string[] | undefined | null): boolean {
  const left = listOf(a);
  const right = listOf(b);
  return left.length === right.length && left.every((text, i) => text === right[i]);
}

/** Pointers compare by their values; nil differs from every value. */
export function samePointer<T>(a: T | undefined | null, b: T | undefined | null): boolean {
  return (a ?? undefined) === (b ?? undefined);
}

export function otherFamily(family: string): Family {
  return family === "IPv4" ? "IPv6" : "IPv4";
}
