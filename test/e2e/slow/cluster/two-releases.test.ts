/**
 * The last release (test/fixtures/releases) and the sources, against each other: in one deployment, where Workers and objects of both call those of the
 * other, and one after the other on the same data. `npm run keep-release` renews the older one.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Body } from "../../../support/clients/api";
import { eventsOf } from "../../../support/clients/watch-events";
import { LONG_PATIENCE, PATIENCE } from "../../../support/server/patience";
import { removeFolder, temporaryFolder } from "../../../support/server/server";
import { type Asked, type PlacedWorker, type Release, TwoReleases } from "../../../support/server/two-releases";

const NETWORKING = "/apis/networking.k8s.io/v1";
const SERVICES = "/api/v1/namespaces/default/services";
const JANE = { "Impersonate-User": "jane" };
const HAND_OFF = { timeout: 240_000 };
const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

/** Of one cluster, by two Workers in turn. */
class Seen {
  constructor(
    readonly releases: TwoReleases,
    readonly cluster: string,
  ) {}

  ask(worker: string, method: string, path: string, more: Asked = {}) {
    return this.releases.ask(worker, method, `/clusters/${this.cluster}${path}`, more);
  }

  async must(worker: string, method: string, path: string, body?: object): Promise<Body> {
    const { code, text, body: answer } = await this.ask(worker, method, path, body ? { body } : {});
    if (code >= 300) throw new Error(`${method} ${path}: ${String(code)} ${text}`);
    return answer;
  }

  create(worker: string, name: string, spec: object = {}): Promise<Body> {
    return this.must(worker, "POST", SERVICES, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
  }

  async items(worker: string, path: string): Promise<Body[]> {
    return (await this.must(worker, "GET", path)).items ?? [];
  }

  /** name -> address of each Service */
  async addresses(worker: string): Promise<Record<string, string>> {
    const services = await this.items(worker, "/api/v1/services");
    return Object.fromEntries(services.map(({ metadata, spec }) => [metadata?.name, String(spec?.["clusterIP"])]));
  }

  /** `address name` of each ClusterIP that has no IPAddress of its Service, and of each IPAddress without such a Service */
  async unpaired(worker: string): Promise<string[]> {
    const held = Object.entries(await this.addresses(worker)).map(([name, address]) => `${address} ${name}`);
    const objects = await this.items(worker, `${NETWORKING}/ipaddresses`);
    const named = objects.map(({ metadata, spec }) => `${String(metadata?.name)} ${(spec?.["parentRef"] as { name: string }).name}`);
    return [...held.filter((pair) => !named.includes(pair)), ...named.filter((pair) => !held.includes(pair))];
  }

  async isReady(worker: string, range: string): Promise<boolean> {
    const { status } = await this.must(worker, "GET", `${NETWORKING}/servicecidrs/${range}`);
    const conditions = (status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions ?? [];
    return conditions.some((condition) => condition.type === "Ready" && condition.status === "True");
  }

  async makeRange(worker: string, name: string, cidr: string): Promise<void> {
    await this.must(worker, "POST", `${NETWORKING}/servicecidrs`, { metadata: { name }, spec: { cidrs: [cidr] } });
    await expect.poll(() => this.isReady(worker, name), LONG_PATIENCE).toBe(true);
  }

  /** Makes two ranges with Services in the smaller one, and deletes that: its addresses go over to the owner of the larger one. */
  async handOver(first: string, second: string): Promise<void> {
    await this.makeRange(first, "small", "10.112.0.0/24");
    const names = Array.from({ length: 8 }, (_, i) => `small-${String(i)}`);
    await Promise.all(names.map((name, i) => this.create(i % 2 ? first : second, name, { clusterIP: `10.112.0.${String(i + 20)}` })));
    await this.makeRange(second, "large", "10.112.0.0/16");
    await this.must(first, "DELETE", `${NETWORKING}/servicecidrs/small`);
    await expect
      .poll(async () => (await this.ask(second, "GET", `${NETWORKING}/servicecidrs/small`)).code, { ...HAND_OFF, interval: 500 })
      .toBe(404);
    // The new owner has each row: it gives none of the addresses to anybody else, and takes back what is freed.
    const taken = await this.ask(second, "POST", SERVICES, {
      body: { metadata: { name: "late" }, spec: { ports: [{ port: 80 }], clusterIP: "10.112.0.21" } },
    });
    expect(taken.code).toBe(422);
    await this.must(first, "DELETE", `${SERVICES}/small-1`);
    await expect
      .poll(
        async () =>
          (
            await this.ask(second, "POST", SERVICES, {
              body: { metadata: { name: "small-1" }, spec: { ports: [{ port: 80 }], clusterIP: "10.112.0.21" } },
            })
          ).code,
        PATIENCE,
      )
      .toBe(201);
  }
}

/** Who has which objects: these bindings the one release, all others the other. */
const ADDRESSING = ["SERVICE_CIDR", "COORDINATOR", "IP_ADDRESSES_STORE", "CONTROLLER"];
const DEPLOYMENTS: readonly { objects: string; addressing: Release; others: Release }[] = [
  { objects: "ranges and controllers of the older release, stores of the newer", addressing: "older", others: "newer" },
  { objects: "ranges and controllers of the newer release, stores of the older", addressing: "newer", others: "older" },
];

describe.each(DEPLOYMENTS)("a deployment with $objects", ({ addressing, others }) => {
  const releases = new TwoReleases(join(folder, addressing));
  const seen = new Seen(releases, "mixed");
  const workers = (["older", "newer"] as const).map((release): PlacedWorker => ({
    name: release,
    release,
    placeOf: (binding) => (ADDRESSING.includes(binding) ? addressing : others),
    directory: "directory",
  }));
  const both: readonly Release[] = ["older", "newer"];

  beforeAll(async () => {
    await releases.run(workers);
    // An older record knows no locations: it makes no cluster that would be without the one that was wished.
    const placed = await seen.ask("newer", "PUT", "", { body: { location: "weur" } });
    expect([placed.code, placed.retryAfter]).toEqual(others === "newer" ? [201, null] : [503, "1"]);
    if (others === "older") expect((await seen.ask("newer", "PUT", "")).code).toBe(201);
  }, 240_000);
  afterAll(() => releases.end());

  it("creates, changes and deletes by both Workers: each address once, with its IPAddress", { timeout: 240_000 }, async () => {
    const names = both.flatMap((worker) => Array.from({ length: 6 }, (_, i) => [worker, `${worker}-${String(i)}`] as const));
    const made = await Promise.all(names.map(([worker, name]) => seen.create(worker, name)));
    expect(new Set(made.map(({ spec }) => spec?.["clusterIP"])).size).toBe(names.length);
    await Promise.all(
      names.map(async ([worker, name], i) => {
        const other = worker === "older" ? "newer" : "older";
        const service = await seen.must(other, "GET", `${SERVICES}/${name}`);
        await seen.must(other, "PUT", `${SERVICES}/${name}`, { ...service, metadata: { ...service.metadata, labels: { by: other } } });
        if (i % 3 === 0) await seen.must(other, "DELETE", `${SERVICES}/${name}`);
      }),
    );
    for (const worker of both) {
      await expect.poll(() => seen.unpaired(worker), PATIENCE).toEqual([]);
      expect(Object.keys(await seen.addresses(worker))).toHaveLength(names.length - 4 + 1);
    }
  });

  it("watches by both Workers: each change once and in order, whoever made it", { timeout: 240_000 }, async () => {
    const { metadata } = await seen.must("newer", "GET", "/api/v1/services");
    const ending = new AbortController();
    const path = `/clusters/mixed/api/v1/services?watch=true&resourceVersion=${String(metadata?.resourceVersion)}`;
    const histories = both.map((worker) => ({ worker, events: [] as string[] }));
    const reading = histories.map(async ({ worker, events }) => {
      const response = await releases.open(worker, path, ending.signal);
      for await (const { type, object } of eventsOf<{ type: string; object: Body }>(response, "end"))
        events.push(`${type} ${String(object.metadata?.name)}`);
    });
    const expected: string[] = [];
    for (let i = 0; i < 6; i++) {
      const worker = both[i % 2] ?? "older";
      await seen.create(worker, `watched-${String(i)}`);
      await seen.must(worker, "DELETE", `${SERVICES}/watched-${String(i)}`);
      expected.push(`ADDED watched-${String(i)}`, `DELETED watched-${String(i)}`);
    }
    for (const { events } of histories) await expect.poll(() => events, PATIENCE).toEqual(expected);
    ending.abort();
    await Promise.all(reading);
  });

  it("roles of one user, by both Workers: what is bound counts, and nothing else", { timeout: 240_000 }, async () => {
    const code = async (worker: string): Promise<number> => (await seen.ask(worker, "GET", SERVICES, { headers: JANE })).code;
    for (const worker of both) expect(await code(worker)).toBe(403);
    await seen.must("older", "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", {
      metadata: { name: "jane" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
    });
    for (const worker of both) await expect.poll(() => code(worker), PATIENCE).toBe(200);
    expect((await seen.ask("newer", "POST", SERVICES, { headers: JANE, body: { metadata: { name: "no" } } })).code).toBe(403);
  });

  it("a hand-off: every Service keeps its address, and the new owner has the rows", HAND_OFF, () => seen.handOver("older", "newer"));

  it("repair: an IPAddress that is deleted by hand is there again, and crons of both Workers end well", { timeout: 240_000 }, async () => {
    const [address = ""] = Object.values(await seen.addresses("newer"));
    for (const worker of both) {
      await seen.must(worker, "DELETE", `${NETWORKING}/ipaddresses/${address}`);
      for (const each of both)
        for (const cron of ["* * * * *", "*/5 * * * *", "0 * * * *"]) expect(await releases.cron(each, cron)).toBe("ok");
      await expect.poll(() => seen.unpaired(worker), LONG_PATIENCE).toEqual([]);
    }
  });

  it("at the end: the check of neither Worker finds anything, and none of their calls met a bug", { timeout: 240_000 }, async () => {
    for (const worker of both) expect(await releases.wrong(worker, "mixed")).toEqual([]);
    expect(releases.output.split("\n").filter((line) => line.includes('"fault":"bug"'))).toEqual([]);
  });
});

describe("one release after the other on the same data", () => {
  const releases = new TwoReleases(join(folder, "rolled"));
  const seen = new Seen(releases, "rolled");
  const located = new Seen(releases, "located");
  const run = (release: Release) => releases.run([{ name: "servicenet", release, placeOf: () => "servicenet", directory: "directory" }]);
  const kept: Record<string, string> = {};
  afterAll(() => releases.end());

  /** All Services of the releases before are as they were; further ones get addresses of their own, and half of those go again. */
  async function goesOn(phase: string): Promise<void> {
    expect(await seen.addresses("servicenet")).toMatchObject(kept);
    const names = Array.from({ length: 6 }, (_, i) => `${phase}-${String(i)}`);
    const made = await Promise.all(names.map((name) => seen.create("servicenet", name)));
    const given = made.map(({ spec }) => String(spec?.["clusterIP"]));
    expect(given.filter((address) => Object.values(kept).includes(address))).toEqual([]);
    expect(new Set(given).size).toBe(names.length);
    for (const [i, name] of names.entries()) {
      if (i % 2) await seen.must("servicenet", "DELETE", `${SERVICES}/${name}`);
      else kept[name] = given[i] ?? "";
    }
    for (const cron of ["* * * * *", "0 * * * *"]) expect(await releases.cron("servicenet", cron)).toBe("ok");
    await expect.poll(() => seen.unpaired("servicenet"), LONG_PATIENCE).toEqual([]);
    expect(await releases.wrong("servicenet", "rolled")).toEqual([]);
  }

  it("the older one, the newer one, back, and forward again: no address is lost, or given twice", { timeout: 600_000 }, async () => {
    await run("older");
    expect((await seen.ask("servicenet", "PUT", "")).code).toBeLessThan(300);
    await goesOn("first");
    await run("newer");
    await goesOn("second");
    // What the older one does not know of a cluster, it keeps.
    expect((await located.ask("servicenet", "PUT", "", { body: { location: "weur" } })).code).toBeLessThan(300);
    const address = (await located.create("servicenet", "web")).spec?.["clusterIP"];
    await seen.handOver("servicenet", "servicenet");
    Object.assign(kept, await seen.addresses("servicenet"));
    await run("older");
    await goesOn("third");
    expect((await located.addresses("servicenet"))["web"]).toBe(address);
    expect((await located.create("servicenet", "db")).spec?.["clusterIP"]).not.toBe(address);
    await run("newer");
    await goesOn("fourth");
    expect(Object.keys(await located.addresses("servicenet")).sort()).toEqual(["db", "kubernetes", "web"]);
    expect(await located.must("servicenet", "GET", "")).toMatchObject({ location: "weur" });
    expect(await releases.wrong("servicenet", "located")).toEqual([]);
    expect(releases.output.split("\n").filter((line) => line.includes('"fault":"bug"'))).toEqual([]);
  });
});

/** A Worker of the release after this one, in front of the code of this one: what it asks of stores is renamed by the host that it is asked by. */
const LATER = `
import worker from "./worker.js";
export * from "./worker.js";
const later = (namespace, how) => ({
  idFromName: (name) => namespace.idFromName(name),
  get: (id, options) => new Proxy(namespace.get(id, options), { get: (stub, key) => {
    if (typeof stub[key] !== "function") return stub[key];
    return (...args) => {
      if (how === "method" && key !== "fetch") return stub[key + "OfLater"](...args);
      if (how === "version" && key !== "fetch") args[7] = 2;
      if (how === "version" && key === "fetch") args[0].headers.set("x-servicenet-protocol", "2");
      if (how === "verb" && key === "write") args[0] = { ...args[0], verb: "graft" };
      return stub[key](...args);
    };
  } }),
});
export default {
  fetch: (request, env, context) =>
    worker.fetch(request, { ...env, RESOURCE_STORE: later(env.RESOURCE_STORE, request.headers.get("X-Later")) }, context),
};
`;

describe("a caller of a later release", () => {
  const releases = new TwoReleases(join(folder, "later"));
  const MAPS = "/api/v1/namespaces/default/configmaps";
  const ask = (worker: string, method: string, path: string, how: string, body?: object) =>
    releases.ask(worker, method, `/clusters/later${path}`, { headers: { "X-Later": how }, ...(body ? { body } : {}) });
  const UNSUPPORTED = {
    code: 503,
    retryAfter: "1",
    body: {
      reason: "ServiceUnavailable",
      message: "the server is currently unable to handle the request: a part of it runs another release",
    },
  };

  beforeAll(async () => {
    const on = (place: string) => ({ placeOf: () => place, directory: place });
    await releases.run([
      { name: "here", release: "newer", ...on("here") },
      { name: "later", release: "newer", ...on("here"), front: LATER },
      { name: "before", release: "older", ...on("before") },
      { name: "later-than-before", release: "newer", ...on("before"), front: LATER },
    ]);
    for (const worker of ["here", "before"]) {
      expect((await ask(worker, "PUT", "", "as it is")).code).toBeLessThan(300);
      expect((await ask(worker, "POST", MAPS, "as it is", { metadata: { name: "a" } })).code).toBe(201);
    }
  }, 240_000);
  afterAll(() => releases.end());

  it.each([
    ["a method that the objects do not have", "method", "GET", `${MAPS}/a`],
    ["a method that the objects do not have", "method", "POST", MAPS],
    ["a version that they do not understand", "version", "GET", `${MAPS}/a`],
    ["a version that they do not understand", "version", "GET", MAPS],
    ["a version that they do not understand", "version", "POST", MAPS],
    ["a verb that they do not know", "verb", "POST", MAPS],
  ])("%s (%s): %s %s is 503 with Retry-After, and nothing is carried out", { timeout: 120_000 }, async (_, how, method, path) => {
    const body = method === "POST" ? { metadata: { name: "b" } } : undefined;
    expect(await ask("later", method, path, how, body)).toMatchObject(UNSUPPORTED);
    expect((await ask("later", "GET", `${MAPS}/b`, "as it is")).code).toBe(404);
    expect((await ask("later", "GET", `${MAPS}/a`, "as it is")).code).toBe(200);
  });

  it(
    "objects of the release before: a method that they do not have is 503, too; a version they do not look at",
    { timeout: 120_000 },
    async () => {
      expect(await ask("later-than-before", "GET", `${MAPS}/a`, "method")).toMatchObject(UNSUPPORTED);
      expect((await ask("later-than-before", "GET", `${MAPS}/a`, "version")).code).toBe(200);
      expect((await ask("later-than-before", "GET", MAPS, "version")).code).toBe(200);
    },
  );
});
