import { describe, expect, it } from "vitest";
import type { EndpointSlice, KubeObject, Lease, Namespace, Node, Service } from "../../../../../src/api/meta/kubernetes";
import { definitionOf } from "../../../../../src/api/registry/all";
import type { ResourceDefinition } from "../../../../../src/api/registry/resource";
import { beforeCreate, beforeFinalizeUpdate, checkNameMatches, nameFor } from "../../../../../src/api/store/write/strategy-order";
import { seededRandom } from "../../../../support/sim/platform/seeded-random";
import { CONTEXT, NOW, create, refusals, update, updateStatus } from "../../registry/outcomes";

function definition(group: string, resource: string): ResourceDefinition {
  const found = definitionOf(group, resource);
  if (!found) throw new Error(resource);
  return found;
}

const leases = definition("coordination.k8s.io", "leases");
const slices = definition("discovery.k8s.io", "endpointslices");
const services = definition("", "services");
const namespaces = definition("", "namespaces");
const nodes = definition("", "nodes");

describe("beforeCreate", () => {
  it("a create: has identity and namespace, and keeps the members of the client", () => {
    const { object, errors } = create<Lease>(leases, { metadata: { name: "a", labels: { x: "y" } }, spec: { holderIdentity: "h" } });
    expect(errors).toEqual([]);
    expect(object).toEqual({
      metadata: { name: "a", namespace: "ns", labels: { x: "y" }, uid: "uid", creationTimestamp: "2026-01-01T12:00:00Z" },
      spec: { holderIdentity: "h" },
    });
  });

  it("a resourceVersion: upstream's bare 500", () => {
    const verdict = beforeCreate(
      leases,
      { metadata: { name: "a", resourceVersion: "1" } },
      { namespace: "ns", now: NOW, uid: "u", context: CONTEXT },
    );
    expect(verdict).toEqual({
      ok: false,
      error: {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "resourceVersion should not be set on objects to be created",
        code: 500,
      },
    });
  });

  it("another namespace than the URL's: refused; for cluster-scoped kinds: cleared", () => {
    expect(create(leases, { metadata: { name: "a", namespace: "other" } }).errors).toEqual([
      "the namespace of the provided object does not match the namespace sent on the request",
    ]);
    const { object, errors } = create(nodes, { metadata: { name: "a", namespace: "other" } });
    expect(errors).toEqual([]);
    expect(object.metadata).not.toHaveProperty("namespace");
  });

  it("errors: those of metadata first, then those of the kind", () => {
    const { errors } = create<Lease>(leases, { metadata: { name: "A_" }, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } });
    expect(errors).toHaveLength(3);
    expect(errors[0]).toMatch(/^metadata\.name: Invalid value: "A_"/);
    expect(errors.slice(1)).toEqual([
      "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
      "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
    ]);
  });

  it("a create without a name: the refusal says which name is missing", () => {
    expect(create(leases, {}).errors).toEqual(["metadata.name: Required value: name or generateName is required"]);
  });

  it("generation: 1 where the kind counts it, elsewhere what the client sends", () => {
    const slice = { metadata: { name: "a", generation: 7 }, addressType: "IPv4", endpoints: [] };
    expect(create<EndpointSlice>(slices, slice).object.metadata?.generation).toBe(1);
    expect(create(leases, { metadata: { name: "a", generation: 7 } }).object.metadata?.generation).toBe(7);
    expect(create(leases, { metadata: { name: "a" } }).object.metadata).not.toHaveProperty("generation");
  });

  it("repeated owners: dropped with a warning", () => {
    const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u" };
    const { object, warnings } = create(leases, { metadata: { name: "a", ownerReferences: [owner, owner] } });
    expect(object.metadata?.ownerReferences).toEqual([owner]);
    expect(warnings).toHaveLength(1);
  });
});

describe("beforeUpdate", () => {
  const before: EndpointSlice = {
    metadata: { name: "a", namespace: "ns", uid: "u", creationTimestamp: "2026-01-01T00:00:00Z", generation: 4, labels: { a: "b" } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"], conditions: {} }],
    ports: [{ name: "", protocol: "TCP", port: 80 }],
  };
  const after = (changes: Partial<EndpointSlice>, metadata: EndpointSlice["metadata"] = {}): EndpointSlice => ({
    ...structuredClone(before),
    ...changes,
    metadata: { name: "a", labels: { a: "b" }, ...metadata },
  });

  it("absent identity: taken from the stored object", () => {
    expect(update(slices, { after: after({}), before }).object).toEqual(before);
  });

  it.each<{ name: string; change: EndpointSlice; want: number }>([
    { name: "nothing", change: after({}), want: 4 },
    { name: "an annotation", change: after({}, { annotations: { x: "y" } }), want: 4 },
    { name: "a label", change: after({}, { labels: { a: "c" } }), want: 5 },
    { name: "an endpoint", change: after({ endpoints: [] }), want: 5 },
    { name: "a client's generation is ignored", change: after({}, { generation: 99 }), want: 4 },
  ])("generation after a change of $name: $want", ({ change, want }) => {
    expect(update(slices, { after: change, before }).object.metadata?.generation).toBe(want);
  });

  it("another creationTimestamp: ignored; another uid: refused", () => {
    const { object, errors } = update(slices, { after: after({}, { uid: "v", creationTimestamp: "1999-01-01T00:00:00Z" }), before });
    expect(object.metadata?.creationTimestamp).toBe("2026-01-01T00:00:00Z");
    expect(errors).toEqual(['metadata.uid: Invalid value: "v": field is immutable']);
  });

  it("an object in deletion: keeps its marks, and takes no new finalizer", () => {
    const deleting = {
      ...before,
      metadata: { ...before.metadata, deletionTimestamp: "2026-01-02T00:00:00Z", deletionGracePeriodSeconds: 0, finalizers: ["a/b"] },
    };
    const { object, errors } = update(slices, { after: after({}, { finalizers: ["a/b", "c/d"] }), before: deleting });
    expect(object.metadata).toMatchObject({ deletionTimestamp: "2026-01-02T00:00:00Z", deletionGracePeriodSeconds: 0 });
    expect(errors).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c/d"}',
    ]);
  });

  it("unchanged endpoints: not validated again", () => {
    const bad: EndpointSlice = { ...before, endpoints: [{ addresses: ["nonsense"], conditions: {} }] };
    expect(update(slices, { after: { ...bad, metadata: { name: "a", labels: { z: "z" } } }, before: bad }).errors).toEqual([]);
    const changed: EndpointSlice = { ...bad, endpoints: [{ addresses: ["worse"], conditions: {} }], metadata: { name: "a" } };
    expect(update(slices, { after: changed, before: bad }).errors).toHaveLength(1);
  });
});

describe("status and spec", () => {
  const node: Node = { metadata: { name: "n", uid: "u", labels: { a: "b" } }, spec: { unschedulable: true }, status: { phase: "x" } };

  it("the main endpoint: keeps the stored status", () => {
    const after: Node = { metadata: { name: "n", labels: { c: "d" } }, spec: {}, status: { phase: "y" } };
    expect(update(nodes, { after, before: node }).object).toMatchObject({
      metadata: { labels: { c: "d" } },
      spec: {},
      status: { phase: "x" },
    });
  });

  it("the status endpoint: keeps the stored spec and takes metadata", () => {
    const after: Node = { metadata: { name: "n", labels: { c: "d" } }, spec: {}, status: { phase: "y" } };
    expect(updateStatus(nodes, { after, before: node }).object).toMatchObject({
      metadata: { labels: { c: "d" } },
      spec: { unschedulable: true },
      status: { phase: "y" },
    });
  });

  it("a status without a stored one: dropped; a forgotten status: restored", () => {
    const bare: KubeObject = { metadata: { name: "n", uid: "u" } };
    expect(
      update(nodes, { after: { metadata: { name: "n" }, status: { phase: "y" } } as KubeObject, before: bare }).object,
    ).not.toHaveProperty("status");
    expect(update(nodes, { after: { metadata: { name: "n" } }, before: node as KubeObject }).object).toMatchObject({
      status: { phase: "x" },
    });
  });

  it("the status endpoint of a Service: takes annotations too", () => {
    const before: Service = {
      metadata: { name: "s", namespace: "ns", uid: "u" },
      spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
      status: { loadBalancer: {} },
    };
    const after: Service = {
      metadata: { name: "s", namespace: "ns", annotations: { a: "b" } },
      status: { loadBalancer: { ingress: [{ hostname: "lb.example.com" }] } },
    };
    const { object, errors } = updateStatus(services, { after, before });
    expect(errors).toEqual([]);
    expect(object).toMatchObject({
      metadata: { annotations: { a: "b" } },
      spec: { type: "LoadBalancer" },
      status: { loadBalancer: { ingress: [{ hostname: "lb.example.com" }] } },
    });
  });
});

describe("beforeFinalizeUpdate", () => {
  const before: Namespace = { metadata: { name: "x", uid: "u" }, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } };

  it("a finalize: takes spec.finalizers and keeps the status", () => {
    const after: Namespace = { metadata: { name: "x" }, spec: { finalizers: [] }, status: { phase: "Terminating" } };
    expect(beforeFinalizeUpdate(namespaces, { after, before }, CONTEXT)).toEqual({ ok: true, value: [] });
    expect(after).toMatchObject({ spec: { finalizers: [] }, status: { phase: "Active" } });
  });

  it("finalizers with invalid names: refused", () => {
    const after: Namespace = { metadata: { name: "x" }, spec: { finalizers: ["mine"] } };
    expect(refusals(beforeFinalizeUpdate(namespaces, { after, before }, CONTEXT))).toEqual([
      'spec.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });
});

describe("names", () => {
  it("nameFor: the given name, else a generated one, else no name", () => {
    const random = seededRandom(3);
    expect(nameFor(leases, { metadata: { name: "a", generateName: "b-" } }, random)).toBe("a");
    expect(nameFor(leases, { metadata: { generateName: "b-" } }, random)).toMatch(/^b-.{5}$/);
    expect(nameFor(definition("networking.k8s.io", "ipaddresses"), { metadata: { generateName: "10.0.0.1" } }, random)).toBe("10.0.0.1");
    expect(nameFor(leases, {}, random)).toBe("");
  });

  it("checkNameMatches: a body with another name than the URL is refused", () => {
    expect(checkNameMatches({ metadata: { name: "a" } }, "a")).toBeUndefined();
    expect(checkNameMatches({ metadata: { name: "a" } }, "b")).toMatchObject({
      code: 400,
      message: "the name of the object (a) does not match the name on the URL (b)",
    });
    expect(checkNameMatches({}, "b")?.message).toBe("the name of the object (b based on URL) was undeterminable: name must be provided");
  });
});
