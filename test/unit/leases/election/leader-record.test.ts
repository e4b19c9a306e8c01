import { describe, expect, it } from "vitest";
import type { Lease } from "../../../../src/api/meta/kubernetes";
import {
  createdBy,
  isSameTerm,
  judge,
  releasedBy,
  renewedBy,
  seenNext,
  takenBy,
  type LeaderVerdict,
} from "../../../../src/leases/election/leader-record";

const HOLDING = { identity: "me", durationSeconds: 15, labels: {} };
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const NOW_TEXT = "2026-01-02T03:04:05.678000Z";
const held = (holderIdentity: string, leaseDurationSeconds: number): Lease["spec"] => ({ holderIdentity, leaseDurationSeconds });

describe("judge", () => {
  it.each<{ name: string; spec: Lease["spec"]; seenMs: number; nowMs: number; want: LeaderVerdict }>([
    { name: "object without a record", spec: undefined, seenMs: 0, nowMs: 0, want: { kind: "take" } },
    { name: "empty holder, seen just now", spec: held("", 15), seenMs: 5, nowMs: 5, want: { kind: "take" } },
    { name: "held by me", spec: held("me", 15), seenMs: 5, nowMs: 99_999, want: { kind: "renew" } },
    { name: "held by another, seen just now", spec: held("other", 3), seenMs: 5, nowMs: 5, want: { kind: "wait", untilMs: 3005 } },
    { name: "held by another, unchanged for its duration", spec: held("other", 3), seenMs: 5, nowMs: 3006, want: { kind: "take" } },
    { name: "at its last millisecond", spec: held("other", 3), seenMs: 5, nowMs: 3005, want: { kind: "wait", untilMs: 3005 } },
    { name: "without a duration, at first sight", spec: held("other", 0), seenMs: 5, nowMs: 5, want: { kind: "wait", untilMs: 5 } },
    { name: "without a duration, later", spec: held("other", 0), seenMs: 5, nowMs: 6, want: { kind: "take" } },
  ])("$name: $want.kind", ({ spec, seenMs, nowMs, want }) => {
    expect(judge({ lease: { spec }, atMs: seenMs }, "me", nowMs)).toEqual(want);
  });

  it("times of the writer, an hour ahead or behind: are ignored", () => {
    for (const renewTime of ["2026-01-02T02:00:00.000000Z", "2026-01-02T04:00:00.000000Z"]) {
      const lease = { spec: { ...held("other", 15), renewTime } } as Lease;
      expect(judge({ lease, atMs: 0 }, "me", 15_000)).toMatchObject({ kind: "wait" });
      expect(judge({ lease, atMs: 0 }, "me", 15_001)).toEqual({ kind: "take" });
    }
  });
});

describe("seenNext", () => {
  const lease = { metadata: { uid: "u", resourceVersion: "1" }, spec: { ...held("other", 15), renewTime: NOW_TEXT } } as Lease;

  it("the same content, whatever its resourceVersion: keeps its time", () => {
    const again = { ...lease, metadata: { ...lease.metadata, resourceVersion: "2", labels: { a: "b" } } };
    expect(seenNext({ lease, atMs: 5 }, again, 99)).toEqual({ lease: again, atMs: 5 });
  });

  it.each<[string, Lease]>([
    ["renewed", { ...lease, spec: { ...lease.spec, renewTime: "2026-01-02T03:04:05.678001Z" } }],
    ["another object of the name", { ...lease, metadata: { uid: "v" } }],
    ["released", { ...lease, spec: { ...lease.spec, holderIdentity: "" } }],
  ])("%s: seen now", (_, next) => {
    expect(seenNext({ lease, atMs: 5 }, next, 99)).toEqual({ lease: next, atMs: 99 });
  });
});

describe("what is written", () => {
  const before = {
    metadata: { name: "n", uid: "u", labels: { a: "1", b: "2" } },
    spec: {
      ...held("other", 3),
      leaseTransitions: 4,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:09.000000Z",
    },
  } as Lease;

  it("a new Lease: transitions 0", () => {
    expect(createdBy("ns", "n", { ...HOLDING, labels: { app: "x" } }, NOW)).toEqual({
      metadata: { namespace: "ns", name: "n", labels: { app: "x" } },
      spec: {
        holderIdentity: "me",
        leaseDurationSeconds: 15,
        acquireTime: NOW_TEXT,
        renewTime: NOW_TEXT,
        leaseTransitions: 0,
      },
    });
  });

  it("one that is taken: acquired now, one transition more; an empty spec counts from 0", () => {
    expect(takenBy(before, HOLDING, NOW).spec).toEqual({
      holderIdentity: "me",
      leaseDurationSeconds: 15,
      acquireTime: NOW_TEXT,
      renewTime: NOW_TEXT,
      leaseTransitions: 5,
    });
    expect(takenBy({ metadata: { name: "n" } }, HOLDING, NOW).spec).toMatchObject({ leaseTransitions: 1 });
  });

  it("one that is renewed: keeps acquireTime and transitions", () => {
    expect(renewedBy(before, HOLDING, NOW).spec).toMatchObject({
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: NOW_TEXT,
      leaseTransitions: 4,
    });
  });

  it("one that is released: no holder, one second, transitions kept", () => {
    expect(releasedBy(before, HOLDING, NOW).spec).toEqual({
      holderIdentity: "",
      leaseDurationSeconds: 1,
      acquireTime: NOW_TEXT,
      renewTime: NOW_TEXT,
      leaseTransitions: 4,
    });
  });

  it("labels: the election's over those of others", () => {
    expect(takenBy(before, { ...HOLDING, labels: { b: "3" } }, NOW).metadata).toEqual({ name: "n", uid: "u", labels: { a: "1", b: "3" } });
    expect(takenBy(before, HOLDING, NOW).metadata).toEqual(before.metadata);
  });

  it("a term: the same through renewals, another after a release or for another object", () => {
    const mine = takenBy(before, HOLDING, NOW);
    expect(isSameTerm(mine, renewedBy(mine, HOLDING, NOW + 5))).toBe(true);
    expect(isSameTerm(mine, releasedBy(mine, HOLDING, NOW + 5))).toBe(false);
    expect(isSameTerm(mine, takenBy(mine, HOLDING, NOW))).toBe(false);
    expect(isSameTerm(mine, { ...mine, metadata: { ...mine.metadata, uid: "v" } })).toBe(false);
  });
});
