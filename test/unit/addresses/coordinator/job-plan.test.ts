/** The plan: the rows that call for each kind of job, and rows that call for none. */
import { describe, expect, it } from "vitest";
import type {
  CidrRow,
  ClaimRow,
  CoordinatorState,
  HandoffRow,
  OwnerRow,
  RangeRow,
} from "../../../../src/addresses/coordinator/state/coordinator-storage";
import { actionKey, planActions } from "../../../../src/addresses/coordinator/job-plan";
import { READY, TERMINATING } from "../../../../src/addresses/coordinator/state/service-cidr-object";
import { viewOf } from "../../../../src/addresses/coordinator/state/topology-view";

const NOW_MS = 1_000_000;
const DEFAULT = "10.96.0.0/24";
const PREFIX = "10.0.0.0/24";

const cidr = (uid: string, changes: Partial<CidrRow> = {}): CidrRow => ({
  uid,
  name: uid,
  deleting: false,
  suspended: false,
  fencedUntil: 0,
  finalizer: true,
  condition: READY,
  ...changes,
});
const range = (uid: string, prefix: string): RangeRow => ({ uid, prefix, ready: true });
const claim = (ownerUid: string, prefix: string, seeded = true): ClaimRow => ({ ownerUid, prefix, seeded });
const owner = (uid: string, ackedEpoch = 5): OwnerRow => ({ uid, epoch: 5, content: "{}", ackedEpoch, closedUntil: 0 });
const handoff = (changes: Partial<HandoffRow> = {}): HandoffRow => ({
  sourceUid: "old",
  targetUid: "new",
  id: 5,
  prefixes: [PREFIX],
  phase: "copying",
  dueAt: NOW_MS + 60_000,
  failures: 0,
  ...changes,
});

/** A default ServiceCIDR that needs nothing, and these rows. */
function planned(rows: Partial<CoordinatorState>, defaultRanges: readonly string[] = [DEFAULT]): string[] {
  const state: CoordinatorState = {
    epoch: 5,
    cidrs: [cidr("kubernetes"), ...(rows.cidrs ?? [])],
    ranges: [range("kubernetes", DEFAULT), ...(rows.ranges ?? [])],
    claims: [claim("kubernetes", DEFAULT), ...(rows.claims ?? [])],
    owners: [owner("kubernetes"), ...(rows.owners ?? [])],
    handoffs: rows.handoffs ?? [],
  };
  return planActions(viewOf(state, { staticBands: true }), defaultRanges, NOW_MS).map(actionKey);
}

/** `old` is being deleted and owns what `new` covers. */
const LEAVING: Partial<CoordinatorState> = {
  cidrs: [cidr("old", { deleting: true, condition: TERMINATING }), cidr("new")],
  ranges: [{ ...range("old", PREFIX), ready: false }, range("new", PREFIX)],
  claims: [claim("old", PREFIX)],
  owners: [owner("old"), owner("new")],
};

describe("planActions", () => {
  it.each<{ rows: string; state: Partial<CoordinatorState>; ranges?: string[]; jobs: string[] }>([
    { rows: "settled rows", state: {}, jobs: [] },
    { rows: "second range configured", state: {}, ranges: [DEFAULT, "fd00::/112"], jobs: ["extendDefault/kubernetes"] },
    { rows: "unconfirmed configuration", state: { owners: [owner("gone", 4)] }, jobs: ["configure/gone/5"] },
    {
      rows: "new segment of a settled owner",
      state: { cidrs: [cidr("a")], ranges: [range("a", PREFIX)], claims: [claim("a", PREFIX, false)], owners: [owner("a")] },
      jobs: ["seed/a"],
    },
    { rows: "lost finalizer", state: { cidrs: [cidr("a", { finalizer: false })] }, jobs: ["restoreFinalizer/a"] },
    { rows: "ready ranges that the object does not show", state: { cidrs: [cidr("a", { condition: undefined })] }, jobs: ["showReady/a"] },
    { rows: "segment that no object names", state: { claims: [claim("a", PREFIX)], owners: [owner("a")] }, jobs: ["dropClaims/a"] },
    {
      rows: "owner without an object, covered by another",
      state: { cidrs: [cidr("new")], ranges: [range("new", PREFIX)], claims: [claim("old", PREFIX)], owners: [owner("old"), owner("new")] },
      jobs: ["handOver/old"],
    },
    { rows: "deletion that has not begun to hand over", state: LEAVING, jobs: ["delete/old"] },
    { rows: "hand-off that both owners have confirmed", state: { ...LEAVING, handoffs: [handoff()] }, jobs: ["copyRows/old/new/5"] },
    { rows: "hand-off that an owner has not confirmed", state: { ...LEAVING, handoffs: [handoff({ id: 6 })] }, jobs: [] },
    {
      rows: "hand-off to an owner without a configuration yet",
      state: { ...LEAVING, owners: [owner("old")], handoffs: [handoff()] },
      jobs: [],
    },
    {
      rows: "committed hand-off that is late",
      state: { ...LEAVING, handoffs: [handoff({ phase: "activating", dueAt: NOW_MS })] },
      jobs: ["showDelayed/old"],
    },
    { rows: "failed hand-off that rests", state: { ...LEAVING, handoffs: [handoff({ phase: "resting", failures: 1 })] }, jobs: [] },
  ])("$rows: $jobs", ({ state, ranges, jobs }) => {
    expect(planned(state, ranges)).toEqual(jobs);
  });

  it("no default ServiceCIDR: createDefault", () => {
    const state = { epoch: 0, cidrs: [], ranges: [], claims: [], owners: [], handoffs: [] };
    expect(planActions(viewOf(state, { staticBands: true }), [DEFAULT], NOW_MS)).toEqual([{ kind: "createDefault" }]);
  });

  it("configured ranges alone count: nothing is done to objects", () => {
    const configured = cidr("configured", { name: "" });
    expect(planned({ cidrs: [configured, cidr("a", { finalizer: false })] }, [DEFAULT, "fd00::/112"])).toEqual([]);
  });
});
