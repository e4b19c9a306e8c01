import { describe, expect, it } from "vitest";
import { claimStrategy } from "../../../../../src/api/registry/ipam/claim-strategy";
import type { AddressClaim } from "../../../../../src/api/registry/ipam/ipam";
import type { FieldError } from "../../../../../src/api/meta/field-errors";

const CONTEXT = { now: 0, serviceFamilies: ["IPv4"] } as const;

function texts(errors: readonly FieldError[]): string[] {
  return errors.map(({ field, body }) => `${field}: ${body}`);
}

const POOL = { name: "p", kind: "InClusterIPPool", apiGroup: "ipam.cluster.x-k8s.io" };

describe("claims", () => {
  it("poolRef: each part is required and has its form", () => {
    const judged = (spec: AddressClaim["spec"]): string[] => texts(claimStrategy.validate({ ...(spec && { spec }) }, CONTEXT));
    expect(judged({ poolRef: POOL })).toEqual([]);
    expect(judged(undefined)).toEqual(["name", "kind", "apiGroup"].map((member) => `spec.poolRef.${member}: Required value`));
    expect(judged({ poolRef: { ...POOL, kind: "1" } })).toEqual([
      "spec.poolRef.kind: Invalid value: \"1\": spec.poolRef.kind in body should match '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$'",
    ]);
    expect(judged({ poolRef: POOL, clusterName: "x".repeat(64) })).toEqual(["spec.clusterName: Too long: may not be more than 63 bytes"]);
  });

  it("spec: cannot be changed", () => {
    const before: AddressClaim = { spec: { poolRef: POOL } };
    const after: AddressClaim = { spec: { poolRef: { ...POOL, name: "q" } } };
    expect(texts(claimStrategy.validateUpdate({ after, before }, CONTEXT))).toEqual(["spec: Forbidden: IPAddressClaim spec is immutable"]);
  });

  it("the finalizer: on claims for pools of this server alone", () => {
    const claim: AddressClaim = { metadata: { name: "a", namespace: "ns" }, spec: { poolRef: POOL } };
    claimStrategy.prepareForCreate(claim, CONTEXT);
    expect(claim.metadata?.finalizers).toEqual(["ipam.cluster.x-k8s.io/ReleaseAddress"]);
    const foreign: AddressClaim = { metadata: { name: "a", namespace: "ns" }, spec: { poolRef: { ...POOL, kind: "OtherPool" } } };
    claimStrategy.prepareForCreate(foreign, CONTEXT);
    expect(foreign.metadata?.finalizers).toBeUndefined();
  });
});
