import { describe, expect, it } from "vitest";
import type { KubeObject, Namespace, Pod } from "../../../../src/api/meta/kubernetes";
import { definitionOf } from "../../../../src/api/registry/all";
import { type DeleteInput, isGone, planDelete } from "../../../../src/api/registry/delete-order";
import { NOW } from "./outcomes";

function remove(group: string, resource: string, object: KubeObject, input: Partial<DeleteInput> = {}) {
  const definition = definitionOf(group, resource);
  if (!definition) throw new Error(resource);
  return planDelete(definition, object, { preconditions: {}, propagationPolicy: "", gracePeriodSeconds: undefined, now: NOW, ...input });
}

describe("most kinds", () => {
  it("without a hold: removed at once, whatever grace the client names", () => {
    expect(remove("", "services", { metadata: { name: "a" } }, { gracePeriodSeconds: 30 })).toEqual({ action: "remove" });
  });

  it("with a failed precondition: refused before all other rules", () => {
    const outcome = remove("", "services", { metadata: { name: "a", uid: "B" } }, { preconditions: { uid: "A" } });
    expect(outcome).toMatchObject({ action: "refused", status: { code: 409 } });
  });

  it("with finalizers: marked, and kept by a second DELETE", () => {
    const object: KubeObject = { metadata: { name: "a", finalizers: ["x/y"] } };
    expect(remove("", "services", object)).toEqual({ action: "mark" });
    expect(object.metadata).toMatchObject({ deletionTimestamp: "2026-01-01T12:00:00Z", deletionGracePeriodSeconds: 0 });
    const marked = structuredClone(object);
    expect(remove("", "services", object, { now: NOW + 5000 })).toEqual({ action: "keep" });
    expect(object).toEqual(marked);
  });
});

describe("events", () => {
  it.each(["Foreground", "Orphan", ""] as const)("policy '%s': removed at once", (propagationPolicy) => {
    const event = { metadata: { name: "e", finalizers: ["orphan"] } };
    expect(remove("", "events", event, { propagationPolicy })).toEqual({ action: "remove" });
  });
});

describe("namespaces", () => {
  it.each([
    [{ uid: "A" }, "UID in precondition: A, UID in object meta: B"],
    [{ resourceVersion: "6" }, "ResourceVersion in precondition: 6, ResourceVersion in object meta: 7"],
  ])("with the failed precondition %j: a conflict in the words of storage, before any other refusal", (preconditions, why) => {
    const namespace = { metadata: { name: "default", uid: "B", resourceVersion: "7" } };
    expect(remove("", "namespaces", namespace, { preconditions })).toMatchObject({
      action: "refused",
      status: {
        code: 409,
        message: `Operation cannot be fulfilled on namespaces "default": Precondition failed: ${why}`,
        details: { name: "default", kind: "namespaces" },
      },
    });
  });

  it.each(["default", "kube-system", "kube-public"])("%s: refused", (name) => {
    expect(remove("", "namespaces", { metadata: { name } })).toMatchObject({
      action: "refused",
      status: { code: 403, message: `namespaces "${name}" is forbidden: this namespace may not be deleted` },
    });
  });

  it("with spec.finalizers: Terminating until they are empty", () => {
    const namespace: Namespace = { metadata: { name: "x" }, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } };
    expect(remove("", "namespaces", namespace)).toEqual({ action: "mark" });
    expect(namespace.status?.phase).toBe("Terminating");
    expect(namespace.metadata).toEqual({ name: "x", deletionTimestamp: "2026-01-01T12:00:00Z" });
    expect(remove("", "namespaces", namespace, { propagationPolicy: "Foreground" })).toEqual({ action: "keep" });
    const namespaces = definitionOf("", "namespaces");
    expect(namespaces && isGone(namespaces, namespace)).toBe(false);
    namespace.spec = { finalizers: [] };
    expect(namespaces && isGone(namespaces, namespace)).toBe(true);
    expect(remove("", "namespaces", namespace)).toEqual({ action: "remove" });
  });
});

describe("pods", () => {
  const running = (): Pod => ({
    metadata: { name: "p" },
    spec: { nodeName: "n", terminationGracePeriodSeconds: 20, containers: [] },
    status: { phase: "Running" },
  });

  it("on a node: kept for their grace, which a later DELETE only shortens", () => {
    const pod = running();
    expect(remove("", "pods", pod)).toEqual({ action: "mark" });
    expect(pod.metadata).toMatchObject({ deletionTimestamp: "2026-01-01T12:00:20Z", deletionGracePeriodSeconds: 20 });
    expect(remove("", "pods", pod, { gracePeriodSeconds: 60 })).toEqual({ action: "keep" });
    expect(remove("", "pods", pod, { gracePeriodSeconds: 5 })).toEqual({ action: "mark" });
    expect(pod.metadata).toMatchObject({ deletionTimestamp: "2026-01-01T12:00:05Z", deletionGracePeriodSeconds: 5 });
    expect(remove("", "pods", pod, { gracePeriodSeconds: 0 })).toEqual({ action: "remove" });
  });

  it("that have ended with a grace pending: kept until a DELETE names a shorter one", () => {
    const pod = running();
    expect(remove("", "pods", pod)).toEqual({ action: "mark" });
    pod.status = { phase: "Succeeded" };
    expect(remove("", "pods", pod)).toEqual({ action: "keep" });
    expect(remove("", "pods", pod, { gracePeriodSeconds: 0 })).toEqual({ action: "remove" });
  });

  it("negative grace: counts as one second", () => {
    const pod = running();
    remove("", "pods", pod, { gracePeriodSeconds: -5 });
    expect(pod.metadata?.deletionGracePeriodSeconds).toBe(1);
  });

  it.each<[string, Pod]>([
    ["without a node", { metadata: { name: "p" }, spec: { containers: [] } }],
    ["that has ended", { ...running(), status: { phase: "Succeeded" } }],
  ])("%s: removed at once", (_, pod) => {
    expect(remove("", "pods", pod, { gracePeriodSeconds: 30 })).toEqual({ action: "remove" });
  });
});
