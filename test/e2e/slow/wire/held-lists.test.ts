/** Clients that take a large list slowly: what the server holds for them, and what they see when the rest is lost. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { beforeAll, expect, it } from "vitest";
import { residentMiB } from "../../../../scripts/dev/bench/memory";
import { Api } from "../../../support/clients/api";
import { serverForTests } from "../../../support/server/server-for-tests";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const OBJECTS = 120;
const LISTS = 10;
/** characters of each: 24 MB together */
const PAYLOAD = "x".repeat(200_000);
/** Ten times what a list holds is 15 MB; each whole list would be 24 MB. */
const HELD_MIB_MAX = 100;

const server = serverForTests(["--var", "MAX_STREAMED_LISTS=10"]);
const api = new Api(() => server.url);

beforeAll(async () => {
  for (let i = 0; i < OBJECTS; i++) {
    await api.must("POST", LEASES, { body: { metadata: { name: `n${String(i)}`, annotations: { payload: PAYLOAD } } } });
  }
}, 120_000);

/** A list of which nothing is taken yet but its head. */
async function held(): Promise<IncomingMessage> {
  const asked = request(server.url + LEASES, { agent: false }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.on("error", () => undefined);
  return response;
}

/** The names of all objects; rejects where the connection breaks. */
async function taken(response: IncomingMessage): Promise<number> {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  return (JSON.parse(Buffer.concat(pieces).toString()) as { items: unknown[] }).items.length;
}

it(
  "ten lists of 24 MB that nobody takes: hold a part of one each; one more is 429; all are whole in the end",
  { timeout: 120_000 },
  async () => {
    // The first list leaves what lists need once.
    expect(await taken(await held())).toBe(OBJECTS);
    const before = residentMiB(server.runtimePid);
    const lists: IncomingMessage[] = [];
    for (let i = 0; i < LISTS; i++) lists.push(await held());
    expect(lists.map(({ statusCode }) => statusCode)).toEqual(Array(LISTS).fill(200));
    const { code, headers, body } = await api.send("GET", LEASES);
    expect([code, headers.get("Retry-After"), body.reason]).toEqual([429, "1", "TooManyRequests"]);
    const after = residentMiB(server.runtimePid);
    if (before !== undefined && after !== undefined) expect(after - before).toBeLessThan(HELD_MIB_MAX);
    await api.must("DELETE", `${LEASES}/n${String(OBJECTS - 1)}`);
    for (const list of lists) expect(await taken(list)).toBe(OBJECTS);
    expect(await taken(await held())).toBe(OBJECTS - 1);
  },
);

it("a list whose history is lost: its connection breaks off", { timeout: 120_000 }, async () => {
  const list = await held();
  await api.must("POST", "/revisions", { body: { asOf: "2026-01-31T12:00:00Z", resources: ["leases.coordination.k8s.io"] } });
  await expect(taken(list)).rejects.toThrow();
  expect(await taken(await held())).toBe(OBJECTS - 1);
});

it("clients that leave their lists: give their places back", { timeout: 120_000 }, async () => {
  for (let round = 0; round < 3; round++) {
    const lists = await Promise.all(Array.from({ length: LISTS }, held));
    const held200 = lists.filter(({ statusCode }) => statusCode === 200).length;
    expect(held200).toBeGreaterThan(0);
    for (const list of lists) list.destroy();
    await api.until(async () => (await api.send("GET", LEASES)).code === 200, "a place is free again");
  }
});
