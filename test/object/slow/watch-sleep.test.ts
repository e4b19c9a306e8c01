/** Stores that leave memory, most of them while Workers watch: the platform's own eviction, which takes ten seconds without an event, and no fake timer reaches it. */
import { env, listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { expect, it, vi } from "vitest";
import type { ResourceStore } from "../../../durable-objects/resource-store";
import { definitionOf } from "../../../src/api/registry/all";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { COLLECTION_HEADER, encodeCollection } from "../../../src/api/store/list/collection-header";
import { readRelayFrame, RELAY_FORM, RELAY_HEADER, relayAnswer } from "../../../src/api/store/watch/relay-frames";
import { PATIENCE } from "../../support/objects/patience";
import { collect, createIn, freshCluster, mergePatch, type StoreStub, storeStubOf } from "../../support/objects/store-stubs";
import { messageOf, ObjectCluster } from "../../support/objects/object-cluster";
import { OBJECT_BINDINGS } from "../../support/objects/every-object";
import { objectNameOf } from "../../support/objects/counted-rows";
import { EconomyWorld } from "../../support/economy/world";
import { polling, watching } from "../../support/relay/watching-client";
import { aLease as lease, collectionRequest } from "../../support/worlds/store-world";

const aLease = (name: string, identity = "x") => lease(name, { holderIdentity: identity }, { namespace: "default" });
/** longer than the platform keeps an object without events, and than the store tells what has passed */
const ASLEEP_MS = 20_000;
const PATIENT = { ...PATIENCE, interval: 100 };

async function watched(stub: StoreStub, labelSelector = ""): Promise<{ events: string[]; socket: WebSocket; taken(): number }> {
  const definition = definitionOf("coordination.k8s.io", "leases");
  if (!definition) throw new Error("no leases");
  const request = collectionRequest(definition, { verb: "watch", resourceVersion: "1", labelSelector });
  const headers = { Upgrade: "websocket", [RELAY_HEADER]: RELAY_FORM, [COLLECTION_HEADER]: encodeCollection(request) };
  const { webSocket: socket } = await stub.fetch("http://store/collection", { headers });
  if (!socket) throw new Error("no socket");
  const events: string[] = [];
  let bytes = 0;
  socket.binaryType = "arraybuffer";
  socket.addEventListener("close", () => void events.push("closed"));
  socket.addEventListener("message", ({ data }) => {
    const frame = readRelayFrame(data);
    bytes += frame?.bytes.length ?? 0;
    const lines = new TextDecoder().decode(frame?.bytes).split("\n");
    for (const line of lines.filter((one) => one !== "")) {
      const { type, object } = JSON.parse(line) as { type: string; object: KubeObject };
      events.push(`${type} ${object.metadata?.name ?? ""}@${object.metadata?.resourceVersion ?? ""}`);
    }
  });
  socket.accept();
  return { events, socket, taken: () => bytes };
}

/** Whether the object has left memory since `mark` was set. */
const lives = new WeakMap<object, true>();
const mark = (stub: StoreStub): Promise<void> => runInDurableObject(stub, (object: ResourceStore) => void lives.set(object, true));
const isAnew = (stub: StoreStub): Promise<boolean> => runInDurableObject(stub, (object: ResourceStore) => !lives.has(object));

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

it("a quiet store with watchers: leaves memory, and each later change arrives once, in order (20 s in real time, twice)", async () => {
  const stub = storeStubOf(freshCluster(), "leases.coordination.k8s.io");
  const [all, none] = [await watched(stub), await watched(stub, "color=red")];
  // A stream keeps its store, as this test has to notice.
  const kept = storeStubOf(freshCluster(), "leases.coordination.k8s.io");
  const stream = await collect(kept, "coordination.k8s.io", "leases", { verb: "watch" });
  await mark(kept);
  const wanted: string[] = [];
  for (let round = 0; round < 2; round++) {
    const name = `a${round}`;
    await createIn(stub, aLease(name));
    wanted.push(`ADDED ${name}@${round + 2}`);
    await vi.waitFor(() => expect(all.events).toEqual(wanted), PATIENT);
    await mark(stub);
    await sleep(ASLEEP_MS);
    expect([await isAnew(stub), await isAnew(kept)]).toEqual([true, false]);
  }
  await stream.body?.cancel();
  await createIn(stub, aLease("last"));
  await vi.waitFor(() => expect(all.events).toEqual([...wanted, "ADDED last@4"]), PATIENT);
  expect(none.events).toEqual([]);
  for (const { socket } of [all, none]) socket.close();
  await vi.waitFor(async () => expect((await stub.counters()).sockets).toBe(0), PATIENT);
}, 120_000);

it("a store whose watcher has no credit: leaves memory, and an answer wakes it (20 s in real time)", async () => {
  const stub = storeStubOf(freshCluster(), "leases.coordination.k8s.io");
  const { events, socket, taken } = await watched(stub);
  await createIn(stub, aLease("a"));
  const big = "x".repeat(100_000);
  for (let i = 0; i < 12; i++) await stub.write(mergePatch("default", "a", { spec: { holderIdentity: `${i}${big}` } }));
  await vi.waitFor(() => expect(events.length).toBeGreaterThan(2), PATIENT);
  await mark(stub);
  await sleep(ASLEEP_MS);
  const before = events.length;
  expect(before).toBeLessThan(13);
  await vi.waitFor(() => {
    socket.send(relayAnswer(taken()));
    expect(events).toHaveLength(13);
  }, PATIENT);
  expect(events).toEqual(["ADDED a@2", ...Array.from({ length: 12 }, (_, i) => `MODIFIED a@${i + 3}`)]);
  expect(await isAnew(stub)).toBe(true);
  socket.close();
}, 120_000);

it("a services store that has refused creates: leaves memory, and its counts do not go with it (20 s in real time)", async () => {
  const cluster = await new ObjectCluster().ready();
  for (const name of ["a", "b"]) expect(messageOf(await cluster.create(name, { clusterIP: "10.96.0.1" }))).toContain("422");
  const stub = cluster.servicesObject;
  await runInDurableObject(stub, (object) => void lives.set(object, true));
  await sleep(ASLEEP_MS);
  expect(await runInDurableObject(stub, (object) => lives.has(object))).toBe(false);
  expect(await cluster.services.allocations()).toMatchObject([{ errors: { static: 2 } }]);
}, 120_000);

/** The objects of a cluster, by their names. */
async function objectsOf(cluster: string): Promise<Map<string, DurableObjectStub>> {
  const bindings = env as unknown as Record<string, DurableObjectNamespace>;
  const found = new Map<string, DurableObjectStub>();
  for (const binding of OBJECT_BINDINGS) {
    const namespace = bindings[binding];
    if (!namespace) continue;
    for (const id of await listDurableObjectIds(namespace)) {
      const stub = namespace.get(id);
      // An object that another test has left without its tables does not start.
      const name = await runInDurableObject(stub, (_, { storage }) => objectNameOf(storage.sql)).catch(() => undefined);
      if (name?.startsWith(cluster)) found.set(name, stub);
    }
  }
  // It has no table of its own that says its name.
  const view = (bindings.PROXY_VIEW as DurableObjectNamespace).getByName(`${cluster}/proxy-view`);
  return found.set("proxy-view", view);
}

it("a quiet cluster with 50 watchers and the polls of 20 proxies: no object stays awake, and the change after it reaches them all (40 s in real time)", async () => {
  const world = await new EconomyWorld().begin();
  const paths = ["services", "configmaps", "pods"].map((resource) => `/api/v1/namespaces/default/${resource}`);
  const lists = await Promise.all(paths.map(async (path) => (await world.send("GET", path)).metadata?.resourceVersion ?? ""));
  const clients = [];
  for (let i = 0; i < 50; i++) clients.push(await watching(world, paths[i % 3] ?? "", lists[i % 3] ?? ""));
  for (const name of ["n1", "n2"]) await world.send("POST", "/api/v1/nodes", { metadata: { name } });
  const page = await polling(world, "n1");
  // A body that nobody takes keeps its object.
  await page.text();
  const polls = Array.from({ length: 20 }, (_, i) => polling(world, `n${String(1 + (i % 2))}`, page.headers.get("ETag") ?? "", 240));
  await sleep(1_000);
  const objects = await objectsOf(world.cluster);
  expect(objects.size).toBeGreaterThan(5);
  for (const stub of objects.values()) await runInDurableObject(stub, (object) => void lives.set(object, true));
  await sleep(2 * ASLEEP_MS);
  const awake = [];
  for (const [name, stub] of objects) if (await runInDurableObject(stub, (object) => lives.has(object))) awake.push(name);
  expect(awake).toEqual([]);
  await world.send("POST", paths[1] ?? "", { metadata: { name: "woken" } });
  const told = clients.filter((_, i) => i % 3 === 1);
  await vi.waitFor(() => expect(told.map(({ names }) => names.join())).toEqual(told.map(() => "woken")), PATIENT);
  await world.send("POST", paths[0] ?? "", { metadata: { name: "polled" }, spec: { ports: [{ port: 80 }] } });
  for (const answer of await Promise.all(polls)) {
    expect([answer.status, await answer.text()]).toMatchObject([200, expect.stringContaining('"name":"polled"')]);
  }
  await Promise.all(clients.map(({ cancel }) => cancel()));
  await world.end();
}, 180_000);
