import { expect, it } from "vitest";
import { isInitial } from "../../../src/backup/initial";
import { markedFile, markFor } from "../../../src/backup/mark";
import type { KubeObject, ObjectMeta } from "../../../src/meta/kubernetes";

const parent = (name: string) => ({ spec: { parentRef: { group: "", resource: "services", namespace: "default", name } } });

it.each<[string, ObjectMeta, object, boolean]>([
  ["namespaces", { name: "kube-system" }, {}, true],
  ["namespaces", { name: "shop" }, {}, false],
  ["servicecidrs", { name: "kubernetes" }, {}, true],
  ["servicecidrs", { name: "more" }, {}, false],
  ["services", { namespace: "default", name: "kubernetes" }, {}, true],
  ["services", { namespace: "shop", name: "kubernetes" }, {}, false],
  ["ipaddresses", { name: "10.96.0.1" }, parent("kubernetes"), true],
  ["ipaddresses", { name: "10.96.0.2" }, parent("web"), false],
  ["endpoints", { namespace: "default", name: "kubernetes" }, {}, true],
  ["endpoints", { namespace: "default", name: "web" }, {}, false],
  ["endpointslices", { namespace: "default", name: "kubernetes", labels: { "kubernetes.io/service-name": "kubernetes" } }, {}, true],
  ["endpointslices", { namespace: "default", name: "kubernetes" }, {}, false],
  ["leases", { namespace: "kube-system", name: "apiserver-x", labels: { "apiserver.kubernetes.io/identity": "kube-apiserver" } }, {}, true],
  ["leases", { namespace: "kube-system", name: "controller" }, {}, false],
  ["leases", markFor("abc").metadata ?? {}, {}, true],
  ["pods", { namespace: "default", name: "kubernetes" }, {}, false],
])("%s %j %j: %s", (resource, metadata, rest, want) => {
  expect(isInitial({ metadata, ...rest } as KubeObject, { resource })).toBe(want);
});

it("a mark names its file", () => {
  expect(markedFile(markFor("abc"))).toBe("abc");
  expect(markedFile({})).toBeUndefined();
});
