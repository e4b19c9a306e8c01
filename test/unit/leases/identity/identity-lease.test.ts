import { describe, expect, it } from "vitest";
import type { Lease } from "../../../../src/api/meta/kubernetes";
import { rfc3339Micros } from "../../../../src/api/meta/time";
import { hasRunOut, type Instance, isIdentityLease, nextStep } from "../../../../src/leases/identity/identity-lease";
import { upstreamRow } from "../../../conformance/upstream-row";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const INSTANCE: Instance = { hostname: "node-1", identity: "n_2", durationSeconds: 3600, renewSeconds: 10 };
const LABELS = {
  "apiserver.kubernetes.io/identity": "kube-apiserver",
  "k8s.io/component": "kube-apiserver",
  "kubernetes.io/hostname": "node-1",
};
const ago = (seconds: number): string => rfc3339Micros(NOW - seconds * 1000);

function lease(spec: Lease["spec"], metadata: Lease["metadata"] = {}): Lease {
  return { metadata: { namespace: "kube-system", name: "n", labels: LABELS, ...metadata }, spec };
}

describe("nextStep", () => {
  it("no Lease: made, with all fields and labels", () => {
    const at = rfc3339Micros(NOW);
    expect(nextStep("n", undefined, INSTANCE, NOW)).toEqual({
      kind: "create",
      lease: {
        metadata: { namespace: "kube-system", name: "n", labels: LABELS },
        spec: { holderIdentity: "n_2", leaseDurationSeconds: 3600, acquireTime: at, renewTime: at, leaseTransitions: 0 },
      },
    });
  });

  it("host name that is no label value: the Lease has no such label", () => {
    const step = nextStep("n", undefined, { ...INSTANCE, hostname: "näme." }, NOW);
    expect(step).toMatchObject({ lease: { metadata: { labels: { "k8s.io/component": "kube-apiserver" } } } });
    expect(JSON.stringify(step)).not.toContain("hostname");
  });

  it.each<{ name: string; holder: string; renewed?: number; seen?: number; lasts?: number; want: unknown }>([
    { name: "own, renewed 4 s ago", holder: "n_2", renewed: 4, want: { kind: "rest", untilMs: NOW + 6_000 } },
    { name: "own, renewed 10 s ago", holder: "n_2", renewed: 10, want: "renewed" },
    { name: "own, with a time to come", holder: "n_2", renewed: -60, want: "renewed" },
    { name: "own, without a time", holder: "n_2", want: "renewed" },
    { name: "of another start, fresh", holder: "n_1", renewed: 4, want: { kind: "rest", untilMs: NOW + 26_000 } },
    { name: "of another start, two renewals missed", holder: "n_1", renewed: 29, want: { kind: "rest", untilMs: NOW + 1_000 } },
    { name: "of another start, three renewals missed", holder: "n_1", renewed: 30, want: "taken" },
    { name: "of another start, run out before three renewals", holder: "n_1", renewed: 20, lasts: 20, want: "taken" },
    { name: "of another start, about to run out", holder: "n_1", renewed: 19, lasts: 20, want: { kind: "rest", untilMs: NOW + 1_000 } },
    { name: "of another start, without a time", holder: "n_1", want: "taken" },
    { name: "of another start, an hour ahead, just seen", holder: "n_1", renewed: -3600, want: { kind: "rest", untilMs: NOW + 30_000 } },
    { name: "of another start, an hour ahead, unchanged for three renewals", holder: "n_1", renewed: -3600, seen: 30, want: "taken" },
    { name: "released", holder: "", renewed: 1, want: { kind: "rest", untilMs: NOW + 29_000 } },
  ])("$name: $want", ({ holder, renewed, seen = 0, lasts = 60, want }) => {
    const before = lease(
      {
        holderIdentity: holder,
        leaseDurationSeconds: lasts,
        leaseTransitions: 2,
        acquireTime: ago(900),
        ...(renewed === undefined ? {} : { renewTime: ago(renewed) }),
      },
      { uid: "u", resourceVersion: "7" },
    );
    const step = nextStep("n", { lease: before, atMs: NOW - seen * 1000 }, INSTANCE, NOW);
    if (typeof want !== "string") return expect(step).toEqual(want);
    const own = { holderIdentity: "n_2", leaseDurationSeconds: 3600, renewTime: rfc3339Micros(NOW) };
    const changed =
      want === "taken" ? { acquireTime: rfc3339Micros(NOW), leaseTransitions: 3 } : { acquireTime: ago(900), leaseTransitions: 2 };
    expect(step).toEqual({ kind: "update", lease: { ...before, spec: { ...own, ...changed } } });
  });

  it("labels of the Lease that somebody changed: restored by the next renewal; foreign labels stay", () => {
    const before = lease({ holderIdentity: "n_2", renewTime: ago(60) }, { labels: { "kubernetes.io/hostname": "x", mine: "y" } });
    expect(nextStep("n", { lease: before, atMs: NOW }, INSTANCE, NOW)).toMatchObject({
      lease: { metadata: { labels: { ...LABELS, mine: "y" } } },
    });
  });
});

upstreamRow("apiserverleasegc: Test_Controller", () => {
  it.each<[string, Lease, boolean]>([
    ["identity label in kube-system", lease({}), true],
    ["another name", lease({}, { name: "x" }), true],
    ["without the label", lease({}, { labels: {} }), false],
    ["another value", lease({}, { labels: { "apiserver.kubernetes.io/identity": "kube-controller-manager" } }), false],
    ["another namespace", lease({}, { namespace: "default" }), false],
    ["a node's", lease({}, { namespace: "kube-node-lease", labels: {} }), false],
  ])("%s: an identity Lease: %#", (_, object, want) => {
    expect(isIdentityLease(object)).toBe(want);
  });

  it.each<[string, Lease["spec"], boolean]>([
    ["renewed an hour ago, to the millisecond", { leaseDurationSeconds: 3600, renewTime: ago(3600) }, false],
    ["renewed a millisecond earlier", { leaseDurationSeconds: 3600, renewTime: ago(3600.001) }, true],
    ["renewed just now", { leaseDurationSeconds: 10, renewTime: ago(0) }, false],
    ["by a clock minutes ahead", { leaseDurationSeconds: 10, renewTime: ago(-300) }, false],
    ["without a time", { leaseDurationSeconds: 10 }, true],
    ["with the zero time", { leaseDurationSeconds: 10, renewTime: null as unknown as string }, true],
    ["without a duration", { renewTime: ago(0) }, true],
    ["without anything", undefined, true],
  ])("%s: has run out: %s", (_, spec, want) => {
    expect(hasRunOut(lease(spec), NOW)).toBe(want);
  });
});
