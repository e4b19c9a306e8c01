/** Clients that stop in the middle of a body hold places among the requests under way for some seconds, and their connections for a bounded time. */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Status } from "../../../src/api/meta/status";
import { BODY_REST_MS } from "../../../src/worker/http/limits";
import { Api } from "../../support/clients/api";
import { inFlight, metric } from "../../support/server/metric";
import { serverForTests } from "../../support/server/server-for-tests";

const SERVICES = "/api/v1/namespaces/default/services";
const LIMIT = 6;
/** of the requests that stall; long enough for all of them to have begun on a busy machine */
const TIMEOUT_S = 10;

const server = serverForTests([
  ...["--var", `MAX_MUTATING_REQUESTS_INFLIGHT=${String(LIMIT)}`],
  ...["--var", "REQUEST_QUEUE_SECONDS=0", "--var", "FAIR_REQUESTS_MIN=0"],
]);
const api = new Api(() => server.url);
let services = 0;
const create = () => api.send("POST", SERVICES, { body: { metadata: { name: `web-${services++}` }, spec: { ports: [{ port: 80 }] } } });

interface Stalled {
  /** the whole answer, once the server has closed the connection */
  closed: Promise<string>;
}

async function stall(method: string, path: string, headers: readonly string[], begun: string): Promise<Stalled> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  // A reset is a way to close as well.
  socket.on("error", () => undefined);
  const lines = [`${method} ${path}?timeout=${TIMEOUT_S}s HTTP/1.1`, "Host: localhost", "Content-Type: application/json", ...headers];
  socket.write(`${lines.join("\r\n")}\r\n\r\n${begun}`);
  return { closed: once(socket, "close").then(() => text) };
}

/** The counter of ended requests. */
const terminations = () => metric(api, "apiserver_request_terminations_total", "code", "verb", "resource");

it("a body that stops coming: its place is free after some seconds, 504 in time, and the counters are upstream's", async () => {
  expect((await create()).code).toBe(201);
  await api.until(async () => (await inFlight(api))["mutating"] === 0, "the create has given its place back");
  expect(await terminations()).toEqual({});
  const begun = '{"metadata":';
  const announced = ["Content-Length: 1000"];
  const chunked = ["Transfer-Encoding: chunked"];
  const chunk = `${begun.length.toString(16)}\r\n${begun}\r\n`;
  const stalled = await Promise.all([
    stall("POST", SERVICES, announced, begun),
    stall("POST", SERVICES, chunked, chunk),
    stall("PUT", `${SERVICES}/web-0`, announced, begun),
    stall("PUT", `${SERVICES}/web-0`, chunked, chunk),
    stall("DELETE", `${SERVICES}/web-0`, announced, begun),
    stall("DELETE", `${SERVICES}/web-0`, chunked, chunk),
  ]);

  // A create that comes before the last of them would take its place. Where nobody looks in time, the first have given theirs back.
  const all = async (): Promise<boolean> => (await inFlight(api))["mutating"] === LIMIT;
  const since = performance.now();
  await api.until(async () => (await all()) || performance.now() - since > 3 * BODY_REST_MS, "every place is taken, or was");
  // A body of which nothing comes gives its place back after some seconds, while its client still holds the connection.
  let isAnswered = false;
  void Promise.race(stalled.map(({ closed }) => closed)).then(() => (isAnswered = true));
  const codes: number[] = [];
  while (!isAnswered) {
    codes.push((await create()).code);
    await sleep(250);
  }
  expect(codes.slice(-8), "of the last two seconds before the first 504").toEqual(Array(8).fill(201));
  const created = codes.filter((code) => code === 201).length;
  const refused = codes.length === created ? {} : { "429 POST services": codes.length - created };

  for (const { closed } of stalled) {
    const [head = "", body = ""] = (await closed).split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 504 /);
    expect(JSON.parse(body)).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "Timeout: request did not complete within the allotted timeout",
      reason: "Timeout",
      details: {},
      code: 504,
    } satisfies Status);
  }
  expect((await Promise.all(Array.from({ length: LIMIT }, create))).map(({ code }) => code)).toEqual(Array(LIMIT).fill(201));
  expect(await terminations()).toEqual({
    ...refused,
    "504 POST services": 2,
    "504 PUT services": 2,
    "504 DELETE services": 2,
  });
  expect(await metric(api, "apiserver_request_total", "code", "verb", "resource")).toEqual({
    "201 POST services": 1 + created + LIMIT,
    ...refused,
    "504 POST services": 2,
    "504 PUT services": 2,
    "504 DELETE services": 2,
  });
  expect(await inFlight(api)).toEqual({ mutating: 0, readOnly: 0 });
  expect((await api.get(`${SERVICES}/web-0`)).code, "nothing was done").toBe(200);
});
