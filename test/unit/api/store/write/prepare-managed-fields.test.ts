/** managedFields and server-side apply as the store carries them out; the rules themselves are in test/unit/api/fields. */
import { describe, expect, it } from "vitest";
import type { CoreEvent, KubeObject, Lease, Namespace } from "../../../../../src/api/meta/kubernetes";
import { toCoreEvent } from "../../../../../src/api/registry/events/conversion";
import { eventsDefinition, eventsGroupEventsDefinition } from "../../../../../src/api/registry/events/definition";
import { namespacesDefinition } from "../../../../../src/api/registry/namespaces/definition";
import { serviceCIDRsDefinition } from "../../../../../src/api/registry/service-cidrs/definition";
import type { GetResult, Subresource, WriteOptions, WriteRequest, WriteResult } from "../../../../../src/api/rpc/store";
import { aLease, aNamespace, StoreWorld, terminatingNamespace, WRITE } from "../../../../support/worlds/store-world";

function objectOf<T extends KubeObject = Lease>(result: WriteResult): T {
  if (!result.ok) throw new Error(result.status.message);
  return JSON.parse(result.object) as T;
}

function refusalOf(result: WriteResult): string {
  return result.ok ? `ok ${result.code}` : `${result.status.code} ${result.status.reason ?? ""} ${result.status.message ?? ""}`;
}

/** `manager operation apiVersion [subresource]` of each entry */
function entriesOf(object: KubeObject | undefined): string[] {
  return (object?.metadata?.managedFields ?? []).map(({ manager, operation, apiVersion, subresource }) =>
    [manager, operation, apiVersion, subresource].filter(Boolean).join(" "),
  );
}

function fieldsOf(object: KubeObject | undefined, manager: string): unknown {
  return object?.metadata?.managedFields?.find((entry) => entry.manager === manager)?.fieldsV1;
}

type Options = Partial<WriteOptions> & { subresource?: Subresource; namespace?: string };

/** An apply of `config` under its own name; kind and apiVersion are the store's unless it says otherwise. */
function applyRequest({ definition }: StoreWorld, config: object, { subresource = "", namespace, ...options }: Options = {}): WriteRequest {
  const group = options.group ?? definition.group;
  const version = options.version ?? "v1";
  const typed = { apiVersion: group ? `${group}/${version}` : version, kind: definition.kind, ...config } as KubeObject;
  return {
    verb: "patch",
    key: { namespace: namespace ?? (definition.namespaced ? "ns" : ""), name: typed.metadata?.name ?? "" },
    subresource,
    patchType: "apply",
    patch: JSON.stringify(typed),
    options: { ...WRITE, group, version, fieldManager: "applier", ...options },
  };
}

function apply(world: StoreWorld, config: object, options?: Options): Promise<WriteResult> {
  return world.write(applyRequest(world, config, options));
}

const lease = (spec?: object, metadata: object = {}) => ({ metadata: { name: "a", ...metadata }, ...(spec ? { spec } : {}) });
/** as the Worker sends what was posted to events.k8s.io */
const anEvent = toCoreEvent({
  metadata: { name: "e", namespace: "ns" },
  eventTime: "2026-01-01T00:00:00.000000Z",
  note: "n",
  reason: "r",
  action: "a",
  type: "Normal",
  regarding: { namespace: "ns", name: "p" },
  reportingController: "c",
  reportingInstance: "i",
} as KubeObject);
const LATER_MS = 61_000;

describe("apply (ServerSideApply)", () => {
  it("an absent object: created as by POST; a repetition later: changes nothing", async () => {
    const world = new StoreWorld();
    const result = await apply(world, lease({ holderIdentity: "x" }));
    expect(result).toMatchObject({ ok: true, code: 201, warnings: [] });
    const created = objectOf(result);
    expect(created).toMatchObject({ metadata: { name: "a", namespace: "ns", resourceVersion: "2" }, spec: { holderIdentity: "x" } });
    expect(created.metadata?.uid).toMatch(/^[0-9a-f]{8}-/);
    expect(entriesOf(created)).toEqual(["applier Apply coordination.k8s.io/v1"]);
    expect(fieldsOf(created, "applier")).toEqual({ "f:spec": { "f:holderIdentity": {} } });
    await world.scheduler.run(world.scheduler.clock().sleep(LATER_MS));
    const again = await apply(world, lease({ holderIdentity: "x" }));
    expect(again).toMatchObject({ ok: true, code: 200 });
    expect(objectOf(again)).toEqual(created);
    expect(world.history()).toEqual(["ADDED ns/a"]);
  });

  it("a dry run: stores nothing", async () => {
    const world = new StoreWorld();
    expect(await apply(world, lease({ holderIdentity: "x" }), { dryRun: true })).toMatchObject({ ok: true, code: 201 });
    expect(world.stored("a")).toBeUndefined();
    await world.create(aLease("a"));
    expect(await apply(world, lease({ holderIdentity: "x" }), { dryRun: true })).toMatchObject({ ok: true, code: 200 });
    expect(world.history()).toEqual(["ADDED ns/a"]);
  });

  it("conflict, force, shared and dropped fields: each kept in the stored entries", async () => {
    const world = new StoreWorld();
    await apply(world, lease({ holderIdentity: "x", leaseDurationSeconds: 5 }));
    const conflict = 'Apply failed with 1 conflict: conflict with "applier": .spec.holderIdentity';
    expect(refusalOf(await apply(world, lease({ holderIdentity: "y" }), { fieldManager: "b" }))).toBe(`409 Conflict ${conflict}`);
    await apply(world, lease({ holderIdentity: "y" }), { fieldManager: "b", force: true });
    expect(fieldsOf(world.stored("a"), "applier")).toEqual({ "f:spec": { "f:leaseDurationSeconds": {} } });
    await apply(world, lease({ leaseDurationSeconds: 5 }), { fieldManager: "c" });
    await apply(world, lease());
    expect(world.stored("a")?.spec).toEqual({ holderIdentity: "y", leaseDurationSeconds: 5 });
    await apply(world, lease(), { fieldManager: "c" });
    expect(world.stored("a")?.spec).toEqual({ holderIdentity: "y" });
    expect(entriesOf(world.stored("a"))).toEqual(["b Apply coordination.k8s.io/v1"]);
  });

  it("apply of status: an entry of its own, spec is ignored; without the object: 404", async () => {
    const world = new StoreWorld({ definition: namespacesDefinition });
    const status = { conditions: [{ type: "Tested", status: "True" }] };
    const config = { metadata: { name: "n" }, spec: { finalizers: ["example.com/x"] }, status };
    expect(refusalOf(await apply(world, config, { subresource: "status" }))).toBe('404 NotFound namespaces "n" not found');
    await apply(world, { metadata: { name: "n", labels: { a: "1" } }, status: { phase: "Terminating" } });
    await apply(world, config, { subresource: "status" });
    const stored = world.stored<Namespace>("n");
    expect(stored).toMatchObject({ spec: { finalizers: ["kubernetes"] }, status: { phase: "Active", ...status } });
    expect(entriesOf(stored)).toEqual(["applier Apply v1", "applier Apply v1 status"]);
    expect(JSON.stringify(stored?.metadata?.managedFields)).not.toMatch(/f:spec|f:phase/);
  });

  it("status endpoint of a ServiceCIDR: keeps the metadata, and has an entry of its own", async () => {
    const world = new StoreWorld({ definition: serviceCIDRsDefinition });
    await apply(world, { metadata: { name: "c" }, spec: { cidrs: ["10.0.0.0/24"] } }, { version: "v1beta1" });
    const condition = { type: "Ready", status: "True", reason: "r", message: "m", lastTransitionTime: "2026-01-01T00:00:00Z" };
    await apply(world, { metadata: { name: "c", labels: { a: "1" } }, status: { conditions: [condition] } }, { subresource: "status" });
    expect(world.stored("c", "")?.metadata?.labels).toBeUndefined();
    expect(entriesOf(world.stored("c", ""))).toEqual([
      "applier Apply networking.k8s.io/v1 status",
      "applier Apply networking.k8s.io/v1beta1",
    ]);
    await apply(world, { metadata: { name: "c" }, spec: { cidrs: ["10.0.0.0/24"] } });
    expect(entriesOf(world.stored("c", ""))).toContain("applier Apply networking.k8s.io/v1");
    expect(entriesOf(world.stored("c", ""))).toHaveLength(2);
  });

  it.each<{ config: object; options?: Options; want: string }>([
    {
      config: { metadata: { name: "a", uid: "u" } },
      want: '409 Conflict Operation cannot be fulfilled on leases.coordination.k8s.io "a": uid mismatch: the provided object specified uid u, and no existing object was found',
    },
    {
      config: { metadata: { name: "a", namespace: "other" } },
      want: "400 BadRequest the namespace of the provided object does not match the namespace sent on the request",
    },
    { config: { metadata: { name: "a", managedFields: [] } }, want: "400 BadRequest metadata.managedFields must be nil" },
    {
      config: { metadata: { name: "a" }, apiVersion: "v2" },
      want: "400 BadRequest invalid object type: /v2, Kind=Lease",
    },
    {
      config: { metadata: { name: "a" }, kind: "Service" },
      want: "400 BadRequest invalid object type: coordination.k8s.io/v1, Kind=Service",
    },
    {
      config: lease({ foo: 1 }),
      want: "500  failed to create typed patch object (/a; coordination.k8s.io/v1, Kind=Lease): .spec.foo: field not declared in schema",
    },
    {
      config: lease({ leaseDurationSeconds: -1 }),
      want: '422 Invalid Lease.coordination.k8s.io "a" is invalid: spec.leaseDurationSeconds: Invalid value: -1: must be greater than 0',
    },
    { config: lease({ renewTime: "soon" }), want: "400 BadRequest" },
  ])("refused apply: $want", async ({ config, options, want }) => {
    for (const exists of [false, true]) {
      if (exists && want.includes("uid mismatch")) continue;
      const world = new StoreWorld();
      if (exists) await world.create(aLease("a"));
      expect(refusalOf(await apply(world, config, options))).toContain(want);
      expect(world.history()).toEqual(exists ? ["ADDED ns/a"] : []);
    }
  });

  it("null as an entry of a map of strings: the empty string, as Go reads it; null for a field: absent", async () => {
    const world = new StoreWorld();
    const made = objectOf(await apply(world, lease({ holderIdentity: null }, { labels: { a: null, b: "1" } })));
    expect(made).toMatchObject({ metadata: { labels: { a: "", b: "1" } } });
    expect(made).not.toHaveProperty("spec.holderIdentity");
    const changed = objectOf(await apply(world, lease({}, { labels: { a: "2", b: null } })));
    expect(changed.metadata?.labels).toEqual({ a: "2", b: "" });
  });

  it("a name other than the URL's: 400", async () => {
    const world = new StoreWorld();
    const body = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
    expect(refusalOf(await world.patch("a", "apply", { ...body, metadata: { name: "b" } }))).toBe(
      "400 BadRequest the name of the object (b) does not match the name on the URL (a)",
    );
    expect(refusalOf(await world.patch("a", "apply", body))).toMatch(/^400 BadRequest .* name must be provided$/);
  });

  it("a resourceVersion: a precondition of an update, ignored by a create", async () => {
    const world = new StoreWorld();
    expect(refusalOf(await apply(world, lease({}, { resourceVersion: "77" })))).toBe("ok 201");
    expect(refusalOf(await apply(world, lease({ holderIdentity: "x" }, { resourceVersion: "77" })))).toMatch(
      /^409 Conflict .*has been modified/,
    );
    const { resourceVersion } = world.stored("a")?.metadata ?? {};
    expect(refusalOf(await apply(world, lease({ holderIdentity: "x" }, { resourceVersion })))).toBe("ok 200");
  });

  it.each<[string, GetResult, string]>([
    ["Active namespace", aNamespace("ns"), "ok 201"],
    ["terminating namespace", terminatingNamespace("ns"), "403 Forbidden"],
    [
      "missing namespace",
      { ok: false, status: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "NotFound", code: 404 } },
      "404 NotFound",
    ],
  ])("create in a %s: answered as a POST", async (_what, answer, want) => {
    const world = new StoreWorld();
    world.namespaces.set("ns", answer);
    expect(refusalOf(await apply(world, lease({ holderIdentity: "x" })))).toContain(want);
  });

  it("two at once of one absent name: one creates, the other applies to the new object", async () => {
    const world = new StoreWorld();
    const requests = [
      applyRequest(world, lease({ holderIdentity: "x" })),
      applyRequest(world, lease({ leaseDurationSeconds: 5 }), { fieldManager: "b" }),
    ];
    const results = await world.scheduler.run(Promise.all(requests.map((request) => world.store.write(request))));
    expect(results.map(refusalOf).sort()).toEqual(["ok 200", "ok 201"]);
    expect(world.stored("a")?.spec).toEqual({ holderIdentity: "x", leaseDurationSeconds: 5 });
  });
});

describe("managedFields of other writes", () => {
  it("create, PUT, each patch and the status endpoint: an entry with manager, version and subresource of the request", async () => {
    const world = new StoreWorld({ definition: namespacesDefinition });
    const as = (fieldManager: string) => ({ fieldManager, group: "" });
    await world.create({ metadata: { name: "n", labels: { a: "1" } } }, as("creator"));
    const stored = world.stored<Namespace>("n") ?? {};
    await world.update({ ...stored, metadata: { ...stored.metadata, labels: { a: "1", b: "1" } } }, as("putter"));
    await world.patch("n", "merge", { metadata: { labels: { c: "1" } } }, as("merger"), "");
    await world.patch("n", "json", [{ op: "add", path: "/metadata/labels/d", value: "1" }], as("jsoner"), "");
    await world.patch("n", "strategic", { metadata: { labels: { a: "2" } } }, as("strategist"), "");
    const newest = world.stored<Namespace>("n") ?? {};
    const conditions = [{ type: "T", status: "True" }];
    await world.update({ ...newest, status: { phase: "Active", conditions } } as Namespace, as("stater"), "status");
    expect(entriesOf(world.stored("n")).sort()).toEqual(
      ["creator", "jsoner", "merger", "putter", "stater", "strategist"].map(
        (name) => `${name} Update v1${name === "stater" ? " status" : ""}`,
      ),
    );
    expect(fieldsOf(world.stored("n"), "creator")).toEqual({
      "f:metadata": { "f:labels": { ".": {}, "f:kubernetes.io/metadata.name": {} } },
    });
    expect(fieldsOf(world.stored("n"), "strategist")).toEqual({ "f:metadata": { "f:labels": { "f:a": {} } } });
  });

  it("a PUT without managedFields: keeps them; with [] or [{}]: forgets them; with malformed ones: ignores them", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a", { holderIdentity: "x" }));
    const kept = world.stored("a")?.metadata?.managedFields;
    expect(kept).toHaveLength(1);
    await world.update(aLease("a", { holderIdentity: "x" }, { resourceVersion: "2" }));
    expect(world.stored("a")?.metadata?.managedFields).toEqual(kept);
    await world.patch("a", "merge", { metadata: { managedFields: [{ manager: "m", operation: "Odd" }] } });
    expect(world.stored("a")?.metadata?.managedFields).toEqual(kept);
    expect(world.history()).toEqual(["ADDED ns/a"]);
    for (const managedFields of [[], [{}]]) {
      await world.delete("a");
      const { metadata } = objectOf(await world.create(aLease("a", { holderIdentity: "x" })));
      await world.update(aLease("a", { holderIdentity: "x" }, { ...metadata, managedFields } as Lease["metadata"]));
      expect(world.stored("a")?.metadata).not.toHaveProperty("managedFields");
    }
  });

  it("a write of managedFields alone, in the second of the last write: stored, although a field's owner is an empty value", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a", { holderIdentity: "x", leaseDurationSeconds: 5 }));
    const [entry] = world.stored("a")?.metadata?.managedFields ?? [];
    const managedFields = [{ ...entry, fieldsV1: { "f:spec": { "f:holderIdentity": {} } } }];
    await world.patch("a", "merge", { metadata: { managedFields } });
    expect(world.stored("a")?.metadata?.managedFields).toEqual(managedFields);
    expect(world.history()).toEqual(["ADDED ns/a", "MODIFIED ns/a"]);
  });

  it("a change that the kind undoes: entries and times stay", async () => {
    const world = new StoreWorld({ definition: namespacesDefinition });
    await world.create({ metadata: { name: "n" }, spec: { finalizers: ["example.com/x"] } } as Namespace, { group: "" });
    const before = world.stored<Namespace>("n");
    await world.scheduler.run(world.scheduler.clock().sleep(LATER_MS));
    await world.patch("n", "merge", { status: { phase: "Terminating" } }, { group: "" }, "");
    expect(world.stored("n")).toEqual(before);
  });

  it("initial objects: owned by kube-apiserver", () => {
    const world = new StoreWorld({ definition: namespacesDefinition });
    expect(entriesOf(world.stored("default"))).toEqual(["kube-apiserver Update v1"]);
  });

  it("events: entries have the names of their group, and a conflict is found across groups", async () => {
    const world = new StoreWorld({ definition: eventsDefinition, representations: [eventsGroupEventsDefinition] });
    const made = objectOf<CoreEvent>(await world.create(anEvent, { group: "events.k8s.io", fieldManager: "events" }));
    expect(fieldsOf(made, "events")).toHaveProperty("f:note");
    const config = { metadata: { name: "e" }, message: "other" };
    expect(refusalOf(await apply(world, config))).toBe(
      '409 Conflict Apply failed with 1 conflict: conflict with "events" using events.k8s.io/v1: .note',
    );
    expect(refusalOf(await apply(world, config, { force: true }))).toBe("ok 200");
    const stored = world.stored<CoreEvent>("e");
    expect(stored).toMatchObject({ message: "other", involvedObject: { name: "p" } });
    expect(entriesOf(stored)).toEqual(["applier Apply v1", "events Update events.k8s.io/v1"]);
    expect(fieldsOf(stored, "applier")).toEqual({ "f:message": {} });
    expect(fieldsOf(stored, "events")).not.toHaveProperty("f:note");
    const series = { count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" };
    const patch = { group: "events.k8s.io", fieldManager: "patcher" };
    expect(refusalOf(await world.patch("e", "merge", { series }, patch))).toBe("ok 200");
    expect(fieldsOf(world.stored("e"), "patcher")).toEqual({ "f:series": { ".": {}, "f:count": {}, "f:lastObservedTime": {} } });
  });

  it("events.k8s.io: a create owns what was sent, under the names of its group", async () => {
    const world = new StoreWorld({ definition: eventsDefinition, representations: [eventsGroupEventsDefinition] });
    const { metadata } = objectOf(await world.create(anEvent, { group: "events.k8s.io" }));
    expect(metadata?.managedFields?.map(({ apiVersion }) => apiVersion)).toEqual(["events.k8s.io/v1"]);
    expect(Object.keys(metadata?.managedFields?.[0]?.fieldsV1 ?? {}).sort()).toEqual(
      ["action", "eventTime", "note", "reason", "regarding", "reportingController", "reportingInstance", "type"].map((name) => `f:${name}`),
    );
  });
});

it("an update that renames a manager to a name of 129 bytes: refused as upstream", async () => {
  const world = new StoreWorld();
  const created = objectOf(await world.create({ ...aLease("a"), spec: { holderIdentity: "h" } } as Lease));
  const [entry] = created.metadata?.managedFields ?? [];
  const metadata = { ...created.metadata, managedFields: [{ ...entry, manager: "x".repeat(129) }] };
  const options = { ...WRITE, group: "coordination.k8s.io", version: "v1" };
  const key = { namespace: "ns", name: "a" };
  const result = await world.write({ verb: "update", key, subresource: "", object: JSON.stringify({ ...created, metadata }), options });
  expect(refusalOf(result)).toContain("metadata.managedFields[0].manager: Too long: may not be more than 128 bytes");
});
