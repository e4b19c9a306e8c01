/** The requests that CoreDNS 1.14.4 was recorded with, as docs/dns.md has them, with the least answer that it is content with. */
import { readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { Api, MERGE_PATCH, type WatchEvent } from "../../support/clients/api";
import { eventsOf } from "../../support/clients/watch-events";
import { clusterForTests } from "../../support/server/cluster-for-tests";
import { aSlice, anEndpoint } from "../../support/values/endpoint-objects";
import { PROTOBUF, readAnswer } from "../../support/values/protobuf-answers";
import { root } from "../../../scripts/running/root.mjs";

const page = readFileSync(join(root, "docs", "dns.md"), "utf8");
const blocks = [...page.matchAll(/```text\n((?:GET .*\n)+)```/g)].map(([, lines = ""]) => lines.trim().replaceAll("GET ", "").split("\n"));
const [beginnings = [], resumptions = [], lists = []] = blocks;
const accepts = [...page.matchAll(/^\| `(endpoint|kubeconfig)` +\| `([^`]+)` +\| `([^`]+)` +\|$/gm)].map(
  ([, configuration = "", accept = "", agent = ""]) => ({ configuration, accept, agent }),
);

const CORE = "/api/v1/namespaces/default";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const cluster = clusterForTests();
const api = new Api(() => cluster.url);

const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: "c", image: "example.com/c" }] } });
const setPhase = (name: string, phase: string, podIP: string) =>
  api.must("PATCH", `${CORE}/pods/${name}/status`, {
    body: { status: { phase, podIP, podIPs: [{ ip: podIP }] } },
    headers: { "Content-Type": MERGE_PATCH },
  });

beforeAll(async () => {
  const ports = [{ name: "sql", port: 5432 }];
  await api.must("POST", `${CORE}/services`, { body: { metadata: { name: "web" }, spec: { clusterIP: "10.96.0.80", ports } } });
  await api.must("POST", `${CORE}/services`, { body: { metadata: { name: "db" }, spec: { clusterIP: "None", ports } } });
  await api.must("POST", SLICES, { body: aSlice("db-a", "db", [anEndpoint("192.0.2.20", "ready", { hostname: "db-0" })]) });
  for (const [name, phase, ip] of [
    ["db-0", "Running", "192.0.2.20"],
    ["done", "Succeeded", "192.0.2.29"],
  ] as const) {
    await api.must("POST", `${CORE}/pods`, { body: pod(name) });
    await setPhase(name, phase, ip);
  }
});

type Headers = (typeof accepts)[number];

/** A request with the header lines of the record and no others. */
async function ask(path: string, { accept, agent }: Headers): Promise<{ response: Response; close: () => void }> {
  const headers = { "User-Agent": agent, Accept: accept, "Accept-Encoding": "gzip" };
  const sent = request(cluster.url + path, { headers });
  const answer = await new Promise<IncomingMessage>((resolve, reject) => sent.on("response", resolve).on("error", reject).end());
  const body = answer.headers["content-encoding"] === "gzip" ? answer.pipe(createGunzip()) : answer;
  const response = new Response(Readable.toWeb(body) as ReadableStream<Uint8Array>, {
    status: answer.statusCode ?? 0,
    headers: { "Content-Type": answer.headers["content-type"] ?? "" },
  });
  return { response, close: () => sent.destroy() };
}

interface Watched {
  next: () => Promise<WatchEvent>;
  close: () => void;
}

async function watch(path: string, headers: Headers): Promise<Watched> {
  const { response, close } = await ask(path, headers);
  expect([response.status, response.headers.get("Content-Type")]).toEqual([200, `${PROTOBUF};stream=watch`]);
  const events = eventsOf<WatchEvent>(response, "end");
  const next = async (): Promise<WatchEvent> => {
    const { done, value } = await events.next();
    if (done) throw new Error("the watch has ended");
    return value as WatchEvent;
  };
  return { next, close };
}

/** `TYPE name`, as a test reads an event. */
const told = ({ type, object }: WatchEvent): string => `${type} ${object.metadata?.name ?? ""}`;

/** What the server sends before the bookmark that ends the objects of the beginning, and the bookmark's revision. */
async function beginningOf({ next }: Watched): Promise<{ objects: WatchEvent[]; revision: string }> {
  const objects: WatchEvent[] = [];
  for (;;) {
    const event = await next();
    if (event.type !== "BOOKMARK") {
      objects.push(event);
      continue;
    }
    expect(event.object.metadata?.annotations).toMatchObject({ "k8s.io/initial-events-end": "true" });
    return { objects, revision: event.object.metadata?.resourceVersion ?? "" };
  }
}

let serial = 0;

interface Collection {
  /** what is there first, apart from what other tests make */
  present: string[];
  /** Makes something happen that a watch tells; the result is the event. */
  change(): Promise<string>;
}

const COLLECTIONS: Readonly<Record<string, Collection>> = {
  services: {
    present: ["db", "kubernetes", "web"],
    change: async () => {
      const name = `added-${String(++serial)}`;
      await api.must("POST", `${CORE}/services`, { body: { metadata: { name }, spec: { ports: [{ port: 80 }] } } });
      return `ADDED ${name}`;
    },
  },
  endpointslices: {
    present: ["db-a"],
    change: async () => {
      const body = aSlice("db-a", "db", [anEndpoint(`192.0.2.${String(30 + ++serial)}`)]);
      await api.must("PUT", `${SLICES}/db-a`, { body });
      return "MODIFIED db-a";
    },
  },
  namespaces: {
    present: ["default", "kube-system"],
    change: async () => {
      const name = `added-${String(++serial)}`;
      await api.must("POST", "/api/v1/namespaces", { body: { metadata: { name } } });
      return `ADDED ${name}`;
    },
  },
  pods: {
    present: ["db-0"],
    // A Pod that ends is out of the selector: for CoreDNS it is deleted.
    change: async () => {
      const name = `ends-${String(++serial)}`;
      await api.must("POST", `${CORE}/pods`, { body: pod(name) });
      await setPhase(name, "Succeeded", "192.0.2.28");
      return `DELETED ${name}`;
    },
  },
};

/** The collection of a path. */
function collectionOf(path: string): Collection {
  const found = COLLECTIONS[/\/(\w+)\?/.exec(path)?.[1] ?? ""];
  if (!found) throw new Error(`no collection for ${path}`);
  return found;
}

/** The event comes, whatever other tests make happen before it. */
async function expectTold({ next }: Watched, event: string): Promise<void> {
  for (let now = ""; now !== event;) now = told(await next());
}

it("page: has each collection in each form, for both configurations", () => {
  const resources = (paths: string[]): (string | undefined)[] => paths.map((path) => /\/(\w+)\?/.exec(path)?.[1]).sort();
  for (const block of [beginnings, resumptions, lists]) expect(resources(block)).toEqual(Object.keys(COLLECTIONS).sort());
  expect([blocks.length, accepts.map(({ configuration }) => configuration)]).toEqual([3, ["endpoint", "kubeconfig"]]);
});

describe.each(accepts)("CoreDNS with $configuration", (headers) => {
  it.each(beginnings)("%s: what is there, the bookmark, then a change", async (path) => {
    const { present, change } = collectionOf(path);
    const watched = await watch(path, headers);
    const { objects } = await beginningOf(watched);
    expect(new Set(objects.map(({ type }) => type))).toEqual(new Set(["ADDED"]));
    const names = objects.map(({ object }) => object.metadata?.name ?? "");
    expect(names).toEqual(expect.arrayContaining(present));
    expect(names).not.toContain("done");
    await expectTold(watched, await change());
    watched.close();
  });

  it.each(resumptions)("%s: what happened since that revision and nothing older", async (path) => {
    const beginning = beginnings.find((other) => other.split("?")[0] === path.split("?")[0]) ?? "";
    const { present, change } = collectionOf(path);
    const first = await watch(beginning, headers);
    const { revision } = await beginningOf(first);
    first.close();
    const expected = [await change(), await change()];
    const watched = await watch(path.replace(/(?<=\bresourceVersion=)\d+/, revision), headers);
    // A Pod is there before it ends.
    const wanted = expected.flatMap((event) => (event.startsWith("DELETED") ? [event.replace("DELETED", "ADDED"), event] : [event]));
    // The server's own controllers may write other objects meanwhile.
    const names = new Set([...present, ...wanted.map((event) => event.split(" ")[1] ?? "")]);
    const seen: string[] = [];
    while (seen.length < wanted.length) {
      const event = await watched.next();
      if (names.has(event.object.metadata?.name ?? "")) seen.push(told(event));
    }
    expect(seen).toEqual(wanted);
    watched.close();
  });

  it.each(lists)("%s: all of them, in protobuf", async (path) => {
    const { present } = collectionOf(path);
    const { response } = await ask(path, headers);
    expect([response.status, response.headers.get("Content-Type")]).toEqual([200, PROTOBUF]);
    const list = (await readAnswer(response)) as { metadata: { resourceVersion: string }; items: WatchEvent["object"][] };
    expect(list.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
    const names = list.items.map(({ metadata }) => metadata?.name ?? "");
    expect(names).toEqual(expect.arrayContaining(present));
    expect(names).not.toContain("done");
  });
});

it("objects: have what CoreDNS makes names of", async () => {
  const [headers] = accepts;
  if (!headers) throw new Error("the page has no header lines");
  const of = async (resource: string): Promise<WatchEvent["object"][]> => {
    const path = lists.find((one) => one.includes(`/${resource}?`)) ?? "";
    // At resourceVersion 0 a list may come from a copy, which is up to a minute old.
    const { response } = await ask(path.replace("resourceVersion=0", "resourceVersion="), headers);
    return ((await readAnswer(response)) as { items: WatchEvent["object"][] }).items;
  };
  const named = async (resource: string, name: string) => (await of(resource)).find(({ metadata }) => metadata?.name === name);
  const ports = [{ name: "sql", port: 5432, protocol: "TCP" }];
  expect(await named("services", "web")).toMatchObject({
    spec: { type: "ClusterIP", clusterIP: "10.96.0.80", clusterIPs: ["10.96.0.80"], ports },
  });
  expect(await named("services", "db")).toMatchObject({ spec: { clusterIP: "None", clusterIPs: ["None"], ports } });
  await api.must("PUT", `${SLICES}/db-a`, { body: aSlice("db-a", "db", [anEndpoint("192.0.2.20", "notReady", { hostname: "db-0" })]) });
  expect(await named("endpointslices", "db-a")).toMatchObject({
    metadata: { labels: { "kubernetes.io/service-name": "db" } },
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    endpoints: [{ addresses: ["192.0.2.20"], hostname: "db-0", conditions: { ready: false } }],
  });
  expect(await named("pods", "db-0")).toMatchObject({ status: { phase: "Running", podIP: "192.0.2.20" } });
});
