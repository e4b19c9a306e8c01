/** Conventions of gets, lists, their representations, and of what a server says about itself. */
import { expect } from "vitest";
import type { Answer, Body } from "../../../support/clients/api";
import { encodeProtobuf } from "../../../../src/api/schema/protobuf/encode-protobuf";
import { PROTOBUF, readProtobuf } from "../../../support/values/protobuf-answers";
import type { Check, Subject } from "./subject";

const names = (list: Body) => (list.items ?? []).map(({ metadata }) => metadata?.name ?? "");
const tableOf = (version = "v1") => ({ Accept: `application/json;as=Table;g=meta.k8s.io;v=${version}` });
const partialOf = (kind: string, version = "v1") => ({ Accept: `application/json;as=${kind};g=meta.k8s.io;v=${version}` });

interface Table extends Body {
  columnDefinitions: { name: string; type: string; format: string; description: string; priority: number }[];
  rows: { cells: unknown[]; object: Body | null }[];
}

/** `count` objects with a label that nobody else has. */
async function labelled(subject: Subject, count: number, label: string): Promise<string[]> {
  const made: string[] = [];
  for (let i = 0; i < count; i++) made.push((await subject.create({ labels: { suite: label, number: String(i) } })).metadata.name);
  return made;
}

const get: Check = async (subject) => {
  const stored = await subject.create();
  const { name, resourceVersion } = stored.metadata;
  const plain = await subject.api.get(subject.path(name), {}, { Accept: "*/*" });
  expect([plain.code, plain.headers.get("content-type"), plain.body]).toEqual([200, "application/json", stored]);
  expect((await subject.api.get(subject.path(name), { resourceVersion })).body).toEqual(stored);
  const missing = await subject.api.get(subject.path("missing"));
  const { group, resource } = subject.definition;
  expect(missing.body).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `${subject.qualified} "missing" not found`,
    reason: "NotFound",
    details: { name: "missing", ...(group ? { group } : {}), kind: resource },
    code: 404,
  });
};

const list: Check = async (subject) => {
  const { api, definition } = subject;
  const made = await labelled(subject, 2, "list");
  const found = await api.must("GET", subject.collection(), { query: { labelSelector: "suite=list" } });
  expect(found).toMatchObject({ kind: `${definition.kind}List`, apiVersion: subject.groupVersion });
  expect(found.metadata?.resourceVersion).toMatch(/^[1-9]\d*$/);
  expect(names(found).sort()).toEqual([...made].sort());
  expect(found.items?.map((item) => [item.kind, item.apiVersion])).toEqual(made.map(() => [undefined, undefined]));
  expect((await api.must("GET", subject.collection(), { query: { labelSelector: "suite=nothing" } })).items).toEqual([]);
  if (!definition.namespaced) return;
  const everywhere = subject.collection().replace(`/namespaces/${subject.namespace}`, "");
  expect(names(await api.must("GET", everywhere, { query: { labelSelector: "suite=list" } }))).toEqual(expect.arrayContaining(made));
};

const pages: Check = async (subject) => {
  const { api } = subject;
  await labelled(subject, 5, "pages");
  const first = await api.must("GET", subject.collection(), { query: { limit: "2" } });
  const resourceVersion = first.metadata?.resourceVersion ?? "";
  const meanwhile = (await subject.create()).metadata.name;
  const whole = await api.must("GET", subject.collection(), { query: { resourceVersion, resourceVersionMatch: "Exact" } });
  const all = names(whole);
  expect(all).not.toContain(meanwhile);
  expect(all).toEqual([...all].sort());
  const got = names(first);
  let page = first;
  while (page.metadata?.continue) {
    expect([got.length % 2, got.length + (page.metadata.remainingItemCount ?? 0)]).toEqual([0, all.length]);
    page = await api.must("GET", subject.collection(), { query: { limit: "2", continue: page.metadata.continue } });
    expect(page.metadata?.resourceVersion).toBe(resourceVersion);
    got.push(...names(page));
  }
  expect(got).toEqual(all);
  expect(page.metadata).not.toHaveProperty("remainingItemCount");
  const selected = await api.must("GET", subject.collection(), { query: { limit: "2", labelSelector: "suite=pages" } });
  expect([names(selected).length, selected.metadata?.remainingItemCount]).toEqual([2, undefined]);
  const damaged = await api.get(subject.collection(), { limit: "2", continue: "damaged" });
  expect([damaged.code, damaged.body.message]).toEqual([400, expect.stringMatching(/^continue key is not valid|^invalid continue token/)]);
};

const resourceVersions: Check = async (subject) => {
  const { api } = subject;
  const stored = await subject.create();
  const { name, resourceVersion } = stored.metadata;
  await api.remove(subject.path(name));
  const read = (query: Record<string, string>) => api.get(subject.collection(), query);
  const exact = await read({ resourceVersion, resourceVersionMatch: "Exact" });
  expect([names(exact.body).includes(name), exact.body.metadata?.resourceVersion]).toEqual([true, resourceVersion]);
  const newer = await read({ resourceVersion, resourceVersionMatch: "NotOlderThan" });
  expect(names(newer.body)).not.toContain(name);
  expect((await read({ resourceVersion: "0", limit: "1" })).code).toBe(200);
  const refused = async (query: Record<string, string>) => {
    const { code, body } = await read(query);
    return `${String(code)} ${body.reason ?? ""}: ${body.message ?? ""}`;
  };
  const future = ["99999999999", "18446744073709551615"];
  const tooLarge = await Promise.all(future.map((resourceVersion) => refused({ resourceVersion })));
  expect(tooLarge.map((text) => text.replace(/current: \d+$/, ""))).toEqual(
    future.map((resourceVersion) => `504 Timeout: Timeout: Too large resource version: ${resourceVersion}, `),
  );
  expect(await refused({ resourceVersion: "x" })).toContain('strconv.ParseUint: parsing "x": invalid syntax');
  const options = '422 Invalid: ListOptions.meta.k8s.io "" is invalid: ';
  expect(await refused({ resourceVersionMatch: "Exact" })).toBe(
    `${options}resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`,
  );
  expect(await refused({ resourceVersion: "0", resourceVersionMatch: "Exact" })).toBe(
    `${options}resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
  );
  expect(await refused({ sendInitialEvents: "true" })).toContain("sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list");
};

/** The objects themselves: a revision is one state, whichever place tells of it. */
const fromCopy: Check = async (subject) => {
  const { api } = subject;
  await subject.create();
  let answer = await api.get(subject.collection(), { resourceVersion: "0" });
  await api.until(async () => {
    answer = await api.get(subject.collection(), { resourceVersion: "0" });
    return answer.headers.get("Servicenet-Source")?.startsWith("edge;age=") === true;
  }, `a copy of ${subject.collection()} answers`);
  const resourceVersion = answer.body.metadata?.resourceVersion ?? "";
  const own = await api.get(subject.collection(), { resourceVersion, resourceVersionMatch: "Exact" });
  expect(own.headers.get("Servicenet-Source")).not.toMatch(/^edge/);
  expect(own.body).toEqual(answer.body);
};

/** The token of a list of another resource is of a history that this one never had. */
const expired: Check = async (subject) => {
  const { api, definition } = subject;
  await labelled(subject, 2, "expired");
  const other = definition.resource === "leases" ? "/api/v1/namespaces" : "/apis/coordination.k8s.io/v1/leases";
  await api.send("POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", { body: { metadata: { name: "expired-a" } } });
  await api.send("POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", { body: { metadata: { name: "expired-b" } } });
  const foreign = (await api.must("GET", other, { query: { limit: "1" } })).metadata?.continue ?? "";
  expect(foreign).not.toBe("");
  const refused = await api.get(subject.collection(), { limit: "1", continue: foreign });
  expect([refused.code, refused.body.reason, refused.body.message]).toEqual([
    410,
    "Expired",
    expect.stringMatching(/^The provided continue parameter is too old to display a consistent list result\. /),
  ]);
  const on = await api.must("GET", subject.collection(), { query: { continue: refused.body.metadata?.continue ?? "" } });
  expect(on.kind).toBe(`${definition.kind}List`);
};

const gzip: Check = async (subject) => {
  const { name } = (await subject.create({ labels: { suite: "gzip" }, annotations: { "example.com/pad": "x".repeat(200_000) } })).metadata;
  const list_ = (coding: string) => subject.api.get(subject.collection(), { labelSelector: "suite=gzip" }, { "Accept-Encoding": coding });
  const [plain, zipped] = [await list_("identity"), await list_("gzip")];
  expect([plain, zipped].map(({ headers }) => headers.get("content-encoding"))).toEqual([null, "gzip"]);
  expect([names(zipped.body), zipped.body.items]).toEqual([[name], plain.body.items]);
  await subject.api.remove(subject.path(name));
};

const labelSelectors: Check = async (subject) => {
  const [a = "", b = "", c = ""] = await labelled(subject, 3, "labels");
  const rows: [string, string[]][] = [
    ["suite=labels", [a, b, c]],
    ["suite==labels,number=1", [b]],
    ["suite=labels,number!=1", [a, c]],
    ["suite=labels,number in (0,2)", [a, c]],
    ["suite=labels,number notin (0,2)", [b]],
    ["suite=labels,number", [a, b, c]],
    ["suite=labels,!number", []],
    ["suite=labels,!missing", [a, b, c]],
    ["suite=labels,number>1", [c]],
    ["suite=labels,number<1", [a]],
  ];
  for (const [labelSelector, expected] of rows) {
    const found = await subject.api.must("GET", subject.collection(), { query: { labelSelector } });
    expect([labelSelector, names(found).sort()]).toEqual([labelSelector, [...expected].sort()]);
  }
  const bad = await subject.api.get(subject.collection(), { labelSelector: "a b c" });
  expect([bad.code, bad.body.message]).toEqual([400, expect.stringContaining("unable to parse requirement: found 'b', expected: ")]);
};

const fieldSelectors: Check = async (subject) => {
  const { api, definition } = subject;
  const { name } = (await subject.create()).metadata;
  const read = (fieldSelector: string) => api.get(subject.collection(), { fieldSelector });
  expect(names((await read(`metadata.name=${name}`)).body)).toEqual([name]);
  expect(names((await read(`metadata.name!=${name}`)).body)).not.toContain(name);
  if (definition.namespaced) {
    expect(names((await read(`metadata.namespace=${subject.namespace},metadata.name==${name}`)).body)).toEqual([name]);
  }
  const fields = definition.selectableFields(structuredClone(await subject.read(name)));
  expect(Object.keys(fields).sort()).toEqual([...definition.fieldLabels].sort());
  for (const [label, value] of Object.entries(fields)) {
    const escaped = value.replace(/[\\,=]/g, "\\$&");
    expect([label, names((await read(`${label}=${escaped},metadata.name=${name}`)).body)]).toEqual([label, [name]]);
    expect([label, names((await read(`${label}!=${escaped},metadata.name=${name}`)).body)]).toEqual([label, []]);
  }
  const unknown = await read("spec.unknown=1");
  expect([unknown.code, unknown.body.message]).toEqual([400, expect.stringContaining(definition.unknownFieldLabel("spec.unknown"))]);
  expect((await read("no-operator")).body.message).toBe("invalid selector: 'no-operator'; can't understand 'no-operator'");
};

const table: Check = async (subject) => {
  const { api, definition } = subject;
  const [name = ""] = await labelled(subject, 1, "table");
  const columns = definition.columns.map((column) => column.name);
  const check = ({ code, headers, body }: Answer, object: unknown) => {
    expect([code, headers.get("content-type"), body.kind]).toEqual([200, "application/json", "Table"]);
    const { columnDefinitions, rows } = body as Table;
    expect(columnDefinitions.map((column) => column.name)).toEqual(columns);
    const wide = definition.columns.findIndex((column) => column.format === "name");
    expect([rows.length, rows[0]?.cells.length, rows[0]?.cells[wide]]).toEqual([1, columns.length, name]);
    expect(rows[0]?.object).toEqual(object);
  };
  const metadataOnly = expect.objectContaining({ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" }) as unknown;
  const selected = { labelSelector: "suite=table" };
  check(await api.get(subject.path(name), {}, tableOf()), metadataOnly);
  check(await api.get(subject.collection(), selected, tableOf()), metadataOnly);
  check(await api.get(subject.collection(), { ...selected, includeObject: "None" }, tableOf()), null);
  check(
    await api.get(subject.collection(), { ...selected, includeObject: "Object" }, tableOf()),
    expect.objectContaining({ kind: definition.kind, apiVersion: subject.groupVersion }),
  );
  expect((await api.get(subject.collection(), selected, tableOf("v1beta1"))).body.apiVersion).toBe("meta.k8s.io/v1beta1");
  const wrong = await api.get(subject.collection(), { includeObject: "All" }, tableOf());
  expect([wrong.code, wrong.body.message]).toEqual([400, expect.stringContaining("must be 'Metadata', 'Object', 'None', or empty")]);
  expect((await api.get(subject.collection(), {}, { Accept: "text/html" })).code).toBe(406);
};

const partial: Check = async (subject) => {
  const { api } = subject;
  const [name = ""] = await labelled(subject, 1, "partial");
  const { metadata } = await subject.read(name);
  for (const version of ["v1", "v1beta1"]) {
    const expected = { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata };
    expect((await api.get(subject.path(name), {}, partialOf("PartialObjectMetadata", version))).body).toEqual(expected);
    const all = await api.get(subject.collection(), { labelSelector: "suite=partial" }, partialOf("PartialObjectMetadataList", version));
    expect(all.body).toMatchObject({ kind: "PartialObjectMetadataList", apiVersion: `meta.k8s.io/${version}`, items: [expected] });
  }
};

const discovery: Check = async (subject) => {
  const { api, definition } = subject;
  const { resource, singular, kind, namespaced, verbs, shortNames, categories, subresources } = definition;
  const lists = (resource_: Record<string, unknown>) => ({
    ...resource_,
    verbs: [...(resource_["verbs"] as string[])].sort(),
    shortNames: resource_["shortNames"] ?? [],
    categories: resource_["categories"] ?? [],
  });
  for (const version of definition.versions) {
    const groupVersion = subject.versionOf(version);
    const root = groupVersion.includes("/") ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
    const plain = await api.must("GET", root);
    const entries = plain["resources"] as Record<string, unknown>[];
    const own = entries.find((entry) => entry["name"] === resource);
    expect(plain).toMatchObject({ kind: "APIResourceList", groupVersion });
    expect(lists(own ?? { verbs: [] })).toMatchObject({
      singularName: singular,
      namespaced,
      kind,
      verbs: [...verbs].sort(),
      shortNames,
      categories,
    });
    const index = (name: string) => entries.findIndex((entry) => entry["name"] === name);
    for (const subresource of subresources) expect(index(`${resource}/${subresource}`)).toBeGreaterThan(index(resource));
    const accept = { Accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
    const aggregated = await api.get(definition.group ? "/apis" : "/api", {}, accept);
    expect(aggregated.headers.get("content-type")).toBe(accept.Accept);
    const groups = (aggregated.body.items ?? []) as (Body & { versions: { version: string; resources: Record<string, unknown>[] }[] })[];
    const resources = groups
      .find(({ metadata }) => (metadata?.name ?? "") === definition.group)
      ?.versions.find((v) => v.version === version);
    const entry = resources?.resources.find((each) => each["resource"] === resource);
    expect(lists(entry ?? { verbs: [] })).toMatchObject({
      responseKind: { group: definition.group, version, kind },
      scope: namespaced ? "Namespaced" : "Cluster",
      singularResource: singular,
      verbs: [...verbs].sort(),
      shortNames,
      categories,
    });
  }
};

const openApi: Check = async (subject) => {
  const { api, definition } = subject;
  const index = await api.must("GET", "/openapi/v3");
  for (const version of definition.versions) {
    const groupVersion = subject.versionOf(version);
    const key = groupVersion.includes("/") ? `apis/${groupVersion}` : `api/${groupVersion}`;
    const path = (index["paths"] as Record<string, { serverRelativeURL: string }>)[key]?.serverRelativeURL ?? "";
    const document = await api.must("GET", path);
    const gvk = { group: definition.group, version, kind: definition.kind };
    type Operation = { parameters?: { name: string }[]; requestBody?: { content: object }; "x-kubernetes-group-version-kind": object };
    const paths = document["paths"] as Record<string, { patch?: Operation; get?: Operation }>;
    const one = paths[`/${key}${definition.namespaced ? "/namespaces/{namespace}" : ""}/${definition.resource}/{name}`]?.patch;
    expect(one?.["x-kubernetes-group-version-kind"]).toEqual(gvk);
    expect(one?.parameters?.map(({ name }) => name)).toContain("fieldValidation");
    expect(Object.keys(one?.requestBody?.content ?? {})).toContain("application/strategic-merge-patch+json");
    const schemas = (document["components"] as { schemas: Record<string, Record<string, unknown>> }).schemas;
    const own = Object.values(schemas).find(
      (schema) => JSON.stringify(schema["x-kubernetes-group-version-kind"]) === JSON.stringify([gvk]),
    );
    const served = Object.keys(subject.fresh());
    expect(Object.keys((own?.["properties"] ?? {}) as object)).toEqual(expect.arrayContaining(served));
  }
};

const openApiV2: Check = async (subject) => {
  const { definition } = subject;
  const document = await subject.api.must("GET", "/openapi/v2");
  type Operation = { "x-kubernetes-group-version-kind"?: object };
  const paths = document["paths"] as Record<string, Record<string, Operation> | undefined>;
  const schemas = Object.values(document["definitions"] as Record<string, Record<string, unknown>>);
  for (const version of definition.versions) {
    const groupVersion = subject.versionOf(version);
    const root = groupVersion.includes("/") ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
    const gvk = { group: definition.group, version, kind: definition.kind };
    const one = paths[`${root}${definition.namespaced ? "/namespaces/{namespace}" : ""}/${definition.resource}/{name}`];
    expect(one?.["patch"]?.["x-kubernetes-group-version-kind"]).toEqual(gvk);
    const isOwn = (kinds: unknown) => ((kinds ?? []) as object[]).some((kind) => JSON.stringify(kind) === JSON.stringify(gvk));
    const own = schemas.find((schema) => isOwn(schema["x-kubernetes-group-version-kind"]));
    expect(Object.keys((own?.["properties"] ?? {}) as object)).toEqual(expect.arrayContaining(Object.keys(subject.fresh())));
  }
};

const protobufAnswers: Check = async (subject) => {
  const { api, definition, groupVersion: apiVersion } = subject;
  const headers = { Accept: PROTOBUF };
  /** What protobuf keeps of an object: null is absence, and plain members without a value are there. */
  const kept = (object: Body | undefined) =>
    readProtobuf(encodeProtobuf({ ...object }, definition.schema, { apiVersion, kind: definition.kind }));
  const stored = await subject.create({ labels: { suite: "protobuf" } });
  const { name } = stored.metadata;
  const one = await api.get(subject.path(name), {}, headers);
  expect([one.code, one.headers.get("content-type"), one.body]).toEqual([200, PROTOBUF, kept((await api.get(subject.path(name))).body)]);
  const query = { labelSelector: "suite=protobuf" };
  const [decoded, json] = [await api.get(subject.collection(), query, headers), await api.get(subject.collection(), query)];
  const items = decoded.body.items?.map((item) => kept(item));
  expect([decoded.headers.get("content-type"), items]).toEqual([PROTOBUF, json.body.items?.map((item) => kept(item))]);
  const missing = await api.get(subject.path("missing"), {}, headers);
  expect([missing.code, missing.headers.get("content-type"), missing.body.reason]).toEqual([404, PROTOBUF, "NotFound"]);
  for (const accept of [PROTOBUF, `${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`]) {
    const watch = await api.watch(subject.collection(), query, { Accept: accept });
    const [event] = await watch.take(1);
    expect([watch.type, event?.type, event?.object.metadata]).toEqual([
      `${PROTOBUF};stream=watch`,
      "ADDED",
      json.body.items?.[0]?.metadata,
    ]);
    watch.close();
  }
  const table = await api.get(subject.collection(), {}, { Accept: `${PROTOBUF};as=Table;g=meta.k8s.io;v=v1` });
  expect([table.code, table.body.reason]).toEqual([406, "NotAcceptable"]);
};

const everyVersion: Check = async (subject) => {
  const stored = await subject.create();
  for (const version of subject.definition.versions) {
    const groupVersion = subject.versionOf(version);
    const path = `${subject.collection({ groupVersion })}/${encodeURIComponent(stored.metadata.name)}`;
    expect((await subject.api.get(path)).body).toEqual({ ...stored, apiVersion: groupVersion });
    const put = await subject.api.send("PUT", path, { body: { ...subject.changed(stored), apiVersion: groupVersion } });
    expect([put.code, put.body.apiVersion]).toEqual([200, groupVersion]);
    stored.metadata = { ...stored.metadata, ...put.body.metadata };
    Object.assign(stored, { ...put.body, apiVersion: subject.groupVersion });
  }
  const unserved = subject.collection({ groupVersion: subject.versionOf("v9") });
  expect((await subject.api.get(unserved)).code).toBe(404);
};

export const reading = {
  "get, 404 when it is not": get,
  list,
  "limit and continue: one snapshot": pages,
  "resourceVersion and resourceVersionMatch": resourceVersions,
  "resourceVersion=0: copy and owner say the same": fromCopy,
  "410 Expired, with a token that lists on": expired,
  "gzip of large lists": gzip,
  "label selectors": labelSelectors,
  "field selectors": fieldSelectors,
  Table: table,
  "PartialObjectMetadata and its list": partial,
  "discovery: names, short names, categories, verbs": discovery,
  "OpenAPI v3": openApi,
  "OpenAPI v2": openApiV2,
  "protobuf answers": protobufAnswers,
  "every served version": everyVersion,
} satisfies Record<string, Check>;
