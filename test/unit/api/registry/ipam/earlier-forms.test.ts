import { expect, it } from "vitest";
import { fromStoredAddress, fromStoredClaim, toStoredAddress, toStoredClaim } from "../../../../../src/api/registry/ipam/earlier-forms";
import type { AddressClaim, EarlierClaim } from "../../../../../src/api/registry/ipam/ipam";

const TIME = "2026-01-01T00:00:00Z";
const later = { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: TIME };
const earlier = { type: "Ready", status: "False", severity: "Warning", reason: "PoolExhausted", message: "m", lastTransitionTime: TIME };

const SHOWN: EarlierClaim = {
  metadata: { name: "a" },
  spec: { poolRef: { apiGroup: "g", kind: "K", name: "p" }, clusterName: "c" },
  status: { addressRef: { name: "a" }, conditions: [earlier], v1beta2: { conditions: [later] } },
};
const STORED: AddressClaim = {
  metadata: { name: "a" },
  spec: { poolRef: { apiGroup: "g", kind: "K", name: "p" }, clusterName: "c" },
  status: { addressRef: { name: "a" }, conditions: [later], deprecated: { v1beta1: { conditions: [earlier] } } },
};

it("claims: the conditions of each version keep a place of their own in the other one", () => {
  expect(toStoredClaim(SHOWN)).toEqual(STORED);
  expect(fromStoredClaim(STORED)).toEqual(SHOWN);
});

it("claims: an empty reference, as Go sends one, is none; an empty status is none", () => {
  expect(toStoredClaim({ metadata: { name: "a" }, status: { addressRef: { name: "" } } } as EarlierClaim)).toEqual({
    metadata: { name: "a" },
  });
  expect(fromStoredClaim({ metadata: { name: "a" }, status: {} } as AddressClaim)).toEqual({ metadata: { name: "a" } });
});

it("a pool without an API group: the empty one in v1beta2, and none in v1beta1", () => {
  const shown = { spec: { poolRef: { kind: "K", name: "p" } } };
  const stored = { spec: { poolRef: { apiGroup: "", kind: "K", name: "p" } } };
  expect([toStoredClaim(shown as EarlierClaim), fromStoredClaim(stored as AddressClaim)]).toEqual([stored, shown]);
  expect([toStoredAddress(shown as EarlierClaim), fromStoredAddress(stored as AddressClaim)]).toEqual([stored, shown]);
});
