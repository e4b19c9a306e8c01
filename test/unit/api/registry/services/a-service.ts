/** Builders of these tests: everything that a row does not talk about has a plain value. */
import type { Service } from "../../../../../src/api/meta/kubernetes";
import type { FieldError } from "../../../../../src/api/meta/field-errors";
import type { Family } from "../../../../../src/core/net/family";
import { applyDefaults } from "../../../../../src/api/registry/services/defaults";
import { initFamilies } from "../../../../../src/api/registry/services/families";
import { normalizeClusterIPs } from "../../../../../src/api/registry/services/normalize";

export type Spec = NonNullable<Service["spec"]>;

/** As a client sends it: one port and a selector unless the row says otherwise. */
export function sent(spec: Spec = {}, rest: Omit<Service, "spec"> = {}): Service {
  return {
    metadata: { name: "foo", namespace: "default" },
    ...structuredClone(rest),
    spec: { ports: [{ port: 80 }], selector: { app: "foo" }, ...structuredClone(spec) },
  };
}

/** With defaults and families, as it stands when it is validated. */
export function complete(spec: Spec = {}, rest: Omit<Service, "spec"> = {}, families: readonly Family[] = ["IPv4"]): Service {
  const service = sent(spec, rest);
  applyDefaults(service);
  normalizeClusterIPs({ after: service });
  const errors = initFamilies({ after: service }, families);
  if (errors.length > 0) throw new Error(texts(errors).join("\n"));
  return service;
}

/** As the store holds it: nobody may change it. */
export function stored(spec: Spec = {}, rest: Omit<Service, "spec"> = {}, families: readonly Family[] = ["IPv4"]): Service {
  return deepFreeze(complete(spec, { status: { loadBalancer: {} }, ...rest }, families));
}

export function texts(errors: readonly FieldError[]): string[] {
  return errors.map((error) => `${error.field}: ${error.body}`);
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
