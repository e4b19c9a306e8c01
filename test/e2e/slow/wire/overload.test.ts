/** More requests than the server takes on: it refuses the rest cheaply, in upstream's form, and loses nothing. */
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { residentMiB } from "../../../../scripts/dev/bench/memory";
import type { ObservedService } from "../../../../src/tools/check/observed";
import { checkState } from "../../../support/checks/checkers";
import { Api } from "../../../support/clients/api";
import { inFlight } from "../../../support/server/metric";
import { observe, openWatches, violationsAfterRepair } from "../../../support/server/observe";
import { serverForTests } from "../../../support/server/server-for-tests";
import { createUntilCut } from "../../../support/clients/writers";

const SERVICES = "/api/v1/namespaces/default/services";
const RANGE = ["--var", "SERVICE_CLUSTER_IP_RANGE=10.96.0.0/12"];
const REPAIR_MS_MAX = 60_000;
/**
 * Connections of clients rest for so long at most: what Retry-After delays goes over new ones. The runtime closes a connection 5 s after an answer. Some of
 * that time passes before a client on the same busy machine sees the answer, and some before the runtime reads the next request.
 */
const RESTING_MS = 500;

function service(name: string): string {
  return JSON.stringify({ metadata: { name }, spec: { selector: { app: name }, ports: [{ port: 80 }] } });
}

describe("server with a limit of fifty writes at once", () => {
  const LIMIT = 50;
  const BURST = 2_000;
  const CLIENTS = 500;
  const EACH = 4;
  const ELSEWHERE = 200;
  /** what a burst may add: its connections, its requests under way, and garbage that is not yet collected */
  const GROWTH_MIB_MAX = 400;

  const IMPATIENT = ["--var", "REQUEST_QUEUE_SECONDS=0", "--var", "FAIR_REQUESTS_MIN=0"];
  const server = serverForTests([...RANGE, ...IMPATIENT, "--var", `MAX_MUTATING_REQUESTS_INFLIGHT=${String(LIMIT)}`]);
  let api: Api;
  const agent = new Agent({ keepAlive: true, maxSockets: BURST, timeout: RESTING_MS });
  const created: ObservedService[] = [];
  beforeAll(async () => {
    api = new Api(() => server.url);
    await api.must("POST", SERVICES, { body: service("first") });
  });
  // A connection that the last test has left could break under a request of the next one, as its rest began long before.
  afterEach(() => agent.destroy());

  /** The seconds to wait; undefined: created. Throws for every other answer. */
  async function create(name: string, path = SERVICES): Promise<number | undefined> {
    const body = service(name);
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    const outgoing = request(server.url + path, { method: "POST", agent, headers }).end(body);
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
    if (response.statusCode === 201) {
      if (path === SERVICES) created.push(JSON.parse(text) as ObservedService);
      return undefined;
    }
    const seconds = Number(response.headers["retry-after"]);
    expect([1, 2, 4, 8, 16, 32]).toContain(seconds);
    expect([response.statusCode, response.headers["content-type"], JSON.parse(text)]).toEqual([
      429,
      "application/json",
      {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "Too many requests, please try again later.",
        reason: "TooManyRequests",
        details: { retryAfterSeconds: seconds },
        code: 429,
      },
    ]);
    return seconds;
  }

  const operations = async () => {
    const line = /^servicenet_store_operations_total\{store="services"\} (\d+)$/m.exec((await api.get("/metrics")).text);
    return Number(line?.[1]);
  };
  const full = (round: string) => Promise.all(Array.from({ length: LIMIT }, (_, i) => create(`${round}-${String(i)}`)));

  it("writes beyond the limit: refused without a call to an object; reads, watches and health checks go on", async () => {
    const [before, memory] = [await operations(), residentMiB(server.runtimePid) ?? 0];
    let over = false;
    let highest = memory;
    const burst = Promise.all(Array.from({ length: BURST }, (_, i) => create(`burst-${String(i)}`))).finally(() => (over = true));
    const others: string[] = [];
    let rounds = 0;
    const meanwhile = (async () => {
      while (!over) {
        for (const path of [`${SERVICES}/first`, "/healthz", "/readyz", "/api/v1/nodes?watch=true&timeoutSeconds=1", "/apis"]) {
          const response = await fetch(server.url + path);
          await response.body?.cancel();
          if (response.status !== 200) others.push(`${path}: ${String(response.status)}`);
        }
        highest = Math.max(highest, residentMiB(server.runtimePid) ?? 0);
        rounds++;
      }
    })();
    const answers = await burst;
    await meanwhile;
    const refused = answers.filter((wait) => wait !== undefined).length;
    expect(refused).toBeGreaterThan(0);
    expect(created).toHaveLength(BURST - refused);
    expect(created.length).toBeGreaterThanOrEqual(LIMIT);
    expect([others, rounds > 0]).toEqual([[], true]);
    // A create is two or three operations of the store: it decides, waits for its address, and decides again.
    expect((await operations()) - before).toBeLessThanOrEqual(3 * created.length);
    expect(highest - memory).toBeLessThan(GROWTH_MIB_MAX);
    console.log(`${String(created.length)} created, ${String(refused)} refused, ${(highest - memory).toFixed(0)} MiB more at most`);
  }, 120_000);

  /** A create that holds its place: its body lacks the last byte. `end` sends that byte and resolves to the status line. */
  async function begin(name: string): Promise<{ end(): Promise<string> }> {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, "connect");
    const body = service(name);
    const head = ["Host: localhost", "Content-Type: application/json", "Connection: close", `Content-Length: ${String(body.length)}`];
    socket.write(`POST ${SERVICES} HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n${body.slice(0, -1)}`);
    const end = async () => {
      let text = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      const closed = once(socket, "close");
      socket.write(body.slice(-1));
      await closed;
      return text.split("\r\n")[0] ?? "";
    };
    return { end };
  }

  /** The databases of the objects that each cluster has after its first write. An object has one from its first call on. */
  function databases(): string[] {
    const files = readdirSync(server.folder, { recursive: true, encoding: "utf8" });
    return files.filter((file) => /-(Coordinator|ServicesStore|IPAddressesStore|ClusterRecord)\/[0-9a-f]{64}\.sqlite$/.test(file)).sort();
  }

  it("writes beyond the limit to clusters that do not exist: refused without a look for the cluster", async () => {
    const elsewhere = (i: number) => `/clusters/never-${String(i)}${SERVICES}`;
    const held = await Promise.all(Array.from({ length: LIMIT }, (_, i) => begin(`held-${String(i)}`)));
    await expect.poll(async () => (await inFlight(api))["mutating"]).toBe(LIMIT);
    const before = databases();
    const waits = await Promise.all(Array.from({ length: ELSEWHERE }, (_, i) => create("web", elsewhere(i))));
    expect(waits).not.toContain(undefined);
    expect(databases()).toEqual(before);
    const lines = await Promise.all(held.map(({ end }) => end()));
    expect(new Set(lines)).toEqual(new Set(["HTTP/1.1 201 Created"]));
    expect((await fetch(`${server.url}/clusters/never-0`)).status).toBe(404);
    expect(databases(), "no object of a name that nobody made").toEqual(before);
    expect(await create("web", elsewhere(0))).toBeUndefined();
    expect(databases().length, "made").toBe(before.length + 4);
  }, 60_000);

  it("after the overload: as many writes are taken again at once", async () => {
    expect(await full("over")).toEqual(Array(LIMIT).fill(undefined));
  });

  it("clients that left without waiting for their answer: their places are free again", async () => {
    const { hostname, port } = new URL(server.url);
    for (let i = 0; i < 4 * LIMIT; i++) {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      socket.on("error", () => undefined);
      await once(socket, "connect");
      const body = service(`left-${String(i)}`);
      socket.write(
        `POST ${SERVICES} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`,
      );
      await sleep(1);
      socket.resetAndDestroy();
    }
    let round = 0;
    await expect
      .poll(async () => (await full(`left-again-${String(round++)}`)).filter((wait) => wait !== undefined), {
        timeout: 20_000,
        interval: 100,
      })
      .toEqual([]);
  }, 60_000);

  it(`${String(CLIENTS)} clients that honour Retry-After: all of their requests succeed`, async () => {
    let refused = 0;
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, client) => {
        for (let i = 0; i < EACH; i++) {
          const name = `client-${String(client)}-${String(i)}`;
          for (let wait = await create(name); wait !== undefined; wait = await create(name)) {
            refused++;
            await sleep(wait * 1000);
          }
        }
      }),
    );
    expect(refused).toBeGreaterThan(0);
    expect(created.filter(({ metadata }) => metadata?.name?.startsWith("client-"))).toHaveLength(CLIENTS * EACH);
  }, 240_000);

  it("the stored Services: all that were acknowledged, and none that was refused", async () => {
    expect(await violationsAfterRepair(server.url, created, REPAIR_MS_MAX)).toEqual([]);
    const names = new Set(created.map(({ metadata }) => metadata?.name));
    const { services } = await observe(server.url);
    const strange = services
      .map(({ metadata }) => metadata?.name ?? "")
      .filter((name) => !names.has(name) && !/^(kubernetes|first|(left|held)-\d+)$/.test(name));
    expect(strange).toEqual([]);
  }, 90_000);
});

describe("server with the default limits", () => {
  const WATCHERS = 1_000;
  const server = serverForTests(RANGE);

  it(`a hundred clients at full speed and ${String(WATCHERS)} watches: none is refused`, async () => {
    const agent = new Agent({ maxSockets: Infinity });
    let lines = 0;
    const watches = await Promise.all(
      Array.from({ length: WATCHERS }, async () => {
        const outgoing = request(`${server.url}/api/v1/services?watch=true&fieldSelector=metadata.name%3Dwatched-7`, { agent }).end();
        const [response] = (await once(outgoing, "response")) as [IncomingMessage];
        response.on("data", () => lines++).on("error", () => undefined);
        return response;
      }),
    );
    expect(watches.filter(({ statusCode }) => statusCode !== 200)).toEqual([]);
    await expect.poll(() => openWatches(server.url, "services")).toBe(WATCHERS);
    // The writers fail at any answer but 201.
    const acknowledged = await createUntilCut(server.url, { concurrent: 100, prefix: "watched", total: 3_000 }).finished;
    await expect.poll(() => lines, { timeout: 30_000 }).toBeGreaterThanOrEqual(WATCHERS);
    agent.destroy();
    expect(checkState(await observe(server.url), acknowledged).filter((line) => line.startsWith("I4"))).toEqual([]);
    expect(acknowledged).toHaveLength(3_000);
  }, 180_000);
});
