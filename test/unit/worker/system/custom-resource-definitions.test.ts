import { expect, it } from "vitest";
import { json } from "../client";

it("custom resource definitions: an empty list, and discovery does not name their group", async () => {
  expect(await json("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")).toMatchObject({
    kind: "CustomResourceDefinitionList",
    apiVersion: "apiextensions.k8s.io/v1",
    items: [],
  });
  expect(JSON.stringify(await json("/apis"))).not.toContain("apiextensions");
});
