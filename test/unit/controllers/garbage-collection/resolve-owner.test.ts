import { expect, it } from "vitest";
import { ownersIn } from "../../../../src/controllers/garbage-collection/resolve-owner";

const dependent = { store: "configmaps", key: { namespace: "ns", name: "a" } };
const cluster = { apiVersion: "servicenet.dev/v1alpha1", kind: "Cluster", name: "blue", uid: "u" };
const service = { apiVersion: "v1", kind: "Service", name: "web", uid: "u" };

it("an owner of a kind that only the root has: looked for there; elsewhere nobody can say that it is gone", () => {
  const inRoot = ownersIn(new Set(["configmaps", "services", "clusters.servicenet.dev"]));
  expect(inRoot(cluster, dependent)).toEqual({ store: "clusters.servicenet.dev", key: { namespace: "", name: "blue" } });
  const elsewhere = ownersIn(new Set(["configmaps", "services"]));
  expect(elsewhere(cluster, dependent)).toBeUndefined();
  expect(elsewhere(service, dependent)).toEqual({ store: "services", key: { namespace: "ns", name: "web" } });
});
