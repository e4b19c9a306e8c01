import { describe, expect, it, vi } from "vitest";
import { OBJECT_MAX_BYTES } from "../../../../../src/api/schema/decode-limits";
import { STORE_QUEUE_MAX } from "../../../../../src/api/store/state/limits";
import type { Lease, Namespace, Pod } from "../../../../../src/api/meta/kubernetes";
import { configMapsDefinition } from "../../../../../src/api/registry/config-maps/definition";
import { namespacesDefinition } from "../../../../../src/api/registry/namespaces/definition";
import { podsDefinition } from "../../../../../src/api/registry/pods/definition";
import type { WriteResult } from "../../../../../src/api/rpc/store";
import { StorageFault } from "../../../../../src/api/store/state/store-storage";
import { aLease, createRequest, StoreWorld, WRITE } from "../../../../support/worlds/store-world";

function objectOf(result: WriteResult): Lease {
  if (!result.ok) throw new Error(result.status.message);
  return JSON.parse(result.object) as Lease;
}

function refusalOf(result: WriteResult): string {
  return result.ok ? `ok ${result.code}` : `${result.status.code} ${result.status.reason ?? ""} ${result.status.message ?? ""}`;
}

const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

describe("create", () => {
  it("a new object: identity, creation time and revision; the answer is what is stored", async () => {
    const world = new StoreWorld();
    const result = await world.create(aLease("a", { holderIdentity: "me" }));
    expect(result).toMatchObject({ ok: true, code: 201, gone: false, warnings: [] });
    const object = objectOf(result);
    expect(object).toMatchObject({ metadata: { name: "a", namespace: "ns", resourceVersion: "2" }, spec: { holderIdentity: "me" } });
    expect(object.metadata?.creationTimestamp).toBe("2023-11-14T22:13:20Z");
    expect(object.metadata?.uid).toMatch(/^[0-9a-f]{8}-/);
    expect(world.stored("a")).toEqual(object);
    expect(world.history()).toEqual(["ADDED ns/a"]);
  });

  it("a create of a name that exists: 409 AlreadyExists, also while the object is being deleted", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a", {}, { finalizers: ["example.com/hold"] }));
    expect(refusalOf(await world.create(aLease("a")))).toBe('409 AlreadyExists leases.coordination.k8s.io "a" already exists');
    await world.delete("a");
    expect(refusalOf(await world.create(aLease("a")))).toBe(
      '409 AlreadyExists object is being deleted: leases.coordination.k8s.io "a" already exists',
    );
    expect(world.history()).toEqual(["ADDED ns/a", "MODIFIED ns/a"]);
  });

  it("two creates of one name in one turn: the first wins", async () => {
    const world = new StoreWorld();
    const both = await world.scheduler.run(
      Promise.all([world.store.write(createRequest(aLease("a"))), world.store.write(createRequest(aLease("a")))]),
    );
    expect(both.map(({ ok }) => ok)).toEqual([true, false]);
  });

  it("an invalid create: 422 and nothing is stored", async () => {
    const world = new StoreWorld();
    expect(refusalOf(await world.create(aLease("A_B", { leaseDurationSeconds: 0 })))).toMatch(
      /^422 Invalid Lease.coordination.k8s.io "A_B" is invalid: \[/,
    );
    expect(refusalOf(await world.create({ metadata: { namespace: "ns" } }))).toMatch(
      /metadata.name: Required value: name or generateName is required/,
    );
    expect(world.history()).toEqual([]);
  });

  it("a create with a resourceVersion: 500 as upstream", async () => {
    const world = new StoreWorld();
    expect(refusalOf(await world.create(aLease("a", {}, { resourceVersion: "5" })))).toBe(
      "500  resourceVersion should not be set on objects to be created",
    );
  });

  it.each(["0", "00", ""])("resourceVersion %j: none, as upstream; a create and an update go through", async (resourceVersion) => {
    const world = new StoreWorld({ definition: configMapsDefinition });
    const object = { metadata: { name: "a", namespace: "ns", resourceVersion } };
    objectOf(await world.create(object));
    expect(objectOf(await world.update(Object.assign({ data: { a: "b" } }, object)))).toMatchObject({ data: { a: "b" } });
  });

  it.each([
    ["x", "invalid syntax"],
    ["-1", "invalid syntax"],
    ["18446744073709551616", "value out of range"],
  ])("resourceVersion %j: 500 of a PUT and a patch in Go's words, not looked at by a create", async (resourceVersion, why) => {
    const world = new StoreWorld();
    const lease = aLease("a", {}, { resourceVersion });
    const refusal = `500  strconv.ParseUint: parsing "${resourceVersion}": ${why}`;
    expect(refusalOf(await world.update(lease)), "a PUT that would create").toBe(refusal);
    expect(objectOf(await world.create(lease)).metadata?.resourceVersion).toBe("2");
    expect(refusalOf(await world.update(lease))).toBe(refusal);
    expect(refusalOf(await world.patch("a", "merge", { metadata: { resourceVersion } }))).toBe(refusal);
    expect(refusalOf(await world.update(aLease("a", {}, { resourceVersion: "02" })))).toBe("ok 200");
  });

  it("an update of a kind that needs a revision, with resourceVersion 0: 422", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    expect(refusalOf(await world.update(aLease("a", {}, { resourceVersion: "0" })))).toMatch(
      /^422 Invalid .*metadata.resourceVersion: Invalid value: 0: must be specified for an update$/,
    );
  });

  it("generateName: a suffix; a name that is taken is drawn again", async () => {
    // The same seed draws the same names: the second world has to draw again.
    const names: string[] = [];
    const first = new StoreWorld({ seed: 5 });
    names.push(objectOf(await first.create({ metadata: { generateName: "web-", namespace: "ns" } })).metadata?.name ?? "");
    expect(names[0]).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    const second = new StoreWorld({ seed: 5 });
    second.storage.objectPut({ key: `ns/${names[0] ?? ""}`, uid: "u", revision: 1, data: "{}" });
    const drawn = objectOf(await second.create({ metadata: { generateName: "web-", namespace: "ns" } })).metadata?.name;
    expect(drawn).toMatch(/^web-.{5}$/);
    expect(drawn).not.toBe(names[0]);
  });

  it("generateName of a kind without suffix: the base itself; taken: no unique name, with a retry", async () => {
    const plain = { ...namespacesDefinition, generatesNameSuffix: false, initialObjects: [] };
    const world = new StoreWorld({ definition: plain });
    const request = { metadata: { generateName: "web" } };
    expect(objectOf(await world.create(request)).metadata?.name).toBe("web");
    const again = await world.create(request);
    expect(refusalOf(again)).toBe(
      '409 AlreadyExists namespaces "web" already exists, the server was not able to generate a unique name for the object',
    );
    expect(again.ok ? 0 : again.status.details?.retryAfterSeconds).toBe(1);
  });

  it("a name beside generateName: the name counts", async () => {
    const world = new StoreWorld();
    expect(objectOf(await world.create(aLease("a", {}, { generateName: "b-" }))).metadata?.name).toBe("a");
  });
});

describe("get", () => {
  it("resourceVersion unset, 0 and N: the newest object; beyond the head: 504", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    const key = { namespace: "ns", name: "a" };
    for (const version of ["", "0", "1", "2"]) expect(world.store.get(key, version).ok).toBe(true);
    const beyond = world.store.get(key, "3");
    expect(beyond).toMatchObject({ ok: false, status: { code: 504, message: "Timeout: Too large resource version: 3, current: 2" } });
    expect(world.store.get({ namespace: "other", name: "a" }, "")).toMatchObject({
      status: { code: 404, message: 'leases.coordination.k8s.io "a" not found' },
    });
  });
});

describe("update", () => {
  it("the stored resourceVersion: accepted; a stale one: 409", async () => {
    const world = new StoreWorld();
    const created = objectOf(await world.create(aLease("a")));
    const updated = objectOf(await world.update({ ...created, spec: { holderIdentity: "x" } } as Lease));
    expect(updated.metadata).toEqual({ ...created.metadata, resourceVersion: "3" });
    expect(refusalOf(await world.update({ ...created, spec: { holderIdentity: "y" } } as Lease))).toBe(
      `409 Conflict Operation cannot be fulfilled on leases.coordination.k8s.io "a": ${MODIFIED}`,
    );
    expect(world.history()).toEqual(["ADDED ns/a", "MODIFIED ns/a"]);
  });

  it("two updates of one revision in one turn: the second is a conflict", async () => {
    const world = new StoreWorld();
    const created = objectOf(await world.create(aLease("a")));
    const put = (holderIdentity: string) =>
      world.store.write({
        verb: "update",
        key: { namespace: "ns", name: "a" },
        subresource: "",
        object: JSON.stringify({ ...created, spec: { holderIdentity } }),
        options: WRITE,
      });
    const [first, second] = await world.scheduler.run(Promise.all([put("x"), put("y")]));
    expect([first.ok, refusalOf(second).slice(0, 12)]).toEqual([true, "409 Conflict"]);
    expect(world.stored("a")?.spec?.holderIdentity).toBe("x");
  });

  it("an update without a resourceVersion: 422 for leases, unconditional for namespaces", async () => {
    const leases = new StoreWorld();
    await leases.create(aLease("a"));
    expect(refusalOf(await leases.update(aLease("a")))).toBe(
      '422 Invalid leases.coordination.k8s.io "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    );
    const namespaces = new StoreWorld({ definition: namespacesDefinition });
    const result = await namespaces.update({ metadata: { name: "default", labels: { a: "b" } } });
    expect(objectOf(result).metadata?.labels).toEqual({ a: "b", "kubernetes.io/metadata.name": "default" });
  });

  it("an update with another object's uid: conflict on PUT, an immutable field in a patch", async () => {
    const world = new StoreWorld();
    const created = objectOf(await world.create(aLease("a")));
    const uid = created.metadata?.uid ?? "";
    const text = `StorageError: invalid object, Code: 4, Key: /registry/leases/ns/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: ${uid}`;
    expect(refusalOf(await world.update(aLease("a", {}, { ...created.metadata, uid: "other" })))).toBe(
      `409 Conflict Operation cannot be fulfilled on leases.coordination.k8s.io "a": ${text}`,
    );
    expect(refusalOf(await world.patch("a", "merge", { metadata: { uid: "other" } }))).toBe(
      '422 Invalid Lease.coordination.k8s.io "a" is invalid: metadata.uid: Invalid value: "other": field is immutable',
    );
  });

  it("an update that changes nothing: keeps the resourceVersion, and no watcher hears of it", async () => {
    const world = new StoreWorld();
    const created = objectOf(await world.create(aLease("a", { holderIdentity: "x" })));
    const same = { ...created, metadata: { ...created.metadata, creationTimestamp: "2001-01-01T00:00:00Z", generation: 7 } };
    expect(objectOf(await world.update(same))).toEqual(created);
    expect(objectOf(await world.patch("a", "merge", { spec: { holderIdentity: "x" } }))).toEqual(created);
    expect([world.history(), world.store.revision]).toEqual([["ADDED ns/a"], 2]);
  });

  it("an update of a missing name: creates leases, not namespaces; a stale copy of a deleted object is a conflict", async () => {
    const world = new StoreWorld();
    const created = await world.update(aLease("a", {}, { resourceVersion: "77" }));
    expect(created).toMatchObject({ ok: true, code: 201 });
    const stale = objectOf(created);
    await world.delete("a");
    expect(refusalOf(await world.update(stale))).toMatch(/^409 Conflict .*UID in object meta: $/);
    expect(refusalOf(await world.update(aLease("b"), {}, "status"))).toMatch(/^404/);
    expect(world.history()).toEqual(["ADDED ns/a", "DELETED ns/a"]);
    const namespaces = new StoreWorld({ definition: namespacesDefinition });
    expect(refusalOf(await namespaces.update({ metadata: { name: "new" } }))).toBe('404 NotFound namespaces "new" not found');
  });

  it("an update with another name than the URL's: 400", async () => {
    const world = new StoreWorld();
    const request = { verb: "update", key: { namespace: "ns", name: "a" }, subresource: "", options: WRITE } as const;
    expect(refusalOf(await world.write({ ...request, object: JSON.stringify(aLease("b")) }))).toBe(
      "400 BadRequest the name of the object (b) does not match the name on the URL (a)",
    );
    expect(refusalOf(await world.write({ ...request, object: "{}" }))).toBe(
      "400 BadRequest the name of the object (a based on URL) was undeterminable: name must be provided",
    );
  });

  it("an update of a namespace's status and finalizers at its main endpoint: changes nothing", async () => {
    const world = new StoreWorld({ definition: namespacesDefinition });
    await world.create({ metadata: { name: "a" } });
    await world.update({ metadata: { name: "a" }, spec: {}, status: { phase: "Terminating" } } as Namespace);
    expect(world.stored<Namespace>("a")).toMatchObject({ spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } });
    expect(world.history(5)).toEqual(["ADDED a"]);
  });
});

describe("patch", () => {
  it("a strict strategic merge patch with an unknown field: the refusal prints the patch as Go prints it, other patches the object", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a", { holderIdentity: "me" }));
    const patch = { spec: { foo: [1, "x", true, null], holderIdentity: "you" } };
    const strict = { fieldValidation: "Strict" as const };
    const refused = async (type: "strategic" | "merge") => {
      const result = await world.patch("a", type, patch, strict);
      return result.ok ? "" : result.status.message;
    };
    expect(await refused("strategic")).toBe(
      ' "" is invalid: patch: Invalid value: "map[spec:map[foo:[1 x true <nil>] holderIdentity:you]]": strict decoding error: unknown field "spec.foo"',
    );
    expect(await refused("merge")).toMatch(/^ "" is invalid: patch: Invalid value: "\{\\"kind\\":\\"Lease\\".*: strict decoding error: /);
  });

  it("json, merge and strategic merge patches: each changes the object by its own rules", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a", { holderIdentity: "x" }, { labels: { a: "1", b: "2" } }));
    const json = await world.patch("a", "json", [
      { op: "test", path: "/spec/holderIdentity", value: "x" },
      { op: "replace", path: "/spec/holderIdentity", value: "y" },
    ]);
    expect(objectOf(json).spec?.holderIdentity).toBe("y");
    const merge = await world.patch("a", "merge", { metadata: { labels: { a: null, c: "3" } } });
    expect(objectOf(merge).metadata?.labels).toEqual({ b: "2", c: "3" });
    const strategic = await world.patch("a", "strategic", {
      metadata: { finalizers: ["example.com/x"] },
      spec: { leaseDurationSeconds: 5 },
    });
    expect(objectOf(strategic)).toMatchObject({
      metadata: { finalizers: ["example.com/x"], resourceVersion: "5" },
      spec: { leaseDurationSeconds: 5 },
    });
    expect(world.history()).toEqual(["ADDED ns/a", "MODIFIED ns/a", "MODIFIED ns/a", "MODIFIED ns/a"]);
  });

  it("a patch of a missing object, with a failed test, a stale resourceVersion, an invalid result or another kind: refused", async () => {
    const world = new StoreWorld();
    expect(refusalOf(await world.patch("a", "merge", {}))).toMatch(/^404 NotFound/);
    await world.create(aLease("a"));
    expect(refusalOf(await world.patch("a", "json", [{ op: "test", path: "/spec/holderIdentity", value: "z" }]))).toMatch(/^422 /);
    expect(refusalOf(await world.patch("a", "merge", { metadata: { resourceVersion: "1" } }))).toMatch(/^409 Conflict/);
    expect(refusalOf(await world.patch("a", "merge", { spec: { leaseDurationSeconds: -1 } }))).toMatch(/^422 Invalid/);
    expect(refusalOf(await world.patch("a", "merge", { spec: { leaseDurationSeconds: "long" } }))).toMatch(
      /^422 Invalid {2}"" is invalid: patch: Invalid value: ".*\\"leaseDurationSeconds\\":\\"long\\".*": json: cannot unmarshal string into Go struct field LeaseSpec/,
    );
    expect(refusalOf(await world.patch("a", "merge", { kind: "Service", apiVersion: "v1" }))).toMatch(
      /^422 Invalid {2}"" is invalid: patch: .*: no kind "Service" is registered for version "v1" in scheme/,
    );
    expect(refusalOf(await world.patch("a", "merge", { metadata: { name: "b" } }))).toMatch(/^400 BadRequest the name of the object/);
    expect(refusalOf(await world.patch("a", "merge", "{not json"))).toMatch(/^400 BadRequest/);
    expect(world.history()).toEqual(["ADDED ns/a"]);
  });

  it("unknown fields of a patch: dropped, warned of or refused, as fieldValidation says", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    const patch = { spec: { holderIdentity: "x", nope: 1 } };
    expect(await world.patch("a", "merge", patch, { fieldValidation: "Strict" })).toMatchObject({ ok: false, status: { code: 422 } });
    expect((await world.patch("a", "merge", patch)).warnings).toEqual(['unknown field "spec.nope"']);
    expect((await world.patch("a", "merge", { spec: { holderIdentity: "y", nope: 1 } }, { fieldValidation: "Ignore" })).warnings).toEqual(
      [],
    );
    expect(world.stored("a")?.spec).toEqual({ holderIdentity: "y" });
  });

  it.each<{ type: "json" | "merge" | "strategic"; patch: string; problems: string[] }>([
    {
      type: "merge",
      patch: '{"spec":{"holderIdentity":"x","holderIdentity":"y","nope":1}}',
      problems: ['duplicate field "spec.holderIdentity"', 'unknown field "spec.nope"'],
    },
    {
      type: "strategic",
      patch: '{"spec":{"holderIdentity":"x","holderIdentity":"y"}}',
      problems: ['duplicate field "spec.holderIdentity"'],
    },
    {
      type: "json",
      patch: '[{"op":"add","path":"/spec/holderIdentity","value":"y","foo":1}]',
      problems: ['json patch unknown field "[0].foo"'],
    },
  ])("$type patch $patch: its own problems come before those of its result", async ({ type, patch, problems }) => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    const refused = await world.patch("a", type, patch, { fieldValidation: "Strict" });
    expect(refusalOf(refused)).toMatch(/^422 Invalid {2}"" is invalid: patch: Invalid value: /);
    expect(refusalOf(refused).endsWith(`": strict decoding error: ${problems.join(", ")}`)).toBe(true);
    expect((await world.patch("a", type, patch)).warnings).toEqual(problems);
    expect((await world.patch("a", type, patch, { fieldValidation: "Ignore" })).warnings).toEqual([]);
    expect(world.stored("a")?.spec).toEqual({ holderIdentity: "y" });
  });
});

describe("delete", () => {
  it("a delete: removes the object; answer and event carry the deletion's own resourceVersion", async () => {
    const world = new StoreWorld();
    const created = objectOf(await world.create(aLease("a")));
    const result = await world.delete("a");
    expect(result).toMatchObject({ ok: true, gone: true });
    expect(objectOf(result)).toEqual({ ...created, metadata: { ...created.metadata, resourceVersion: "3" } });
    expect(world.stored("a")).toBeUndefined();
    const [, deleted] = world.storage.historySince(0, 9);
    expect([deleted?.type, JSON.parse(deleted?.data ?? ""), JSON.parse(deleted?.before ?? "")]).toEqual([
      "DELETED",
      objectOf(result),
      created,
    ]);
    expect(refusalOf(await world.delete("a"))).toMatch(/^404 NotFound/);
  });

  it("a delete with a precondition: conflict when it does not hold, else the object goes", async () => {
    const world = new StoreWorld();
    const uid = objectOf(await world.create(aLease("a"))).metadata?.uid ?? "";
    expect(refusalOf(await world.delete("a", { preconditions: { uid: "other" } }))).toBe(
      `409 Conflict Operation cannot be fulfilled on Lease.coordination.k8s.io "a": the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
    expect(refusalOf(await world.delete("a", { preconditions: { resourceVersion: "1" } }))).toMatch(
      /^409 Conflict .*ResourceVersion in the precondition/,
    );
    expect(await world.delete("a", { preconditions: { uid, resourceVersion: "2" } })).toMatchObject({ gone: true });
  });

  it("a delete of an object with finalizers: marks it once; the update that removes the last finalizer removes the object", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a", {}, { finalizers: ["example.com/x", "example.com/y"] }));
    const marked = await world.delete("a");
    expect(marked).toMatchObject({ ok: true, code: 200, gone: false });
    expect(objectOf(marked).metadata).toMatchObject({
      deletionGracePeriodSeconds: 0,
      deletionTimestamp: "2023-11-14T22:13:20Z",
      resourceVersion: "3",
    });
    await world.scheduler.pass(5_000);
    expect(objectOf(await world.delete("a"))).toEqual(objectOf(marked));
    expect(
      refusalOf(await world.patch("a", "merge", { metadata: { finalizers: ["example.com/x", "example.com/y", "example.com/z"] } })),
    ).toMatch(/no new finalizers can be added if the object is being deleted/);
    expect(await world.patch("a", "merge", { metadata: { finalizers: ["example.com/y"] } })).toMatchObject({ ok: true, gone: false });
    const last = await world.patch("a", "merge", { metadata: { finalizers: null } });
    expect(last).toMatchObject({ ok: true, code: 200, gone: true });
    expect(objectOf(last).metadata?.resourceVersion).toBe("5");
    expect(world.history()).toEqual(["ADDED ns/a", "MODIFIED ns/a", "MODIFIED ns/a", "DELETED ns/a"]);
  });

  it("a Foreground or Orphan delete: adds its finalizer", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    const marked = await world.delete("a", { propagationPolicy: "Foreground" });
    expect(objectOf(marked).metadata?.finalizers).toEqual(["foregroundDeletion"]);
    expect(await world.delete("a", { propagationPolicy: "Background" })).toMatchObject({ gone: true });
  });

  it("a delete of a namespace: spec.finalizers hold it until finalize; protected namespaces stay", async () => {
    const world = new StoreWorld({ definition: namespacesDefinition });
    await world.create({ metadata: { name: "a" } });
    const marked = await world.delete("a", {}, "");
    expect(marked).toMatchObject({ ok: true, gone: false });
    expect(world.stored<Namespace>("a")?.status?.phase).toBe("Terminating");
    const finalized = await world.update({ metadata: { name: "a" }, spec: { finalizers: [] } } as Namespace, {}, "finalize");
    expect(finalized).toMatchObject({ ok: true, gone: true });
    expect(refusalOf(await world.delete("default", {}, ""))).toBe(
      '403 Forbidden namespaces "default" is forbidden: this namespace may not be deleted',
    );
    expect(world.history(5)).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
  });
});

describe("dryRun", () => {
  it("a dry run: answers as if stored, stores nothing, and no watcher hears of it", async () => {
    const world = new StoreWorld();
    const dryRun = { dryRun: true };
    expect(await world.create(aLease("a"), dryRun)).toMatchObject({ ok: true, code: 201 });
    expect(world.stored("a")).toBeUndefined();
    const created = objectOf(await world.create(aLease("a", {}, { finalizers: ["example.com/x"] })));
    const updated = await world.update({ ...created, spec: { holderIdentity: "x" } } as Lease, dryRun);
    expect(objectOf(updated).spec?.holderIdentity).toBe("x");
    expect(objectOf(await world.patch("a", "merge", { spec: { holderIdentity: "y" } }, dryRun)).spec?.holderIdentity).toBe("y");
    expect(objectOf(await world.delete("a", dryRun)).metadata?.deletionTimestamp).toBeDefined();
    await world.delete("a");
    expect(await world.patch("a", "merge", { metadata: { finalizers: [] } }, dryRun)).toMatchObject({ ok: true, gone: true });
    expect(world.stored("a")?.metadata?.finalizers).toEqual(["example.com/x"]);
    expect(world.history()).toEqual(["ADDED ns/a", "MODIFIED ns/a"]);
  });

  it("a dry run: refuses what the real write would refuse", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    expect(refusalOf(await world.create(aLease("a"), { dryRun: true }))).toMatch(/^409 AlreadyExists/);
    expect(refusalOf(await world.create(aLease("b", { holderIdentity: "x".repeat(OBJECT_MAX_BYTES) }), { dryRun: true }))).toMatch(/^413/);
  });
});

describe("objects that are too large", () => {
  const LIMIT = `413 RequestEntityTooLarge Request entity too large: limit is ${OBJECT_MAX_BYTES}`;
  const huge = "x".repeat(OBJECT_MAX_BYTES);

  it("a create, update or patch that makes an object too large: 413, and the stored object stays", async () => {
    const world = new StoreWorld();
    expect(refusalOf(await world.create(aLease("a", { holderIdentity: huge })))).toBe(LIMIT);
    const created = objectOf(await world.create(aLease("a")));
    expect(refusalOf(await world.update({ ...created, spec: { holderIdentity: huge } } as Lease))).toBe(LIMIT);
    expect(refusalOf(await world.patch("a", "merge", { spec: { holderIdentity: huge } }))).toBe(LIMIT);
    expect([world.stored("a"), world.store.revision]).toEqual([created, 2]);
  });

  it("an apply whose configuration is larger than any object: 413 before anything is compared", async () => {
    const world = new StoreWorld();
    const applying = { fieldManager: "m", force: true };
    const finalizers = Array.from({ length: 200_000 }, (_, i) => `example.com/${i}`);
    const config = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "a", namespace: "ns", finalizers } };
    const created = objectOf(await world.create(aLease("a")));
    const text = JSON.stringify(config);
    const parsing = vi.spyOn(JSON, "parse");
    const result = await world.patch("a", "apply", text, applying);
    const parsed = parsing.mock.calls.filter(([parsedText]) => parsedText === text).length;
    parsing.mockRestore();
    expect([refusalOf(result), parsed]).toEqual([LIMIT, 0]);
    expect([world.stored("a"), world.store.revision]).toEqual([created, 2]);
  });

  it("the size of an object: counts bytes, not characters", async () => {
    const world = new StoreWorld();
    const room = OBJECT_MAX_BYTES - 1_000;
    expect(refusalOf(await world.create(aLease("a", { holderIdentity: "€".repeat(Math.ceil(OBJECT_MAX_BYTES / 3)) })))).toBe(LIMIT);
    expect((await world.create(aLease("b", { holderIdentity: "€".repeat(Math.floor(room / 3)) }))).ok).toBe(true);
    expect((await world.create(aLease("c", { holderIdentity: "x".repeat(room) }))).ok).toBe(true);
  });

  it("an object that just fits: can still be marked for deletion", async () => {
    const world = new StoreWorld();
    const sized = (n: number) => aLease("a", { holderIdentity: "x".repeat(n) }, { finalizers: ["example.com/x"] });
    const overhead = objectOf(await world.create(sized(0), { dryRun: true }));
    // What is stored has its resourceVersion besides.
    const largest = OBJECT_MAX_BYTES - JSON.stringify(overhead).length - ',"resourceVersion":"2"'.length;
    expect([await world.create(sized(largest + 1)), await world.create(sized(largest))].map(({ ok }) => ok)).toEqual([false, true]);
    expect(await world.delete("a")).toMatchObject({ ok: true, gone: false });
  });
});

describe("group commit", () => {
  it("all writes of a turn: share one transaction; refusals cost none", async () => {
    const world = new StoreWorld();
    await world.create(aLease("first"));
    const before = { commits: world.storage.commits, drains: world.store.counters.drains };
    const writes = Array.from({ length: 100 }, (_, i) => world.store.write(createRequest(aLease(`a${i}`))));
    const results = await world.scheduler.run(Promise.all([...writes, world.store.write(createRequest(aLease("first")))]));
    expect(results.filter(({ ok }) => ok)).toHaveLength(100);
    expect(world.storage.commits - before.commits).toBe(1);
    expect(world.store.counters.drains - before.drains).toBe(1);
    await world.create(aLease("first"));
    expect(world.storage.commits - before.commits).toBe(1);
    expect(world.storage.historySince(0, 999).map(({ revision }) => revision)).toEqual(Array.from({ length: 101 }, (_, i) => i + 2));
  });

  it("an operation that throws: 500, and only its own writes are undone", async () => {
    const world = new StoreWorld({
      extension: {
        committed: (change) => {
          if (change.key === "ns/bad") throw new Error("a bug");
        },
      },
    });
    const names = ["a", "bad", "c"];
    const results = await world.scheduler.run(Promise.all(names.map((name) => world.store.write(createRequest(aLease(name))))));
    expect(results.map((result) => (result.ok ? objectOf(result).metadata?.resourceVersion : refusalOf(result)))).toEqual([
      "2",
      "500 InternalError Internal error occurred: the write could not be carried out",
      "3",
    ]);
    expect(world.history()).toEqual(["ADDED ns/a", "ADDED ns/c"]);
    expect(world.stored("bad")).toBeUndefined();
    expect(world.logged).toEqual([{ level: "error", event: "write failed" }]);
  });

  it("a storage that fails: the whole turn is lost, and the next one finds the stored state of before", async () => {
    const world = new StoreWorld();
    await world.create(aLease("before"));
    const put = world.storage.objectPut.bind(world.storage);
    vi.spyOn(world.storage, "objectPut").mockImplementation((object) => {
      if (object.key === "ns/bad") throw new StorageFault("database or disk is full: SQLITE_FULL");
      put(object);
    });
    const turn = ["a", "bad"].map((name) => world.store.write(createRequest(aLease(name))));
    const results = await world.scheduler.run(Promise.allSettled(turn));
    expect(results.map((result) => (result.status === "rejected" ? String(result.reason) : "answered"))).toEqual(
      Array(2).fill("StorageFault: database or disk is full: SQLITE_FULL"),
    );
    expect(world.logged).toEqual([{ level: "error", event: "a turn was lost" }]);
    expect(objectOf(await world.create(aLease("a"))).metadata?.resourceVersion).toBe("3");
    expect(world.history()).toEqual(["ADDED ns/before", "ADDED ns/a"]);
  });

  it("a full queue: 429 at once, nothing is applied", async () => {
    const world = new StoreWorld();
    const writes = Array.from({ length: STORE_QUEUE_MAX + 3 }, (_, i) =>
      world.store.write(createRequest(aLease(`a${i}`), { dryRun: true })),
    );
    const results = await world.scheduler.run(Promise.all(writes));
    const refused = results.filter(({ ok }) => !ok);
    expect(refused).toHaveLength(3);
    expect(refused[0]).toMatchObject({ status: { code: 429, reason: "TooManyRequests", details: { retryAfterSeconds: 1 } } });
    expect((await world.create(aLease("after"))).ok).toBe(true);
  });
});

describe("a lost turn", () => {
  it("a lost turn: its writers are rejected, nothing is kept, and its revisions are given again", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    const watch = world.watch({ resourceVersion: "2" });
    world.storage.crashNext = "beforeCommit";
    const lost = Promise.allSettled([world.store.write(createRequest(aLease("b"))), world.store.write(createRequest(aLease("c")))]);
    expect((await world.scheduler.run(lost)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await world.scheduler.pass(1_000);
    expect([watch.text, watch.state, world.store.hub.size]).toEqual(["", "ended", 0]);
    expect([world.store.revision, world.history()]).toEqual([2, ["ADDED ns/a"]]);
    expect(objectOf(await world.create(aLease("d"))).metadata?.resourceVersion).toBe("3");
    const again = world.watch({ resourceVersion: "2" });
    await world.scheduler.pass(0);
    expect(again.brief).toEqual(["ADDED d@3"]);
  });

  it("a turn that was kept although its commit failed: no revision is given twice, and returning watchers miss nothing", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    const watch = world.watch({ resourceVersion: "2" });
    world.storage.crashNext = "afterCommit";
    await expect(world.create(aLease("b"))).rejects.toThrow();
    await world.scheduler.pass(1_000);
    expect(watch.state).toBe("ended");
    expect(objectOf(await world.create(aLease("c"))).metadata?.resourceVersion).toBe("4");
    const again = world.watch({ resourceVersion: "2" });
    await world.scheduler.pass(0);
    expect(again.brief).toEqual(["ADDED b@3", "ADDED c@4"]);
  });

  it("a lost turn: the extension hears of it and rebuilds its memory", async () => {
    const heard: string[] = [];
    const world = new StoreWorld({
      extension: {
        committed: ({ key }) => heard.push(`committed ${key}`),
        sealTurn: () => heard.push("seal"),
        turnCommitted: () => heard.push("turn committed"),
        turnLost: () => heard.push("turn lost"),
        ended: ({ request }) => heard.push(`ended ${request.verb}`),
      },
    });
    await world.create(aLease("a"));
    heard.length = 0;
    world.storage.crashNext = "beforeCommit";
    await world.create(aLease("b")).catch(() => undefined);
    await world.delete("a");
    expect(heard).toEqual([
      "committed ns/b",
      "seal",
      "turn lost",
      "ended create",
      "committed ns/a",
      "seal",
      "turn committed",
      "ended delete",
    ]);
  });

  it("a fault of the extension after the commit: watchers hear of every change", async () => {
    let faults = 1;
    const world = new StoreWorld({
      extension: {
        turnCommitted: () => {
          if (world.store.revision === 3 && faults-- > 0) throw new Error("a bug");
        },
      },
    });
    await world.create(aLease("a"));
    await expect(world.create(aLease("b"))).rejects.toThrow("a bug");
    await world.create(aLease("c"));
    const watch = world.watch({ resourceVersion: "2" });
    await world.scheduler.pass(0);
    expect(watch.brief).toEqual(["ADDED b@3", "ADDED c@4"]);
  });
});

describe("the server's own work", () => {
  it("the server's own work: shares the turn, and gets history and events like any write", async () => {
    const world = new StoreWorld();
    const watch = world.watch({ resourceVersion: "1" });
    const value = await world.scheduler.run(
      world.store.internally((turn) => {
        turn.put("ns/a", aLease("a", { holderIdentity: "x" }, { uid: "u" }));
        turn.put("ns/a", aLease("a", { holderIdentity: "y" }, { uid: "u" }));
        const found = turn.get("ns/a")?.revision;
        turn.remove("ns/a");
        turn.remove("ns/never");
        return found;
      }),
    );
    await world.scheduler.pass(0);
    expect([value, watch.brief]).toEqual([3, ["ADDED a@2", "MODIFIED a@3", "DELETED a@4"]]);
  });

  it("an object that the server's own work removes: watchers see its integers exact", async () => {
    const world = new StoreWorld({ definition: podsDefinition });
    const pod: Pod = { metadata: { name: "a", uid: "u" }, spec: { containers: [], terminationGracePeriodSeconds: 9007199254740993n } };
    await world.scheduler.run(world.store.internally((turn) => turn.put("ns/a", pod)));
    await world.scheduler.run(world.store.internally((turn) => turn.remove("ns/a")));
    const [put, removed] = world.storage.historySince(1, 2).map(({ data }) => data);
    expect(put).toContain(":9007199254740993");
    expect(removed).toContain(":9007199254740993");
  });

  it("the server's own work that throws: the whole turn is given up", async () => {
    const world = new StoreWorld();
    const work = world.store.internally((turn) => {
      turn.put("ns/a", aLease("a"));
      throw new Error("broken");
    });
    const beside = world.store.internally((turn) => turn.put("ns/b", aLease("b")));
    const settled = await world.scheduler.run(Promise.allSettled([work, beside]));
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect([world.history(), world.store.revision]).toEqual([[], 1]);
  });
});

describe("start", () => {
  it("an empty store: shows revision 1, because 0 would mean any", () => {
    const world = new StoreWorld();
    expect([world.store.revision, world.store.floor]).toEqual([1, 1]);
  });

  it("initial objects: exist from the first moment, once", async () => {
    const world = new StoreWorld({ definition: namespacesDefinition });
    expect(world.history()).toEqual(["ADDED default", "ADDED kube-system", "ADDED kube-public", "ADDED kube-node-lease"]);
    expect(world.stored<Namespace>("default")).toMatchObject({
      metadata: { resourceVersion: "2", labels: { "kubernetes.io/metadata.name": "default" } },
      status: { phase: "Active" },
    });
    await world.delete("kube-node-lease", {}, "");
    await world.update({ metadata: { name: "kube-node-lease" }, spec: { finalizers: [] } } as Namespace, {}, "finalize");
    world.restart();
    expect(world.stored("kube-node-lease")).toBeUndefined();
  });

  it("a history that is too large: the oldest entries go, the newer ones stay for whoever was away for a moment", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 1_000, sizeMax: 100_000, trimEntries: 500 } });
    const pad = "x".repeat(1_000);
    for (let i = 0; i < 120; i++) {
      await world.create(aLease(`l${i}`, {}, { annotations: { pad } }));
      const kept = world.store.revision - world.store.floor;
      if (i > 80) expect(kept).toBeGreaterThan(50);
      expect(kept).toBeLessThan(100);
    }
  });

  it("one entry that is larger than the whole history may be: stays alone", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 1_000, sizeMax: 5_000, trimEntries: 500 } });
    for (const name of ["a", "b", "c"]) await world.create(aLease(name, {}, { annotations: { pad: "x".repeat(10_000) } }));
    expect(world.store.revision - world.store.floor).toBe(1);
  });

  it("a restart: keeps revision, floor and incarnation, also when the newest object is deleted and compacted away", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 2, sizeMax: 1e9, trimEntries: 2 } });
    for (const name of ["a", "b", "c"]) await world.create(aLease(name));
    await world.delete("c");
    const { revision, floor, incarnation } = world.store;
    expect([revision, floor > 1]).toEqual([5, true]);
    world.restart();
    expect([world.store.revision, world.store.floor, world.store.incarnation]).toEqual([revision, floor, incarnation]);
    expect(objectOf(await world.create(aLease("d"))).metadata?.resourceVersion).toBe("6");
  });
});
