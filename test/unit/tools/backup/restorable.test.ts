import { describe, expect, it } from "vitest";
import type { BackupType } from "../../../../src/tools/backup/format";
import {
  creatorOf,
  deletionOf,
  differing,
  isSameOwnership,
  wanted,
  wantedManagedFields,
  wantedStatus,
} from "../../../../src/tools/backup/restorable";
import type { KubeObject, ObjectMeta } from "../../../../src/api/meta/kubernetes";

const [OLD, NEW, LATER, FOREIGN] = ["1", "2", "3", "4"].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`) as [
  string,
  string,
  string,
  string,
];
const uids = new Map([[OLD, NEW]]);
const isBackedUp = (uid: string): boolean => uid === OLD || uid === LATER;
const type = (resource: string, hasStatus = true, group = ""): BackupType => ({
  group,
  version: "v1",
  resource,
  kind: "Kind",
  namespaced: true,
  hasStatus,
});
const reference = (uid: string) => ({ apiVersion: "v1", kind: "Service", name: "owner", uid });

function object(metadata: ObjectMeta, rest: object = {}): KubeObject {
  return { apiVersion: "v1", kind: "Kind", metadata, ...rest };
}

describe("request of a restore", () => {
  const cases: [string, string, KubeObject, KubeObject, boolean][] = [
    [
      "leaves out what the server sets",
      "services",
      object(
        {
          name: "a",
          namespace: "n",
          labels: { l: "1" },
          annotations: { x: "y" },
          uid: OLD,
          resourceVersion: "5",
          creationTimestamp: "t",
          generation: 3,
          selfLink: "s",
          managedFields: [],
        },
        { spec: { clusterIP: "10.0.0.1" }, status: { loadBalancer: {} } },
      ),
      object({ name: "a", namespace: "n", labels: { l: "1" }, annotations: { x: "y" } }, { spec: { clusterIP: "10.0.0.1" } }),
      false,
    ],
    [
      "keeps finalizers of clients, not those of a deletion or of the server",
      "servicecidrs",
      object({ name: "a", finalizers: ["mine", "orphan", "foregroundDeletion", "networking.k8s.io/service-cidr-finalizer"] }),
      object({ name: "a", finalizers: ["mine"] }),
      false,
    ],
    [
      "leaves the spec of a namespace to the server",
      "namespaces",
      object({ name: "a" }, { spec: { finalizers: ["kubernetes"] } }),
      object({ name: "a" }),
      false,
    ],
    [
      "names owners by their new uids",
      "x",
      object({ name: "a", ownerReferences: [reference(OLD)] }),
      object({ name: "a", ownerReferences: [reference(NEW)] }),
      false,
    ],
    [
      "waits with owners that are still to come, and keeps those of elsewhere",
      "x",
      object({ name: "a", ownerReferences: [reference(LATER), reference(FOREIGN), reference(OLD)] }),
      object({ name: "a", ownerReferences: [reference(FOREIGN), reference(NEW)] }),
      true,
    ],
    [
      "names objects by their new uids wherever it does",
      "x",
      object(
        { name: "a" },
        { endpoints: [{ targetRef: { kind: "Pod", uid: OLD } }, { targetRef: { kind: "Pod", uid: FOREIGN } }], uidLike: OLD },
      ),
      object(
        { name: "a" },
        { endpoints: [{ targetRef: { kind: "Pod", uid: NEW } }, { targetRef: { kind: "Pod", uid: FOREIGN } }], uidLike: OLD },
      ),
      false,
    ],
    [
      "waits for objects that it names anywhere",
      "x",
      object({ name: "a" }, { endpoints: [{ targetRef: { uid: LATER } }] }),
      object({ name: "a" }, { endpoints: [{ targetRef: { uid: LATER } }] }),
      true,
    ],
  ];
  it.each(cases)("%s", (_, resource, saved, want, waits) => {
    const before = JSON.stringify(saved);
    expect(wanted(saved, type(resource), uids, isBackedUp)).toEqual({ object: want, waits });
    expect(JSON.stringify(saved)).toBe(before);
  });

  it.each([
    ["a status", type("services"), { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } }, { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } }],
    ["uids in it", type("pods"), { by: { uid: OLD } }, { by: { uid: NEW } }],
    ["an empty one", type("pods"), {}, undefined],
    ["none", type("pods"), undefined, undefined],
    ["one that cannot be written", type("leases", false), { a: 1 }, undefined],
    ["one that the server makes", type("servicecidrs", true, "networking.k8s.io"), { conditions: [{ type: "Ready" }] }, undefined],
    ["one of a namespace", type("namespaces"), { phase: "Active" }, undefined],
  ])("status to restore: %s", (_, of, status, want) => {
    expect(wantedStatus(object({ name: "a" }, { status }), of, uids)).toEqual(want);
  });
});

describe("owners of fields", () => {
  const entry = (manager: string, operation = "Update", subresource?: string, uid = OLD) => ({
    manager,
    operation,
    apiVersion: "v1",
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:metadata": { "f:ownerReferences": { [`k:{"uid":"${uid}"}`]: {} } } },
    ...(subresource === undefined ? {} : { subresource }),
  });

  it("entries of owner references: named by the new uids", () => {
    expect(wantedManagedFields(object({ managedFields: [entry("a")] }), uids)).toEqual([entry("a", "Update", undefined, NEW)]);
    expect(wantedManagedFields(object({}), uids)).toBeUndefined();
  });

  it("entries with other times, in another order: equal", () => {
    const late = { ...entry("a"), time: "2027-01-01T00:00:00Z" };
    expect(isSameOwnership([entry("a"), entry("b")], [entry("b"), late])).toBe(true);
    expect(isSameOwnership([entry("a")], [entry("a", "Apply")])).toBe(false);
    expect(isSameOwnership([entry("a")], [entry("a", "Update", undefined, NEW)])).toBe(false);
    expect(isSameOwnership([entry("a")], undefined)).toBe(false);
  });

  it.each([
    ["the only client", [entry("kubectl-create")], "kubectl-create"],
    ["the only one besides a status", [entry("kubectl-create"), entry("lb", "Update", "status")], "kubectl-create"],
    ["two", [entry("a"), entry("b")], undefined],
    ["an apply", [entry("a", "Apply")], undefined],
    ["nobody", [], undefined],
  ])("field manager of the create: %s", (_, managedFields, want) => {
    expect(creatorOf(object({ managedFields }))).toBe(want);
  });
});

describe("difference from the backup", () => {
  const want = object({ name: "a", labels: { l: "1" }, ownerReferences: [reference(NEW)] }, { spec: { ports: [{ port: 80 }] } });
  const stored = object(
    { ...want.metadata, uid: NEW, resourceVersion: "9", finalizers: ["networking.k8s.io/service-cidr-finalizer"], annotations: {} },
    { spec: { ports: [{ port: 80 }], selector: null }, status: { x: 1 } },
  );
  it.each<[string, KubeObject, string[]]>([
    ["the same object", stored, []],
    ["a label too many", { ...stored, metadata: { ...stored.metadata, labels: { l: "1", m: "2" } } }, ["metadata.labels"]],
    ["an annotation", { ...stored, metadata: { ...stored.metadata, annotations: { a: "b" } } }, ["metadata.annotations"]],
    ["an owner", { ...stored, metadata: { ...stored.metadata, ownerReferences: [] } }, ["metadata.ownerReferences"]],
    ["a finalizer", { ...stored, metadata: { ...stored.metadata, finalizers: ["mine"] } }, ["metadata.finalizers"]],
    ["a value", { ...stored, spec: { ports: [{ port: 81 }] } } as KubeObject, ["spec"]],
    ["a member too many", { ...stored, subsets: [1] } as KubeObject, ["subsets"]],
    ["a member too few", object(stored.metadata ?? {}), ["spec"]],
  ])("%s: the fields that differ", (_, other, fields) => {
    expect(differing(want, other, type("x"))).toEqual(fields);
  });

  it("spec of a namespace: no difference", () => {
    expect(differing(object({ name: "a" }), object({ name: "a" }, { spec: { finalizers: ["kubernetes"] } }), type("namespaces"))).toEqual(
      [],
    );
  });
});

it.each([
  ["not at all", {}, undefined],
  ["held by a finalizer", { deletionTimestamp: "t", finalizers: ["mine"] }, { propagationPolicy: "Background" }],
  ["foreground", { deletionTimestamp: "t", finalizers: ["foregroundDeletion"] }, { propagationPolicy: "Foreground" }],
  ["orphaning", { deletionTimestamp: "t", finalizers: ["mine", "orphan"] }, { propagationPolicy: "Orphan" }],
  [
    "with a grace period",
    { deletionTimestamp: "t", deletionGracePeriodSeconds: 30 },
    { propagationPolicy: "Background", gracePeriodSeconds: 30 },
  ],
  [
    "with a grace period that was rounded to beyond 64 bits",
    { deletionTimestamp: "t", deletionGracePeriodSeconds: 9223372036854776000n },
    { propagationPolicy: "Background", gracePeriodSeconds: 9223372036854775807n },
  ],
])("deleted again: %s", (_, metadata, options) => {
  expect(deletionOf(object(metadata))).toEqual(options && { kind: "DeleteOptions", apiVersion: "v1", ...options });
});
