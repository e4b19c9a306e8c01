import { describe, expect, it } from "vitest";
import { readDump } from "../../../../src/tools/import/dump";

const read = (...values: unknown[]) => readDump(values.map((value, i) => ({ source: `file${i}`, value })));
const service = (name: string, spec: object = {}) => ({ apiVersion: "v1", kind: "Service", metadata: { name, namespace: "n" }, spec });

describe("dump", () => {
  it("lists, typed lists and single documents: sorted by kind", () => {
    const cidr = { metadata: { name: "a" }, spec: { cidrs: ["10.0.0.0/24"] } };
    const dump = read(
      { kind: "List", apiVersion: "v1", items: [service("web"), { kind: "Namespace", apiVersion: "v1", metadata: { name: "n" } }] },
      { kind: "ServiceCIDRList", apiVersion: "networking.k8s.io/v1", items: [cidr] },
      { kind: "IPAddress", apiVersion: "networking.k8s.io/v1", metadata: { name: "10.0.0.9" } },
      { kind: "RangeAllocation", apiVersion: "v1", range: "10.0.0.0/24", data: "" },
      { kind: "ServiceList", apiVersion: "v1", items: null },
      null,
    );
    expect(dump.services.map(({ metadata }) => metadata?.name)).toEqual(["web"]);
    expect(dump.namespaces).toHaveLength(1);
    expect(dump.serviceCIDRs).toEqual([{ apiVersion: "networking.k8s.io/v1", kind: "ServiceCIDR", ...cidr }]);
    expect(dump.ipAddresses).toHaveLength(1);
    expect(dump.rangeAllocations).toHaveLength(1);
    expect([dump.conflicts, dump.notices]).toEqual([[], []]);
  });

  it.each([
    ["a text", "hello"],
    ["a list", []],
    ["an object without kind", { metadata: { name: "a" } }],
    ["a list with a hole", { kind: "List", items: [null, 7] }],
  ])("%s: no object", (_, value) => {
    expect(read(value).conflicts[0]).toEqual({
      object: "file0",
      reason: "Invalid",
      message: "holds something that is no Kubernetes object",
    });
  });

  it("object without a name, Service without a namespace: refused", () => {
    const { conflicts } = read({ kind: "ServiceCIDR", apiVersion: "networking.k8s.io/v1" }, { ...service("a"), metadata: { name: "a" } });
    expect(conflicts.map(({ object, reason }) => [object, reason])).toEqual([
      ["ServiceCIDR  in file0", "Invalid"],
      ["Service a in file1", "Invalid"],
    ]);
  });

  it("other kinds, and the same kind of another group: named and left out", () => {
    const { notices, services } = read(
      { kind: "Pod", apiVersion: "v1", metadata: { name: "p", namespace: "n" } },
      { ...service("k"), apiVersion: "serving.knative.dev/v1" },
    );
    expect(services).toEqual([]);
    expect(notices).toEqual([
      { object: "Pod n/p", reason: "Ignored", message: "is of a kind that is not imported" },
      { object: "Service n/k", reason: "Ignored", message: "is of a kind that is not imported" },
    ]);
  });

  it("object that stands in a dump twice: taken once, a conflict when the two differ", () => {
    expect(read(service("a", { clusterIP: "10.0.0.1" }), service("a", { clusterIP: "10.0.0.1" }))).toMatchObject({
      services: [{ metadata: { name: "a" } }],
      conflicts: [],
    });
    const { services, conflicts } = read(
      service("a", { clusterIP: "10.0.0.1" }),
      service("a", { clusterIP: "10.0.0.2", type: "ClusterIP" }),
    );
    expect(services).toHaveLength(1);
    expect(conflicts).toEqual([
      { object: "Service n/a", reason: "Duplicate", message: "stands in the dump twice, with different spec.clusterIP, spec.type" },
    ]);
  });

  it("member that is left behind: a notice", () => {
    const metadata = { name: "a", namespace: "n", deletionTimestamp: "2024-01-01T00:00:00Z" };
    expect(read({ ...service("a"), metadata }).notices).toMatchObject([{ object: "Service n/a", reason: "Changed" }]);
  });
});
