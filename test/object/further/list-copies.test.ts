/** Lists at resourceVersion 0 through the whole Worker, with real stores and a real KV. */
import { createExecutionContext, env } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { clusterRecord } from "../../../durable-objects/peers/peers";
import { systemDigest } from "../../../durable-objects/platform/ports";
import {
  EDGE_READ_TIMEOUT_MS,
  LIST_COPY_AGE_MAX_MS,
  LIST_COPY_LIFETIME_SECONDS,
  PUBLISH_INTERVAL_MS,
} from "../../../src/api/store/state/limits";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { listCopyKey, openListCopy } from "../../../src/api/store/list/list-copy";
import { SOURCE_HEADER } from "../../../src/api/store/list/list-source";
import { app } from "../../../src/worker/app";
import { firstEvents } from "../../support/clients/watch-events";
import { collect, createIn, deleteFrom, freshCluster, mergePatch, storeStubOf } from "../../support/objects/store-stubs";
import { aLease as lease } from "../../support/worlds/store-world";
import { PATIENCE } from "../../support/objects/patience";
import { neverTimeOut } from "../../support/objects/quick-timers";

const bindings = env as unknown as Env;
const LEASES = "leases.coordination.k8s.io";
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";
const aLease = (name: string, labels: Record<string, string> = {}) => lease(name, {}, { namespace: "default", labels });

interface Listed {
  metadata: { resourceVersion: string; continue?: string };
  items: KubeObject[];
}

/** The cluster of one test, and its clock: Workers, stores and the test share one. */
class Cluster {
  readonly name = freshCluster();
  #made: Promise<unknown> | undefined;
  readonly leases = storeStubOf(this.name, LEASES);
  readonly key = listCopyKey(`${this.name}/${LEASES}`);

  async ask(query: string, accept = "application/json"): Promise<Response> {
    await (this.#made ??= clusterRecord(bindings, this.name).open());
    const url = `http://h/clusters/${this.name}/apis/coordination.k8s.io/v1/leases${query}`;
    return app.request(url, { headers: { Accept: accept } }, bindings, createExecutionContext());
  }

  async list(query = "?resourceVersion=0&limit=500"): Promise<Listed & { source: string; names: string[] }> {
    const response = await this.ask(query);
    const listed = (await response.json()) as Listed;
    return { ...listed, source: sourceOf(response), names: listed.items.map(({ metadata }) => metadata?.name ?? "") };
  }

  /** The copy's revision, once there is one that is another than `former`. */
  published(former?: number): Promise<number> {
    const read = async (): Promise<number | undefined> => {
      const bytes = await bindings.DIRECTORY.get(this.key, "arrayBuffer");
      const copy = bytes && (await openListCopy(new Uint8Array(bytes), `${this.name}/${LEASES}`, systemDigest));
      return copy?.revision === former ? undefined : copy?.revision;
    };
    return vi.waitUntil(read, PATIENCE) as Promise<number>;
  }

  /** A store that was listed once and has published what it holds. */
  static async published(names: readonly string[] = ["a", "b"]): Promise<Cluster> {
    const cluster = new Cluster();
    for (const name of names) await createIn(cluster.leases, aLease(name, { app: name }));
    expect((await cluster.list()).source).toBe("owner");
    await cluster.published();
    return cluster;
  }
}

function sourceOf(response: Response): string {
  const header = response.headers.get(SOURCE_HEADER) ?? "none";
  expect(header).toMatch(/^(owner;incarnation="[^"]+";floor=\d+|edge;age=\d+|none)$/);
  return header.split(";")[0] ?? "";
}

/** Moves the clock on, for the Worker and the stores alike. */
function pass(durationMs: number): void {
  vi.setSystemTime(Date.now() + durationMs);
}

// A slower read of a copy would send the list to the store.
beforeEach(() => neverTimeOut(EDGE_READ_TIMEOUT_MS));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a list at resourceVersion 0", () => {
  it("the first one: comes from the store, which publishes a copy; later ones: from the copy, under its resourceVersion", async () => {
    const cluster = await Cluster.published();
    expect(await cluster.list()).toMatchObject({ source: "edge", names: ["a", "b"], metadata: { resourceVersion: "3" } });
    await createIn(cluster.leases, aLease("c"));
    expect(await cluster.list()).toMatchObject({ source: "edge", names: ["a", "b"], metadata: { resourceVersion: "3" } });
    expect(await cluster.list("")).toMatchObject({ source: "owner", names: ["a", "b", "c"], metadata: { resourceVersion: "4" } });
  });

  it("a list out of a copy: tells the copy's age", async () => {
    vi.setSystemTime(Date.now());
    const cluster = await Cluster.published();
    pass(12_345);
    expect((await cluster.ask("?resourceVersion=0")).headers.get(SOURCE_HEADER)).toBe("edge;age=12");
  });

  it("a copy older than 60 s: the list comes from the store", async () => {
    const cluster = await Cluster.published();
    await createIn(cluster.leases, aLease("c"));
    pass(LIST_COPY_AGE_MAX_MS + 1);
    // The first one makes the Worker hear of the store again; the copy stays too old.
    for (let i = 0; i < 2; i++) {
      expect(await cluster.list("?resourceVersion=0&fieldSelector=metadata.namespace=default")).toMatchObject({
        source: "owner",
        names: ["a", "b", "c"],
      });
      if (i === 0) await bindings.DIRECTORY.delete(cluster.key);
    }
  });

  it.each([
    ["everything", ""],
    ["a limit", "&limit=1"],
    ["labels", "&labelSelector=app%3Da"],
    ["fields", "&fieldSelector=metadata.namespace%3Ddefault"],
    ["NotOlderThan", "&resourceVersionMatch=NotOlderThan"],
  ])("%s: byte for byte the answer of the store, in every representation", async (_, query) => {
    const cluster = await Cluster.published();
    vi.setSystemTime(Date.now());
    for (const accept of ["application/json", TABLE, PARTIAL, "application/yaml"]) {
      const [edge, owner] = await Promise.all([
        cluster.ask(`?resourceVersion=0${query}`, accept),
        // With a name the store has to be asked.
        cluster.ask(`?resourceVersion=0${query}${query.includes("field") ? "," : "&fieldSelector="}metadata.name!=x`, accept),
      ]);
      expect([sourceOf(edge), sourceOf(owner)]).toEqual(["edge", "owner"]);
      expect(await edge.text()).toBe(await owner.text());
      expect(edge.headers.get("Content-Type")).toBe(owner.headers.get("Content-Type"));
    }
  });

  it.each([
    ["the newest", ""],
    ["a version", "?resourceVersion=3"],
    ["a name", "?resourceVersion=0&fieldSelector=metadata.name%3Da"],
    ["a page", "?limit=1"],
    ["what cannot be read", "?resourceVersion=0&labelSelector=a%3D%3Db%3D%3Dc"],
  ])("%s: answered by the store", async (_, query) => {
    const cluster = await Cluster.published();
    expect(["owner", "none"]).toContain(sourceOf(await cluster.ask(query)));
  });

  it("the first list in a Worker, or after a minute: comes from the store", async () => {
    const cluster = await Cluster.published();
    expect((await cluster.list()).source).toBe("edge");
    pass(LIST_COPY_AGE_MAX_MS + 1);
    const copies = vi.spyOn(bindings.DIRECTORY, "get");
    expect((await cluster.list()).source).toBe("owner");
    expect(copies.mock.calls.filter(([key]) => (key as unknown) === cluster.key)).toEqual([]);
  });
});

describe("a watch that follows a list out of a copy", () => {
  it("a watch after a list out of a copy: brings every later change", async () => {
    const cluster = await Cluster.published();
    await createIn(cluster.leases, aLease("c"));
    await deleteFrom(cluster.leases, "default", "a");
    const { metadata, source } = await cluster.list();
    expect(source).toBe("edge");
    const watch = await cluster.ask(`?watch=true&resourceVersion=${metadata.resourceVersion}`);
    expect(sourceOf(watch)).toBe("owner");
    const events = await firstEvents<{ type: string; object: KubeObject }>(watch, 2);
    expect(events.map(({ type, object }) => [type, object.metadata?.name])).toEqual([
      ["ADDED", "c"],
      ["DELETED", "a"],
    ]);
  });

  it("a watch after a list out of a copy: brings news of the store, so that later lists may use a newer copy", async () => {
    const cluster = await Cluster.published();
    await createIn(cluster.leases, aLease("c"));
    pass(PUBLISH_INTERVAL_MS + 1);
    expect((await cluster.list()).source).toBe("owner");
    expect(await cluster.published(3)).toBe(4);
    pass(LIST_COPY_AGE_MAX_MS - 10_000);
    await (await cluster.ask("?watch=true&resourceVersion=4")).body?.cancel();
    expect(await cluster.list()).toMatchObject({ source: "edge", names: ["a", "b", "c"] });
  });
});

describe("publishing", () => {
  /** Every put of the cluster's copy, in order. The KV behind them fails when it is told to. */
  function putsOf(cluster: Cluster, fails = false): string[] {
    const puts: string[] = [];
    const { DIRECTORY } = bindings;
    const put = DIRECTORY.put.bind(DIRECTORY);
    vi.spyOn(DIRECTORY, "put").mockImplementation((key, value, options) => {
      if (key !== cluster.key) return put(key, value, options);
      puts.push(JSON.stringify(options));
      return fails ? Promise.reject(new Error("KV is down")) : put(key, value, options);
    });
    return puts;
  }

  /** Straight to the store, whatever the Worker would take from the copy. */
  async function demand(cluster: Cluster): Promise<void> {
    await (await collect(cluster.leases, "coordination.k8s.io", "leases", { resourceVersion: "0" })).text();
  }

  it("a store: publishes after a list at version 0 and a change, once a minute at most", async () => {
    const cluster = new Cluster();
    const puts = putsOf(cluster);
    const wanted = `{"expirationTtl":${LIST_COPY_LIFETIME_SECONDS}}`;
    await createIn(cluster.leases, aLease("a"));
    await cluster.list("");
    await cluster.list("?resourceVersion=0&fieldSelector=metadata.name%3Da");
    pass(PUBLISH_INTERVAL_MS);
    expect(puts).toEqual([]);
    await demand(cluster);
    await vi.waitFor(() => expect(puts).toEqual([wanted]), PATIENCE);
    await createIn(cluster.leases, aLease("b"));
    for (let i = 0; i < 3; i++) await demand(cluster);
    pass(PUBLISH_INTERVAL_MS);
    await demand(cluster);
    await vi.waitFor(() => expect(puts).toEqual([wanted, wanted]), PATIENCE);
    for (let i = 0; i < 3; i++) {
      pass(PUBLISH_INTERVAL_MS);
      await demand(cluster);
    }
    await createIn(cluster.leases, aLease("c"));
    await demand(cluster);
    await vi.waitFor(() => expect(puts).toEqual([wanted, wanted, wanted]), PATIENCE);
  });

  it("a KV that fails: reads and writes neither fail nor wait", async () => {
    const cluster = new Cluster();
    const puts = putsOf(cluster, true);
    await createIn(cluster.leases, aLease("a"));
    for (let i = 0; i < 3; i++) {
      expect(await cluster.list()).toMatchObject({ source: "owner" });
      await vi.waitFor(() => expect(puts).toHaveLength(i + 1), PATIENCE);
      expect(await cluster.leases.write(mergePatch("default", "a", { spec: { holderIdentity: `${i}` } }))).toMatchObject({ ok: true });
      pass(PUBLISH_INTERVAL_MS);
    }
  });
});

describe("a KV that fails, lies or is gone", () => {
  it.each<[string, (key: string) => Promise<void>]>([
    ["is empty", (key) => bindings.DIRECTORY.delete(key)],
    ["holds something else", (key) => bindings.DIRECTORY.put(key, "{}")],
    [
      "holds half of it",
      async (key) => bindings.DIRECTORY.put(key, (await bindings.DIRECTORY.get(key, "arrayBuffer"))?.slice(0, 200) ?? ""),
    ],
    [
      "holds another cluster's",
      async (key) => bindings.DIRECTORY.put(key, (await bindings.DIRECTORY.get((await Cluster.published(["x"])).key)) ?? ""),
    ],
    [
      "throws",
      () => {
        const get = bindings.DIRECTORY.get.bind(bindings.DIRECTORY) as unknown as (...args: unknown[]) => Promise<unknown>;
        vi.spyOn(bindings.DIRECTORY, "get").mockImplementation(((key: string, ...rest: unknown[]) =>
          key.startsWith("list/") ? Promise.reject(new Error("KV is down")) : get(key, ...rest)) as never);
        return Promise.resolve();
      },
    ],
  ])("a KV that %s: the store answers", async (_, spoil) => {
    const cluster = await Cluster.published();
    await spoil(cluster.key);
    expect(await cluster.list()).toMatchObject({ source: "owner", names: ["a", "b"] });
  });
});
