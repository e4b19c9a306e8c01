import { expect, it } from "vitest";
import { clusterObjects } from "../../../src/tenancy/cluster-objects";

it("end of a cluster: the view and the controllers first, then the services store, and the Coordinator last", () => {
  const objects = clusterObjects(["namespaces", "repair"]).map(({ kind, name }) => `${kind} ${name}`);
  expect(objects.slice(0, 4)).toEqual(["view proxy-view", "controller namespaces", "controller repair", "store services"]);
  expect(objects.at(-1)).toBe("store servicecidrs.networking.k8s.io");
});

it("objects of a cluster: each store once, none for another representation", () => {
  const names = clusterObjects([]).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain("events");
  expect(names).not.toContain("events.events.k8s.io");
});
