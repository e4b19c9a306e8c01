import { describe, expect, it } from "vitest";
import type { EndpointSlice } from "../../../../src/api/meta/kubernetes";
import { serviceKeyOf, SliceTracker } from "../../../../src/endpoints/slices/slice-tracker";
import { aService } from "../../../support/worlds/slice-world";

const slice = (name: string, generation = 1): EndpointSlice => ({
  metadata: { namespace: "ns", name, uid: `uid of ${name}`, generation, labels: { "kubernetes.io/service-name": "s" } },
  addressType: "IPv4",
  endpoints: [],
});

function deleting(one: EndpointSlice): EndpointSlice {
  return { ...one, metadata: { ...one.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
}

// upstream util/endpointslice_tracker_test.go
describe("SliceTracker.isStale", () => {
  it.each<[string, (tracker: SliceTracker) => void, EndpointSlice[], boolean]>([
    ["nothing was written", () => undefined, [slice("a")], false],
    ["the write is there", (tracker) => tracker.written(slice("a", 2)), [slice("a", 2)], false],
    ["a newer version is there", (tracker) => tracker.written(slice("a", 2)), [slice("a", 3)], false],
    ["an older version is there", (tracker) => tracker.written(slice("a", 2)), [slice("a")], true],
    ["the created slice is missing", (tracker) => tracker.written(slice("a")), [slice("b")], true],
    ["the deleted slice is still there", (tracker) => tracker.deleted(slice("a")), [slice("a")], true],
    ["the deleted slice is kept by a finalizer", (tracker) => tracker.deleted(slice("a")), [deleting(slice("a"))], false],
    ["a written slice is being deleted by somebody", (tracker) => tracker.written(slice("a")), [deleting(slice("a"))], false],
    ["the deleted slice is gone", (tracker) => tracker.deleted(slice("a")), [], false],
    ["slices of others beside it", (tracker) => tracker.written(slice("a")), [slice("a"), slice("b")], false],
    [
      "the Service is gone and another one is there",
      (tracker) => {
        tracker.written(slice("a", 2));
        tracker.isStale(aService(), [slice("a")]);
        tracker.forget("ns/s");
      },
      [slice("a")],
      false,
    ],
  ])("%s: as in the row", (_, given, slices, want) => {
    const tracker = new SliceTracker();
    given(tracker);
    expect(tracker.isStale(aService(), slices)).toBe(want);
  });

  it("a Service of the same name with another uid: writes for the earlier one are forgotten", () => {
    const tracker = new SliceTracker();
    tracker.written(slice("a", 2));
    expect(tracker.isStale(aService(), [])).toBe(true);
    expect(tracker.isStale(aService({}, { uid: "another" }), [])).toBe(false);
    expect(tracker.isStale(aService(), [])).toBe(false);
  });
});

describe("SliceTracker.isForeignChange", () => {
  it.each<[string, EndpointSlice, boolean]>([
    ["the own write", slice("a", 2), false],
    ["an older version", slice("a", 1), false],
    ["a newer version", slice("a", 3), true],
    ["a slice that was never written", slice("b"), true],
  ])("the feed tells of %s: as in the row", (_, told, want) => {
    const tracker = new SliceTracker();
    tracker.written(slice("a", 2));
    expect(tracker.isForeignChange(told)).toBe(want);
  });
});

it("a write that the feed has told: is forgotten, and what changes no endpoint afterwards is nobody's doing", () => {
  const tracker = new SliceTracker();
  for (const name of ["a", "b"]) tracker.written(slice(name, 2));
  expect(tracker.isForeignChange(slice("a", 2))).toBe(false);
  expect(tracker.isForeignChange(slice("a", 2), slice("a", 2))).toBe(false);
  expect(tracker.isForeignChange(slice("a", 3), slice("a", 2))).toBe(true);
  // The other one is awaited still.
  expect(tracker.isStale(aService(), [slice("a", 2)])).toBe(true);
  expect(tracker.isForeignChange(slice("b", 2))).toBe(false);
  expect([tracker.isStale(aService(), []), tracker.forgetAll()]).toEqual([false, []]);
});

describe("SliceTracker.gone", () => {
  it.each<[string, (tracker: SliceTracker) => void, boolean]>([
    ["a slice that was written", (tracker) => tracker.written(slice("a")), true],
    ["a slice that was deleted here", (tracker) => tracker.deleted(slice("a")), false],
    ["a slice that nobody tracks", () => undefined, true],
  ])("the feed tells of the end of %s: whether somebody else did it", (_, given, want) => {
    const tracker = new SliceTracker();
    given(tracker);
    expect(tracker.gone(slice("a"))).toBe(want);
    expect(tracker.isStale(aService(), [])).toBe(false);
  });
});

it("a slice that somebody gives to another Service: the Service looks again and does not wait for it", () => {
  const tracker = new SliceTracker();
  tracker.written(slice("a"));
  expect(tracker.gone(slice("a"))).toBe(true);
  expect(tracker.isStale(aService(), [])).toBe(false);
});

it("serviceKeyOf a slice without label: the namespace and no name", () => {
  expect(serviceKeyOf(slice("a"))).toBe("ns/s");
  expect(serviceKeyOf({ ...slice("a"), metadata: { namespace: "ns" } })).toBe("ns/");
});
