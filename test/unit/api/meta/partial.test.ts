import { expect, it } from "vitest";
import { partialListEnvelope, partialOfStored } from "../../../../src/api/meta/partial";

it("partialOfStored: answers metadata alone", () => {
  expect(JSON.parse(partialOfStored("v1beta1", '{"metadata":{"name":"a","labels":{"b":"c"}},"spec":{}}'))).toEqual({
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1beta1",
    metadata: { name: "a", labels: { b: "c" } },
  });
});

it("partialListEnvelope: items carry their own type", () => {
  const { head, tail } = partialListEnvelope("v1", { resourceVersion: "4" });
  expect(JSON.parse(head + partialOfStored("v1", '{"metadata":{"name":"a"}}') + tail)).toEqual({
    kind: "PartialObjectMetadataList",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion: "4" },
    items: [{ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "a" } }],
  });
});
