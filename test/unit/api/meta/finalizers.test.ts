import { describe, expect, it } from "vitest";
import { applyDeletionMark, isDeletionComplete, planDeletion } from "../../../../src/api/meta/finalizers";
import type { DeletionPlan, DeletionRequest } from "../../../../src/api/meta/finalizers";
import type { Int64 } from "../../../../src/core/encoding/exact-json";
import type { ObjectMeta } from "../../../../src/api/meta/kubernetes";

const now = Date.UTC(2026, 0, 1, 12, 0, 0);
const NOW = "2026-01-01T12:00:00Z";
const MOST = 9223372036854775807n;
/** As late as Go's durations reach. */
const LATEST = "2318-04-13T11:47:16Z";

function plan(metadata: ObjectMeta, request: Partial<DeletionRequest> = {}): DeletionPlan {
  return planDeletion(Object.freeze(metadata), {
    propagationPolicy: "",
    requestedSeconds: undefined,
    graceSeconds: 0,
    held: false,
    now,
    ...request,
  });
}

function mark(
  finalizers: string[],
  deletionTimestamp = NOW,
  deletionGracePeriodSeconds: Int64 | undefined = 0,
  generation?: number,
): DeletionPlan {
  return { action: "mark", mark: { finalizers, deletionTimestamp, deletionGracePeriodSeconds, generation } };
}

function withoutGrace(finalizers: string[]): DeletionPlan {
  return { action: "mark", mark: { finalizers, deletionTimestamp: NOW, deletionGracePeriodSeconds: undefined, generation: undefined } };
}

describe("planDeletion", () => {
  it.each<{ name: string; given: ObjectMeta; request?: Partial<DeletionRequest>; want: DeletionPlan }>([
    { name: "no finalizer", given: {}, want: { action: "remove" } },
    { name: "a finalizer", given: { finalizers: ["a/b"] }, want: mark(["a/b"]) },
    { name: "a kind that holds its objects", given: {}, request: { held: true }, want: withoutGrace([]) },
    {
      name: "a repeated request to a kind that holds its objects",
      given: { deletionTimestamp: NOW },
      request: { held: true, propagationPolicy: "Orphan" },
      want: { action: "keep" },
    },
    {
      name: "a repeated request once the kind has let go, with finalizers",
      given: { finalizers: ["a/b"], deletionTimestamp: NOW },
      want: mark(["a/b"]),
    },
    { name: "an object with a generation", given: { finalizers: ["a/b"], generation: 3 }, want: mark(["a/b"], NOW, 0, 4) },
    { name: "Orphan", given: {}, request: { propagationPolicy: "Orphan" }, want: mark(["orphan"]) },
    {
      name: "Foreground",
      given: {},
      request: { propagationPolicy: "Foreground" },
      want: mark(["foregroundDeletion"]),
    },
    {
      name: "Foreground after Orphan",
      given: { finalizers: ["orphan", "a/b"] },
      request: { propagationPolicy: "Foreground" },
      want: mark(["a/b", "foregroundDeletion"]),
    },
    {
      name: "Background after both",
      given: { finalizers: ["orphan", "foregroundDeletion"] },
      request: { propagationPolicy: "Background" },
      want: { action: "remove" },
    },
    { name: "no policy", given: { finalizers: ["orphan"] }, want: mark(["orphan"]) },
    {
      name: "a repeated request",
      given: { finalizers: ["a/b"], deletionTimestamp: NOW, deletionGracePeriodSeconds: 0 },
      want: { action: "keep" },
    },
    {
      name: "a repeated request with another policy",
      given: { finalizers: ["a/b"], deletionTimestamp: "2026-01-01T11:00:00Z", deletionGracePeriodSeconds: 0, generation: 4 },
      request: { propagationPolicy: "Orphan" },
      want: mark(["a/b", "orphan"], "2026-01-01T11:00:00Z", 0, 4),
    },
    {
      name: "a repeated request before the time of the mark",
      given: { finalizers: ["a/b"], deletionTimestamp: "2026-01-01T13:00:00Z", deletionGracePeriodSeconds: 0 },
      want: mark(["a/b"]),
    },
    { name: "grace", given: {}, request: { graceSeconds: 30 }, want: mark([], "2026-01-01T12:00:30Z", 30) },
    {
      name: "a longer grace",
      given: { deletionTimestamp: "2026-01-01T12:00:10Z", deletionGracePeriodSeconds: 10 },
      request: { requestedSeconds: 60 },
      want: { action: "keep" },
    },
    {
      name: "a shorter grace",
      given: { deletionTimestamp: "2026-01-01T12:00:30Z", deletionGracePeriodSeconds: 30 },
      request: { requestedSeconds: 5 },
      want: mark([], "2026-01-01T12:00:05Z", 5),
    },
    {
      name: "no grace while one is pending",
      given: { deletionTimestamp: "2026-01-01T12:00:30Z", deletionGracePeriodSeconds: 30 },
      request: { graceSeconds: 0 },
      want: { action: "keep" },
    },
    {
      name: "another policy while a grace is pending",
      given: { deletionTimestamp: "2026-01-01T12:00:30Z", deletionGracePeriodSeconds: 30 },
      request: { propagationPolicy: "Foreground" },
      want: { action: "keep" },
    },
    {
      name: "a shorter grace with another policy",
      given: { deletionTimestamp: "2026-01-01T12:00:30Z", deletionGracePeriodSeconds: 30, generation: 4 },
      request: { requestedSeconds: 5, propagationPolicy: "Orphan" },
      want: mark([], "2026-01-01T12:00:05Z", 5, 4),
    },
    {
      name: "a shorter grace that has passed",
      given: { deletionTimestamp: "2026-01-01T12:00:10Z", deletionGracePeriodSeconds: 30 },
      request: { requestedSeconds: 5 },
      want: mark([], NOW, 1),
    },
    {
      name: "grace 0 while one is pending, with finalizers",
      given: { finalizers: ["a/b"], deletionTimestamp: "2026-01-01T12:00:10Z", deletionGracePeriodSeconds: 30 },
      request: { requestedSeconds: 0 },
      want: mark(["a/b"], NOW, 0),
    },
    {
      name: "grace beyond what Go's durations hold",
      given: {},
      request: { graceSeconds: 2 ** 53 },
      want: mark([], LATEST, 2 ** 53),
    },
    {
      name: "a shorter grace after one beyond what Go's durations hold",
      given: { deletionTimestamp: LATEST, deletionGracePeriodSeconds: 2 ** 53 },
      request: { requestedSeconds: 5 },
      want: mark([], "2026-01-01T12:00:05Z", 5),
    },
    { name: "the longest grace", given: {}, request: { graceSeconds: MOST }, want: mark([], LATEST, MOST) },
    {
      name: "the longest grace again",
      given: { deletionTimestamp: LATEST, deletionGracePeriodSeconds: MOST },
      request: { requestedSeconds: MOST },
      want: { action: "keep" },
    },
    {
      name: "a shorter grace after the longest",
      given: { deletionTimestamp: LATEST, deletionGracePeriodSeconds: MOST },
      request: { requestedSeconds: 5 },
      want: mark([], "2026-01-01T12:00:05Z", 5),
    },
    {
      name: "grace 0 after the longest",
      given: { deletionTimestamp: LATEST, deletionGracePeriodSeconds: MOST },
      request: { requestedSeconds: 0 },
      want: { action: "remove" },
    },
    {
      name: "any grace after a stored one beyond 64 bits",
      given: { deletionTimestamp: LATEST, deletionGracePeriodSeconds: 9223372036854776000n },
      request: { requestedSeconds: MOST },
      want: mark([], LATEST, MOST),
    },
    {
      name: "grace 0",
      given: { deletionTimestamp: "2026-01-01T12:00:30Z", deletionGracePeriodSeconds: 30 },
      request: { requestedSeconds: 0 },
      want: { action: "remove" },
    },
  ])("$name: marks, finalizers and grace of the row", ({ given, request, want }) => {
    expect(plan(given, request)).toEqual(want);
  });
});

it("applyDeletionMark: writes the planned members, and no empty list", () => {
  const metadata: ObjectMeta = { name: "n", finalizers: ["orphan"] };
  applyDeletionMark(metadata, { finalizers: [], deletionTimestamp: NOW, deletionGracePeriodSeconds: 0, generation: undefined });
  expect(metadata).toEqual({ name: "n", deletionTimestamp: NOW, deletionGracePeriodSeconds: 0 });
});

it.each<{ given: ObjectMeta; held: boolean; want: boolean }>([
  { given: {}, held: false, want: false },
  { given: { deletionTimestamp: NOW, deletionGracePeriodSeconds: 0 }, held: false, want: true },
  { given: { deletionTimestamp: NOW, finalizers: [] }, held: false, want: true },
  { given: { deletionTimestamp: NOW, finalizers: ["a/b"] }, held: false, want: false },
  { given: { deletionTimestamp: NOW, deletionGracePeriodSeconds: 30 }, held: false, want: false },
  { given: { deletionTimestamp: NOW }, held: true, want: false },
])("isDeletionComplete: $given held=$held is $want", ({ given, held, want }) => {
  expect(isDeletionComplete(given, held)).toBe(want);
});
