import { expect, it } from "vitest";
import type { CidrRow, CoordinatorState } from "../../../../src/addresses/coordinator/state/coordinator-storage";
import { rangesReading } from "../../../../src/addresses/coordinator/ranges-reading";

const TRUE = { status: "True", reason: "", message: "" };
const row = (uid: string, changes: Partial<CidrRow> = {}): CidrRow => ({
  uid,
  name: uid,
  deleting: false,
  suspended: false,
  fencedUntil: 0,
  finalizer: true,
  condition: TRUE,
  ...changes,
});

it("ServiceCIDR: ready as its object shows it, with all its prefixes", () => {
  const state: CoordinatorState = {
    epoch: 7,
    cidrs: [
      row("dual"),
      row("going", { deleting: true }),
      row("terminating", { deleting: true, condition: { ...TRUE, status: "False", reason: "Terminating" } }),
      row("coming", { condition: undefined }),
      row("suspended", { suspended: true, condition: { ...TRUE, status: "False" } }),
    ],
    ranges: [
      { uid: "dual", prefix: "10.0.0.0/24", ready: true },
      { uid: "going", prefix: "10.0.1.0/24", ready: true },
      { uid: "dual", prefix: "fd00::/64", ready: true },
      { uid: "terminating", prefix: "10.0.2.0/24", ready: false },
      { uid: "coming", prefix: "10.0.3.0/24", ready: false },
      { uid: "suspended", prefix: "10.0.4.0/24", ready: false },
    ],
    claims: [{ prefix: "10.0.0.0/24", ownerUid: "dual", seeded: true }],
    owners: [],
    handoffs: [],
  };
  expect(rangesReading(state, 12)).toEqual({
    revision: 12,
    epoch: 7,
    sources: [
      { cidrs: ["10.0.0.0/24", "fd00::/64"], ready: true },
      { cidrs: ["10.0.1.0/24"], ready: false },
      { cidrs: ["10.0.2.0/24"], ready: false },
      { cidrs: ["10.0.3.0/24"], ready: false },
      { cidrs: ["10.0.4.0/24"], ready: false },
    ],
    claims: ["10.0.0.0/24"],
  });
});

it("configured ranges alone count: no object is ready", () => {
  const state: CoordinatorState = {
    epoch: 7,
    cidrs: [row("object"), row("configured", { name: "" })],
    ranges: [
      { uid: "object", prefix: "10.0.0.0/24", ready: false },
      { uid: "configured", prefix: "10.0.1.0/24", ready: true },
    ],
    claims: [],
    owners: [],
    handoffs: [],
  };
  expect(rangesReading(state, 12).sources).toEqual([
    { cidrs: ["10.0.0.0/24"], ready: false },
    { cidrs: ["10.0.1.0/24"], ready: true },
  ]);
});
