import { expect, it } from "vitest";
import { definitions } from "../../../../../src/api/registry/all";
import { filterOf } from "../../../../../src/api/store/hub/collection-filter";

it("a selector by metadata.namespace: refused of Clusters, Nodes and Namespaces alone", () => {
  const refused = definitions.flatMap((definition) => {
    const filter = filterOf({ namespace: "", labelSelector: "", fieldSelector: "metadata.namespace=a" }, definition);
    return filter.ok ? [] : [`${definition.resource}: ${filter.error.code} ${filter.error.message}`];
  });
  expect(refused.sort()).toEqual(
    ["clusters", "namespaces", "nodes"].map((name) => `${name}: 400 field label not supported: metadata.namespace`),
  );
});
