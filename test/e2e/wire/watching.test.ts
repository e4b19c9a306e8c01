/** Watches as clients live through them: sockets, compression, rotation, lost history, and a server that is stopped and comes back. */
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { CoreV1Api, KubeConfig, makeInformer, Watch } from "@kubernetes/client-node";
import type { Informer, ObjectCache, V1Service } from "@kubernetes/client-node";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../support/server/free-port";
import { loseHistory } from "../../support/server/lost-history";
import { serverForTests } from "../../support/server/server-for-tests";

const namespace = "default";
const SERVICES = `/api/v1/namespaces/${namespace}/services`;
// Not one that a client elsewhere is given while the server is away.
const server = serverForTests(["--port", String(await freePort())]);
let config: KubeConfig;
let core: CoreV1Api;

beforeAll(() => {
  config = new KubeConfig();
  config.loadFromFile(server.kubeconfig);
  core = config.makeApiClient(CoreV1Api);
});

const create = (name: string, annotations: Record<string, string> = {}) =>
  core.createNamespacedService({ namespace, body: { metadata: { name, annotations }, spec: { ports: [{ port: 80 }] } } });
const remove = (name: string) => core.deleteNamespacedService({ namespace, name });

/** An informer and what it told: "add a", "delete a". Started again whenever it reports an error, as its documentation advises. */
class Told {
  readonly informer: Informer<V1Service> & ObjectCache<V1Service>;
  readonly events: string[] = [];
  readonly errors: string[] = [];
  connects = 0;
  #stopped = false;

  constructor(query = "") {
    this.informer = makeInformer(config, `${SERVICES}${query}`, () => core.listNamespacedService({ namespace }));
    for (const verb of ["add", "delete"] as const) {
      this.informer.on(verb, ({ metadata }) => this.events.push(`${verb} ${metadata?.name ?? ""}`));
    }
    this.informer.on("connect", () => this.connects++);
    this.informer.on("error", (error: unknown) => {
      // Its own stop is an error to it.
      if (this.#stopped) return;
      this.errors.push(String(error));
      setTimeout(() => {
        if (!this.#stopped) void this.informer.start();
      }, 100);
    });
  }

  start(): Promise<void> {
    this.#stopped = false;
    return this.informer.start();
  }

  /** The events of objects whose names begin so. */
  of(prefix: string): string[] {
    return this.events.filter((event) => event.split(" ")[1]?.startsWith(prefix));
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return this.informer.stop();
  }
}

describe("WebSocket", () => {
  interface Conversation {
    protocol: string;
    events: string[];
    code: number;
  }

  /** Watches as a page in a browser does, until the server closes. */
  function converse(query: string, protocols: string[]): Promise<Conversation> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`${server.url.replace("http", "ws")}${SERVICES}?watch=true&${query}`, protocols);
      const events: string[] = [];
      socket.onopen = () => socket.send("nobody listens");
      socket.onmessage = ({ data }) => {
        const { type, object } = JSON.parse(data as string) as { type: string; object: V1Service };
        events.push(`${type} ${object.metadata?.name ?? ""}`);
      };
      socket.onclose = ({ code }) => resolve({ protocol: socket.protocol, events, code });
      socket.onerror = () => reject(new Error("the socket failed"));
    });
  }

  it("a watch: one message for each event, closed when its time is over", async () => {
    const { metadata } = await core.listNamespacedService({ namespace });
    // Before the watch opens: its two seconds may pass during a slow write.
    await create("socket");
    await remove("socket");
    const query = `resourceVersion=${metadata?.resourceVersion ?? ""}&timeoutSeconds=2`;
    const token = "base64url.bearer.authorization.k8s.io.dG9rZW4";
    const conversation = await converse(query, [token, "v1.watch"]);
    expect(conversation).toEqual({ protocol: "v1.watch", events: ["ADDED socket", "DELETED socket"], code: 1000 });
  });

  it("a refusal: a Status before the handshake", async () => {
    const { hostname, port } = new URL(server.url);
    const headers = {
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    };
    const answer = await new Promise<{ code: number | undefined; body: string }>((resolve, reject) => {
      request({ hostname, port, path: `${SERVICES}?watch=true&resourceVersion=x`, headers }, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
        response.on("end", () => resolve({ code: response.statusCode, body }));
      })
        .on("error", reject)
        .end();
    });
    expect([answer.code, (JSON.parse(answer.body) as { reason: string }).reason]).toEqual([422, "Invalid"]);
  });
});

describe("gzip", () => {
  /** The answer as it came over the wire. */
  function raw(path: string, acceptEncoding: string): Promise<{ encoding: string | undefined; vary: string | undefined; body: Buffer }> {
    return new Promise((resolve, reject) => {
      const sent = request(`${server.url}${path}`, { headers: { "Accept-Encoding": acceptEncoding } }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const { "content-encoding": encoding, vary } = response.headers;
          resolve({ encoding, vary, body: Buffer.concat(chunks) });
        });
      });
      sent.on("error", reject).end();
    });
  }

  it("lists over 128 KiB: compressed for clients that take gzip; small lists and watches: never", async () => {
    for (const name of ["large-a", "large-b"]) await create(name, { pad: "x".repeat(100_000) });
    const plain = await raw(SERVICES, "identity");
    expect([plain.encoding, plain.vary, plain.body.length > 200_000]).toEqual([undefined, undefined, true]);
    const zipped = await raw(SERVICES, "gzip");
    expect([zipped.encoding, zipped.vary, zipped.body.length < 50_000]).toEqual(["gzip", "Accept-Encoding", true]);
    expect(gunzipSync(zipped.body).toString()).toBe(plain.body.toString());
    expect((await raw(`${SERVICES}?limit=1`, "gzip")).encoding).toBeUndefined();
    const watched = await raw(`${SERVICES}?watch=true&timeoutSeconds=1`, "gzip");
    expect(watched.encoding).toBe("identity");
    expect(watched.body.toString().split("\n").filter(Boolean).length).toBeGreaterThanOrEqual(3);
    for (const name of ["large-a", "large-b"]) await remove(name);
  });
});

describe("an informer lives through", () => {
  it("the ends of its watches: no event missed, none twice", async () => {
    const told = new Told("?timeoutSeconds=1");
    await told.start();
    try {
      for (let i = 0; i < 30; i++) {
        await create(`turn-${String(i)}`);
        await sleep(100);
      }
      await expect.poll(() => told.of("turn-").length).toBe(30);
      expect(told.of("turn-")).toEqual(Array.from({ length: 30 }, (_, i) => `add turn-${String(i)}`));
      expect(told.connects).toBeGreaterThan(2);
      expect(told.errors).toEqual([]);
    } finally {
      await told.stop();
    }
  });

  it("lost history: it lists again and reports the deletions", async () => {
    const told = new Told();
    await create("lost-before");
    await told.start();
    const { metadata } = await core.listNamespacedService({ namespace });
    await told.stop();
    await remove("lost-before");
    await create("lost-since");
    await server.stop();
    await loseHistory(server.folder);
    await server.start();
    const gone = await fetch(`${server.url}${SERVICES}?watch=true&resourceVersion=${metadata?.resourceVersion ?? ""}`);
    expect(await gone.json()).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
    await told.start();
    try {
      await expect.poll(() => told.of("lost-").length).toBe(3);
      expect(told.of("lost-").sort()).toEqual(["add lost-before", "add lost-since", "delete lost-before"]);
      await create("lost-after");
      await expect.poll(() => told.of("lost-after")).toEqual(["add lost-after"]);
      expect(told.errors).toEqual([]);
    } finally {
      await told.stop();
    }
  });

  it.each([
    ["SIGTERM", "term", () => server.stop()],
    ["Ctrl-C", "ctrlc", () => server.interrupt()],
  ])("%s and the next start on the same port and data: watches end properly, no event missed, none twice", async (_name, prefix, stop) => {
    const told = new Told();
    await told.start();
    const before = [...told.events];
    // A watch of its own shows how the body ends: the client reports a broken one as an error.
    const ends: unknown[] = [];
    await new Watch(config).watch(
      SERVICES,
      {},
      () => undefined,
      (error: unknown) => ends.push(error),
    );
    try {
      await create(`${prefix}-before`);
      await stop();
      expect(ends).toEqual([null]);
      await server.start();
      await create(`${prefix}-after`);
      await remove(`${prefix}-before`);
      await expect.poll(() => told.of(`${prefix}-`).length).toBe(3);
      expect(told.events).toEqual([...before, `add ${prefix}-before`, `add ${prefix}-after`, `delete ${prefix}-before`]);
    } finally {
      await told.stop();
    }
  });
});
