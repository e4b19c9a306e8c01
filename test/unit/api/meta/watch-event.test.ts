import { expect, it } from "vitest";
import { expired } from "../../../../src/api/meta/status";
import { typeHead } from "../../../../src/api/meta/type-meta";
import { bookmarkFrame, changeFrame, errorFrame } from "../../../../src/api/meta/watch-event";

it("changeFrame: one line with the type and the stored text", () => {
  expect(changeFrame("ADDED", typeHead("Service", "v1"), '{"metadata":{"name":"a"}}')).toBe(
    '{"type":"ADDED","object":{"kind":"Service","apiVersion":"v1","metadata":{"name":"a"}}}\n',
  );
});

it("bookmarkFrame: has a resourceVersion alone", () => {
  expect(bookmarkFrame({ kind: "Service", apiVersion: "v1", resourceVersion: "9" })).toBe(
    '{"type":"BOOKMARK","object":{"kind":"Service","apiVersion":"v1","metadata":{"resourceVersion":"9"}}}\n',
  );
});

it("bookmarkFrame after the initial events: has the shape of the list", () => {
  const frame = JSON.parse(bookmarkFrame({ kind: "Service", apiVersion: "v1", resourceVersion: "9", initialEventsEnd: true })) as {
    object: { metadata: { annotations: Record<string, string> } };
  };
  const { annotations } = frame.object.metadata;
  expect(annotations["k8s.io/initial-events-end"]).toBe("true");
  const blueprint: unknown = JSON.parse(atob(annotations["kubernetes.io/initial-events-list-blueprint"] ?? ""));
  expect(blueprint).toEqual({ kind: "ServiceList", apiVersion: "v1", metadata: {}, items: null });
});

it("errorFrame: has the unchanged Status", () => {
  const status = expired("too old resource version: 1 (5)");
  expect(JSON.parse(errorFrame(status))).toEqual({ type: "ERROR", object: status });
});
