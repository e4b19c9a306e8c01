import { describe, expect, it } from "vitest";
import { differences, hasContent, importable } from "../../../../src/tools/import/importable";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";

describe("object to import", () => {
  it("members that the dumped server set: dropped; members that users wrote: kept", () => {
    const dumped = {
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        name: "web",
        namespace: "shop",
        uid: "u",
        resourceVersion: "7",
        generation: 1,
        selfLink: "/x",
        creationTimestamp: "2024-01-01T00:00:00Z",
        managedFields: [{}],
        labels: { app: "web" },
        annotations: { a: "b" },
        finalizers: ["service.kubernetes.io/load-balancer-cleanup"],
      },
      spec: { clusterIP: "10.0.0.1", ports: [{ port: 80 }] },
      status: { loadBalancer: {} },
    };
    const before = JSON.stringify(dumped);
    expect(importable("Service", dumped)).toEqual({
      object: {
        apiVersion: "v1",
        kind: "Service",
        metadata: {
          name: "web",
          namespace: "shop",
          labels: { app: "web" },
          annotations: { a: "b" },
          finalizers: ["service.kubernetes.io/load-balancer-cleanup"],
        },
        spec: { clusterIP: "10.0.0.1", ports: [{ port: 80 }] },
      },
      lost: [],
    });
    expect(JSON.stringify(dumped)).toBe(before);
  });

  it("status: kept for a Service with a load balancer, and for nothing else", () => {
    const status = { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } };
    expect(importable("Service", { metadata: { name: "a" }, status } as KubeObject).object.status).toEqual(status);
    expect(importable("ServiceCIDR", { metadata: { name: "a" }, status: { conditions: [{}] } } as KubeObject).object).not.toHaveProperty(
      "status",
    );
  });

  it("member that the import drops: named", () => {
    const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };
    const metadata = { name: "a", deletionTimestamp: "2024-01-01T00:00:00Z", ownerReferences: [owner], finalizers: ["foregroundDeletion"] };
    const { object, lost } = importable("Service", { metadata });
    expect(object.metadata).toEqual({ name: "a" });
    expect(lost).toEqual([
      "was being deleted when it was dumped; its deletion is not imported",
      "loses its ownerReferences: they name objects of the dumped cluster by their uid",
    ]);
  });

  it("object of an old version: v1, without the finalizer and the uid that servers set", () => {
    const metadata = { name: "a", finalizers: ["networking.k8s.io/service-cidr-finalizer"] };
    expect(importable("ServiceCIDR", { apiVersion: "networking.k8s.io/v1beta1", kind: "ServiceCIDR", metadata }).object).toEqual({
      apiVersion: "networking.k8s.io/v1",
      kind: "ServiceCIDR",
      metadata: { name: "a" },
    });
    const spec = { parentRef: { resource: "gateways", name: "g", uid: "u" } };
    expect(importable("IPAddress", { metadata: { name: "10.0.0.1" }, spec } as KubeObject).object).toMatchObject({
      spec: { parentRef: { resource: "gateways", name: "g" } },
    });
    expect(importable("Namespace", { metadata: { name: "a" }, spec: { finalizers: ["kubernetes"] } } as KubeObject).object).toEqual({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "a" },
    });
  });
});

describe("difference between a dumped and a stored object", () => {
  const spec = { clusterIP: "10.0.0.1", ports: [{ port: 80, protocol: "TCP" }], selector: { a: "b" } };
  it.each<[string, object, object, string[]]>([
    ["equal objects", { spec }, { spec }, []],
    ["a default of the stored one", { spec }, { spec: { ...spec, internalTrafficPolicy: "Cluster" } }, []],
    ["an empty list against none", { spec: { ...spec, externalIPs: [] } }, { spec }, []],
    ["a null", { spec: { ...spec, selector: null } }, { spec }, []],
    ["a value", { spec }, { spec: { ...spec, clusterIP: "10.0.0.2" } }, ["spec.clusterIP"]],
    ["a value that is not there", { spec }, { spec: { ports: spec.ports, selector: spec.selector } }, ["spec.clusterIP"]],
    ["a value in a list", { spec }, { spec: { ...spec, ports: [{ port: 81, protocol: "TCP" }] } }, ["spec.ports[0].port"]],
    ["another length", { spec }, { spec: { ...spec, ports: [...spec.ports, { port: 81 }] } }, ["spec.ports"]],
    ["a label", { metadata: { labels: { a: "b" } }, spec }, { spec }, ["metadata.labels.a"]],
    ["another uid", { metadata: { uid: "1" } }, { metadata: { uid: "2" } }, []],
  ])("%s: the differing fields", (_, dumped, stored, want) => {
    expect(differences(dumped as KubeObject, stored as KubeObject)).toEqual(want);
  });
});

it.each([
  [undefined, false],
  [{ loadBalancer: {} }, false],
  [{ loadBalancer: { ingress: [] } }, false],
  [{ conditions: [{}] }, true],
])("hasContent %j: %s", (status, want) => {
  expect(hasContent(status)).toBe(want);
});
