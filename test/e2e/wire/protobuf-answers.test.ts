/** Protobuf answers over HTTP: each verb, pages, lists out of a copy, gzip, watches and refusals. */
import { gunzipSync } from "node:zlib";
import { get } from "node:http";
import { describe, expect, it } from "vitest";
import { WATCH_BOOKMARK_INTERVAL_MS } from "../../../src/api/store/state/limits";
import { eventsOf } from "../../support/clients/watch-events";
import { PROTOBUF, readAnswer, readProtobuf } from "../../support/values/protobuf-answers";
import { clusterForTests } from "../../support/server/cluster-for-tests";

const TYPED = `${PROTOBUF},application/json`;
const METADATA = `${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1`;
const METADATA_LIST = METADATA.replaceAll("as=PartialObjectMetadata", "as=PartialObjectMetadataList");
const TABLE = `${PROTOBUF};as=Table;g=meta.k8s.io;v=v1`;
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const cluster = clusterForTests();

interface Item {
  kind?: string;
  apiVersion?: string;
  metadata: { name: string; resourceVersion: string; uid: string; continue?: string; remainingItemCount?: number };
  spec?: unknown;
  items?: Item[];
}

interface Event {
  type: string;
  object: Item;
}

interface Answer {
  code: number;
  type: string | null;
  headers: Headers;
  body: unknown;
}

/** `path` may name another cluster. */
const urlOf = (path: string) => (path.startsWith("/clusters/") ? cluster.origin : cluster.url) + path;

async function ask(path: string, init: RequestInit & { accept?: string } = {}): Promise<Answer> {
  const { accept = TYPED, ...rest } = init;
  const response = await fetch(urlOf(path), { ...rest, headers: { Accept: accept, ...rest.headers } });
  const { status: code, headers } = response;
  return { code, type: headers.get("Content-Type"), headers, body: await readAnswer(response) };
}

const asked = async (path: string, init?: RequestInit & { accept?: string }) => (await ask(path, init)).body as Item;

/** A body as JSON, so that only the answer is protobuf. */
const json = (method: string, body: unknown, type = "application/json") => ({
  method,
  headers: { "Content-Type": type },
  body: JSON.stringify(body),
});

const aLease = (name: string) => ({
  metadata: { name, labels: { of: "protobuf" } },
  spec: { holderIdentity: name, leaseDurationSeconds: 15 },
});

describe("single objects", () => {
  it("each verb: answers in protobuf what it answers in JSON", async () => {
    const path = `${LEASES}/verbs`;
    const same = async (answer: Promise<Answer>, code: number) => {
      const { type, body, code: got } = await answer;
      expect([got, type]).toEqual([code, PROTOBUF]);
      expect(body).toEqual(await asked(path, { accept: "application/json" }));
    };
    await same(ask(LEASES, json("POST", aLease("verbs"))), 201);
    await same(ask(path), 200);
    const { metadata } = await asked(path);
    await same(ask(path, json("PUT", { metadata, spec: { holderIdentity: "other" } })), 200);
    await same(ask(path, json("PATCH", { metadata: { labels: { a: "b" } } }, "application/merge-patch+json")), 200);
    const apply = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", spec: { leaseDurationSeconds: 20 } };
    await same(ask(`${path}?fieldManager=me&force=true`, json("PATCH", apply, "application/apply-patch+yaml")), 200);
    const { code, type, body } = await ask(path, { method: "DELETE" });
    expect([code, type]).toEqual([200, PROTOBUF]);
    expect(body).toMatchObject({ kind: "Status", apiVersion: "v1", status: "Success", details: { name: "verbs", uid: metadata.uid } });
  });

  it("warnings: stand in headers as with JSON", async () => {
    const { headers, type } = await ask(`${LEASES}?dryRun=All&fieldValidation=Warn`, json("POST", { ...aLease("warned"), unknown: 1 }));
    expect([type, headers.get("Warning")]).toEqual([PROTOBUF, '299 - "unknown field \\"unknown\\""']);
  });

  it("metadata alone: a PartialObjectMetadata", async () => {
    await ask(LEASES, json("POST", aLease("partial")));
    const { type, body } = await ask(`${LEASES}/partial`, { accept: METADATA });
    expect(type).toBe(PROTOBUF);
    expect(body).toMatchObject({ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "partial" } });
    expect(body).not.toHaveProperty("spec");
  });

  it("a review: answers itself", async () => {
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const spec = { resourceAttributes: { verb: "get", resource: "pods" } };
    const { code, type, body } = await ask(path, json("POST", { spec }));
    expect([code, type]).toEqual([201, PROTOBUF]);
    expect(body).toMatchObject({ kind: "SelfSubjectAccessReview", spec, status: { allowed: true } });
  });

  it("quality values: decide between protobuf, YAML and JSON", async () => {
    const typeOf = async (accept: string) =>
      (await fetch(`${cluster.url}${LEASES}`, { headers: { Accept: accept } })).headers.get("Content-Type");
    expect(await typeOf(`${PROTOBUF};q=0.1,application/yaml;q=0.2`)).toBe("application/yaml");
    expect(await typeOf(`application/json;q=0.5,${PROTOBUF}`)).toBe(PROTOBUF);
    expect(await typeOf(`application/json,${PROTOBUF}`)).toBe("application/json");
  });
});

describe("refusals", () => {
  it.each<[string, string, RequestInit, number]>([
    ["a missing object", `${LEASES}/none`, {}, 404],
    ["an invalid object", LEASES, json("POST", { metadata: { name: "Not A Name" } }), 422],
    ["an unknown resource", "/apis/coordination.k8s.io/v1/nothing", {}, 404],
    ["a list with a selector that cannot be read", `${LEASES}?labelSelector=a%20b`, {}, 400],
    ["a watch with a selector that cannot be read", `${LEASES}?watch=true&labelSelector=a%20b`, {}, 400],
    ["a cluster that does not exist", `/clusters/absent${LEASES}`, {}, 404],
    ["a review without its question", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", json("POST", { spec: {} }), 422],
  ])("%s: a Status in protobuf, equal to that in JSON", async (_, path, init, code) => {
    const [protobuf, text] = [await ask(path, init), await ask(path, { ...init, accept: "application/json" })];
    expect([protobuf.code, protobuf.type, text.code]).toEqual([code, PROTOBUF, code]);
    expect(protobuf.body).toEqual(text.body);
  });

  it("a client that asks for metadata alone: its Status is JSON, because a Status has no such form", async () => {
    const { code, type } = await ask(`${LEASES}/none`, { accept: `${METADATA},application/json` });
    expect([code, type]).toEqual([404, "application/json"]);
  });

  it.each([
    ["a Table", LEASES, TABLE],
    ["discovery", "/api/v1", PROTOBUF],
  ])("%s in protobuf alone: 406", async (_, path, accept) => {
    expect(await ask(path, { accept })).toMatchObject({ code: 406, body: { kind: "Status", reason: "NotAcceptable" } });
  });

  it("discovery: JSON where the client takes it, too", async () => {
    expect(await ask("/api/v1")).toMatchObject({ code: 200, type: "application/json", body: { kind: "APIResourceList" } });
  });
});

describe("lists", () => {
  const created = 300;
  /** with default/kubernetes */
  const count = created + 1;
  const SERVICES = "/clusters/lists/api/v1/namespaces/default/services";
  const names = ({ items = [] }: Item) => items.map(({ metadata }) => metadata.name);
  const untyped = ({ items = [], ...list }: Item) => ({
    ...list,
    items: items.map(({ metadata, spec, ...rest }) => ({ metadata, ...(spec === undefined ? {} : { spec }), ...withoutType(rest) })),
  });
  const withoutType = ({ kind: _kind, apiVersion: _version, ...rest }: Partial<Item>) => rest;

  it("whole, in pages, as metadata, by selector and out of the published copy: the objects of the JSON list", async () => {
    const padding = "x".repeat(4_000);
    const create = (n: number) =>
      ask(SERVICES, json("POST", { metadata: { name: `s-${String(n)}`, annotations: { padding } }, spec: { ports: [{ port: 80 }] } }));
    for (let n = 0; n < created; n += 20) await Promise.all(Array.from({ length: 20 }, (_, i) => create(n + i)));

    const whole = await asked(SERVICES, { accept: "application/json" });
    expect(whole.items).toHaveLength(count);
    const { type, body } = await ask(SERVICES);
    expect(type).toBe(PROTOBUF);
    expect(body).toEqual(whole);
    expect(await asked(`${SERVICES}?labelSelector=a%3Db`)).toMatchObject({ kind: "ServiceList", items: [] });

    const metadata = untyped(await asked(SERVICES, { accept: METADATA_LIST }));
    expect(metadata).toEqual(untyped(await asked(SERVICES, { accept: METADATA_LIST.replaceAll(PROTOBUF, "application/json") })));

    const paged: string[] = [];
    for (let token = "", more = true; more;) {
      const page = await asked(`${SERVICES}?limit=70&continue=${encodeURIComponent(token)}`);
      expect(page.metadata.resourceVersion).toBe(whole.metadata.resourceVersion);
      paged.push(...names(page));
      token = page.metadata.continue ?? "";
      more = token !== "";
      expect(page.metadata.remainingItemCount).toBe(more ? count - paged.length : undefined);
    }
    expect(paged).toEqual(names(whole));

    const copied = async () => (await ask(`${SERVICES}?resourceVersion=0`)).headers.get("Servicenet-Source")?.split(";")[0];
    await expect.poll(copied, { timeout: 20_000 }).toBe("edge");
    expect(names(await asked(`${SERVICES}?resourceVersion=0`))).toEqual(names(whole));
  });

  it("a large list: compressed for a client that takes gzip", async () => {
    const { encoding, body } = await new Promise<{ encoding: unknown; body: Buffer }>((resolve, reject) => {
      get(urlOf(SERVICES), { headers: { Accept: PROTOBUF, "Accept-Encoding": "gzip" } }, (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("end", () => resolve({ encoding: response.headers["content-encoding"], body: Buffer.concat(pieces) }));
      }).on("error", reject);
    });
    expect(encoding).toBe("gzip");
    expect(readProtobuf(gunzipSync(body))["items"]).toHaveLength(count);
  });

  it("deletecollection: answers the list of what it deleted", async () => {
    const { code, type, body } = await ask(`${SERVICES}?fieldSelector=metadata.name%3Ds-1`, { method: "DELETE" });
    expect([code, type]).toEqual([200, PROTOBUF]);
    expect(names(body as Item)).toEqual(["s-1"]);
  });
});

/** A watch whose events are read as they come. */
async function watching(
  query: string,
  accept = TYPED,
): Promise<{ type: string | null; events: Event[]; ended: Promise<void>; stop(): void }> {
  const stopped = new AbortController();
  const response = await fetch(`${cluster.url}${LEASES}?watch=true&${query}`, { headers: { Accept: accept }, signal: stopped.signal });
  const events: Event[] = [];
  const read = async () => {
    for await (const event of eventsOf<Event>(response, "end")) events.push(event);
  };
  return { type: response.headers.get("Content-Type"), events, ended: read(), stop: () => stopped.abort() };
}

describe("watches", () => {
  const eventually = <T>(read: () => T) => expect.poll(read);
  const brief = (events: Event[]) => events.map(({ type, object }) => `${type} ${object.metadata.name}`);

  it("initial events, their bookmark, changes: frames under the stream's Content-Type", async () => {
    await ask(LEASES, { method: "DELETE" });
    await ask(LEASES, json("POST", aLease("w-1")));
    const query = "allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    const [whole, metadata] = [await watching(query), await watching(query, METADATA)];
    await ask(LEASES, json("POST", aLease("w-2")));
    await ask(`${LEASES}/w-1`, { method: "DELETE" });
    for (const watch of [whole, metadata]) {
      expect(watch.type).toBe(`${PROTOBUF};stream=watch`);
      await eventually(() => brief(watch.events)).toEqual(["ADDED w-1", "BOOKMARK undefined", "ADDED w-2", "DELETED w-1"]);
      watch.stop();
    }
    expect(whole.events[2]?.object).toEqual(await asked(`${LEASES}/w-2`, { accept: "application/json" }));
    expect(metadata.events[2]?.object).toMatchObject({ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" });
  });

  it("without bookmarks: nothing is sent between events, and the watch ends by its timeout", async () => {
    const { metadata } = await asked(LEASES);
    const seconds = 3;
    expect(WATCH_BOOKMARK_INTERVAL_MS).toBeGreaterThan(seconds * 1000);
    const watch = await watching(`resourceVersion=${metadata.resourceVersion}&timeoutSeconds=${String(seconds)}`);
    await watch.ended;
    expect(watch.events).toEqual([]);
  });
});
