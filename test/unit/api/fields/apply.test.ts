import { describe, expect, it } from "vitest";
import { applyConfiguration, type Applied, type ApplyRequest } from "../../../../src/api/fields/apply";
import { type ManagedFieldsEntry, onlyTimesDiffer } from "../../../../src/api/fields/managed-fields";
import { trackUpdate } from "../../../../src/api/fields/update";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import type { JsonObject } from "../../../../src/api/schema/json/json-value";
import type { Status } from "../../../../src/api/meta/status";
import { PodSchema } from "../../../../src/api/schema/kinds/core-pods";
import { ServiceSchema } from "../../../../src/api/schema/kinds/core-services";
import { CoreEventSchema } from "../../../../src/api/schema/kinds/core-events";
import { IPAddressSchema } from "../../../../src/api/schema/kinds/networking";

const T0 = Date.UTC(2026, 0, 1);
const context = { schema: ServiceSchema, apiVersion: "v1", kind: "Service", subresource: "", hasStatus: true };
type Options = Partial<ApplyRequest>;

/** The stored object after an apply that must succeed. */
function applied(live: KubeObject | undefined, manager: string, config: object, options: Options = {}): KubeObject {
  const result = attempt(live, manager, config, options);
  if (!result.ok) throw new Error(result.error.message);
  return stored(result.value);
}

function stored({ object, managedFields }: Applied): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...(managedFields ? { managedFields } : {}) } };
}

function attempt(live: KubeObject | undefined, manager: string, config: object, options: Options = {}) {
  const typed = { apiVersion: options.apiVersion ?? "v1", kind: options.kind ?? "Service", ...config } as JsonObject;
  return applyConfiguration({ ...context, live, manager, config: typed, force: false, nowMs: T0, ...options });
}

function refusal(live: KubeObject | undefined, manager: string, config: object, options: Options = {}): Status {
  const result = attempt(live, manager, config, options);
  if (result.ok) throw new Error("the apply should have been refused");
  return result.error;
}

function created(object: object, manager: string): KubeObject {
  const after = object as KubeObject;
  const managedFields = trackUpdate({ ...context, before: undefined, after, manager, nowMs: T0 });
  return { ...after, metadata: { ...after.metadata, uid: "u", ...(managedFields ? { managedFields } : {}) } };
}

const metadata = { name: "web", namespace: "default" };
const web = (spec: object, more: object = {}): object => ({ metadata: { ...metadata, ...more }, spec });
const port80 = { port: 80, targetPort: 8080 };
const fieldsOf = (object: KubeObject, manager: string, subresource = ""): unknown =>
  object.metadata?.managedFields?.find((entry) => entry.manager === manager && (entry.subresource ?? "") === subresource)?.fieldsV1;
const specOf = (object: KubeObject): Record<string, unknown> => (object as unknown as { spec: Record<string, unknown> }).spec;

describe("apply", () => {
  it("to an absent object: creates the configuration", () => {
    const config = web({ ports: [port80], type: "ClusterIP" }, { labels: { app: "web" } });
    const object = applied(undefined, "a", config);
    const { managedFields, ...rest } = object.metadata ?? {};
    expect({ ...object, metadata: rest }).toEqual(config);
    expect(JSON.stringify(managedFields)).toBe(
      JSON.stringify([
        {
          manager: "a",
          operation: "Apply",
          apiVersion: "v1",
          time: "2026-01-01T00:00:00Z",
          fieldsType: "FieldsV1",
          fieldsV1: {
            "f:metadata": { "f:labels": { "f:app": {} } },
            "f:spec": {
              "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {}, "f:targetPort": {} } },
              "f:type": {},
            },
          },
        },
      ]),
    );
  });

  it("through /status: has an entry of its own", () => {
    const live = applied(undefined, "a", web({ ports: [port80] }));
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
    const object = applied(live, "a", { metadata, status }, { subresource: "status" });
    expect(fieldsOf(object, "a", "status")).toEqual({ "f:status": { "f:loadBalancer": { "f:ingress": {} } } });
    expect(fieldsOf(object, "a")).toEqual(fieldsOf(live, "a"));
    expect((object as unknown as { status: object }).status).toEqual(status);
  });

  it("without a field of the last apply: removes the field", () => {
    const live = applied(undefined, "a", web({ ports: [port80], type: "NodePort", sessionAffinity: "None" }));
    const object = applied(live, "a", web({ ports: [port80], sessionAffinity: "None" }));
    expect(specOf(object)).toEqual({ ports: [port80], sessionAffinity: "None" });
  });

  it("without a field that another manager owns too: keeps the field", () => {
    const first = applied(undefined, "a", web({ ports: [port80], type: "NodePort" }));
    const shared = applied(first, "b", web({ type: "NodePort" }));
    const object = applied(shared, "a", web({ ports: [port80] }));
    expect(specOf(object)).toEqual({ ports: [port80], type: "NodePort" });
    expect(fieldsOf(object, "b")).toEqual({ "f:spec": { "f:type": {} } });
    expect(JSON.stringify(fieldsOf(object, "a"))).not.toContain("f:type");
    expect(specOf(applied(object, "b", { metadata: { ...metadata, labels: { x: "y" } } }))).toEqual({ ports: [port80] });
  });

  it("with force: changes the field and takes it from its owner", () => {
    const live = applied(undefined, "a", web({ ports: [port80], type: "NodePort" }));
    const object = applied(live, "b", web({ type: "ClusterIP" }), { force: true });
    expect(specOf(object).type).toBe("ClusterIP");
    expect(fieldsOf(object, "b")).toEqual({ "f:spec": { "f:type": {} } });
    expect(JSON.stringify(fieldsOf(object, "a"))).not.toContain("f:type");
    // a manager that lost a field does not remove it
    expect(specOf(applied(object, "a", web({ ports: [port80] }))).type).toBe("ClusterIP");
  });
});

describe("conflicts", () => {
  const live = applied(undefined, "a", web({ ports: [{ ...port80, name: "http" }], type: "NodePort" }));

  it("one field of one manager: 409 that names both", () => {
    expect(refusal(live, "b", web({ type: "ClusterIP" }))).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'Apply failed with 1 conflict: conflict with "a": .spec.type',
      reason: "Conflict",
      details: { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "a"', field: ".spec.type" }] },
      code: 409,
    });
  });

  it("several managers, appliers and updaters: listed by manager", () => {
    const labelled = { ...live, metadata: { ...live.metadata, labels: { x: "1" } } };
    const managedFields = trackUpdate({ ...context, before: live, after: labelled, manager: "u", nowMs: T0 });
    const mixed = { ...labelled, metadata: { ...labelled.metadata, managedFields } };
    const status = refusal(mixed, "b", web({ type: "ClusterIP", ports: [{ port: 80, targetPort: 1, name: "x" }] }, { labels: { x: "2" } }));
    expect(status.message).toBe(
      [
        'Apply failed with 4 conflicts: conflicts with "a":',
        "- .spec.type",
        '- .spec.ports[port=80,protocol="TCP"].name',
        '- .spec.ports[port=80,protocol="TCP"].targetPort',
        'conflicts with "u" using v1:',
        "- .metadata.labels.x",
      ].join("\n"),
    );
    expect(status.details?.causes?.map((cause) => `${cause.message} ${cause.field}`)).toContain(
      'conflict with "u" using v1 .metadata.labels.x',
    );
  });

  it("an owner through a subresource: the text names the subresource", () => {
    const before = created(web({ ports: [port80] }), "u");
    const after = { ...before, status: { conditions: [{ type: "Ready", status: "True" }] } } as KubeObject;
    const managedFields = trackUpdate({ ...context, subresource: "status", before, after, manager: "lb", nowMs: T0 });
    const reported = { ...after, metadata: { ...after.metadata, managedFields } };
    const config = { metadata, status: { conditions: [{ type: "Ready", status: "False" }] } };
    expect(refusal(reported, "b", config, { subresource: "status" }).message).toBe(
      'Apply failed with 1 conflict: conflict with "lb" with subresource "status" using v1: .status.conditions[type="Ready"].status',
    );
    // the same write through the main endpoint owns nothing, so there is no conflict
    expect(attempt(reported, "b", config).ok).toBe(true);
  });

  it("the same value, a new field and the manager's own field: no conflict", () => {
    expect(attempt(live, "b", web({ type: "NodePort", sessionAffinity: "None" })).ok).toBe(true);
    expect(attempt(live, "a", web({ type: "ClusterIP" })).ok).toBe(true);
  });

  it("an atomic map or list: one conflict for the whole field", () => {
    const one = applied(undefined, "a", web({ selector: { app: "x" }, externalIPs: ["192.0.2.1"] }));
    const status = refusal(one, "b", web({ selector: { tier: "y" }, externalIPs: ["192.0.2.2"] }));
    expect(status.details?.causes?.map((cause) => cause.field)).toEqual([".spec.externalIPs", ".spec.selector"]);
  });

  it("null for a field of another manager: a conflict", () => {
    expect(refusal(live, "b", web({ type: null })).message).toBe('Apply failed with 1 conflict: conflict with "a": .spec.type');
  });
});

describe("refused configurations", () => {
  it.each([
    ["an unknown field", web({ foo: 1 }), ".spec.foo: field not declared in schema"],
    ["unknown metadata", web({}, { unknownMeta: "x" }), ".metadata.unknownMeta: field not declared in schema"],
    [
      "repeated keys",
      web({ ports: [port80, { port: 80, protocol: "TCP", name: "x" }] }),
      '.spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
    ],
    ["repeated members of a set", web({}, { finalizers: ["a/b", "a/b"] }), '.metadata.finalizers: duplicate entries for key [="a/b"]'],
    ["a number for a string", web({ type: 5 }), ".spec.type: expected string, got &value.valueUnstructured{Value:5}"],
    ["a string for a number", web({ healthCheckNodePort: "x" }), ".spec.healthCheckNodePort: expected numeric (int or float), got string"],
    ["a map for a list", web({ ports: { a: [1, "b"] } }), ".spec.ports: expected list, got &{map[a:[1 b]]}"],
    ["a list for a map", { metadata, spec: ["x"] }, ".spec: expected map, got &{[x]}"],
    ["a string for a boolean", web({ publishNotReadyAddresses: "yes" }), ".spec.publishNotReadyAddresses: expected boolean, got &{yes}"],
    [
      "a map as port",
      web({ ports: [{ port: 1, targetPort: {} }] }),
      '.spec.ports[port=1,protocol="TCP"].targetPort: expected any scalar, got &{map[]}',
    ],
    [
      "something in an atomic list",
      web({ externalIPs: [5] }),
      ".spec.externalIPs[0]: expected string, got &value.valueUnstructured{Value:5}",
    ],
    ["a null item", web({ ports: [null] }), ".spec.ports: element 0: associative list with keys may not have a null element"],
    [
      "two things",
      web({ foo: 1, bar: 2 }),
      "errors:\n  .spec.foo: field not declared in schema\n  .spec.bar: field not declared in schema",
    ],
  ])("%s: refused, the message names the field", (_name, config, why) => {
    const status = refusal(undefined, "a", config);
    expect(status).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `failed to create typed patch object (default/web; /v1, Kind=Service): ${why}`,
      code: 500,
    });
  });

  it("an item without any of its keys: refused", () => {
    const status = refusal(undefined, "a", { metadata, spec: { containers: [{ image: "x" }] } }, { schema: PodSchema, kind: "Pod" });
    expect(status.message).toBe(
      'failed to create typed patch object (default/web; /v1, Kind=Pod): .spec.containers: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    );
  });

  it.each([
    ["managedFields", { ...web({}), metadata: { ...metadata, managedFields: [] } }, "metadata.managedFields must be nil"],
    ["another version", { apiVersion: "v2" }, "invalid object type: /v2, Kind=Service"],
    ["another kind", { apiVersion: "v1", kind: "Pod" }, "invalid object type: /v1, Kind=Pod"],
    ["no type", { apiVersion: undefined, kind: undefined }, "invalid object type: /, Kind="],
  ])("%s: refused before the merge", (_name, config, message) => {
    const status = refusal(undefined, "a", config);
    expect([status.code, status.reason, status.message]).toEqual([400, "BadRequest", message]);
  });
});

describe("removed fields", () => {
  it("fields that a manager drops: removed, unowned fields beside them stay", () => {
    const live = applied(undefined, "a", web({ ports: [port80], type: "ClusterIP" }));
    const defaulted = { ...live, spec: { ...specOf(live), clusterIP: "10.0.0.1" } } as KubeObject;
    expect(specOf(applied(defaulted, "a", web({ type: "ClusterIP" })))).toEqual({ type: "ClusterIP", clusterIP: "10.0.0.1" });
  });

  it("an item of a list: removed with its unowned members, kept with members that others own", () => {
    const live = applied(undefined, "a", web({ ports: [port80, { port: 443 }] }));
    const [first, second] = specOf(live).ports as object[];
    const defaulted = {
      ...live,
      spec: {
        ports: [
          { ...first, protocol: "TCP" },
          { ...second, protocol: "TCP" },
        ],
      },
    } as KubeObject;
    expect(specOf(applied(defaulted, "a", web({ ports: [port80] })))).toEqual({ ports: [{ ...port80, protocol: "TCP" }] });
    const named = applied(defaulted, "b", web({ ports: [{ port: 443, name: "https" }] }));
    expect(specOf(applied(named, "a", web({ ports: [port80] })))).toEqual({
      ports: [
        { ...port80, protocol: "TCP" },
        // nobody owned the protocol, so it stays with the item
        { port: 443, protocol: "TCP", name: "https" },
      ],
    });
  });

  it("a map without members left: removed", () => {
    const live = applied(undefined, "a", web({ ports: [port80] }, { labels: { a: "1" }, finalizers: ["x/y"] }));
    const object = applied(live, "a", web({ ports: [port80] }));
    expect(object.metadata).toEqual({ ...metadata, managedFields: object.metadata?.managedFields });
  });

  it("null in place of a map: its members stay", () => {
    const live = applied(undefined, "a", web({}, { labels: { a: "1" } }));
    expect(applied(live, "b", web({}, { labels: null })).metadata?.labels).toEqual({ a: "1" });
  });

  it("items of a list: the manager's keep its order, others keep their neighbours", () => {
    const live = created(web({}, { finalizers: ["d/4", "a/1", "c/3", "b/2"] }), "u");
    expect(applied(live, "m", web({}, { finalizers: ["b/2", "x/0", "a/1"] })).metadata?.finalizers).toEqual([
      "d/4",
      "c/3",
      "b/2",
      "x/0",
      "a/1",
    ]);
  });
});

describe("untracked objects", () => {
  it("the first apply: the object belongs to before-first-apply", () => {
    const live = { ...web({ ports: [{ ...port80, protocol: "TCP" }], type: "NodePort" }) } as KubeObject;
    const untracked = { ...live, metadata: { ...live.metadata, uid: "u" } };
    const status = refusal(untracked, "a", web({ type: "ClusterIP" }));
    expect(status.message).toBe('Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .spec.type');
    const object = applied(untracked, "a", web({ type: "NodePort" }));
    expect(object.metadata?.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
      ["a", "Apply"],
      ["before-first-apply", "Update"],
    ]);
    expect(JSON.stringify(fieldsOf(object, "before-first-apply"))).toContain("f:type");
  });
});

describe("times of entries", () => {
  it("an apply that changes something: a new time; any other: the old one", () => {
    const timeOf = (object: KubeObject): string | undefined => object.metadata?.managedFields?.[0]?.time;
    const first = applied(undefined, "a", web({ type: "NodePort" }));
    const again = applied(first, "a", web({ type: "NodePort" }), { nowMs: T0 + 5000 });
    expect(again).toEqual(first);
    expect(timeOf(applied(first, "a", web({ type: "ClusterIP" }), { nowMs: T0 + 5000 }))).toBe("2026-01-01T00:00:05Z");
    const shared = applied(first, "b", web({ type: "NodePort" }), { nowMs: T0 + 5000 });
    expect(shared.metadata?.managedFields?.map((entry) => entry.time)).toEqual(["2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z"]);
  });

  it("a configuration with nulls: at most the time changes", () => {
    const first = applied(undefined, "a", web({ type: "NodePort" }));
    const live = { ...first, metadata: { ...first.metadata, creationTimestamp: "2026-01-01T00:00:00Z" } };
    const again = applied(live, "a", web({ type: "NodePort" }, { creationTimestamp: null }), { nowMs: T0 + 5000 });
    expect(onlyTimesDiffer(again.metadata?.managedFields, live.metadata?.managedFields)).toBe(true);
  });
});

describe("apply after a client-side apply", () => {
  const annotation = "kubectl.kubernetes.io/last-applied-configuration";
  const config = { apiVersion: "v1", kind: "Service", ...web({ ports: [port80], type: "NodePort" }) };
  const live = created(
    web({ ports: [port80], type: "NodePort" }, { annotations: { [annotation]: JSON.stringify(config) } }),
    "kubectl-client-side-apply",
  );

  it("by kubectl: overcomes the conflicts with its own client-side apply, and updates the annotation", () => {
    const object = applied(live, "kubectl", web({ ports: [port80], type: "ClusterIP" }));
    expect(specOf(object).type).toBe("ClusterIP");
    expect(object.metadata?.annotations?.[annotation]).toBe(
      '{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"default"},"spec":{"ports":[{"port":80,"targetPort":8080}],"type":"ClusterIP"}}\n',
    );
    expect(JSON.stringify(fieldsOf(object, "kubectl"))).not.toContain("last-applied");
  });

  it("by another manager: gets the conflict, and leaves the annotation", () => {
    expect(refusal(live, "helm", web({ type: "ClusterIP" })).message).toBe(
      'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .spec.type',
    );
    const object = applied(live, "helm", web({ type: "NodePort" }));
    expect(object.metadata?.annotations).toEqual(live.metadata?.annotations);
  });

  it("by kubectl, with fields that others have changed since: a conflict", () => {
    const after = { ...live, spec: { ...specOf(live), type: "LoadBalancer" } } as KubeObject;
    const managedFields = trackUpdate({ ...context, before: live, after, manager: "ui", nowMs: T0 });
    const changed = { ...after, metadata: { ...after.metadata, managedFields } };
    const status = refusal(changed, "kubectl", web({ type: "ClusterIP", ports: [{ port: 80, targetPort: 1 }] }));
    expect(status.message).toBe('Apply failed with 1 conflict: conflict with "ui" using v1: .spec.type');
  });

  it("by kubectl, with an annotation of another version: a conflict", () => {
    const other = {
      ...live,
      metadata: { ...live.metadata, annotations: { [annotation]: JSON.stringify({ ...config, apiVersion: "v9" }) } },
    };
    expect(refusal(other, "kubectl", web({ type: "ClusterIP" })).code).toBe(409);
  });

  it("with an annotation that would be too large: drops it", () => {
    const object = applied(live, "kubectl", web({ type: "NodePort" }, { annotations: { big: "x".repeat(200_000) } }));
    expect(Object.keys(object.metadata?.annotations ?? {})).toEqual(["big"]);
  });
});

describe("names of Object.prototype", () => {
  it("as labels: stored and owned like others", () => {
    const labels = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}') as JsonObject;
    const object = applied(undefined, "a", web({}, { labels }));
    expect(Object.entries(object.metadata?.labels ?? {}).sort()).toEqual(Object.entries(labels).sort());
    expect(fieldsOf(object, "a")).toEqual({
      "f:metadata": { "f:labels": { "f:__proto__": {}, "f:constructor": {}, "f:toString": {} } },
      "f:spec": {},
    });
    const dropped = applied(object, "a", web({}, { labels: { x: "y" } }));
    expect(Object.entries(dropped.metadata?.labels ?? {})).toEqual([["x", "y"]]);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });

  it("as fields: unknown fields like others", () => {
    const config = JSON.parse('{"metadata":{"name":"x"},"spec":{"__proto__":{"type":"x"},"constructor":1}}') as object;
    expect(refusal(undefined, "a", config).message).toContain(".spec.__proto__: field not declared in schema");
  });
});

describe("managers of other versions and groups", () => {
  const managers = (entries: ManagedFieldsEntry[] | undefined): string[] =>
    (entries ?? []).map((entry) => `${entry.manager} ${entry.apiVersion}`);

  it("two versions with one schema: a field is the same field in both", () => {
    const schema = IPAddressSchema;
    const otherForm = (apiVersion: string) => (apiVersion.startsWith("networking.k8s.io/") ? { schema } : undefined);
    const options = { schema, kind: "IPAddress", otherForm, hasStatus: false };
    const config = { metadata: { name: "10.0.0.1" }, spec: { parentRef: { resource: "services", name: "a" } } };
    const v1 = { ...options, apiVersion: "networking.k8s.io/v1" };
    const v1beta1 = { ...options, apiVersion: "networking.k8s.io/v1beta1" };
    const first = applied(undefined, "a", config, v1beta1);
    const other = { metadata: { name: "10.0.0.1" }, spec: { parentRef: { resource: "services", name: "b" } } };
    expect(refusal(first, "b", other, v1).message).toBe('Apply failed with 1 conflict: conflict with "a": .spec.parentRef.name');
    const again = applied(first, "a", other, v1);
    expect(managers(again.metadata?.managedFields)).toEqual(["a networking.k8s.io/v1"]);
  });

  it("two groups: a field applied through one can be dropped through the other", () => {
    const rename = (object: JsonObject, from: string, to: string): JsonObject => {
      const { [from]: value, ...rest } = object;
      return value === undefined ? rest : { ...rest, [to]: value };
    };
    const reversed = { from: (o: JsonObject) => rename(o, "reason", "action"), to: (o: JsonObject) => rename(o, "action", "reason") };
    const otherForm = () => ({ schema: CoreEventSchema, convert: reversed });
    const options = { schema: CoreEventSchema, kind: "Event", hasStatus: false, otherForm };
    const first = applied(undefined, "a", { metadata, reason: "Old", message: "m" }, { ...options, apiVersion: "v1" });
    // in the other version reason is called action
    const seen = { ...reversed.from(first as unknown as JsonObject) } as unknown as KubeObject;
    const back = { from: (o: JsonObject) => reversed.to(o), to: (o: JsonObject) => reversed.from(o) };
    const request = { ...options, otherForm: () => ({ schema: CoreEventSchema, convert: back }), apiVersion: "v9" };
    const object = applied(seen, "a", { metadata, message: "m" }, request) as unknown as JsonObject;
    expect([object.action, object.message]).toEqual([undefined, "m"]);
    expect(refusal(seen, "b", { metadata, action: "New" }, request).message).toBe(
      'Apply failed with 1 conflict: conflict with "a": .reason',
    );
  });
});
