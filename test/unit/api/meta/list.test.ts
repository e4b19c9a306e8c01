import { describe, expect, it } from "vitest";
import { listEnvelope } from "../../../../src/api/meta/list";

describe("listEnvelope", () => {
  it("rows: joined inside the text of a list", () => {
    const { head, tail } = listEnvelope("Service", "v1", { resourceVersion: "12" });
    expect(head).toBe('{"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"12"},"items":[');
    expect(JSON.parse(head + tail)).toEqual({ kind: "ServiceList", apiVersion: "v1", metadata: { resourceVersion: "12" }, items: [] });
  });

  it("a page: has the token and the count of the remaining items", () => {
    const { head, tail } = listEnvelope("Lease", "coordination.k8s.io/v1", {
      resourceVersion: "3",
      continue: 'a"b',
      remainingItemCount: 0,
    });
    expect(JSON.parse(`${head}{"metadata":{}}${tail}`)).toEqual({
      kind: "LeaseList",
      apiVersion: "coordination.k8s.io/v1",
      metadata: { resourceVersion: "3", continue: 'a"b', remainingItemCount: 0 },
      items: [{ metadata: {} }],
    });
  });
});
