import { describe, expect, it } from "vitest";
import {
  decodeManagedFields,
  encodeManagedFields,
  type ManagedFieldsEntry,
  onlyTimesDiffer,
} from "../../../../src/api/fields/managed-fields";
import { trackUpdate, type TrackedUpdate, updatedManagers } from "../../../../src/api/fields/update";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import type { JsonObject } from "../../../../src/api/schema/json/json-value";
import { definitions } from "../../../../src/api/registry/all";
import { PodSchema } from "../../../../src/api/schema/kinds/core-pods";
import { ServiceSchema } from "../../../../src/api/schema/kinds/core-services";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { RandomValues } from "../schema/random-values";

const T0 = Date.UTC(2026, 0, 1);
const context = { schema: ServiceSchema, apiVersion: "v1", subresource: "", hasStatus: true };

function track(before: object | undefined, after: object, rest: Partial<TrackedUpdate> = {}): ManagedFieldsEntry[] | undefined {
  return trackUpdate({ ...context, manager: "m", nowMs: T0, before: before as KubeObject, after: after as KubeObject, ...rest });
}

const service = {
  metadata: {
    name: "web",
    namespace: "default",
    labels: { app: "web" },
    uid: "u",
    creationTimestamp: "2026-01-01T00:00:00Z",
    resourceVersion: "1",
    finalizers: ["a/b"],
  },
  spec: {
    type: "ClusterIP",
    selector: { app: "web" },
    sessionAffinity: "None",
    ports: [{ port: 80, targetPort: 8080, protocol: "TCP" }],
  },
  status: { loadBalancer: {} },
};

const created = {
  manager: "m",
  operation: "Update",
  apiVersion: "v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1: {
    "f:metadata": { "f:finalizers": { ".": {}, 'v:"a/b"': {} }, "f:labels": { ".": {}, "f:app": {} } },
    "f:spec": {
      "f:ports": { ".": {}, 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {}, "f:protocol": {}, "f:targetPort": {} } },
      "f:selector": {},
      "f:sessionAffinity": {},
      "f:type": {},
    },
  },
};

const stored = { ...service, metadata: { ...service.metadata, managedFields: [created] } };
const fieldsOf = (entries: ManagedFieldsEntry[] | undefined, manager: string): unknown =>
  entries?.find((entry) => entry.manager === manager)?.fieldsV1;

describe("a create", () => {
  it("of an object: every field belongs to its manager, in upstream's form", () => {
    const entries = track(undefined, service);
    expect(JSON.stringify(entries)).toBe(JSON.stringify([created]));
  });

  it("by a client without a name: tracked as unknown", () => {
    expect(track(undefined, service, { manager: "" })?.[0]?.manager).toBe("unknown");
  });

  it("of a Pod: owns structs that Go adds, not structs that always exist", () => {
    const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }], volumes: [{ name: "v", emptyDir: {} }] } };
    expect(track(undefined, pod, { schema: PodSchema })?.[0]?.fieldsV1).toEqual({
      "f:spec": {
        "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:image": {}, "f:name": {}, "f:resources": {} } },
        "f:volumes": { ".": {}, 'k:{"name":"v"}': { ".": {}, "f:emptyDir": {}, "f:name": {} } },
      },
    });
  });

  it("with managedFields: keeps its entries beside the creator's", () => {
    const other = { ...created, manager: "other", fieldsV1: { "f:spec": { "f:type": {} } } };
    const entries = track(undefined, { ...service, metadata: { ...service.metadata, managedFields: [other] } });
    // the field that `other` claims is new, so the creator owns it
    expect(entries?.map((entry) => entry.manager)).toEqual(["m"]);
  });

  it("with malformed entries: tracked as without entries", () => {
    const bad = { ...created, operation: "Delete" };
    expect(track(undefined, { ...service, metadata: { ...service.metadata, managedFields: [bad] } })).toEqual([created]);
  });

  it("of an object without fields to own: no entries", () => {
    expect(track(undefined, { metadata: { name: "x" } })).toBeUndefined();
  });
});

describe("an update", () => {
  const changed = { ...stored, spec: { ...service.spec, type: "NodePort" } };

  it("by another manager: owns the changed fields, with a new time, and leaves the rest", () => {
    const entries = track(stored, changed, { manager: "n", nowMs: T0 + 5000 });
    expect(entries?.map(({ manager, time }) => [manager, time])).toEqual([
      ["m", "2026-01-01T00:00:00Z"],
      ["n", "2026-01-01T00:00:05Z"],
    ]);
    expect(fieldsOf(entries, "n")).toEqual({ "f:spec": { "f:type": {} } });
    expect(JSON.stringify(fieldsOf(entries, "m"))).not.toContain("f:type");
  });

  it("by the same manager: keeps one entry with a new time", () => {
    const entries = track(stored, changed, { nowMs: T0 + 5000 });
    expect(entries).toEqual([{ ...created, time: "2026-01-01T00:00:05Z" }]);
  });

  it("without a change: changes no entry", () => {
    expect(track(stored, stored, { manager: "n", nowMs: T0 + 5000 })).toEqual([created]);
  });

  it("without a field of the stored object: removes it from every entry", () => {
    const { sessionAffinity: _gone, ...spec } = service.spec;
    const entries = track(stored, { ...stored, spec: { ...spec, ports: [] } }, { manager: "n", nowMs: T0 + 5000 });
    expect(entries?.length).toBe(1);
    expect(entries?.[0]?.time).toBe("2026-01-01T00:00:00Z");
    expect(fieldsOf(entries, "m")).toEqual({
      "f:metadata": created.fieldsV1["f:metadata"],
      "f:spec": { "f:ports": {}, "f:selector": {}, "f:type": {} },
    });
  });

  it("in another version of the same schema: another entry beside the first", () => {
    const otherForm = (): { schema: typeof ServiceSchema } => ({ schema: ServiceSchema });
    const entries = track(stored, changed, { apiVersion: "v2", otherForm, nowMs: T0 + 5000 });
    expect(entries?.map(({ manager, apiVersion }) => `${manager} ${apiVersion}`)).toEqual(["m v1", "m v2"]);
  });

  it("managers of versions that are not served: forgotten", () => {
    const entries = track(stored, changed, { apiVersion: "v2", manager: "n" });
    expect(entries?.map((entry) => entry.manager)).toEqual(["n"]);
  });

  it("without managedFields, or with malformed ones: keeps the stored ones", () => {
    const { managedFields: _omitted, ...metadata } = stored.metadata;
    expect(track(stored, { ...stored, metadata })).toEqual([created]);
    const bad = { ...stored.metadata, managedFields: [{ ...created, fieldsV1: { nonsense: {} } }] };
    expect(track(stored, { ...stored, metadata: bad })).toEqual([created]);
    expect(track(stored, { ...stored, metadata: { ...metadata, managedFields: [{ ...created, fieldsType: "" }] } })).toEqual([created]);
    expect(track(stored, { ...stored, metadata: { ...metadata, managedFields: [{ ...created, apiVersion: "" }] } })).toEqual([created]);
  });

  it.each([[[]], [[{}]]])("with managedFields %j: forgets all managers, and an untracked object stays untracked", (managedFields) => {
    expect(track(stored, { ...changed, metadata: { ...stored.metadata, managedFields } })).toBeUndefined();
    expect(track(service, changed)).toEqual([{ ...created, time: "2026-01-01T00:00:00Z" }]);
    expect(track(service, { ...service, spec: { ...service.spec, type: "NodePort" } })).toBeUndefined();
  });

  it("through a subresource: keeps the stored entries, whatever the body has", () => {
    const after = { ...stored, status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } };
    const body = { ...after, metadata: { ...stored.metadata, managedFields: [] } };
    const entries = track(stored, body, { subresource: "status", manager: "lb", nowMs: T0 + 1000 });
    expect(entries?.map((entry) => `${entry.manager} ${entry.subresource ?? ""}`)).toEqual(["m ", "lb status"]);
    expect(fieldsOf(entries, "lb")).toEqual({ "f:status": { "f:loadBalancer": { "f:ingress": {} } } });
  });

  it("of spec through the status endpoint, or of status through the main one: owns nothing", () => {
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
    expect(track(stored, { ...stored, status }, { manager: "n" })).toEqual([created]);
    expect(track(stored, changed, { manager: "n", subresource: "status" })).toEqual([created]);
    // a kind without a status endpoint
    expect(track(stored, { ...stored, status }, { manager: "n", hasStatus: false })?.length).toBe(2);
  });

  it("more than ten updaters: the oldest become ancient-changes", () => {
    let object: JsonObject = { metadata: { name: "x", uid: "u", labels: {} } };
    for (let i = 0; i < 15; i++) {
      const labels = Object.fromEntries(Array.from({ length: i + 1 }, (_, at) => [`l${at}`, "v"]));
      const next: JsonObject = { metadata: { ...(object.metadata as JsonObject), labels } };
      const entries = track(i === 0 ? undefined : object, next, { manager: `m${i}`, nowMs: T0 + i * 1000 });
      object = { metadata: { ...(next.metadata as JsonObject), managedFields: entries as unknown as JsonObject[] } };
    }
    const entries = (object.metadata as { managedFields: ManagedFieldsEntry[] }).managedFields;
    expect(entries.map((entry) => entry.manager)).toEqual(["ancient-changes", ...Array.from({ length: 9 }, (_, i) => `m${i + 6}`)]);
    expect(entries[0]?.time).toBe("2026-01-01T00:00:05Z");
    expect(Object.keys((entries[0]?.fieldsV1 as Record<string, Record<string, object>>)["f:metadata"]?.["f:labels"] ?? {})).toEqual([
      ".",
      "f:l0",
      "f:l1",
      "f:l2",
      "f:l3",
      "f:l4",
      "f:l5",
    ]);
  });

  it("sets from before a list or map became one leaf: own that leaf", () => {
    const old = { ...created, fieldsV1: { "f:spec": { "f:selector": { ".": {}, "f:app": {} } } } };
    const before = { ...service, metadata: { ...service.metadata, managedFields: [old] } };
    expect(fieldsOf(track(before, before), "m")).toEqual({ "f:spec": { "f:selector": {} } });
  });

  it("equal items of a list: owned as one", () => {
    const twice = { ...stored, metadata: { ...stored.metadata, finalizers: ["a/b", "c/d", "c/d"] } };
    const entries = track(stored, twice, { manager: "n" });
    expect(fieldsOf(entries, "n")).toEqual({ "f:metadata": { "f:finalizers": { 'v:"c/d"': {} } } });
  });

  it("its inputs: unchanged", () => {
    const [before, after] = [structuredClone(stored), structuredClone(changed)];
    track(before, after, { manager: "n" });
    expect([before, after]).toEqual([stored, changed]);
  });
});

describe("entries", () => {
  it("their order: operation, time, manager, version, subresource", () => {
    const entry = (
      manager: string,
      operation: string,
      time: string | undefined,
      apiVersion = "v1",
      subresource = "",
    ): ManagedFieldsEntry => ({
      manager,
      operation,
      apiVersion,
      ...(time ? { time } : {}),
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": {} },
      ...(subresource ? { subresource } : {}),
    });
    const sorted = [
      entry("z", "Apply", undefined),
      entry("a", "Apply", "2026-01-02T00:00:00Z"),
      entry("b", "Update", "2026-01-01T00:00:00Z"),
      entry("c", "Update", "2026-01-01T00:00:00Z", "v1"),
      entry("c", "Update", "2026-01-01T00:00:00Z", "v1", "status"),
      entry("c", "Update", "2026-01-01T00:00:00Z", "v2"),
    ];
    const managers = decodeManagedFields([...sorted].reverse());
    expect(managers && encodeManagedFields(managers)).toEqual(sorted);
  });

  it("lists that differ only in times: recognised", () => {
    const later = { ...created, time: "2027-01-01T00:00:00Z" };
    expect(onlyTimesDiffer([created], [later])).toBe(true);
    expect(onlyTimesDiffer([created], [{ ...later, fieldsV1: {} }])).toBe(false);
    expect(onlyTimesDiffer([created], [{ ...later, manager: "n" }])).toBe(false);
    expect(onlyTimesDiffer(undefined, [created])).toBe(false);
    expect(onlyTimesDiffer(undefined, undefined)).toBe(true);
  });
});

describe("a create against an update of an empty object (seed 7)", () => {
  it.each(definitions.map((definition) => [definition.kind, definition] as const))("%s: the same owned fields", (_kind, definition) => {
    const random = seededRandom(7);
    const values = new RandomValues(random);
    const { schema } = definition;
    const hasStatus = definition.subresources.includes("status");
    let owned = 0;
    for (let round = 0; round < 30; round++) {
      const after = values.message(schema) as JsonObject;
      if (typeof after.metadata === "object") delete (after.metadata as JsonObject).managedFields;
      const subresource = hasStatus && random.next() < 0.3 ? "status" : "";
      const update = { schema, apiVersion: "v1", subresource, hasStatus, manager: "m", nowMs: T0 };
      const quick = trackUpdate({ ...update, before: undefined, after: after as KubeObject });
      const managers = updatedManagers(new Map(), update, {}, after);
      const slow = managers && encodeManagedFields(managers);
      expect(JSON.stringify(quick)).toBe(JSON.stringify(slow));
      if (quick) owned++;
    }
    expect(owned).toBeGreaterThan(5);
  });
});
