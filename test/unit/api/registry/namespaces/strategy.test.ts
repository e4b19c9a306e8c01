import { describe, expect, it } from "vitest";
import type { Namespace } from "../../../../../src/api/meta/kubernetes";
import { namespacesDefinition as definition } from "../../../../../src/api/registry/namespaces/definition";
import { create, update, updateStatus } from "../outcomes";

describe("create", () => {
  it("a new Namespace: Active, with the finalizer kubernetes and its name as a label", () => {
    const { object, errors } = create<Namespace>(definition, {
      metadata: { name: "x", labels: { a: "b" } },
      status: { phase: "Terminating" },
    });
    expect(errors).toEqual([]);
    expect(object).toMatchObject({
      metadata: { labels: { a: "b", "kubernetes.io/metadata.name": "x" } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });

  it("the client's finalizers: kept, with kubernetes added once", () => {
    const created = (finalizers: string[]) =>
      create<Namespace>(definition, { metadata: { name: "x" }, spec: { finalizers } }).object.spec?.finalizers;
    expect(created(["a/b"])).toEqual(["a/b", "kubernetes"]);
    expect(created(["kubernetes"])).toEqual(["kubernetes"]);
  });

  it("a name that is no DNS label: refused", () => {
    expect(create(definition, { metadata: { name: "a.b" } }).errors).toEqual([
      'metadata.name: Invalid value: "a.b": must not contain dots',
    ]);
  });
});

describe("update", () => {
  const before = create<Namespace>(definition, { metadata: { name: "x" } }).object;

  it("the main endpoint: changes metadata only, and restores the label of the name", () => {
    const after: Namespace = { metadata: { name: "x", labels: { c: "d" } }, spec: { finalizers: [] }, status: { phase: "Terminating" } };
    const { object } = update(definition, { after, before });
    expect(object.metadata?.labels).toEqual({ c: "d", "kubernetes.io/metadata.name": "x" });
    expect(object).toMatchObject({ spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } });
  });

  it("the status endpoint: changes conditions and annotations, and refuses a phase that does not fit", () => {
    const conditions = [{ type: "T", status: "True" }];
    const after: Namespace = { metadata: { name: "x", annotations: { a: "b" } }, status: { phase: "Active", conditions } };
    const { object, errors } = updateStatus(definition, { after, before });
    expect(errors).toEqual([]);
    expect(object).toMatchObject({
      metadata: { annotations: { a: "b" } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active", conditions },
    });
    expect(updateStatus(definition, { after: { ...after, status: { phase: "Terminating" } }, before }).errors).toEqual([
      "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty",
    ]);
    const deleting: Namespace = {
      ...before,
      metadata: { ...before.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
      status: { phase: "Terminating" },
    };
    expect(updateStatus(definition, { after, before: deleting }).errors).toEqual([
      "status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty",
    ]);
  });
});

it("initial objects: upstream's four namespaces", () => {
  expect(definition.initialObjects.map((namespace) => namespace.metadata?.name)).toEqual([
    "default",
    "kube-system",
    "kube-public",
    "kube-node-lease",
  ]);
  for (const namespace of definition.initialObjects) {
    expect(namespace).toMatchObject({
      metadata: { labels: { "kubernetes.io/metadata.name": namespace.metadata?.name } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  }
});

it("selectable fields and cells: upstream's", () => {
  const namespace: Namespace = { metadata: { name: "x" }, status: { phase: "Active" } };
  expect(definition.selectableFields(namespace)).toEqual({ "status.phase": "Active" });
  expect(definition.cells(namespace, 0)).toEqual(["x", "Active", "<unknown>"]);
  expect(definition.unknownFieldLabel("spec.x")).toBe("field label not supported: spec.x");
});
