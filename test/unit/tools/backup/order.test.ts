import { expect, it } from "vitest";
import { inReadingOrder, inRestoreOrder, isBackedUp, typeName } from "../../../../src/tools/backup/order";
import { storedDefinitions } from "../../../../src/api/registry/all";

const types = storedDefinitions.map(({ group, resource, kind, namespaced, versions, subresources }) => ({
  group,
  resource,
  kind,
  namespaced,
  version: versions[0] ?? "",
  hasStatus: subresources.includes("status"),
}));

it("served types: backed up except both of Events and Clusters, each store once", () => {
  const names = types.filter(isBackedUp).map(typeName).sort();
  expect(names).toEqual(
    storedDefinitions
      .filter(({ resource }) => resource !== "events" && resource !== "clusters")
      .map(typeName)
      .sort(),
  );
});

it("another form of what is not backed up: is not either, as a client of the server lists it", () => {
  expect(isBackedUp({ group: "multicluster.x-k8s.io", resource: "clusterprofiles" })).toBe(false);
});

it("type that others need: restored before them, read after them; unknown types: last", () => {
  const unknown = { group: "example.com", version: "v1", resource: "things", kind: "Thing", namespaced: true, hasStatus: false };
  // As little is known of a resource that only has the name of one that is.
  const namesake = { ...unknown, resource: "services" };
  const all = [...types.filter(isBackedUp), unknown, namesake];
  const restored = inRestoreOrder(all.map((type) => ({ type, resourceVersion: "1", objects: [] }))).map(({ type }) => type.resource);
  expect(restored).toEqual([
    "namespaces",
    "servicecidrs",
    "ipaddresses",
    "nodes",
    "services",
    "serviceaccounts",
    "clusterroles",
    "clusterrolebindings",
    "roles",
    "rolebindings",
    "configmaps",
    "secrets",
    "podtemplates",
    "pods",
    "endpoints",
    "endpointslices",
    "leases",
    ...[
      "inclusterippools",
      "globalinclusterippools",
      "inclusterprefixpools",
      "globalinclusterprefixpools",
      "ipaddresses",
      "ipaddressclaims",
    ],
    "resourcequotas",
    "things",
    "services",
  ]);
  expect(inReadingOrder(all).map(({ resource }) => resource)).toEqual([...restored.slice(-2), ...restored.slice(0, -2).toReversed()]);
  expect(isBackedUp({ ...unknown, resource: "events" })).toBe(true);
});
