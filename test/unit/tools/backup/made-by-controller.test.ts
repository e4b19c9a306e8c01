import { expect, it } from "vitest";
import { madeByControllers } from "../../../../src/tools/backup/made-by-controller";
import type { ObjectMeta, Service } from "../../../../src/api/meta/kubernetes";
import { rowMetadata } from "../../../../src/api/registry/ipam/fleet-rows";

const SLICES = { group: "discovery.k8s.io", resource: "endpointslices" };
const ENDPOINTS = { group: "", resource: "endpoints" };
const CONFIG_MAPS = { group: "", resource: "configmaps" };
const PODS = { group: "", resource: "pods" };
const OF_PODS = { "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" };
const MIRRORED = { "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io" };
const BY_CONTROLLER = { "endpoints.kubernetes.io/managed-by": "endpoint-controller" };

const service = (name: string, spec: Service["spec"]): Service => ({ metadata: { namespace: "ns", name }, spec });
const isMade = madeByControllers([
  service("selecting", { selector: { app: "a" } }),
  service("plain", {}),
  service("lost", { selector: {} }),
  service("external", { type: "ExternalName", selector: { app: "a" } }),
]);

const of = (name: string, more: Record<string, string>): ObjectMeta["labels"] => ({ "kubernetes.io/service-name": name, ...more });
const owned = [{ apiVersion: "v1", kind: "Service", name: "gone", uid: "u" }];

it.each<[string, typeof SLICES, ObjectMeta, boolean]>([
  ["a slice of Pods", SLICES, { labels: of("selecting", OF_PODS) }, true],
  ["a slice of Pods, the Service lost its selector", SLICES, { labels: of("lost", OF_PODS) }, false],
  ["a slice of Pods, the Service is an ExternalName now", SLICES, { labels: of("external", OF_PODS) }, false],
  ["a slice of Pods, the Service is gone", SLICES, { labels: of("gone", OF_PODS), ownerReferences: owned }, true],
  ["a slice of Pods, the Service was deleted without it", SLICES, { labels: of("gone", OF_PODS) }, false],
  ["a slice of Pods in another namespace", SLICES, { namespace: "other", labels: of("selecting", OF_PODS) }, false],
  ["a slice with the controller's label alone", SLICES, { labels: OF_PODS }, false],
  ["a mirrored slice", SLICES, { labels: of("plain", MIRRORED) }, true],
  ["a mirrored slice whose Service has a selector now", SLICES, { labels: of("selecting", MIRRORED) }, true],
  ["a slice of somebody else", SLICES, { labels: of("selecting", { "endpointslice.kubernetes.io/managed-by": "me" }) }, false],
  ["a slice by hand", SLICES, {}, false],
  ["Endpoints of the controller", ENDPOINTS, { name: "selecting", labels: BY_CONTROLLER }, true],
  ["Endpoints of a Service that lost its selector", ENDPOINTS, { name: "lost", labels: BY_CONTROLLER }, false],
  ["Endpoints of the controller, the Service is gone", ENDPOINTS, { name: "gone", labels: BY_CONTROLLER }, true],
  ["Endpoints by hand", ENDPOINTS, { name: "plain" }, false],
  ["the certificates of the server's authority", CONFIG_MAPS, { name: "kube-root-ca.crt" }, true],
  ["another ConfigMap", CONFIG_MAPS, { name: "web" }, false],
  ["a Pod with such a label", PODS, { labels: of("selecting", OF_PODS) }, false],
])("%s: as the row says", (_, type, metadata, want) => {
  expect(isMade(type, { metadata: { namespace: "ns", ...metadata } })).toBe(want);
});

it.each([
  ["the slice that the server keeps", SLICES, "kube-apiserver", true],
  ["the Endpoints that the server keeps", ENDPOINTS, "kube-apiserver", true],
  ["the slice, by hand", SLICES, "kubectl", false],
  ["the Endpoints, by hand", ENDPOINTS, "kubectl", false],
])("default/kubernetes, %s: as the row says", (_, type, manager, want) => {
  const labels = { "kubernetes.io/service-name": "kubernetes" };
  expect(isMade(type, { metadata: { namespace: "default", name: "kubernetes", labels, managedFields: [{ manager }] } })).toBe(want);
});

it.each([
  ["the Lease of a server", "kube-system", { "apiserver.kubernetes.io/identity": "kube-apiserver" }, true],
  ["one with such a label elsewhere", "default", { "apiserver.kubernetes.io/identity": "kube-apiserver" }, false],
  ["the Lease of a leader", "kube-system", {}, false],
])("%s: as the row says", (_, namespace, labels, want) => {
  const type = { group: "coordination.k8s.io", resource: "leases" };
  expect(isMade(type, { metadata: { namespace, name: "a", labels } })).toBe(want);
});

it("an IPAddress that the root holds for another cluster: is made anew", () => {
  const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: "GlobalInClusterIPPool", name: "p" };
  const metadata = { namespace: "kube-system", name: "row", ...rowMetadata({ cluster: "blue", claim: "ns/web", uid: "u" }) };
  const address = { metadata, spec: { claimRef: { name: "web" }, poolRef, address: "10.0.0.1", prefix: 32 } };
  expect(isMade({ group: "ipam.cluster.x-k8s.io", resource: "ipaddresses" }, address)).toBe(true);
});

it("an IPAddress of a pool of the root: is given anew", () => {
  const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: "GlobalInClusterIPPool", name: "p" };
  const metadata = { namespace: "ns", name: "a", annotations: { "servicenet.dev/root-row": "row" } };
  const address = { metadata, spec: { claimRef: { name: "a" }, poolRef, address: "10.0.0.1", prefix: 32 } };
  expect(isMade({ group: "ipam.cluster.x-k8s.io", resource: "ipaddresses" }, address)).toBe(true);
});

it.each([
  ["that a pool gave to a Service", "web", true],
  ["of a claim", "web-1", false],
])("an IPAddress %s: as the row says", (_, claim, want) => {
  const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: "GlobalInClusterIPPool", name: "p" };
  const annotations = { "servicenet.dev/service-uid": "u" };
  const metadata = { namespace: "ns", name: "web-1", annotations, finalizers: ["servicenet.dev/load-balancer"] };
  const address = { metadata, spec: { claimRef: { name: claim }, poolRef, address: "10.0.0.1", prefix: 32 } };
  expect(isMade({ group: "ipam.cluster.x-k8s.io", resource: "ipaddresses" }, address)).toBe(want);
});
