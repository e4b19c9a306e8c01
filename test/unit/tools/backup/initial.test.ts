import { expect, it } from "vitest";
import { isInitial } from "../../../../src/tools/backup/initial";
import { markedFile, markFor } from "../../../../src/tools/backup/mark";
import type { KubeObject, ObjectMeta } from "../../../../src/api/meta/kubernetes";

const parent = (name: string) => ({ spec: { parentRef: { group: "", resource: "services", namespace: "default", name } } });

it.each<[string, ObjectMeta, object, boolean]>([
  ["namespaces", { name: "kube-system" }, {}, true],
  ["namespaces", { name: "shop" }, {}, false],
  ["servicecidrs.networking.k8s.io", { name: "kubernetes" }, {}, true],
  ["servicecidrs.networking.k8s.io", { name: "more" }, {}, false],
  ["services", { namespace: "default", name: "kubernetes" }, {}, true],
  ["services", { namespace: "shop", name: "kubernetes" }, {}, false],
  ["ipaddresses.networking.k8s.io", { name: "10.96.0.1" }, parent("kubernetes"), true],
  ["ipaddresses.networking.k8s.io", { name: "10.96.0.2" }, parent("web"), false],
  ["endpoints", { namespace: "default", name: "kubernetes" }, {}, true],
  ["endpoints", { namespace: "default", name: "web" }, {}, false],
  [
    "endpointslices.discovery.k8s.io",
    { namespace: "default", name: "kubernetes", labels: { "kubernetes.io/service-name": "kubernetes" } },
    {},
    true,
  ],
  ["endpointslices.discovery.k8s.io", { namespace: "default", name: "kubernetes" }, {}, false],
  [
    "leases.coordination.k8s.io",
    { namespace: "kube-system", name: "apiserver-x", labels: { "apiserver.kubernetes.io/identity": "kube-apiserver" } },
    {},
    true,
  ],
  ["leases.coordination.k8s.io", { namespace: "kube-system", name: "controller" }, {}, false],
  ["leases.coordination.k8s.io", markFor("abc").metadata ?? {}, {}, true],
  ["clusterroles.rbac.authorization.k8s.io", { name: "view", labels: { "kubernetes.io/bootstrapping": "rbac-defaults" } }, {}, true],
  ["clusterroles.rbac.authorization.k8s.io", { name: "view" }, {}, false],
  ["clusterrolebindings.rbac.authorization.k8s.io", { name: "a", labels: { "kubernetes.io/bootstrapping": "rbac-defaults" } }, {}, true],
  ["rolebindings.rbac.authorization.k8s.io", { namespace: "kube-system", name: "a" }, {}, false],
  ["pods", { name: "view", labels: { "kubernetes.io/bootstrapping": "rbac-defaults" } }, {}, false],
  ["serviceaccounts", { namespace: "default", name: "default" }, {}, true],
  ["serviceaccounts", { namespace: "default", name: "builder" }, {}, false],
  ["configmaps", { namespace: "default", name: "kube-root-ca.crt" }, {}, true],
  ["configmaps", { namespace: "default", name: "default" }, {}, false],
  ["pods", { namespace: "default", name: "kubernetes" }, {}, false],
  ["services.example.com", { namespace: "default", name: "kubernetes" }, {}, false],
  ["namespaces.example.com", { name: "kube-system" }, {}, false],
])("isInitial %s %j %j: %s", (type, metadata, rest, want) => {
  const [resource = "", ...group] = type.split(".");
  expect(isInitial({ metadata, ...rest } as KubeObject, { group: group.join("."), resource })).toBe(want);
});

it("mark: names its file", () => {
  expect(markedFile(markFor("abc"))).toBe("abc");
  expect(markedFile({})).toBeUndefined();
});
