/** Upstream's end-to-end assertions about lists, watches and what a server says about itself, on the real server. */
import { beforeAll, describe, expect, it } from "vitest";
import { upstreamRow } from "../../conformance/upstream-row";
import { clusterForTests, DUAL_STACK } from "../../support/server/cluster-for-tests";
import { Api, MERGE_PATCH, brief } from "../../support/clients/api";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import type { Body } from "../../support/clients/api";

const cluster = clusterForTests({ args: DUAL_STACK, name: "default" });
const api = new Api(() => cluster.url);
const NAMESPACE = "/api/v1/namespaces/lists";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/lists/leases";
const TEMPLATES = `${NAMESPACE}/podtemplates`;
const TABLE = { Accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };

beforeAll(async () => {
  await api.must("POST", "/api/v1/namespaces", { body: { metadata: { name: "lists" } } });
});

const names = (list: Body) => (list.items ?? []).map(({ metadata }) => metadata?.name ?? "");
const lease = (name: string, labels: Record<string, string> = {}) => ({ metadata: { name, labels }, spec: { holderIdentity: name } });
const createLease = (name: string, labels?: Record<string, string>) => api.must("POST", LEASES, { body: lease(name, labels) });
const label = (name: string, labels: Record<string, string | null>) =>
  api.must("PATCH", `${LEASES}/${name}`, { body: { metadata: { labels } }, headers: { "Content-Type": MERGE_PATCH } });
const newest = async () => (await api.must("GET", LEASES, { query: { limit: "1" } })).metadata?.resourceVersion ?? "";

interface Table extends Body {
  columnDefinitions: { name: string }[];
  rows: { cells: unknown[] }[];
}

upstreamRow("table_conversion: pod, nodes, 406 (paging)", () => {
  it("pods and nodes: cells fit the columns, the name comes first", async () => {
    await api.must("POST", `${NAMESPACE}/pods`, {
      body: { metadata: { name: "pod-1" }, spec: { containers: [{ name: "c", image: "example.com/i:1" }] } },
    });
    await api.must("POST", "/api/v1/nodes", { body: { metadata: { name: "node-1" } } });
    for (const [path, name] of [
      [`${NAMESPACE}/pods/pod-1`, "pod-1"],
      ["/api/v1/nodes", "node-1"],
    ] as const) {
      const table = (await api.get(path, {}, TABLE)).body as Table;
      expect(table.kind).toBe("Table");
      expect(table.columnDefinitions.length).toBeGreaterThan(2);
      expect([table.columnDefinitions[0]?.name, table.rows[0]?.cells[0]]).toEqual(["Name", name]);
      expect(table.rows[0]?.cells.length).toBe(table.columnDefinitions.length);
    }
  });

  it("a review has no Table: 406", async () => {
    const body = { spec: { nonResourceAttributes: { path: "/", verb: "get" } } };
    const refused = await api.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { body, headers: TABLE });
    expect([refused.code, refused.body.reason]).toEqual([406, "NotAcceptable"]);
  });

  it("a Table in pages: the next objects, at one resourceVersion", async () => {
    for (let i = 0; i < 20; i++) await createLease(`table-${String(i).padStart(3, "0")}`, { table: "yes" });
    const query = { limit: "2", labelSelector: "table=yes" };
    const first = (await api.get(LEASES, query, TABLE)).body as Table;
    expect([first.rows.length, Boolean(first.metadata?.continue)]).toEqual([2, true]);
    const second = (await api.get(LEASES, { ...query, continue: first.metadata?.continue ?? "" }, TABLE)).body as Table;
    expect(second.rows.map(({ cells }) => cells[0])).toEqual(["table-002", "table-003"]);
    expect(second.metadata?.resourceVersion).toBe(first.metadata?.resourceVersion);
  });
});

describe("many objects", () => {
  const CHUNKED = "/apis/coordination.k8s.io/v1/namespaces/chunks/leases";
  const total = 400;

  beforeAll(async () => {
    await api.must("POST", "/api/v1/namespaces", { body: { metadata: { name: "chunks" } } });
    const indexes = Array.from({ length: total }, (_, i) => i);
    await Promise.all(indexes.map((i) => api.must("POST", CHUNKED, { body: lease(`template-${String(i).padStart(4, "0")}`) })));
  });

  upstreamRow("chunking: chunks", () => {
    it("pages of 17: one resourceVersion, exact counts, name order", async () => {
      const got: string[] = [];
      let resourceVersion: string | undefined;
      let token: string | undefined = "";
      while (token !== undefined) {
        const page: Body = await api.must("GET", CHUNKED, { query: { limit: "17", ...(token ? { continue: token } : {}) } });
        resourceVersion ??= page.metadata?.resourceVersion;
        expect(page.metadata?.resourceVersion).toBe(resourceVersion);
        got.push(...names(page));
        token = page.metadata?.continue;
        expect(page.metadata?.remainingItemCount).toBe(token === undefined ? undefined : total - got.length);
      }
      expect(got).toEqual(Array.from({ length: total }, (_, i) => `template-${String(i).padStart(4, "0")}`));
    });

    it("a limit above the number of objects: one page", async () => {
      const page = await api.must("GET", CHUNKED, { query: { limit: String(total + 1) } });
      expect([page.items?.length, page.metadata?.continue, page.metadata?.remainingItemCount]).toEqual([total, undefined, undefined]);
    });
  });

  upstreamRow("chunking: compacted", () => {
    it("the token of an expired list: 410 with another token, which lists on", async () => {
      const first = await api.must("GET", CHUNKED, { query: { limit: "17" } });
      await createLease("churn");
      // beyond the 68 MiB of history that are kept, each change with what it replaced
      for (let i = 0; i < 160; i++) {
        await api.must("PATCH", `${LEASES}/churn`, {
          body: { metadata: { annotations: { pad: `${String(i)} ${"x".repeat(250_000)}` } } },
          headers: { "Content-Type": MERGE_PATCH },
        });
      }
      const expired = await api.get(CHUNKED, { limit: "17", continue: first.metadata?.continue ?? "" });
      expect([expired.code, expired.body.reason]).toEqual([410, "Expired"]);
      expect(expired.body.message).toMatch(/^The provided continue parameter is too old to display a consistent list result\. /);
      const second = await api.must("GET", CHUNKED, { query: { limit: "17", continue: expired.body.metadata?.continue ?? "" } });
      expect(BigInt(second.metadata?.resourceVersion ?? 0)).toBeGreaterThan(BigInt(first.metadata?.resourceVersion ?? 0));
      expect(names(second)[0]).toBe("template-0017");
      const third = await api.must("GET", CHUNKED, { query: { limit: "17", continue: second.metadata?.continue ?? "" } });
      expect(third.metadata?.resourceVersion).toBe(second.metadata?.resourceVersion);
      expect([...names(first), ...names(second), ...names(third)].length).toBe(51);
    });
  });
});

upstreamRow("watch: add/update/delete", () => {
  it("several watches: each has the events of its own selector", async () => {
    const resourceVersion = await newest();
    const selectors = ["watch=A", "watch=B", "watch in (A,B)"];
    const watches = await Promise.all(selectors.map((labelSelector) => api.watch(LEASES, { labelSelector, resourceVersion })));
    await createLease("wa", { watch: "A" });
    await label("wa", { mutation: "1" });
    await label("wa", { mutation: "2" });
    await api.must("DELETE", `${LEASES}/wa`);
    await createLease("wb", { watch: "B" });
    await api.must("DELETE", `${LEASES}/wb`);
    const a = ["ADDED wa", "MODIFIED wa", "MODIFIED wa", "DELETED wa"];
    const b = ["ADDED wb", "DELETED wb"];
    const got = await Promise.all(watches.map((watch, i) => watch.take([4, 2, 6][i] ?? 0)));
    expect(got.map(brief)).toEqual([a, b, [...a, ...b]]);
    for (const watch of watches) watch.close();
  });
});

upstreamRow("watch: from a specific RV / restart from the last RV", () => {
  it("a watch from a revision: only later events, none lost between two watches", async () => {
    const query = { labelSelector: "watch=versions" };
    await createLease("versions", { watch: "versions" });
    const second = await label("versions", { mutation: "1" });
    const third = await label("versions", { mutation: "2" });
    await api.must("DELETE", `${LEASES}/versions`);
    const watch = await api.watch(LEASES, { ...query, resourceVersion: second.metadata?.resourceVersion ?? "" });
    const [first] = await watch.take(1);
    expect([first?.type, first?.object.metadata?.resourceVersion]).toEqual(["MODIFIED", third.metadata?.resourceVersion]);
    watch.close();
    await createLease("versions", { watch: "versions" });
    const again = await api.watch(LEASES, { ...query, resourceVersion: first?.object.metadata?.resourceVersion ?? "" });
    expect(brief(await again.take(2))).toEqual(["DELETED versions", "ADDED versions"]);
    again.close();
  });
});

upstreamRow("watch: selector no longer met", () => {
  it("a label that leaves and returns: DELETED, then ADDED, nothing in between", async () => {
    const watch = await api.watch(LEASES, { labelSelector: "watch=leaving", resourceVersion: await newest() });
    await createLease("leaving", { watch: "leaving" });
    await label("leaving", { watch: "left" });
    await label("leaving", { mutation: "1" });
    await label("leaving", { watch: "leaving" });
    await label("leaving", { mutation: "2" });
    await api.must("DELETE", `${LEASES}/leaving`);
    const types = (await watch.take(5)).map(({ type, object }) => `${type} ${object.metadata?.labels?.["mutation"] ?? "-"}`);
    expect(types).toEqual(["ADDED -", "DELETED -", "ADDED 1", "MODIFIED 2", "DELETED 2"]);
    watch.close();
  });
});

upstreamRow("watch: concurrent watches", () => {
  it("watches from any revision: one order of events", async () => {
    const before = await newest();
    const writers = [0, 1, 2, 3].map(async (writer) => {
      for (let i = 0; i < 10; i++) {
        const name = `order-${String(writer)}-${String(i)}`;
        await createLease(name, { watch: "order" });
        if (i % 3 === 1) await label(name, { mutation: "1" });
        if (i % 3 === 2) await api.must("DELETE", `${LEASES}/${name}`);
      }
    });
    await Promise.all(writers);
    const all = await (async () => {
      const watch = await api.watch(LEASES, { labelSelector: "watch=order", resourceVersion: before });
      const events = await watch.take(4 * (10 + 3 + 3));
      watch.close();
      return events;
    })();
    const versions = all.map(({ object }) => object.metadata?.resourceVersion ?? "");
    await Promise.all(
      versions.slice(0, -1).map(async (resourceVersion, i) => {
        const watch = await api.watch(LEASES, { labelSelector: "watch=order", resourceVersion });
        expect(await watch.take(all.length - i - 1)).toEqual(all.slice(i + 1));
        watch.close();
      }),
    );
  });
});

upstreamRow("watchlist", () => {
  it("a streamed list: is the state, then live events, and a new watch takes over where one broke", async () => {
    for (let i = 0; i < 5; i++) await createLease(`streamed-${String(i)}`, { watchlist: "true" });
    const query = {
      labelSelector: "watchlist=true",
      sendInitialEvents: "true",
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: "true",
    };
    const list = await api.must("GET", LEASES, { query: { labelSelector: "watchlist=true" } });
    const watch = await api.watch(LEASES, query);
    const initial = await watch.take(5);
    expect(initial.map(({ object: { kind: _kind, apiVersion: _apiVersion, ...object } }) => object)).toEqual(list.items);
    const [end] = await watch.take(1);
    expect([end?.type, end?.object.metadata?.annotations?.["k8s.io/initial-events-end"]]).toEqual(["BOOKMARK", "true"]);
    expect(BigInt(end?.object.metadata?.resourceVersion ?? 0)).toBeGreaterThanOrEqual(BigInt(list.metadata?.resourceVersion ?? 0));
    watch.close();
    await createLease("streamed-5", { watchlist: "true" });
    const again = await api.watch(LEASES, {
      labelSelector: "watchlist=true",
      resourceVersion: end?.object.metadata?.resourceVersion ?? "",
    });
    expect(brief(await again.take(1))).toEqual(["ADDED streamed-5"]);
    again.close();
  });

  it("streamed as Tables: the rows of the single objects, columns in the first event, and the annotated bookmark", async () => {
    for (const name of ["row-a", "row-b"]) await createLease(name, { watchlist: "table" });
    const watch = await api.watch(LEASES, { labelSelector: "watchlist=table", allowWatchBookmarks: "true" }, TABLE);
    const seen = await watch.take(3);
    watch.close();
    expect(seen.map(({ type }) => type)).toEqual(["ADDED", "ADDED", "BOOKMARK"]);
    expect(seen.map(({ object }) => object["columnDefinitions"] !== null)).toEqual([true, false, false]);
    const rows = seen.map(({ object }) => (object as unknown as { rows: { object: KubeObject }[] }).rows[0]?.object.metadata);
    expect(rows.map((metadata) => metadata?.name)).toEqual(["row-a", "row-b", undefined]);
    expect(rows[2]?.annotations?.["k8s.io/initial-events-end"]).toBe("true");
  });

  it("a list and a watch at the next revision: answered as soon as it exists", async () => {
    // The server itself renews Leases, and writes no PodTemplate.
    const list = await api.must("GET", TEMPLATES);
    const next = String(Number(list.metadata?.resourceVersion) + 1);
    const [listed, watch] = await Promise.all([
      api.get(TEMPLATES, { resourceVersion: next }),
      api.watch(TEMPLATES, { resourceVersion: next }),
      api.must("POST", TEMPLATES, {
        body: { metadata: { name: "awaited" }, template: { spec: { containers: [{ name: "c", image: "i" }] } } },
      }),
    ]);
    watch.close();
    expect([listed.code, listed.body.items?.some(({ metadata }) => metadata?.name === "awaited")]).toEqual([200, true]);
  });
});

upstreamRow("field_validation: typed", () => {
  const SERVICES = `${NAMESPACE}/services`;
  it("unknown and duplicate fields, unknown metadata: refused, warned of or ignored by fieldValidation", async () => {
    const text =
      '{"apiVersion":"v1","kind":"Service","metadata":{"name":"typed"},"spec":{"unknownField":1,"type":"ClusterIP","type":"ClusterIP","ports":[{"port":80,"foo":1}]}}';
    const query = { fieldValidation: "Strict" };
    const refused = await api.send("POST", SERVICES, { body: text, query });
    expect([refused.code, refused.body.message]).toEqual([
      400,
      'Service in version "v1" cannot be handled as a Service: strict decoding error: unknown field "spec.unknownField", duplicate field "spec.type", unknown field "spec.ports[0].foo"',
    ]);
    const meta = await api.send("POST", SERVICES, { body: { metadata: { name: "typed", unknownMeta: "x" } }, query });
    expect(meta.body.message).toContain('unknown field "metadata.unknownMeta"');
  });

  it("a merge patch with unknown fields: a warning", async () => {
    await api.must("POST", SERVICES, { body: { metadata: { name: "patched" }, spec: { ports: [{ port: 80 }] } } });
    const { code, body } = await api.patch(
      `${SERVICES}/patched`,
      MERGE_PATCH,
      { spec: { unknownField: 1 } },
      { fieldValidation: "Strict" },
    );
    expect([code, body.reason]).toEqual([422, "Invalid"]);
    expect(body.message).toMatch(/^ "" is invalid: patch: Invalid value: .*: strict decoding error: unknown field "spec\.unknownField"$/);
  });
});

upstreamRow("discovery", () => {
  it("discovery: groups, versions and resources agree", async () => {
    const groups = (await api.must("GET", "/apis/"))["groups"] as {
      name: string;
      versions: { groupVersion: string; version: string }[];
      preferredVersion: { version: string };
    }[];
    expect(groups.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["coordination.k8s.io", "discovery.k8s.io", "networking.k8s.io"]),
    );
    for (const { name, versions, preferredVersion } of groups) {
      expect(versions.map(({ version }) => version)).toContain(preferredVersion.version);
      expect(await api.must("GET", `/apis/${name}/`)).toMatchObject({ kind: "APIGroup", name, preferredVersion });
      for (const { groupVersion } of versions) expect((await api.must("GET", `/apis/${groupVersion}`))["groupVersion"]).toBe(groupVersion);
    }
  });

  it("an unserved group and resource: 404, and not in discovery", async () => {
    expect((await api.get("/apis/example.com/v1")).code).toBe(404);
    const core = (await api.must("GET", "/api/v1"))["resources"] as { name: string }[];
    expect(core.map(({ name }) => name)).not.toContain("persistentvolumeclaims");
    expect((await api.get(`${NAMESPACE}/persistentvolumeclaims`)).body).toMatchObject({
      reason: "NotFound",
      message:
        "the server could not find the requested resource: persistentvolumeclaims is not served; see kubectl api-resources and docs/compatibility.md for what is",
    });
  });
});

upstreamRow("aggregated_discovery", () => {
  it.each(["/api", "/apis"])("%s aggregated: every group and version with its resources", async (path) => {
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const answer = await api.get(path, {}, { Accept: accept });
    expect([answer.code, answer.headers.get("content-type")]).toEqual([200, accept]);
    expect(answer.body).toMatchObject({ kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" });
    const groups = answer.body.items as (Body & { versions: { version: string; resources: unknown[] }[] })[];
    expect(groups.map(({ metadata, versions }) => [metadata?.name ?? "", versions.every(({ resources }) => resources.length > 0)])).toEqual(
      path === "/api" ? [["", true]] : expect.arrayContaining([["networking.k8s.io", true]]),
    );
  });
});

upstreamRow("openapiv3", () => {
  it("every document of the index: served, and its references resolve", async () => {
    const index = (await api.must("GET", "/openapi/v3"))["paths"] as Record<string, { serverRelativeURL: string }>;
    expect(Object.keys(index)).toEqual(expect.arrayContaining(["api/v1", "apis/networking.k8s.io/v1", "apis/networking.k8s.io/v1beta1"]));
    for (const [key, { serverRelativeURL }] of Object.entries(index)) {
      const document = await api.get(serverRelativeURL);
      expect([key, document.code, document.headers.get("content-type")]).toEqual([key, 200, expect.stringContaining("application/json")]);
      expect(document.body["openapi"]).toMatch(/^3\.0/);
      const references = new Set([...document.text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name));
      const { schemas } = document.body["components"] as { schemas: object };
      expect([...references].filter((name) => !Object.keys(schemas).includes(name ?? ""))).toEqual([]);
    }
  });
});

upstreamRow("request_timeout", () => {
  it("an invalid timeout: 400; 0 and too large values: clamped", async () => {
    const invalid = await api.get(LEASES, { timeout: "invalid" });
    expect([invalid.code, invalid.body.reason]).toEqual([400, "BadRequest"]);
    for (const timeout of ["0s", "30s", "3h"])
      expect([timeout, (await api.get(LEASES, { timeout, limit: "1" })).code]).toEqual([timeout, 200]);
  });
});

upstreamRow("server_version, health", () => {
  it("version and health: numbers, and lists of checks", async () => {
    const version = await api.must("GET", "/version");
    expect([version["major"], version["minor"]]).toEqual([expect.stringMatching(/^\d+$/), expect.stringMatching(/^\d+$/)]);
    for (const check of ["healthz", "livez", "readyz"]) {
      expect((await api.get(`/${check}`)).text).toBe("ok");
      expect((await api.get(`/${check}`, { verbose: "" })).text).toMatch(new RegExp(`^(\\[\\+\\].+ ok\\n)+${check} check passed\\n?$`));
    }
  });
});
