/** GET /clusters, over a list and records that a test makes. */
import { describe, expect, it, vi } from "vitest";
import type { Env } from "../../../../../durable-objects/platform/env";
import { DIRECTORY_SILENT, type ListedCluster } from "../../../../../src/tenancy/rpc";
import { LISTED_CLUSTERS } from "../../../../../src/worker/http/limits";
import { urlOf } from "../../../../../src/worker/http/read/request-url";
import { clustersResponse } from "../../../../../src/worker/system/clusters/cluster-list";
import type { PathRequest } from "../../../../../src/worker/system/path-request";
import { send } from "../../client";
import { fakeEnv } from "../../fake-env";

const AT = Date.UTC(2026, 0, 1);
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

interface Item {
  metadata: { name: string; creationTimestamp?: string; deletionTimestamp?: string };
  location: string | null;
  status: { phase: string; url: string };
}

interface List {
  kind: string;
  apiVersion: string;
  metadata: { continue?: string; resourceVersion: string };
  items: Item[];
  message?: string;
  reason?: string;
}

function listed(name: string, more: Partial<NonNullable<ListedCluster["facts"]>> = {}): ListedCluster {
  return { name, stamp: `of-${name}`, facts: { id: name, createdAt: AT, deletedAt: 0, ...more } };
}

function world(clusters: ListedCluster[] | null, vars: Partial<Env> = { IMPLICIT_DEFAULT_CLUSTER: "false" }) {
  const fake = fakeEnv({}, vars);
  fake.records.listed = clusters;
  const ask = async (query = "", headers: Record<string, string> = {}, host = "http://h") => {
    const response = await send(`${host}/clusters${query}`, { headers }, fake.env);
    return { code: response.status, body: (await response.json()) as List };
  };
  const names = async (query = "") => (await ask(query)).body.items.map(({ metadata }) => metadata.name);
  return { fake, ask, names };
}

describe("GET /clusters", () => {
  it("each cluster: its phase, its times, its place and its address; without a call to what has told all that", async () => {
    const { fake, ask } = world([listed("blue", { id: "blue~4000000002" }), listed("red", { deletedAt: AT + 5_000 })]);
    const { code, body } = await ask("", { Host: "h.example:8787" }, "https://h.example:8787");
    expect([code, body]).toEqual([
      200,
      {
        kind: "ClusterList",
        apiVersion: "servicenet.dev/v1alpha1",
        metadata: { resourceVersion: "" },
        items: [
          {
            metadata: { name: "blue", creationTimestamp: "2026-01-01T00:00:00Z" },
            location: "weur",
            status: { phase: "Active", url: "https://h.example:8787/clusters/blue" },
          },
          {
            metadata: { name: "red", creationTimestamp: "2026-01-01T00:00:00Z", deletionTimestamp: "2026-01-01T00:00:05Z" },
            location: null,
            status: { phase: "Terminating", url: "https://h.example:8787/clusters/red" },
          },
        ],
      },
    ]);
    expect(fake.records.calls).toEqual([]);
  });

  it("as kubectl asks: a Table with upstream's columns in front", async () => {
    const { ask } = world([listed("blue", { id: "blue~4000000001" })]);
    const { body } = await ask("?includeObject=None", { Accept: TABLE });
    expect(body).toMatchObject({
      kind: "Table",
      apiVersion: "meta.k8s.io/v1",
      columnDefinitions: ["Name", "Phase", "Location", "Age", "URL"].map((name) => ({ name, priority: name === "URL" ? 1 : 0 })),
      rows: [{ cells: ["blue", "Active", "weur", expect.stringMatching(/^\d/), "http://h/clusters/blue"], object: null }],
    });
    const whole = (await ask("?includeObject=Object", { Accept: TABLE })).body as unknown as { rows: { object: object }[] };
    expect(whole.rows[0]?.object).toMatchObject({ kind: "Cluster", apiVersion: "servicenet.dev/v1alpha1", metadata: { name: "blue" } });
    expect((await ask("?includeObject=x", { Accept: TABLE })).code).toBe(400);
  });

  it("pages: in the order of the names, each cluster once, by one call each", async () => {
    const { fake, ask } = world(["a", "b", "c", "d", "e"].map((name) => listed(name)));
    const found: string[] = [];
    let token = "";
    for (let page = 0; page < 3; page++) {
      const { body } = await ask(`?limit=2${token === "" ? "" : `&continue=${token}`}`);
      found.push(...body.items.map(({ metadata }) => metadata.name));
      token = body.metadata.continue ?? "";
      expect(token === "").toBe(page === 2);
    }
    expect([found.join(""), fake.records.pages]).toEqual(["abcde", [2, 2, 2]]);
  });

  it("more than one call brings: all of them; more than an answer has: up to there, and a token for the rest", async () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => listed(`c-${String(i).padStart(6, "0")}`));
    const { fake, names } = world(many(2_500));
    expect((await names()).length).toBe(2_500);
    expect(fake.records.pages).toEqual([1_000, 1_000, 1_000]);
    fake.records.listed = many(LISTED_CLUSTERS.most + 1);
    for (const query of ["", "?limit=0", `?limit=${String(LISTED_CLUSTERS.most + 5)}`]) {
      const { body } = await world(fake.records.listed).ask(query);
      expect([body.items.length, body.metadata.continue === undefined], query).toEqual([LISTED_CLUSTERS.most, false]);
    }
  });

  it("clusters that have not told what they are, and take long: the page ends, and the next one goes on", async () => {
    const clusters = Array.from({ length: 9 }, (_, i) => ({ name: `c${String(i)}`, stamp: "" }));
    const { fake, ask } = world([listed("a"), ...clusters, listed("z")]);
    vi.useFakeTimers({ toFake: ["Date"] });
    fake.records.looked = () => vi.setSystemTime(Date.now() + LISTED_CLUSTERS.looksMs + 1);
    const pages: string[][] = [];
    for (let token = ""; pages.length === 0 || token !== "";) {
      const { body } = await ask(token === "" ? "" : `?continue=${token}`);
      pages.push(body.items.map(({ metadata }) => metadata.name));
      token = body.metadata.continue ?? "";
    }
    vi.useRealTimers();
    expect(pages.flat()).toEqual(["a", ...clusters.map(({ name }) => name), "z"]);
    expect([pages.length > 2, fake.records.calls.length]).toEqual([true, clusters.length]);
  });

  it("clusters that have not told what they are: asked; who is not there is left out", async () => {
    const { fake, ask } = world([{ name: "gone", stamp: "1" }, { name: "old", stamp: "" }, { name: "other", stamp: "2" }, listed("told")]);
    fake.records.states.set("gone", { phase: "absent" });
    fake.records.states.set("old", { phase: "active", id: "old~4000000001", createdAt: AT, controllers: null });
    const { body } = await ask();
    expect(fake.records.calls.sort()).toEqual(["listed gone 1", "listed old ", "listed other 2"]);
    expect(body.items.map(({ metadata, location }) => [metadata.name, metadata.creationTimestamp, location])).toEqual([
      ["old", "2026-01-01T00:00:00Z", "weur"],
      ["other", "1970-01-01T00:00:00Z", null],
      ["told", "2026-01-01T00:00:00Z", null],
    ]);
  });

  it("a record that does not answer: its cluster is unknown, the others are there", async () => {
    const { fake, ask } = world([{ name: "dead", stamp: "1" }, listed("told")]);
    const { of } = fake.records;
    fake.records.of = (name) => ({ ...of.call(fake.records, name), listed: () => Promise.reject(new Error("Network connection lost.")) });
    const { code, body } = await ask();
    expect([code, body.items.map(({ metadata, status }) => `${metadata.name} ${status.phase}`)]).toEqual([
      200,
      ["dead Unknown", "told Active"],
    ]);
  });

  it("more of them than one request may ask: the page ends before, and the next one goes on", async () => {
    const count = LISTED_CLUSTERS.looks + 2;
    const { fake, ask } = world(Array.from({ length: count }, (_, i) => ({ name: `c-${String(i).padStart(4, "0")}`, stamp: "" })));
    const first = (await ask()).body;
    expect([first.items.length, fake.records.calls.length]).toEqual([LISTED_CLUSTERS.looks, LISTED_CLUSTERS.looks]);
    const second = (await ask(`?continue=${String(first.metadata.continue)}`)).body;
    expect([second.items.length, second.metadata.continue]).toEqual([2, undefined]);
  });

  it.each([
    [["a", "z"], "", "a,default,z"],
    [["a"], "", "a,default"],
    [["x", "y"], "", "default,x,y"],
    [[], "", "default"],
    [["a", "default", "z"], "", "a,default,z"],
    [["a", "z"], "?limit=1", "a|default|z"],
    [["x", "y"], "?limit=2", "default,x|y"],
    [["a", "b"], "?limit=2", "a,b|default"],
    [["a", "b", "c"], "?limit=1", "a|b|c|default"],
  ])("where default is taken as made, beside %j, %s: %s", async (names, query, want) => {
    const { ask } = world(
      names.map((name) => listed(name)),
      {},
    );
    const pages: string[] = [];
    for (let token: string | undefined = ""; token !== undefined;) {
      const { body } = await ask(`${query || "?"}${token === "" ? "" : `&continue=${token}`}`);
      pages.push(body.items.map(({ metadata }) => metadata.name).join());
      const implied = body.items.find(({ metadata }) => metadata.name === "default");
      expect(implied?.metadata.creationTimestamp).toBeUndefined();
      token = body.metadata.continue;
      expect(pages.length).toBeLessThan(9);
    }
    expect(pages.join("|")).toBe(want);
  });

  it("while the directory does not answer: 503 that may be repeated", async () => {
    const { code, body } = await world(null).ask();
    expect([code, body.message]).toEqual([503, DIRECTORY_SILENT]);
  });

  it.each([
    ["?limit=x", 400],
    ["?limit=-1", 200],
    ["?continue=x", 400],
    ["?continue=e30", 400],
    ["?labelSelector=a", 400],
    ["?fieldSelector=metadata.name%3Da", 400],
    ["?resourceVersionMatch=Exact", 422],
    ["?watch=1", 405],
    ["?watch=0", 200],
  ])("%s: %i", async (query, code) => {
    expect((await world([listed("a")]).ask(query)).code).toBe(code);
  });

  it.each([
    ["application/yaml", 200],
    ["application/vnd.kubernetes.protobuf,application/json", 200],
    ["application/vnd.kubernetes.protobuf", 406],
    ["application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", 406],
    ["text/html", 406],
  ])("Accept: %s: %i", async (accept, code) => {
    const { fake } = world([listed("a")]);
    const response = await send("http://h/clusters", { headers: { Accept: accept } }, fake.env);
    expect(response.status).toBe(code);
    if (accept === "application/yaml") expect(await response.text()).toMatch(/^kind: ClusterList\napiVersion: servicenet.dev\/v1alpha1\n/);
  });

  it("a list in which nothing is: an empty one", async () => {
    expect((await world([]).ask()).body).toMatchObject({ items: [], metadata: { resourceVersion: "" } });
  });
});

describe("GET /clusters of a credential of some clusters", () => {
  /** Its pages, by the names of their clusters. */
  async function pagesOf(clusters: ListedCluster[] | null, own: readonly string[], limit = "") {
    const { fake } = world(clusters);
    const pages: string[][] = [];
    for (let token = ""; pages.length === 0 || token !== "";) {
      const request = new Request(`http://h/clusters?${limit}${token === "" ? "" : `&continue=${token}`}`);
      const access = { caller: { clusters: own } };
      const config = { rootCertificates: "" };
      const response = await clustersResponse({ env: fake.env, config, request, url: urlOf(request), access } as unknown as PathRequest);
      const { items, metadata } = (await response.json()) as List;
      pages.push(items.map(({ metadata: { name }, status }) => (status.phase === "Active" ? name : `${name} ${status.phase}`)));
      token = metadata.continue ?? "";
    }
    return { pages, records: fake.records };
  }

  const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `c-${String(i).padStart(6, "0")}`);

  it("costs one call for a thousand names, and none of a record", async () => {
    const names = many(2_500);
    const { pages, records } = await pagesOf([...names.map((name) => listed(name)), listed("other")], names);
    expect(pages).toEqual([names]);
    expect([records.entriesAsked, records.pages, records.calls]).toEqual([[1_000, 1_000, 500], [], []]);
  });

  it("most of whose names nobody made: no further calls, however small the page", async () => {
    const names = many(3_000);
    const there = ["c-000007", "c-001500", "c-002999"];
    const { pages, records } = await pagesOf(
      there.map((name) => listed(name)),
      names,
      "limit=1",
    );
    expect(pages).toEqual(there.map((name) => [name]));
    expect(records.entriesAsked.length).toBeLessThanOrEqual(6);
  });

  it("clusters that have not told what they are: asked, few in a request, and the next one goes on", async () => {
    const names = many(LISTED_CLUSTERS.looks + 2);
    const { pages, records } = await pagesOf(
      names.map((name) => ({ name, stamp: "1" })),
      names,
    );
    expect(pages.map((page) => page.length)).toEqual([LISTED_CLUSTERS.looks, 2]);
    expect(records.calls.length).toBe(names.length);
  });

  it("while the list cannot tell: they are there as unknown; a name twice is there once", async () => {
    expect((await pagesOf(null, ["b", "a", "b"])).pages).toEqual([["a Unknown", "b Unknown"]]);
    expect((await pagesOf([listed("a")], [])).pages).toEqual([[]]);
  });
});
