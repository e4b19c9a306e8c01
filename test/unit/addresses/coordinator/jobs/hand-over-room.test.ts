/** Hand-offs when an owner can be told of few more segments, or of none. */
import { expect, it } from "vitest";
import { OWNER_PREFIXES_MAX } from "../../../../../src/addresses/rpc/limits";
import type { JobContext } from "../../../../../src/addresses/coordinator/job-context";
import type { ClaimRow, CoordinatorState, HandoffRow } from "../../../../../src/addresses/coordinator/state/coordinator-storage";
import { handOver } from "../../../../../src/addresses/coordinator/jobs/hand-over";
import { viewOf } from "../../../../../src/addresses/coordinator/state/topology-view";
import { SimScheduler } from "../../../../support/sim/platform/scheduler";

const PREFIX = "10.0.1.0/24";
const PIECES = ["10.0.1.0/25", "10.0.1.128/25"];

/** Segments of which no two are neighbours. */
function filler(ownerUid: string, count: number): ClaimRow[] {
  return Array.from({ length: count }, (_, i) => {
    const prefix = `10.${128 + (i >> 15)}.${(i >> 7) & 255}.${(i & 127) * 2}/32`;
    return { prefix, ownerUid, seeded: true };
  });
}

/** `old` is being deleted, and its segment is cut into two pieces for `new`. `full` can be told of `room` more segments. */
async function begin(full: "old" | "new", room: number) {
  const scheduler = new SimScheduler();
  const cidr = { suspended: false, fencedUntil: 0 };
  const own = { prefix: PREFIX, ownerUid: "old", seeded: true };
  const state = {
    epoch: 5,
    cidrs: [
      { ...cidr, uid: "old", name: "old", deleting: true },
      { ...cidr, uid: "new", name: "new", deleting: false },
    ],
    owners: [],
    claims: [own, ...filler(full, OWNER_PREFIXES_MAX - room - (full === "old" ? 1 : 0))],
    ranges: [{ uid: "new", prefix: PREFIX, ready: true }],
    handoffs: [],
  } as unknown as CoordinatorState;
  const [saved, claims, logged]: [HandoffRow[], string[], string[]] = [[], [], []];
  const context = {
    storage: {
      handoffSave: (row: HandoffRow) => saved.push(row),
      claimDelete: (prefix: string) => claims.push(`- ${prefix}`),
      claimInsert: ({ prefix }: ClaimRow) => claims.push(`+ ${prefix}`),
    },
    peers: {
      owner: () => ({
        free: () => Promise.resolve({}),
        partition: () => Promise.resolve({ epoch: 5, pieces: PIECES.map((prefix) => ({ prefix, rows: 10 })) }),
      }),
    },
    clock: scheduler.clock(),
    recorder: { log: (_level: string, message: string) => logged.push(message) },
    handoffRowsMax: 100,
    view: () => viewOf(state, { staticBands: true }),
    mutate: (work: () => void) => work(),
  } as unknown as JobContext;
  const outcome = await scheduler.run(handOver(context, "old", () => true));
  return { outcome, claims, logged, rows: saved.map(({ targetUid, phase, prefixes }) => ({ targetUid, phase, prefixes })) };
}

const CUT = [`- ${PREFIX}`, ...PIECES.map((prefix) => `+ ${prefix}`)];
const RESTING = { targetUid: "new", phase: "resting", prefixes: [] };

it.each([
  { full: "new", room: 2, claims: CUT, rows: [{ targetUid: "new", phase: "copying", prefixes: PIECES }], logged: [] },
  { full: "new", room: 1, claims: CUT, rows: [{ targetUid: "new", phase: "copying", prefixes: PIECES.slice(0, 1) }], logged: [] },
  { full: "new", room: 0, claims: CUT, rows: [RESTING], logged: ["a hand-off has no room"] },
  { full: "old", room: 1, claims: CUT, rows: [{ targetUid: "new", phase: "copying", prefixes: PIECES }], logged: [] },
  { full: "old", room: 0, claims: [], rows: [RESTING], logged: ["a hand-off has no room"] },
] as const)("room for $room more at $full: $rows.0.phase with $rows.0.prefixes", async ({ full, room, ...expected }) => {
  expect(await begin(full, room)).toEqual({ outcome: "done", ...expected });
});
