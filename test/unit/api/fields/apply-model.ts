/**
 * A slow and obvious model of server-side apply to a Service: an object is a map from field names to values, and every field has a set
 * of owners. It has no schemas, trees or FieldsV1. Names of fields are those of the texts of conflicts.
 */
import type { Random } from "../../../../src/core/base/ports";

export type Fields = Map<string, string>;

interface Port {
  port: number;
  protocol?: string;
  [name: string]: unknown;
}

export interface ServiceLike {
  metadata?: { labels?: Record<string, string>; finalizers?: string[]; [name: string]: unknown };
  spec?: { ports?: Port[]; sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } }; [name: string]: unknown };
}

/** Every field of a Service and its value; items of lists are fields without a value of their own. */
export function fieldsOfService({ metadata = {}, spec = {} }: ServiceLike): Fields {
  const fields: Fields = new Map();
  for (const [key, value] of Object.entries(metadata.labels ?? {})) fields.set(`.metadata.labels.${key}`, value);
  for (const value of metadata.finalizers ?? []) fields.set(`.metadata.finalizers[=${JSON.stringify(value)}]`, "");
  for (const [name, value] of Object.entries(spec)) {
    if (name === "ports") continue;
    if (name === "sessionAffinityConfig")
      fields.set(
        ".spec.sessionAffinityConfig.clientIP.timeoutSeconds",
        JSON.stringify(spec.sessionAffinityConfig?.clientIP?.timeoutSeconds),
      );
    else fields.set(`.spec.${name}`, JSON.stringify(value));
  }
  for (const item of spec.ports ?? []) {
    const path = `.spec.ports[port=${item.port},protocol="${item.protocol ?? "TCP"}"]`;
    fields.set(path, "");
    for (const [name, value] of Object.entries(item)) fields.set(`${path}.${name}`, JSON.stringify(value));
  }
  return fields;
}

export class ApplyModel {
  readonly values: Fields = new Map();
  readonly owners = new Map<string, Set<string>>();

  /** `manager field` of every conflict. With conflicts and without force nothing changes. */
  apply(manager: string, config: Fields, force: boolean): string[] {
    const conflicts: string[] = [];
    for (const [field, value] of config) {
      if (!this.values.has(field) || this.values.get(field) === value) continue;
      for (const owner of this.owners.get(field) ?? []) if (owner !== manager) conflicts.push(`${owner} ${field}`);
    }
    if (conflicts.length > 0 && !force) return conflicts.sort();
    for (const [field, value] of config) {
      const taken = this.values.has(field) && this.values.get(field) !== value;
      this.values.set(field, value);
      if (taken) this.owners.set(field, new Set([manager]));
      else this.owners.set(field, new Set(this.owners.get(field)).add(manager));
    }
    for (const [field, owners] of this.owners) {
      if (config.has(field) || !owners.delete(manager) || owners.size > 0) continue;
      this.owners.delete(field);
      this.values.delete(field);
    }
    return [];
  }

  ownedBy(manager: string): string[] {
    return [...this.owners]
      .filter(([, owners]) => owners.has(manager))
      .map(([field]) => field)
      .sort();
  }
}

/** A configuration with some of a few fields, so that managers conflict. */
export function randomConfig(random: Random): ServiceLike {
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)] as T;
  const maybe = (chance = 0.4): boolean => random.next() < chance;
  const metadata: NonNullable<ServiceLike["metadata"]> = { name: "web", namespace: "default" };
  const spec: NonNullable<ServiceLike["spec"]> = {};
  const labels = Object.fromEntries(["a", "b", "constructor"].filter(() => maybe()).map((key) => [key, pick(["1", "2"])]));
  if (Object.keys(labels).length > 0) metadata.labels = labels;
  const finalizers = ["x/1", "x/2", "x/3"].filter(() => maybe(0.3));
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  if (maybe()) spec.type = pick(["ClusterIP", "NodePort"]);
  if (maybe()) spec.selector = pick([{ app: "a" }, { app: "b" }, { app: "a", tier: "x" }]);
  if (maybe()) spec.externalIPs = pick([["192.0.2.1"], ["192.0.2.1", "192.0.2.2"]]);
  if (maybe(0.3)) spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: pick([1, 2]) } };
  const ports: Port[] = [];
  for (const [port, protocol] of [
    [80, "TCP"],
    [80, "UDP"],
    [443, "TCP"],
  ] as const) {
    if (!maybe()) continue;
    const item: Port = { port };
    if (protocol !== "TCP" || maybe()) item.protocol = protocol;
    if (maybe(0.5)) item.name = pick(["n", "m"]);
    if (maybe(0.5)) item.targetPort = pick([8080, "web"]);
    if (maybe(0.5)) ports.push(item);
    else ports.unshift(item);
  }
  if (ports.length > 0) spec.ports = ports;
  return Object.keys(spec).length > 0 ? { metadata, spec } : { metadata };
}
