import { describe, expect, it } from "vitest";
import { conditionsAfter, type DeletionProgress } from "../../../../src/controllers/namespaces/namespace-conditions";

const NOW = Date.UTC(2026, 0, 1);
const LATER = NOW + 60_000;
const NOTHING: DeletionProgress = { remaining: new Map(), finalizers: new Map(), failures: [] };

describe("conditionsAfter", () => {
  it("an empty namespace: all five conditions are False", () => {
    expect(conditionsAfter(NOTHING, [], NOW)?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ["NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered"],
      ["NamespaceDeletionGroupVersionParsingFailure", "False", "ParsedGroupVersions"],
      ["NamespaceDeletionContentFailure", "False", "ContentDeleted"],
      ["NamespaceContentRemaining", "False", "ContentRemoved"],
      ["NamespaceFinalizersRemaining", "False", "ContentRemoved"],
    ]);
  });

  it.each<[string, Partial<DeletionProgress>, string, string, string]>([
    [
      "objects",
      {
        remaining: new Map([
          ["pods.", 2],
          ["leases.coordination.k8s.io", 1],
        ]),
      },
      "NamespaceContentRemaining",
      "SomeResourcesRemain",
      "Some resources are remaining: leases.coordination.k8s.io has 1 resource instances, pods. has 2 resource instances",
    ],
    [
      "finalizers",
      { finalizers: new Map([["example.com/x", 3]]) },
      "NamespaceFinalizersRemaining",
      "SomeFinalizersRemain",
      "Some content in the namespace has finalizers remaining: example.com/x in 3 resource instances",
    ],
    [
      "failures",
      { failures: ["services.: down", "pods.: down"] },
      "NamespaceDeletionContentFailure",
      "ContentDeletionFailed",
      "Failed to delete all resource types, 2 remaining: pods.: down, services.: down",
    ],
  ])("%s: one condition is True, with upstream's reason and message", (_, progress, type, reason, message) => {
    const found = conditionsAfter({ ...NOTHING, ...progress }, [], NOW)?.filter(({ status }) => status === "True");
    expect(found).toEqual([{ type, status: "True", reason, message, lastTransitionTime: "2026-01-01T00:00:00Z" }]);
  });

  it("equal progress: no change; another status: a new time; conditions of others: kept", () => {
    const one = { ...NOTHING, remaining: new Map([["pods.", 1]]) };
    const own = { type: "Own", status: "True", lastTransitionTime: "2025-01-01T00:00:00Z", reason: "R", message: "m" };
    const first = conditionsAfter(one, [own], NOW) ?? [];
    expect(first[0]).toEqual(own);
    expect(conditionsAfter(one, first, LATER)).toBeUndefined();
    const second = conditionsAfter({ ...NOTHING, remaining: new Map([["pods.", 2]]) }, first, LATER) ?? [];
    const remaining = (conditions: typeof first) => conditions.find(({ type }) => type === "NamespaceContentRemaining");
    expect(remaining(second)).toMatchObject({
      message: expect.stringContaining("has 2") as string,
      lastTransitionTime: "2026-01-01T00:00:00Z",
    });
    expect(remaining(conditionsAfter(NOTHING, second, LATER) ?? [])).toMatchObject({
      status: "False",
      lastTransitionTime: "2026-01-01T00:01:00Z",
    });
  });
});
