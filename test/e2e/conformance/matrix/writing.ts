/** Conventions of single writes: create, update, delete and what goes with them. */
import { expect } from "vitest";
import { encodeProtobuf } from "../../../../src/api/schema/protobuf/encode-protobuf";
import { DeleteOptionsSchema } from "../../../../src/api/schema/meta";
import { APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from "../../../support/clients/api";
import type { Answer, Body } from "../../../support/clients/api";
import { made } from "./subject";
import type { Check, Subject } from "./subject";

const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const WHOLE_SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const HOLD = "example.com/hold";

/** "409 AlreadyExists" and the message. */
function refusal({ code, body }: Answer): [string, string] {
  return [`${String(code)} ${body.reason ?? ""}`, body.message ?? ""];
}

const create: Check = async (subject) => {
  const { api, definition, groupVersion, qualified } = subject;
  const wanted = subject.fresh();
  const { name } = wanted.metadata;
  const { kind: _kind, apiVersion: _apiVersion, ...bare } = wanted;
  const first = await api.send("POST", subject.collection(), { body: bare });
  expect(first.code).toBe(201);
  expect(first.body).toMatchObject({ kind: definition.kind, apiVersion: groupVersion, metadata: { name } });
  expect(first.body.metadata?.namespace).toBe(definition.namespaced ? subject.namespace : undefined);
  expect(first.body.metadata?.uid).toMatch(UID);
  expect(first.body.metadata?.creationTimestamp).toMatch(WHOLE_SECONDS);
  expect(first.body.metadata?.resourceVersion).toMatch(/^[1-9]\d*$/);
  const again = await api.send("POST", subject.collection(), { body: wanted });
  expect(refusal(again)).toEqual(["409 AlreadyExists", `${qualified} "${name}" already exists`]);
  const versioned = await api.send("POST", subject.collection(), { body: subject.fresh({ resourceVersion: "1" }) });
  expect([versioned.code, versioned.body.message]).toEqual([500, "resourceVersion should not be set on objects to be created"]);
  const wrongVersion = await api.send("POST", subject.collection(), { body: { ...subject.fresh(), apiVersion: "example.com/v9" } });
  expect(refusal(wrongVersion)).toEqual([
    "400 BadRequest",
    `the API version in the data (example.com/v9) does not match the expected API version (${groupVersion})`,
  ]);
  if (definition.namespaced) {
    const elsewhere = await api.send("POST", subject.collection({ namespace: "nowhere" }), { body: subject.fresh({}, "nowhere") });
    expect(refusal(elsewhere)).toEqual(["404 NotFound", 'namespaces "nowhere" not found']);
  }
};

const update: Check = async (subject) => {
  const { api, qualified } = subject;
  const stored = await subject.create();
  const { name, uid, resourceVersion } = stored.metadata;
  const answer = await api.send("PUT", subject.path(name), { body: subject.changed(stored) });
  expect(answer.code, answer.text).toBe(200);
  expect(subject.changedValue(answer.body)).toEqual(subject.sample.change.value);
  expect(answer.body.metadata).toMatchObject({ uid, creationTimestamp: stored.metadata.creationTimestamp });
  expect(BigInt(answer.body.metadata?.resourceVersion ?? 0)).toBeGreaterThan(BigInt(resourceVersion));
  const refused = (body: Body) => api.send("PUT", subject.path(name), { body }).then(refusal);
  const cannot = `Operation cannot be fulfilled on ${qualified} "${name}": `;
  expect(await refused(stored)).toEqual([
    "409 Conflict",
    `${cannot}the object has been modified; please apply your changes to the latest version and try again`,
  ]);
  const other = "00000000-0000-4000-8000-000000000000";
  const [reason, message] = await refused({ ...answer.body, metadata: { ...answer.body.metadata, uid: other } });
  expect([reason, message.endsWith(`UID in precondition: ${other}, UID in object meta: ${uid}`)]).toEqual(["409 Conflict", true]);
  const another = subject.fresh().metadata.name;
  expect(await refused({ ...answer.body, metadata: { ...answer.body.metadata, name: another } })).toEqual([
    "400 BadRequest",
    `the name of the object (${another}) does not match the name on the URL (${name})`,
  ]);
};

const updateMissing: Check = async (subject) => {
  const body = subject.fresh();
  const { name } = body.metadata;
  const answer = await subject.api.send("PUT", subject.path(name), { body });
  if (subject.definition.allowCreateOnUpdate) expect([answer.code, made(answer.body).metadata.name]).toEqual([201, name]);
  else expect(refusal(answer)).toEqual(["404 NotFound", `${subject.qualified} "${name}" not found`]);
};

const updateUnconditional: Check = async (subject) => {
  const stored = await subject.create();
  const { name } = stored.metadata;
  const { resourceVersion: _version, ...metadata } = subject.changed(stored).metadata;
  const answer = await subject.api.send("PUT", subject.path(name), { body: { ...subject.changed(stored), metadata } });
  if (subject.definition.allowUnconditionalUpdate) {
    expect([answer.code, subject.changedValue(answer.body)]).toEqual([200, subject.sample.change.value]);
  } else {
    expect(refusal(answer)).toEqual([
      "422 Invalid",
      `${subject.qualified} "${name}" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
    ]);
  }
};

const unchanged: Check = async (subject) => {
  const { api } = subject;
  const stored = await subject.create();
  const { name, resourceVersion } = stored.metadata;
  const writes = [
    await api.send("PUT", subject.path(name), { body: stored }),
    await api.patch(subject.path(name), MERGE_PATCH, {}),
    await api.patch(subject.path(name), STRATEGIC_PATCH, { metadata: { annotations: { "example.com/kept": "1" } } }),
    await api.patch(subject.path(name), JSON_PATCH, [{ op: "test", path: "/metadata/name", value: name }]),
  ];
  expect(writes.map(({ code, body }) => [code, body.metadata?.resourceVersion])).toEqual(writes.map(() => [200, resourceVersion]));
};

const metadataRules: Check = async (subject) => {
  const { api, definition } = subject;
  const refused = async (metadata: Record<string, unknown>) => {
    const { code, body } = await api.send("POST", subject.collection(), { body: subject.fresh(metadata) });
    const causes = (body.details?.["causes"] ?? []) as { field: string }[];
    return [code, body.reason, causes.map(({ field }) => field)];
  };
  expect(await refused({ labels: { "-bad": "x" } })).toEqual([422, "Invalid", ["metadata.labels"]]);
  expect(await refused({ labels: { a: "-bad" } })).toEqual([422, "Invalid", ["metadata.labels"]]);
  expect(await refused({ annotations: { "a/b/c": "x" } })).toEqual([422, "Invalid", ["metadata.annotations"]]);
  expect((await refused({ finalizers: ["not a name"] })).slice(0, 2)).toEqual([422, "Invalid"]);
  expect((await refused({ ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "", uid: "" }] })).slice(0, 2)).toEqual([
    422,
    "Invalid",
  ]);
  // no kind takes it, neither those whose names are DNS subdomains nor those whose names are segments of a path
  const name = "Not%a_name";
  const { code, body } = await api.send("POST", subject.collection(), { body: subject.fresh({ name }) });
  const expected = [definition.kind, `"${name}" is invalid: `, `metadata.name: Invalid value: "${name}": `];
  expect([code, expected.filter((part) => !body.message?.includes(part))]).toEqual([422, []]);
};

const generatedName: Check = async (subject) => {
  const { api, definition } = subject;
  const bare = subject.fresh();
  const post = (generateName: string) => api.send("POST", subject.collection(), { body: { ...bare, metadata: { generateName } } });
  if (!definition.generatesNameSuffix) {
    const { code, body } = await post(bare.metadata.name);
    expect([code, body.metadata?.name]).toEqual([201, bare.metadata.name]);
    return;
  }
  const bases = ["made-", "x".repeat(63)];
  for (const base of bases) {
    const answer = await post(base);
    expect([answer.code, answer.body.metadata?.generateName]).toEqual([201, base]);
    expect(answer.body.metadata?.name).toMatch(new RegExp(`^${base.slice(0, 58)}[bcdfghjklmnpqrstvwxz2456789]{5}$`));
  }
};

const remove: Check = async (subject) => {
  const { api, definition, qualified } = subject;
  const { name, uid, resourceVersion } = (await subject.create()).metadata;
  const refused = (preconditions: Record<string, string>) =>
    api.send("DELETE", subject.path(name), { body: { preconditions } }).then(refusal);
  // of the stored form: events.k8s.io events are core events
  const { group } = definition.representationOf ?? definition;
  const kind = group ? `${definition.kind}.${group}` : definition.kind;
  // upstream's REST of namespaces has words of its own
  const [ofUid, ofVersion] =
    definition.kind === "Namespace"
      ? [
          `namespaces "${name}": Precondition failed: UID in precondition: another, UID in object meta: ${uid}`,
          `namespaces "${name}": Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in object meta: ${resourceVersion}`,
        ]
      : [
          `${kind} "${name}": the UID in the precondition (another) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
          `${kind} "${name}": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
        ];
  expect(await refused({ uid: "another" })).toEqual(["409 Conflict", `Operation cannot be fulfilled on ${ofUid}`]);
  expect(await refused({ resourceVersion: "1" })).toEqual(["409 Conflict", `Operation cannot be fulfilled on ${ofVersion}`]);
  const answer = await api.send("DELETE", subject.path(name), { body: { preconditions: { uid, resourceVersion } } });
  expect(answer.code).toBe(200);
  if (answer.body.kind === "Status") {
    const { group, resource } = definition;
    expect(definition.returnsDeletedObject).toBe(false);
    expect(answer.body).toMatchObject({ status: "Success", details: { name, uid, kind: resource, ...(group ? { group } : {}) } });
  } else {
    expect(answer.body).toMatchObject({ kind: definition.kind, metadata: { name, uid } });
    expect(definition.returnsDeletedObject || answer.body.metadata?.deletionTimestamp).toBeTruthy();
  }
  await api.until(async () => (await api.get(subject.path(name))).code === 404, `${name} is gone`);
  expect(refusal(await api.send("DELETE", subject.path(name)))).toEqual(["404 NotFound", `${qualified} "${name}" not found`]);
};

const finalizers: Check = async (subject) => {
  const { api } = subject;
  const { name } = (await subject.create({ finalizers: [HOLD] })).metadata;
  const held = await api.must("DELETE", subject.path(name));
  expect(held.metadata?.deletionTimestamp).toMatch(WHOLE_SECONDS);
  expect(held.metadata?.deletionGracePeriodSeconds ?? 0).toBe(0);
  const again = await api.must("DELETE", subject.path(name));
  expect(again.metadata?.deletionTimestamp).toBe(held.metadata?.deletionTimestamp);
  // To whatever is there: the server may take a finalizer of its own at any moment.
  const adding = await api.patch(subject.path(name), JSON_PATCH, [
    { op: "add", path: "/metadata/finalizers/-", value: "example.com/more" },
  ]);
  expect([adding.code, adding.body.message]).toEqual([
    422,
    expect.stringContaining(
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/more"}',
    ),
  ]);
  await api.must("PATCH", subject.path(name), {
    body: { metadata: { "$deleteFromPrimitiveList/finalizers": [HOLD] } },
    headers: { "Content-Type": STRATEGIC_PATCH },
  });
  await api.until(async () => (await api.get(subject.path(name))).code === 404, `${name} is gone`);
};

const deleteCollection: Check = async (subject) => {
  const { api, definition } = subject;
  const label = { collection: "gone" };
  const gone = [await subject.create({ labels: label }), await subject.create({ labels: label })].map(({ metadata }) => metadata.name);
  const stays = (await subject.create({ labels: { collection: "stays" } })).metadata.name;
  const list = await api.must("DELETE", subject.collection(), { query: { labelSelector: "collection=gone" } });
  expect(list.kind).toBe(`${definition.kind}List`);
  expect(list.items?.map(({ metadata }) => metadata?.name).sort()).toEqual(gone.sort());
  for (const name of gone) await api.until(async () => (await api.get(subject.path(name))).code === 404, `${name} is gone`);
  expect((await subject.read(stays)).metadata.deletionTimestamp).toBeUndefined();
};

const owners: Check = async (subject) => {
  const { api } = subject;
  const owner = `owner-${subject.namespace}`;
  const { metadata } = made(await api.must("POST", "/api/v1/nodes", { body: { metadata: { name: owner } } }));
  const reference = { apiVersion: "v1", kind: "Node", name: owner, uid: metadata.uid };
  const { name } = (await subject.create({ ownerReferences: [reference] })).metadata;
  const orphan = (await subject.create()).metadata.name;
  await api.remove(`/api/v1/nodes/${owner}`);
  await api.until(async () => (await api.get(subject.path(name))).code === 404, `${name} is collected`);
  expect((await subject.read(orphan)).metadata.deletionTimestamp).toBeUndefined();
};

/** The resource as the owner; a Node is what it owns. */
const propagation: Check = async (subject) => {
  const { api, definition } = subject;
  const owned = async (policy: string) => {
    const owner = (await subject.create()).metadata;
    const reference = {
      apiVersion: subject.groupVersion,
      kind: definition.kind,
      name: owner.name,
      uid: owner.uid,
      blockOwnerDeletion: true,
    };
    const dependent = `owned-${policy.toLowerCase()}-${subject.namespace}`;
    const path = definition.namespaced
      ? `/apis/coordination.k8s.io/v1/namespaces/${subject.namespace}/leases/${dependent}`
      : `/api/v1/nodes/${dependent}`;
    const body = { metadata: { name: dependent, ownerReferences: [reference], finalizers: [HOLD] } };
    await api.must("POST", path.slice(0, path.lastIndexOf("/")), { body });
    await api.must("DELETE", subject.path(owner.name), { query: { propagationPolicy: policy } });
    return { owner: subject.path(owner.name), path };
  };
  const isGone = async (path: string) => (await api.get(path)).code === 404;
  const isGoing = async (path: string) => (await api.must("GET", path)).metadata?.deletionTimestamp !== undefined;
  const letGo = (path: string) => api.patch(path, MERGE_PATCH, { metadata: { finalizers: null } });

  const background = await owned("Background");
  await api.until(() => isGone(background.owner), "the owner goes before what it owns");
  await api.until(() => isGoing(background.path), "what it owned follows");
  await letGo(background.path);
  await api.until(() => isGone(background.path), "what it owned is gone");

  const foreground = await owned("Foreground");
  await api.until(() => isGoing(foreground.path), "what it owns goes first");
  const waiting = await api.must("GET", foreground.owner);
  expect(waiting.metadata?.finalizers).toContain("foregroundDeletion");
  expect(waiting.metadata?.deletionTimestamp).toBeDefined();
  await letGo(foreground.path);
  await api.until(() => isGone(foreground.owner), "then the owner");
  expect(await isGone(foreground.path)).toBe(true);

  const orphan = await owned("Orphan");
  await api.until(() => isGone(orphan.owner), "the owner is gone");
  const left = await api.must("GET", orphan.path);
  expect([left.metadata?.ownerReferences ?? [], left.metadata?.deletionTimestamp]).toEqual([[], undefined]);

  const wrong = await api.send("DELETE", subject.path("missing"), { query: { propagationPolicy: "Sideways" } });
  expect(refusal(wrong)).toEqual(["422 Invalid", expect.stringContaining('propagationPolicy: Unsupported value: "Sideways"')]);
};

const namespaceDeleted: Check = async (subject) => {
  const { api } = subject;
  const namespace = `going-${subject.namespace}`;
  await api.must("POST", "/api/v1/namespaces", { body: { metadata: { name: namespace } } });
  await api.must("POST", subject.collection({ namespace }), { body: subject.fresh({}, namespace) });
  await api.remove(`/api/v1/namespaces/${namespace}`);
  expect((await api.must("GET", subject.collection({ namespace }))).items).toEqual([]);
};

const dryRun: Check = async (subject) => {
  const { api } = subject;
  const query = { dryRun: "All" };
  const wanted = subject.fresh();
  const tried = await api.send("POST", subject.collection(), { body: wanted, query });
  expect([tried.code, tried.body.metadata?.uid]).toEqual([201, expect.stringMatching(UID)]);
  expect((await api.get(subject.path(wanted.metadata.name))).code).toBe(404);
  const stored = await subject.create();
  const path = subject.path(stored.metadata.name);
  const put = await api.send("PUT", path, { body: subject.changed(stored), query });
  const patched = await api.patch(path, MERGE_PATCH, subject.mergePatch, query);
  for (const { code, body } of [put, patched]) expect([code, subject.changedValue(body)]).toEqual([200, subject.sample.change.value]);
  expect((await api.send("DELETE", path, { query })).code).toBe(200);
  expect(await subject.read(stored.metadata.name)).toEqual(stored);
  const wrong = await api.send("POST", subject.collection(), { body: subject.fresh(), query: { dryRun: "Some" } });
  expect(refusal(wrong)).toEqual([
    "422 Invalid",
    'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
  ]);
};

const fieldValidation: Check = async (subject) => {
  const { api, definition } = subject;
  const version = subject.groupVersion;
  const wrong = () => {
    const object = subject.fresh({ unknownMeta: 1 });
    return { name: object.metadata.name, text: JSON.stringify(object).replace(/}$/, `,"kind":"${definition.kind}"}`) };
  };
  const send = (fieldValidation: string | undefined, { text } = wrong()) =>
    api.send("POST", subject.collection(), { body: text, query: fieldValidation ? { fieldValidation } : {} });
  const strict = wrong();
  expect(refusal(await send("Strict", strict))).toEqual([
    "400 BadRequest",
    `${definition.kind} in version "${version.split("/").at(-1) ?? ""}" cannot be handled as a ${definition.kind}: strict decoding error: unknown field "metadata.unknownMeta", duplicate field "kind"`,
  ]);
  expect((await api.get(subject.path(strict.name))).code).toBe(404);
  const warned = '299 - "unknown field \\"metadata.unknownMeta\\"", 299 - "duplicate field \\"kind\\""';
  for (const [value, warning] of [
    ["Warn", warned],
    [undefined, warned],
    ["Ignore", ""],
  ] as const) {
    const { code, headers, body } = await send(value);
    // a kind may have a warning of its own
    const told = (headers.get("warning") ?? "").split(/, (?=299)/).filter((text) => text.includes(" field "));
    expect([value, code, told.join(", ")]).toEqual([value, 201, warning]);
    expect(body.metadata).not.toHaveProperty("unknownMeta");
  }
  expect((await send("Never")).code).toBe(422);
};

const yaml: Check = async (subject) => {
  const { api } = subject;
  const wanted = subject.fresh();
  // every JSON text is YAML; a comment and a block around it are not JSON
  const body = `# a comment\n---\n${JSON.stringify(wanted, null, 2)}\n`;
  const headers = { "Content-Type": "application/yaml", Accept: "application/yaml" };
  const answer = await api.send("POST", subject.collection(), { body, headers });
  expect([answer.code, answer.headers.get("content-type")]).toEqual([201, "application/yaml"]);
  expect(answer.text).toContain(`kind: ${subject.definition.kind}\n`);
  const again = await api.send("PUT", subject.path(wanted.metadata.name), { body: answer.text, headers });
  // a ServiceCIDR may have become Ready in between
  expect([200, 409]).toContain(again.code);
};

const protobuf: Check = async (subject) => {
  const { api, definition, groupVersion: apiVersion } = subject;
  const { kind: _kind, apiVersion: _apiVersion, ...wanted } = subject.fresh();
  const body = encodeProtobuf(wanted, definition.schema, { apiVersion, kind: definition.kind });
  const headers = { "Content-Type": "application/vnd.kubernetes.protobuf" };
  const answer = await api.send("POST", subject.collection(), { body, headers });
  expect(answer.code, answer.text).toBe(201);
  const { metadata: _metadata, ...content } = wanted;
  expect(answer.body).toMatchObject({ apiVersion, kind: definition.kind, ...content });
  expect(answer.body.metadata).toMatchObject(wanted.metadata);
  const options = encodeProtobuf({ preconditions: { uid: "another" } }, DeleteOptionsSchema, { apiVersion: "v1", kind: "DeleteOptions" });
  expect((await api.send("DELETE", subject.path(wanted.metadata.name), { body: options, headers })).code).toBe(409);
};

const jsonPatch: Check = async (subject) => {
  const { api, sample, pointer } = subject;
  const { name } = (await subject.create()).metadata;
  const patch = (operations: unknown) => api.patch(subject.path(name), JSON_PATCH, operations);
  const done = await patch([
    { op: "test", path: "/metadata/name", value: name },
    { op: "add", path: pointer, value: sample.change.value },
    { op: "remove", path: "/metadata/annotations/example.com~1kept" },
  ]);
  expect([done.code, subject.changedValue(done.body)]).toEqual([200, sample.change.value]);
  expect(done.body.metadata?.annotations ?? {}).not.toHaveProperty(["example.com/kept"]);
  const failed = await patch([{ op: "test", path: "/metadata/name", value: "other" }]);
  expect(refusal(failed)).toEqual(["422 Invalid", "the server rejected our request due to an error in our request"]);
  expect((await patch("{")).code).toBe(400);
  expect((await patch([{ op: "remove", path: "/metadata/annotations/missing" }])).code).toBe(422);
};

const mergePatch: Check = async (subject) => {
  const { api, sample } = subject;
  const { name, uid } = (await subject.create()).metadata;
  const done = await api.patch(subject.path(name), MERGE_PATCH, subject.mergePatch);
  expect([done.code, subject.changedValue(done.body)]).toEqual([200, sample.change.value]);
  const removed = await api.patch(subject.path(name), MERGE_PATCH, { metadata: { annotations: { "example.com/kept": null } } });
  expect(removed.body.metadata?.annotations ?? {}).not.toHaveProperty(["example.com/kept"]);
  const stale = await api.patch(subject.path(name), MERGE_PATCH, { metadata: { resourceVersion: "1" } });
  expect(refusal(stale)[0]).toBe("409 Conflict");
  const other = await api.patch(subject.path(name), MERGE_PATCH, { metadata: { uid: "another" } });
  expect([other.code, other.body.message]).toEqual([422, expect.stringContaining("metadata.uid: Invalid value: ")]);
  expect((await subject.read(name)).metadata.uid).toBe(uid);
  expect((await api.patch(subject.path(name), MERGE_PATCH, "{")).code).toBe(400);
  expect((await api.patch(subject.path("missing"), MERGE_PATCH, {})).code).toBe(404);
};

/** The entries of managedFields without what differs from run to run. */
function entriesOf(body: Body): object[] {
  return (body.metadata?.managedFields ?? []).map(({ manager, operation, apiVersion, subresource }) => ({
    manager,
    operation,
    apiVersion,
    ...(subresource === undefined ? {} : { subresource }),
  }));
}

const serverSideApply: Check = async (subject) => {
  const { api, definition, groupVersion } = subject;
  const config = subject.fresh({ labels: { mine: "1", shared: "1" } });
  const path = subject.path(config.metadata.name);
  const apply = (body: object, manager: string, query: Record<string, string> = {}) =>
    api.patch(path, APPLY_PATCH, body, { fieldManager: manager, ...query });
  const dry = await apply(config, "one", { dryRun: "All" });
  expect([dry.code, (await api.get(path)).code], dry.text).toEqual([201, 404]);
  const first = await apply(config, "one");
  expect(first.code, first.text).toBe(201);
  const one = { manager: "one", operation: "Apply", apiVersion: groupVersion };
  expect(entriesOf(first.body)).toEqual([one]);
  const settled = await subject.settled(config.metadata.name);
  const again = await apply(config, "one");
  expect([again.code, again.body.metadata?.resourceVersion], again.text).toEqual([200, settled.metadata.resourceVersion]);
  const bare = { apiVersion: groupVersion, kind: definition.kind };
  const { name } = config.metadata;
  const conflict = await apply({ ...bare, metadata: { name, labels: { shared: "2" } } }, "two");
  expect(refusal(conflict)).toEqual(["409 Conflict", 'Apply failed with 1 conflict: conflict with "one": .metadata.labels.shared']);
  expect(conflict.body.details?.["causes"]).toEqual([
    { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".metadata.labels.shared" },
  ]);
  const forced = await apply({ ...bare, metadata: { name, labels: { shared: "2" } } }, "two", { force: "true" });
  expect(forced.body.metadata?.labels, forced.text).toMatchObject({ mine: "1", shared: "2" });
  expect(entriesOf(forced.body)).toEqual([one, { ...one, manager: "two" }]);
  const { labels: _labels, ...metadata } = config.metadata as Record<string, unknown>;
  const dropped = await apply({ ...config, metadata }, "one");
  expect(dropped.body.metadata?.labels, dropped.text).not.toHaveProperty("mine");
  expect(dropped.body.metadata?.labels).toHaveProperty("shared", "2");
  const stale = await apply({ ...bare, metadata: { name, resourceVersion: "1" } }, "one");
  expect(refusal(stale)[0], stale.text).toBe("409 Conflict");
  const unknown = await apply({ ...bare, metadata: { name }, invented: 1 }, "one");
  expect([unknown.code, unknown.body.message]).toEqual([500, expect.stringMatching(/: \.invented: field not declared in schema$/)]);
  const kindless = await apply({ metadata: { name } }, "one");
  expect(refusal(kindless)).toEqual(["400 BadRequest", "invalid object type: /, Kind="]);
  await api.remove(path);
  const ghost = await apply({ ...config, metadata: { ...config.metadata, uid: "u" } }, "one");
  expect(refusal(ghost), ghost.text).toEqual([
    "409 Conflict",
    expect.stringContaining("uid mismatch: the provided object specified uid u"),
  ]);
};

const otherWrites: Check = async (subject) => {
  const { api, groupVersion } = subject;
  const entry = (manager: string) => ({ manager, operation: "Update", apiVersion: groupVersion });
  const created = await api.must("POST", subject.collection(), { body: subject.fresh(), query: { fieldManager: "maker" } });
  expect(entriesOf(created)).toEqual([entry("maker")]);
  const { name } = (await subject.settled(created.metadata?.name ?? "")).metadata;
  const path = subject.path(name);
  const patched = await api.patch(path, MERGE_PATCH, subject.mergePatch, { fieldManager: "changer" });
  expect(entriesOf(patched.body), patched.text).toEqual(expect.arrayContaining([entry("maker"), entry("changer")]));
  const same = await api.send("PUT", path, { body: patched.body, query: { fieldManager: "nobody" } });
  expect(same.body.metadata, same.text).toEqual(patched.body.metadata);
  for (const managedFields of [[], [{}]]) {
    const reset = await api.patch(path, MERGE_PATCH, { metadata: { managedFields } }, { fieldManager: "changer" });
    expect(reset.body.metadata, reset.text).not.toHaveProperty("managedFields");
  }
  const adopted = { apiVersion: groupVersion, kind: subject.definition.kind, metadata: { name, labels: { applied: "1" } } };
  const applied = await api.patch(path, APPLY_PATCH, adopted, { fieldManager: "applier" });
  expect(entriesOf(applied.body), applied.text).toEqual([{ ...entry("applier"), operation: "Apply" }, { ...entry("before-first-apply") }]);
  await api.remove(path);
};

const strategicPatch: Check = async (subject) => {
  const { api, sample } = subject;
  const { name } = (await subject.create({ finalizers: [HOLD] })).metadata;
  const patch = (body: unknown) => api.patch(subject.path(name), STRATEGIC_PATCH, body);
  const done = await patch(subject.mergePatch);
  expect([done.code, subject.changedValue(done.body)]).toEqual([200, sample.change.value]);
  const union = await patch({ metadata: { finalizers: ["example.com/second"] } });
  expect(union.body.metadata?.finalizers).toEqual(expect.arrayContaining([HOLD, "example.com/second"]));
  const fewer = await patch({ metadata: { "$deleteFromPrimitiveList/finalizers": [HOLD, "example.com/second"] } });
  expect(fewer.body.metadata?.finalizers ?? []).not.toEqual(expect.arrayContaining([expect.stringContaining("example.com")]));
  const replaced = await patch({ metadata: { annotations: { $patch: "replace", "example.com/only": "this" } } });
  expect(replaced.body.metadata?.annotations).toEqual({ "example.com/only": "this" });
  expect((await patch({ metadata: { annotations: { $patch: "explode" } } })).code).toBe(400);
};

const generation: Check = async (subject) => {
  const { api, definition } = subject;
  const stored = await subject.create();
  const path = subject.path(stored.metadata.name);
  const labelled = await api.must("PATCH", path, { body: { metadata: { labels: { a: "b" } } }, headers: { "Content-Type": MERGE_PATCH } });
  const changed = await api.must("PATCH", path, { body: subject.mergePatch, headers: { "Content-Type": MERGE_PATCH } });
  const expected = { none: [undefined, undefined, undefined], spec: [1, 1, 2], specAndLabels: [1, 2, 3] }[definition.generation];
  expect([stored, labelled, changed].map(({ metadata }) => metadata?.generation)).toEqual(expected);
};

/** In the status of every sample: in a text, or in a name, which has no blanks. */
const SAID = /a.test.said.so/;

const statusEndpoint: Check = async (subject) => {
  const { api } = subject;
  const wanted = subject.fresh();
  const stored = await api.must("POST", subject.collection(), { body: { ...wanted, status: subject.sample.status } });
  if (!subject.sample.createsWithStatus) expect(JSON.stringify(stored.status ?? {})).not.toMatch(SAID);
  const path = subject.path(wanted.metadata.name);
  const withStatus = await api.must("PATCH", `${path}/status`, {
    body: { status: subject.sample.status, spec: subject.mergePatch["spec"] },
    headers: { "Content-Type": MERGE_PATCH },
  });
  expect(JSON.stringify(withStatus.status)).toMatch(SAID);
  if (subject.sample.change.path[0] === "spec") expect(subject.changedValue(withStatus)).not.toEqual(subject.sample.change.value);
  const seen = await api.must("GET", `${path}/status`);
  expect([seen.kind, seen.metadata?.uid]).toEqual([subject.definition.kind, stored.metadata?.uid]);
  const now = subject.changed(await subject.read(wanted.metadata.name));
  // without it: a ServiceCIDR becomes Ready in between
  const { resourceVersion: _version, ...metadata } = now.metadata;
  const put = await api.must("PUT", path, { body: { ...now, metadata, status: {} } });
  expect(JSON.stringify(put.status)).toMatch(SAID);
  expect(subject.changedValue(put)).toEqual(subject.sample.change.value);
};

export const writing = {
  "create, 409 when it is there": create,
  "update: resourceVersion and uid conflicts": update,
  "update of a missing name: creates or 404, per kind": updateMissing,
  "update without resourceVersion, per kind": updateUnconditional,
  "a write that changes nothing keeps the resourceVersion": unchanged,
  "metadata is validated": metadataRules,
  generateName: generatedName,
  "delete: answer per kind, preconditions": remove,
  finalizers,
  deletecollection: deleteCollection,
  "owner deleted: dependents go": owners,
  "propagationPolicy Background, Foreground, Orphan": propagation,
  "namespace deleted: its content goes": namespaceDeleted,
  "dry run": dryRun,
  "fieldValidation Strict, Warn, Ignore": fieldValidation,
  "YAML body and answer": yaml,
  "protobuf body": protobuf,
  "JSON patch": jsonPatch,
  "merge patch": mergePatch,
  "strategic merge patch": strategicPatch,
  "server-side apply": serverSideApply,
  "managedFields of other writes": otherWrites,
  "generation, per kind": generation,
  "status endpoint": statusEndpoint,
} satisfies Record<string, (subject: Subject) => Promise<void>>;
