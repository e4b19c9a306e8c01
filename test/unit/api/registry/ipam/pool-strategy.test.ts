import { describe, expect, it } from "vitest";
import type { AddressPool, PoolSpec } from "../../../../../src/api/registry/ipam/ipam";
import { poolStrategy } from "../../../../../src/api/registry/ipam/pool-strategy";
import type { FieldError } from "../../../../../src/api/meta/field-errors";

const CONTEXT = { now: 0, serviceFamilies: ["IPv4"] } as const;

function texts(errors: readonly FieldError[]): string[] {
  return errors.map(({ field, body }) => `${field}: ${body}`);
}

describe("pools: the webhook's texts", () => {
  const judged = (spec: PoolSpec): string[] => texts(poolStrategy.validate({ spec: { prefix: 24, ...spec } }, CONTEXT));

  it.each<[string, PoolSpec, string[]]>([
    ["an address, a range and a CIDR", { addresses: ["10.0.0.1", "10.0.0.5-10.0.0.9", "10.0.0.128/25"] }, []],
    ["a CIDR with host bits", { addresses: ["10.0.0.7/25"] }, []],
    ["IPv6", { addresses: ["2001:db8::/120"], prefix: 64, gateway: "2001:db8::1" }, []],
    ["none", {}, ["spec.addresses: Required value: addresses is required"]],
    [
      "no address",
      { addresses: ["10.0.0.1", "x", "10.0.0.9-10.0.0.1", "10.0.0.0/33", "::ffff:10.0.0.1"] },
      ["x", "10.0.0.9-10.0.0.1", "10.0.0.0/33", "::ffff:10.0.0.1"].map(
        (text) => `spec.addresses: Invalid value: "${text}": provided address is not a valid IP, range, nor CIDR`,
      ),
    ],
    [
      "two families",
      { addresses: ["10.0.0.1", "fd00::1"] },
      ['spec.addresses: Invalid value: ["10.0.0.1","fd00::1"]: provided addresses are of mixed IP families'],
    ],
    [
      "two networks",
      { addresses: ["10.0.1.1", "10.0.0.1"] },
      ['spec.addresses: Invalid value: "10.0.1.1": provided address belongs to a different subnet than others'],
    ],
    [
      "excluded addresses of another family",
      { addresses: ["10.0.0.1"], excludedAddresses: ["fd00::1"] },
      ['spec.excludedAddresses: Invalid value: ["fd00::1"]: addresses and excluded addresses are of mixed IP families'],
    ],
    [
      "a gateway of another family",
      { addresses: ["10.0.0.1"], gateway: "fd00::1" },
      ['spec.gateway: Invalid value: "fd00::1": provided gateway and addresses are of mixed IP families'],
    ],
    ["a long prefix", { addresses: ["10.0.0.1"], prefix: 33 }, ["spec.prefix: Invalid value: 33: provided prefix is not valid"]],
    [
      "a negative grace",
      { addresses: ["10.0.0.1"], addressReuseGracePeriodSeconds: -1 },
      ["spec.addressReuseGracePeriodSeconds: Invalid value: -1: addressReuseGracePeriodSeconds must not be negative"],
    ],
  ])("%s", (_, spec, errors) => {
    expect(judged(spec)).toEqual(errors);
  });

  it("entries: 4,096 of each list, which is what the book can keep; a longer one of an earlier release gets no longer", () => {
    const many = (length: number): string[] => Array.from({ length }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
    const before = { spec: { prefix: 16, addresses: many(5_000) } };
    const error = (field: string, count: number): string => `${field}: Too many: ${count}: must have at most 4096 items`;
    expect(judged({ prefix: 16, addresses: many(4_096), excludedAddresses: many(4_096) })).toEqual([]);
    expect(judged({ prefix: 16, addresses: many(4_097), excludedAddresses: many(5_000) })).toEqual([
      error("spec.addresses", 4_097),
      error("spec.excludedAddresses", 5_000),
    ]);
    expect(poolStrategy.validate(before, CONTEXT, before)).toEqual([]);
    const longer = { spec: { ...before.spec, addresses: many(5_001) } };
    expect(texts(poolStrategy.validate(longer, CONTEXT, before))).toEqual([error("spec.addresses", 5_001)]);
  });

  it("status: no client's create and update sets it; the finalizer stays until the deletion", () => {
    const pool: AddressPool = { metadata: { name: "p" }, status: {} };
    poolStrategy.prepareForCreate(pool, CONTEXT);
    expect(pool).toEqual({ metadata: { name: "p", finalizers: ["ipam.cluster.x-k8s.io/ProtectPool"] } });
    const after: AddressPool = { metadata: { name: "p" } };
    poolStrategy.prepareForUpdate({ after, before: pool }, CONTEXT);
    expect(after.metadata?.finalizers).toEqual(["ipam.cluster.x-k8s.io/ProtectPool"]);
    const going: AddressPool = { metadata: { name: "p", deletionTimestamp: "2026-01-01T00:00:00Z" } };
    const ended: AddressPool = { metadata: { name: "p" } };
    poolStrategy.prepareForUpdate({ after: ended, before: going }, CONTEXT);
    expect(ended.metadata?.finalizers).toBeUndefined();
  });
});
