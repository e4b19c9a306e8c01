import { expect, it } from "vitest";
import type { Lease } from "../../../../../src/api/meta/kubernetes";
import { leasesDefinition } from "../../../../../src/api/registry/leases/definition";
import { leaseStrategy } from "../../../../../src/api/registry/leases/strategy";
import { texts } from "../services/a-service";
import { CONTEXT, create, update } from "../outcomes";

it.each<{ name: string; spec: Lease["spec"]; want: string[] }>([
  { name: "empty", spec: {}, want: [] },
  { name: "released", spec: { holderIdentity: "", leaseTransitions: 0, leaseDurationSeconds: 1 }, want: [] },
  {
    name: "bad numbers",
    spec: { leaseDurationSeconds: -3, leaseTransitions: -1 },
    want: [
      "spec.leaseDurationSeconds: Invalid value: -3: must be greater than 0",
      "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
    ],
  },
  {
    name: "preferredHolder without strategy",
    spec: { preferredHolder: "a" },
    want: ["spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined"],
  },
  {
    name: "unknown strategy",
    spec: { strategy: "x" },
    want: ['spec.strategy.strategy: Unsupported value: "x": supported values: "OldestEmulationVersion"'],
  },
  { name: "known strategy", spec: { strategy: "OldestEmulationVersion", preferredHolder: "a" }, want: [] },
  { name: "own strategy", spec: { strategy: "example.com/mine" }, want: [] },
])("validate, $name: upstream's errors", ({ spec, want }) => {
  expect(texts(leaseStrategy.validate({ spec }, CONTEXT))).toEqual(want);
});

it("validate: a Lease without spec is valid", () => {
  expect(leaseStrategy.validate({}, CONTEXT)).toEqual([]);
});

it("fields of coordinated election: dropped by every write", () => {
  const lease: Lease = { metadata: { name: "a" }, spec: { holderIdentity: "h", strategy: "x", preferredHolder: "b" } };
  const created = create(leasesDefinition, lease);
  expect(created.errors).toEqual([]);
  expect(created.object.spec).toEqual({ holderIdentity: "h" });
  expect(update(leasesDefinition, { after: lease, before: created.object }).object.spec).toEqual({ holderIdentity: "h" });
});

it("times of the year 1 and a transition count of 0: kept", () => {
  const spec = { acquireTime: "0001-01-01T00:00:02.000000Z", renewTime: "0001-01-01T00:00:05.000000Z", leaseTransitions: 0 };
  expect(create<Lease>(leasesDefinition, { metadata: { name: "a" }, spec }).object.spec).toEqual(spec);
});

it("cells: have holder and age", () => {
  const lease: Lease = { metadata: { name: "a", creationTimestamp: "2026-01-01T00:00:00Z" }, spec: { holderIdentity: "me" } };
  expect(leasesDefinition.cells(lease, Date.UTC(2026, 0, 1, 0, 1))).toEqual(["a", "me", "60s"]);
});
