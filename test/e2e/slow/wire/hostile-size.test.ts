/** Requests that are large or long on purpose. Each is answered with a 2xx or 4xx, and the server goes on. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkState } from "../../../support/checks/checkers";
import { Api, APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from "../../../support/clients/api";
import { observe } from "../../../support/server/observe";
import { serverForTests } from "../../../support/server/server-for-tests";

/** Far more than any request needs: a hang fails, a busy machine does not. */
const PATIENCE_MS = 120_000;
const MANY = 100_000;

const SERVICES = "/api/v1/namespaces/default/services";
const THERE = `${SERVICES}/there`;
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

const server = serverForTests();
const api = new Api(() => server.url);

beforeAll(async () => {
  await api.must("POST", SERVICES, { body: { metadata: { name: "there" }, spec: { ports: [{ port: 80 }] } } });
}, PATIENCE_MS);

afterAll(async () => {
  const state = await observe(server.url);
  expect(checkState(state)).toEqual([]);
});

function list<T>(count: number, itemAt: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => itemAt(i));
}

/** Members of a Service that can be too large. */
const LARGE: Record<string, { metadata?: object; spec?: object }> = {
  ports: { spec: { ports: list(50_000, (i) => ({ port: (i % 65_535) + 1, name: `n${i}` })) } },
  finalizers: { metadata: { finalizers: list(MANY, (i) => `example.com/${i}`) } },
  ownerReferences: {
    metadata: { ownerReferences: list(30_000, (i) => ({ apiVersion: "v1", kind: "Node", name: `n${i}`, uid: `u${i}` })) },
  },
  labels: { metadata: { labels: Object.fromEntries(list(90_000, (i) => [`k${i}`, "v"])) } },
  externalIPs: { spec: { externalIPs: list(MANY, (i) => `1.2.${Math.floor(i / 250) % 250}.${i % 250}`) } },
  clusterIPs: { spec: { clusterIPs: list(MANY, (i) => `10.96.0.${i % 250}`) } },
  ipFamilies: { spec: { ipFamilies: list(MANY, (i) => `IPv${i}`) } },
  "unknown fields": { spec: Object.fromEntries(list(MANY, (i) => [`u${i}`, 1])) },
  managedFields: {
    metadata: {
      managedFields: list(15_000, (i) => ({
        manager: `m${i}`,
        operation: "Update",
        apiVersion: "v1",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:spec": {} },
      })),
    },
  },
};

interface Row {
  method: string;
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
}

function service(name: string, { metadata = {}, spec = {} }: { metadata?: object; spec?: object }): object {
  return { apiVersion: "v1", kind: "Service", metadata: { name, ...metadata }, spec: { ports: [{ port: 80 }], ...spec } };
}

const typed = (type: string) => ({ "Content-Type": type });
const patch = (type: string, body: unknown): Row => ({ method: "PATCH", path: THERE, body, headers: typed(type) });
const read = (query: Record<string, string>, headers: Record<string, string> = {}): Row => ({
  method: "GET",
  path: SERVICES,
  query,
  headers,
});

function additionsOf(more: { metadata?: object; spec?: object }): object[] {
  return Object.entries(more).flatMap(([part, members]) =>
    Object.entries(members as object).map(([name, value]: [string, unknown]) => ({ op: "add", path: `/${part}/${name}`, value })),
  );
}

/** Upstream's text for an unreadable apply, which has the code 500. */
const UNREADABLE_APPLY = /^failed to create typed patch object /;

const bodies = Object.entries(LARGE).flatMap(([what, more]): [string, Row][] => [
  [`${what} in a create`, { method: "POST", path: SERVICES, body: service("large", more), headers: {} }],
  [`${what} in an update`, { method: "PUT", path: THERE, body: service("there", more) }],
  [`${what} in a merge patch`, patch(MERGE_PATCH, more)],
  [`${what} in a strategic merge patch`, patch(STRATEGIC_PATCH, more)],
  [`${what} in a JSON patch`, patch(JSON_PATCH, additionsOf(more))],
  [`${what} in an apply`, { ...patch(APPLY_PATCH, service("there", more)), query: { fieldManager: "hostile", force: "true" } }],
]);

/** Each copy doubles what is there. */
const copyBomb = [
  { op: "add", path: "/metadata/annotations", value: { a: "x".repeat(1_000) } },
  ...list(60, (i) => ({ op: "copy", from: "/metadata/annotations", path: `/metadata/annotations/b${i}` })),
];
const aliases = [
  "a: &a [x, x, x, x, x, x, x, x, x]",
  ..."bcdefghi".split("").map((name, i) => `${name}: &${name} [${Array(9).fill(`*${"abcdefgh"[i]}`).join(",")}]`),
].join("\n");
const deepJson = `{"metadata":{"name":"deep"},"spec":${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}}`;
const deepYaml = `metadata: {name: deep}\nspec: ${"[".repeat(10_000)}${"]".repeat(10_000)}\n`;
const apply = (body: string): Row => ({ ...patch(APPLY_PATCH, body), query: { fieldManager: "hostile" } });

const rows: [string, Row][] = [
  ...bodies,
  [
    "100,000 operations of a JSON patch",
    patch(
      JSON_PATCH,
      list(MANY, () => ({ op: "test", path: "/a" })),
    ),
  ],
  ["a JSON patch that copies what it copied", patch(JSON_PATCH, copyBomb)],
  [
    "fields that stand 100,000 times",
    { method: "POST", path: SERVICES, body: `{"metadata":{"name":"a"},"spec":{${list(MANY, () => '"type":"ClusterIP"').join(",")}}}` },
  ],
  ["JSON nested 10,000 deep", { method: "POST", path: SERVICES, body: deepJson }],
  ["a merge patch nested 10,000 deep", patch(MERGE_PATCH, deepJson)],
  ["a strategic merge patch nested 10,000 deep", patch(STRATEGIC_PATCH, deepJson)],
  ["an apply nested 10,000 deep", apply(deepJson)],
  ["YAML nested 10,000 deep", { method: "POST", path: SERVICES, body: deepYaml, headers: typed("application/yaml") }],
  ["an apply of YAML nested 10,000 deep", apply(deepYaml)],
  ["YAML whose aliases multiply", { method: "POST", path: SERVICES, body: aliases, headers: typed("application/yaml") }],
  ["an apply of YAML whose aliases multiply", apply(aliases)],
  [
    "60,000 endpoints",
    {
      method: "POST",
      path: SLICES,
      body: { metadata: { name: "large" }, addressType: "IPv4", endpoints: list(60_000, (i) => ({ addresses: [`1.2.3.${i % 250}`] })) },
    },
  ],
  ["a label selector of 3,000 values", read({ labelSelector: `a in (${list(3_000, (i) => `v${i}`).join(",")})` })],
  ["a label selector of 8,000 terms", read({ labelSelector: list(8_000, (i) => `a${i}`).join(",") })],
  ["a field selector of 3,000 terms", read({ fieldSelector: list(3_000, (i) => `metadata.name!=a${i}`).join(",") })],
  ["a continue token of 50,000 characters", read({ limit: "1", continue: "A".repeat(50_000) })],
  ["a resourceVersion of 50,000 digits", read({ resourceVersion: "9".repeat(50_000) })],
  ["5,000 query parameters", read(Object.fromEntries(list(5_000, (i) => [`p${i}`, "1"])))],
  ["5,000 clauses of Accept", read({}, { Accept: list(5_000, (i) => `a/b${i}`).join(", ") })],
  ["a name of 50,000 characters", { method: "GET", path: `${SERVICES}/${"n".repeat(50_000)}` }],
  ["a field manager of 50,000 characters", { ...patch(MERGE_PATCH, {}), query: { fieldManager: "m".repeat(50_000) } }],
];

describe("a request that is large or long on purpose", () => {
  it.each(rows)(
    "%s: refused or answered in time",
    async (_, { method, path, ...sent }) => {
      const { code, body, text } = await api.send(method, path, sent);
      expect(code, text.slice(0, 500)).toBeGreaterThanOrEqual(200);
      if (!UNREADABLE_APPLY.test(body.message ?? "")) expect(code, text.slice(0, 500)).toBeLessThan(500);
      if (code >= 300) expect(body, text.slice(0, 500)).toMatchObject({ kind: "Status", status: "Failure", code });
      expect((await api.must("GET", THERE)).spec).toBeDefined();
      expect((await api.patch(THERE, MERGE_PATCH, { metadata: { annotations: { seen: String(Math.random()) } } })).code).toBe(200);
      // what was legal goes, so that each begins with the same object
      const reset = { metadata: { labels: null, annotations: null, finalizers: null, ownerReferences: null }, spec: { externalIPs: null } };
      expect((await api.patch(THERE, MERGE_PATCH, reset)).code).toBe(200);
    },
    PATIENCE_MS,
  );

  it("a Service afterwards: created as usual", async () => {
    await api.must("POST", SERVICES, { body: service("after", {}) });
  });
});
