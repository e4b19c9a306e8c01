import { expect, it } from "vitest";
import { CONTROLLERS } from "../../../durable-objects/platform/controllers";
import { clusterObjects, nodeProxyOf } from "../../../src/tenancy/cluster-objects";

const [load] = Object.values(import.meta.glob("../../../docs/clusters.md", { query: "?raw", import: "default" }));

it("end of a cluster: credentials, the view and the controllers first, then the services store, and the Coordinator last", () => {
  const objects = clusterObjects(["namespaces", "repair"])
    .filter(({ kind }) => kind !== "node-proxy")
    .map(({ kind, name }) => `${kind} ${name}`);
  expect(objects.slice(0, 5)).toEqual([
    "credentials credentials",
    "view proxy-view",
    "controller namespaces",
    "controller repair",
    "store services",
  ]);
  expect(objects.at(-1)).toBe("store servicecidrs.networking.k8s.io");
});

it("objects of a cluster: each store once, none for another representation", () => {
  const names = clusterObjects([]).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain("events");
  expect(names).not.toContain("events.events.k8s.io");
});

it("objects that keep the health of nodes: the end of a cluster knows that of every node, and nodes are spread over them", () => {
  const known = clusterObjects([]).flatMap(({ kind, name }) => (kind === "node-proxy" ? [name] : []));
  const counts = new Map(known.map((name) => [name, 0]));
  for (let i = 0; i < 1_600; i++) {
    const name = nodeProxyOf(`node-${i}.example.com`);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  expect([counts.size, known.length]).toEqual([16, 16]);
  expect(Math.max(...counts.values())).toBeLessThan(150);
});

it("the cluster default: has the store and the controller of the fleet besides", () => {
  const of = (isRoot: boolean): string[] => clusterObjects(CONTROLLERS.namesIn(isRoot), isRoot).map(({ kind, name }) => `${kind} ${name}`);
  const others = new Set(of(false));
  expect(of(true).filter((object) => !others.has(object))).toEqual(["controller clusters", "store clusters.servicenet.dev"]);
});

it("docs/clusters.md: names the number of a cluster's objects", async () => {
  const page = (await load?.()) as string;
  const objects = clusterObjects(CONTROLLERS.namesIn(false)).length;
  expect(page).toContain(`"phase":"Terminating","objects":${objects},"wiped":7`);
  expect(page).toContain(`a list of ${objects} objects`);
});
