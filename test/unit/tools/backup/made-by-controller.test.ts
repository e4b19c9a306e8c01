import { expect, it } from "vitest";
import { isMadeByController } from "../../../../src/tools/backup/made-by-controller";

const SLICES = { group: "discovery.k8s.io", resource: "endpointslices" };
const ENDPOINTS = { group: "", resource: "endpoints" };
const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";

it.each([
  ["a slice of the slice controller", SLICES, { [MANAGED_BY]: "endpointslice-controller.k8s.io" }, true],
  ["a mirrored slice", SLICES, { [MANAGED_BY]: "endpointslicemirroring-controller.k8s.io" }, true],
  ["a slice of somebody else", SLICES, { [MANAGED_BY]: "me" }, false],
  ["a slice by hand", SLICES, undefined, false],
  ["Endpoints of the controller", ENDPOINTS, { "endpoints.kubernetes.io/managed-by": "endpoint-controller" }, true],
  ["Endpoints by hand", ENDPOINTS, {}, false],
  ["a Pod with such a label", { group: "", resource: "pods" }, { [MANAGED_BY]: "endpointslice-controller.k8s.io" }, false],
])("%s: as the row says", (_, type, labels, want) => {
  expect(isMadeByController(type, { metadata: labels ? { labels } : {} })).toBe(want);
});

it.each([
  ["the slice that the server keeps", SLICES, "kube-apiserver", true],
  ["the Endpoints that the server keeps", ENDPOINTS, "kube-apiserver", true],
  ["the slice, by hand", SLICES, "kubectl", false],
  ["the Endpoints, by hand", ENDPOINTS, "kubectl", false],
])("default/kubernetes, %s: as the row says", (_, type, manager, want) => {
  const labels = { "kubernetes.io/service-name": "kubernetes" };
  expect(isMadeByController(type, { metadata: { namespace: "default", name: "kubernetes", labels, managedFields: [{ manager }] } })).toBe(
    want,
  );
});
