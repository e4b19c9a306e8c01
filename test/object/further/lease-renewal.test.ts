/** What a renewal costs: the PUT of a kubelet, through the whole Worker and the real objects. */
import { createExecutionContext, env, runInDurableObject } from "cloudflare:test";
import { beforeEach, expect, it } from "vitest";
import { CONTROLLERS } from "../../../durable-objects/platform/controllers";
import type { Env } from "../../../durable-objects/platform/env";
import { controller, leasesStore } from "../../../durable-objects/peers/peers";
import type { KubeObject, Lease } from "../../../src/api/meta/kubernetes";
import { rfc3339Micros } from "../../../src/api/meta/time";
import worker from "../../../src/worker/index";
import { firstEvents } from "../../support/clients/watch-events";
import { countedCalls } from "../../support/objects/counted-calls";
import { countedStatements } from "../../support/objects/counted-rows";
import { freshCluster } from "../../support/objects/store-stubs";

const bindings = env as unknown as Env;
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

let cluster: string;
const store = (): string => `${cluster}/leases.coordination.k8s.io`;
beforeEach(() => void (cluster = freshCluster()));

async function send<T>(method: string, path: string, body: object): Promise<T> {
  const init = { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await worker.fetch(new Request(`http://h/clusters/${cluster}${path}`, init), bindings, createExecutionContext());
  if (!response.ok) throw new Error(await response.text());
  return response.json<T>();
}

/** As kubelet makes it: owned by its Node. */
async function heartbeat(): Promise<Lease> {
  const node = await send<KubeObject>("POST", "/api/v1/nodes", { metadata: { name: "n1" } });
  const owner = { apiVersion: "v1", kind: "Node", name: "n1", uid: node.metadata?.uid };
  const spec = { holderIdentity: "n1", leaseDurationSeconds: 40, renewTime: rfc3339Micros(Date.now()) };
  return send<Lease>("POST", LEASES, { metadata: { name: "n1", ownerReferences: [owner] }, spec });
}

/** Without a GET: the object of the last answer. */
const renewed = ({ metadata, spec }: Lease, second: number): Promise<Lease> =>
  send<Lease>("PUT", `${LEASES}/n1`, { metadata, spec: { ...spec, renewTime: rfc3339Micros(Date.UTC(2030, 0, 1, 0, 0, second)) } });

/** A Lease that has been renewed, and all that follows a Node and a first write has ended. */
async function settled(): Promise<Lease> {
  const lease = await renewed(await heartbeat(), 0);
  // Passes that are under way may rest between two calls. A poke ends with the pass.
  await countedCalls(() => Promise.all(CONTROLLERS.names.map((name) => controller(bindings, cluster, name).poke())));
  const lifecycle = bindings.CONTROLLER.getByName(`${cluster}/controllers/node-lifecycle-controller`);
  for (let rounds = 0; rounds < 20; rounds++) {
    // It looks at the Leases of Nodes every few seconds.
    await runInDurableObject(lifecycle, (_, { storage }) => storage.deleteAlarm());
    if ((await countedCalls(() => Promise.resolve())).length === 0) return lease;
  }
  throw new Error("the objects do not come to rest");
}

it("renewal of a node's Lease: one call to its store, a watch has it, and no other object hears of it", async () => {
  let lease = await settled();
  const { revision } = await leasesStore(bindings, cluster).counters();
  const watched = await worker.fetch(
    new Request(`http://h/clusters/${cluster}${LEASES}?watch=true&resourceVersion=${String(revision)}`),
    bindings,
    createExecutionContext(),
  );
  const calls = await countedCalls(async () => {
    for (let second = 1; second <= 3; second++) lease = await renewed(lease, second);
  });
  expect(calls.map(({ object, method }) => `${object} ${method}`)).toEqual(Array(3).fill(`${store()} write`));
  expect((await leasesStore(bindings, cluster).counters()).revision).toBe(revision + 3);
  const events = await firstEvents<{ type: string; object: KubeObject }>(watched, 3);
  const wanted = [1, 2, 3].map((step) => ["MODIFIED", String(revision + step)]);
  expect(events.map(({ type, object }) => [type, object.metadata?.resourceVersion])).toEqual(wanted);
});

/** Tables of the rows of the cluster that `work` writes, each with how many. */
async function rowsOf(work: () => Promise<unknown>): Promise<[table: string | undefined, rows: number][]> {
  const statements = await countedStatements(bindings.RESOURCE_STORE.getByName(store()), work);
  const written = statements.filter(({ object, written }) => object?.startsWith(`${cluster}/`) && written > 0);
  return written.map(({ query, written }) => [/\bINTO (\w+)/.exec(query)?.[1], written]);
}

it("renewal of a node's Lease that nobody watches: writes its object, and no other row", async () => {
  let lease = await settled();
  const rows = await rowsOf(async () => {
    for (let second = 1; second <= 5; second++) lease = await renewed(lease, second);
  });
  expect(rows).toEqual(Array(5).fill(["objects", 1]));
});

it("renewal of a node's Lease that somebody has listed: writes its object and one row of history, at first the store's state, too", async () => {
  const lease = await settled();
  await worker.fetch(new Request(`http://h/clusters/${cluster}${LEASES}`), bindings, createExecutionContext());
  let next = lease;
  const rows = await rowsOf(async () => {
    for (let second = 1; second <= 2; second++) next = await renewed(next, second);
  });
  expect(rows).toEqual([
    ["objects", 1],
    ["history", 1],
    ["store_state", 1],
    ["objects", 1],
    ["history", 1],
  ]);
});

it("create of a node's Lease: writes its object and one row of history", async () => {
  await settled();
  const lease = { metadata: { name: "n2" }, spec: { holderIdentity: "n2", leaseDurationSeconds: 40 } };
  expect(await rowsOf(() => send("POST", LEASES, lease))).toEqual([
    ["objects", 1],
    ["history", 1],
  ]);
});
