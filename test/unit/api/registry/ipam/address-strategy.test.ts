import { describe, expect, it } from "vitest";
import { addressStrategy } from "../../../../../src/api/registry/ipam/address-strategy";
import type { PoolAddress } from "../../../../../src/api/registry/ipam/ipam";
import type { FieldError } from "../../../../../src/api/meta/field-errors";

const CONTEXT = { now: 0, serviceFamilies: ["IPv4"] } as const;

function texts(errors: readonly FieldError[]): string[] {
  return errors.map(({ field, body }) => `${field}: ${body}`);
}

const POOL = { name: "p", kind: "InClusterIPPool", apiGroup: "ipam.cluster.x-k8s.io" };

describe("addresses", () => {
  const spec: PoolAddress["spec"] = { claimRef: { name: "a" }, poolRef: POOL, address: "10.0.0.1", prefix: 24 };

  it.each<[Partial<NonNullable<PoolAddress["spec"]>>, string[]]>([
    [{}, []],
    [{ address: "x" }, ['spec.address: Invalid value: "x": not a valid IP address']],
    [{ gateway: "x" }, ['spec.gateway: Invalid value: "x": not a valid IP address']],
    [{ prefix: -1 }, ["spec.prefix: Invalid value: -1: prefix cannot be negative"]],
    [{ prefix: 33 }, ["spec.prefix: Invalid value: 33: prefix is too large for an IPv4 address"]],
    [{ address: "fd00::1", prefix: 129 }, ["spec.prefix: Invalid value: 129: prefix is too large for an IPv6 address"]],
  ])("%j", (changed, errors) => {
    expect(texts(addressStrategy.validate({ spec: { ...spec, ...changed } }, CONTEXT))).toEqual(errors);
  });

  it("spec: cannot be changed", () => {
    const after: PoolAddress = { spec: { ...spec, address: "10.0.0.2" } };
    expect(texts(addressStrategy.validateUpdate({ after, before: { spec } }, CONTEXT))).toEqual([
      "spec: Forbidden: IPAddress spec is immutable",
    ]);
  });

  it.each<[string, PoolAddress["metadata"], PoolAddress["spec"], boolean]>([
    ["has a claim", {}, spec, true],
    ["is being deleted", { deletionTimestamp: "2026-01-01T00:00:00Z" }, spec, false],
    ["is of a pool of somebody else", {}, { ...spec, poolRef: { ...POOL, kind: "OtherPool" } }, false],
    ["has no claim", { ownerReferences: [] }, spec, false],
  ])("the finalizer of one that %s: is kept: %#", (_, metadata, of, isKept) => {
    const owner = { apiVersion: "ipam.cluster.x-k8s.io/v1beta2", kind: "IPAddressClaim", name: "a", uid: "u", controller: true };
    const before: PoolAddress = { metadata: { name: "a", namespace: "ns", ownerReferences: [owner], ...metadata }, spec: of };
    for (const ownerReferences of [before.metadata?.ownerReferences, []]) {
      const after: PoolAddress = {
        metadata: { ...before.metadata, finalizers: [], ...(ownerReferences && { ownerReferences }) },
        spec: of,
      };
      addressStrategy.prepareForUpdate({ after, before }, CONTEXT);
      expect(after.metadata?.finalizers).toEqual(isKept ? ["ipam.cluster.x-k8s.io/ProtectAddress"] : []);
    }
  });
});
