/** What watches cost, with everything that they cause (test/support/economy/bounds.ts). */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { relay } from "../../../../src/worker/routing/relay";
import { storeStub } from "../../../../durable-objects/peers/peers";
import { knownIdOf } from "../../../../src/worker/routing/known-clusters";
import { polling, type WatchingClient, watching } from "../../../support/relay/watching-client";
import { EconomyWorld, SLOW_MACHINE_MS } from "../../../support/economy/world";
import type { EndpointSlice } from "../../../../src/api/meta/kubernetes";
import { pollRelay } from "../../../../src/worker/routing/poll-relay";
import { PATHS } from "../../../support/economy/requests";
import { aSlice, anEndpoint } from "../../../support/values/endpoint-objects";
import { PATIENCE } from "../../../support/objects/patience";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const CLIENTS = 50;

let world: EconomyWorld;
beforeEach(async () => (world = await new EconomyWorld().begin()));
afterEach(() => world.end());

let made = 0;
const change = async (): Promise<string> => {
  const name = `a${String(made++)}`;
  await world.send("POST", CONFIG_MAPS, { metadata: { name } });
  return name;
};
const head = async (): Promise<string> => (await world.send(`GET`, CONFIG_MAPS)).metadata?.resourceVersion ?? "";

it(
  "watches: no more than their bounds, over one socket",
  async () => {
    await change();
    await change();
    await world.settle();
    const { economy } = world;
    const since = await head();
    const clients: WatchingClient[] = [];
    const open = async (from: string): Promise<void> => void clients.push(await watching(world, CONFIG_MAPS, from));
    // Another one each time: an isolate asks once for each.
    await economy.measure("watch: opened from a revision that the isolate has not", (attempt) => open(String(Number(since) - attempt)));
    await economy.measure("watch: opened from a revision that the isolate has", () => open(since));
    while (clients.length < CLIENTS) await open(since);
    const seen = async (name: string): Promise<void> => {
      await vi.waitFor(() => expect(clients.filter(({ names }) => names.includes(name))).toHaveLength(clients.length), PATIENCE);
    };
    await economy.measure("watch: a change reaches 50 clients of an isolate", async () => seen(await change()));
    const store = storeStub(world.env, knownIdOf(world.env, world.cluster) ?? "", { group: "", resource: "configmaps" });
    // No stream, hence no timer of the hub, and few sockets.
    await vi.waitFor(async () => expect(await store.counters()).toMatchObject({ watchers: 0, sockets: 1 }), PATIENCE);
    await Promise.all(clients.map(({ cancel }) => cancel()));
    await vi.waitFor(() => expect(relay.open(knownIdOf(world.env, world.cluster) ?? "")).toEqual([]), PATIENCE);
    await vi.waitFor(async () => expect((await store.counters()).sockets).toBe(0), PATIENCE);
    economy.expectWithinBounds();
  },
  SLOW_MACHINE_MS,
);

it(
  "polls of proxies: no more than their bounds",
  async () => {
    const { economy } = world;
    for (const name of ["n1", "n2"]) await world.send("POST", PATHS.nodes, { metadata: { name } });
    await world.send("POST", PATHS.services, { metadata: { name: "web" }, spec: { ports: [{ name: "http", port: 80 }] } });
    const slice = await world.send<EndpointSlice>("POST", PATHS.slices, aSlice("own", "web", [anEndpoint("10.2.0.1")]));
    await world.settle();
    const page = await polling(world, "n1");
    await page.text();
    const etag = page.headers.get("ETag") ?? "";
    await economy.measure("page of a node: a poll that waits, and nothing changes", async () => {
      expect((await polling(world, "n1", etag, 1)).status).toBe(304);
    });
    let last = etag;
    const polls = { under: [] as Promise<Response>[] };
    const wait = async (): Promise<void> => {
      polls.under = Array.from({ length: 20 }, (_, i) => polling(world, `n${String(1 + (i % 2))}`, last, 60));
      await vi.waitFor(() => expect(pollRelay.size).toBe(40), PATIENCE);
    };
    const told = async (attempt: number): Promise<void> => {
      const endpoints = [anEndpoint(`10.2.0.${String(attempt + 2)}`)];
      await world.send("PUT", `${PATHS.slices}/own`, { ...slice, metadata: { ...slice.metadata, resourceVersion: "" }, endpoints });
      for (const answer of await Promise.all(polls.under)) {
        expect([answer.status, await answer.text()]).toMatchObject([200, expect.stringContaining(`10.2.0.${String(attempt + 2)}`)]);
        last = answer.headers.get("ETag") ?? "";
      }
    };
    await economy.measure("page of a node: a slice changes, and 20 polls are told", told, { before: wait });
    economy.expectWithinBounds();
  },
  SLOW_MACHINE_MS,
);
