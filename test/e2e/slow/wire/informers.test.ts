/**
 * Informers of both official client families while writers go on: ends of watches, lost history, restarts, kill -9. In the end each cache equals
 * the list, and each object was reported once as new and once as gone.
 */
import { once } from "node:events";
import { createServer, request as outgoing } from "node:http";
import type { AddressInfo } from "node:net";
import { KubeConfig, makeInformer } from "@kubernetes/client-node";
import type { Informer, KubernetesListObject, KubernetesObject, ObjectCache } from "@kubernetes/client-node";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkState } from "../../../support/checks/checkers";
import { GoWriter, writtenKinds } from "../../../support/clients/go-client";
import { observe } from "../../../support/server/observe";
import { Reflector } from "../../../support/clients/reflector";
import { getJson } from "../../../support/server/server";
import { loseHistory } from "../../../support/server/lost-history";
import { serverForTests } from "../../../support/server/server-for-tests";

const SERVICES = "/api/v1/services";
const IP_ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses";
const LEASES = "/apis/coordination.k8s.io/v1/leases";
const ENDPOINT_SLICES = "/apis/discovery.k8s.io/v1/endpointslices";
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
const server = serverForTests();
let port: string;
const url = () => `http://127.0.0.1:${port}`;

/** An informer of the JavaScript client, started again after each error as its documentation advises. */
class JavaScriptInformer {
  readonly told: string[] = [];
  readonly #informer: Informer<KubernetesObject> & ObjectCache<KubernetesObject>;
  #stopped = false;

  constructor(readonly path: string) {
    const config = new KubeConfig();
    config.loadFromFile(server.kubeconfig);
    const list = () => getJson<KubernetesListObject<KubernetesObject>>(`${url()}${path}`);
    this.#informer = makeInformer(config, `${path}?timeoutSeconds=3`, list);
    for (const verb of ["add", "delete"] as const) {
      this.#informer.on(verb, ({ metadata }) => this.told.push(`${verb} ${metadata?.name ?? ""} ${metadata?.uid ?? ""}`));
    }
    this.#informer.on("error", () => {
      if (!this.#stopped) setTimeout(() => this.#stopped || void this.#informer.start(), 200);
    });
  }

  start(): Promise<void> {
    return this.#informer.start();
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return this.#informer.stop();
  }

  resume(): Promise<void> {
    this.#stopped = false;
    return this.#informer.start();
  }

  get cached(): string[] {
    return this.#informer.list().map(identify).sort();
  }
}

function identify({ metadata }: { metadata?: { name?: string; uid?: string; resourceVersion?: string } }): string {
  return `${metadata?.name ?? ""} ${metadata?.uid ?? ""}@${metadata?.resourceVersion ?? ""}`;
}

async function listed(path: string): Promise<string[]> {
  return (await getJson<{ items: KubernetesObject[] }>(`${url()}${path}`)).items.map(identify).sort();
}

const eventually = <T>(read: () => Promise<T> | T) => expect.poll(read, { timeout: 40_000, interval: 200 });

let reflectors: Reflector[];
let informers: JavaScriptInformer[];
let writers: GoWriter[];
let round = 0;

beforeAll(() => {
  port = new URL(server.url).port;
});
beforeEach(async () => {
  round++;
  const of = (path: string, options: Partial<ConstructorParameters<typeof Reflector>[2]> = {}) =>
    new Reflector(url, path, { timeoutSeconds: 2, ...options });
  reflectors = [
    of(SERVICES),
    of(SERVICES, { timeoutSeconds: 300 }),
    of(SERVICES, { watchList: false }),
    of(SERVICES, { accept: METADATA }),
    of(IP_ADDRESSES),
    of(LEASES, { timeoutSeconds: 300, watchList: false }),
    of(ENDPOINT_SLICES),
  ];
  informers = [SERVICES, LEASES].map((path) => new JavaScriptInformer(path));
  writers = writtenKinds.flatMap((kind, at) => [0, 1].map((n) => new GoWriter(url, kind, `r${String(round)}-${String(at)}-${String(n)}`)));
  for (const each of [...reflectors, ...writers]) each.start();
  await Promise.all(informers.map((informer) => informer.start()));
});
afterEach(async () => {
  await Promise.all([...reflectors, ...informers, ...writers].map((each) => each.stop()));
});

const acknowledged = () => writers.reduce((sum, writer) => sum + writer.acknowledged, 0);

/** Waits until the writers have got so much further. */
async function moreWrites(count: number): Promise<void> {
  const goal = acknowledged() + count;
  await eventually(() => acknowledged() >= goal || writers.some(({ failures }) => failures.length > 0)).toBe(true);
}

/** The reports about each object: adds and deletes alternate and begin with an add. */
function checkTold(told: readonly string[], cached: readonly string[]): string[] {
  const alive = new Map<string, boolean>();
  const violations: string[] = [];
  for (const line of told) {
    const [verb = ""] = line.split(" ", 1);
    const object = line.slice(verb.length + 1);
    const expected = verb === "add" ? undefined : true;
    if (alive.get(object) !== expected) violations.push(line);
    alive.set(object, verb === "add");
  }
  const living = [...alive].filter(([, lives]) => lives).length;
  if (living !== cached.length) violations.push(`${String(living)} told as there, ${String(cached.length)} cached`);
  return violations;
}

/** Ends the writers and checks every informer against the list. */
async function checkAll(): Promise<void> {
  await Promise.all(writers.map((writer) => writer.stop()));
  expect(writers.flatMap(({ failures }) => failures)).toEqual([]);
  for (const reflector of reflectors) {
    const cached = () => [...reflector.cache.values()].map(identify).sort();
    await eventually(async () => JSON.stringify(cached()) === JSON.stringify(await listed(reflector.path))).toBe(true);
    expect(checkTold(reflector.told, cached())).toEqual([]);
    expect(reflector.violations).toEqual([]);
  }
  for (const informer of informers) {
    await eventually(async () => JSON.stringify(informer.cached) === JSON.stringify(await listed(informer.path))).toBe(true);
    expect(checkTold(informer.told, informer.cached)).toEqual([]);
  }
  expect(checkState(await observe(url()))).toEqual([]);
}

describe("informers while writers go on", { timeout: 180_000 }, () => {
  it("ends of their watches: every cache equals the list", async () => {
    const [short, long, older] = reflectors.map(({ counts }) => counts);
    await eventually(() => short?.watches).toBeGreaterThan(3);
    await moreWrites(60);
    await checkAll();
    // The one that ends each streaming list, and one before the end of a watch.
    expect(short?.bookmarks).toBeGreaterThan(1);
    expect([long?.watches, long?.streamingLists, long?.lists]).toEqual([1, 1, 0]);
    expect([older?.streamingLists, older?.lists]).toEqual([0, 1]);
    expect(reflectors.flatMap(({ counts }) => counts.errors)).toEqual([]);
  });

  it("SIGTERM and Ctrl-C: every cache equals the list", async () => {
    for (const stop of [() => server.stop(), () => server.interrupt()]) {
      await moreWrites(60);
      await stop();
      await server.start(["--port", port]);
    }
    await moreWrites(60);
    await checkAll();
    expect(reflectors.map(({ counts }) => counts.expired)).toEqual(reflectors.map(() => 0));
  });

  it("kill -9, twice: every cache equals the list", async () => {
    for (let i = 0; i < 2; i++) {
      await moreWrites(60);
      await server.kill();
      await server.start(["--port", port]);
    }
    await moreWrites(60);
    await checkAll();
    expect(reflectors.map(({ counts }) => counts.expired)).toEqual(reflectors.map(() => 0));
  });

  it("lost history: an informer that slept lists again", async () => {
    await moreWrites(30);
    const sleeping = reflectors.filter(({ path }) => path === SERVICES);
    const wake = sleeping.map((reflector) => reflector.hold());
    await Promise.all(informers.map((informer) => informer.stop()));
    await server.stop();
    await loseHistory(server.folder);
    await server.start(["--port", port]);
    for (const release of wake) release();
    await Promise.all(informers.map((informer) => informer.resume()));
    await moreWrites(30);
    await checkAll();
    expect(reflectors[1]?.counts).toMatchObject({ expired: 1, streamingLists: 2 });
  });

  it("a server without streaming lists: informers use LIST", async () => {
    const refusing = createServer((request, response) => {
      if (request.url?.includes("sendInitialEvents")) {
        response
          .writeHead(422, { "Content-Type": "application/json" })
          .end(JSON.stringify({ kind: "Status", code: 422, reason: "Invalid" }));
        return;
      }
      const passed = outgoing(`${url()}${request.url ?? ""}`, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      }).end();
      response.on("close", () => passed.destroy());
      passed.on("error", () => response.destroy());
    }).listen(0, "127.0.0.1");
    await once(refusing, "listening");
    const { port: refusingPort } = refusing.address() as AddressInfo;
    const reflector = new Reflector(() => `http://127.0.0.1:${String(refusingPort)}`, SERVICES, { timeoutSeconds: 2 });
    reflector.start();
    try {
      await moreWrites(60);
      reflectors.push(reflector);
      await checkAll();
      expect(reflector.counts).toMatchObject({ streamingLists: 1, lists: 1 });
      expect(reflector.counts.errors).toEqual(["falling back to LIST: Error: 422 Invalid: "]);
    } finally {
      await reflector.stop();
      refusing.close();
    }
  });
});
