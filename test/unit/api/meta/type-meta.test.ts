import { expect, it } from "vitest";
import { apiVersionOf, spliceTypeMeta, typeHead } from "../../../../src/api/meta/type-meta";

it("spliceTypeMeta: kind and apiVersion come first, the stored text follows unchanged", () => {
  const head = typeHead("Lease", apiVersionOf("coordination.k8s.io", "v1"));
  expect(spliceTypeMeta(head, '{"metadata":{"name":"a"}}')).toBe(
    '{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"a"}}',
  );
  expect(spliceTypeMeta(head, "{}")).toBe('{"kind":"Lease","apiVersion":"coordination.k8s.io/v1"}');
});

it("apiVersionOf: the version alone for the core group", () => {
  expect(apiVersionOf("", "v1")).toBe("v1");
});
