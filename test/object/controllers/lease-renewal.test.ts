/** What a renewal costs: the PUT of a kubelet, through the whole Worker and the real objects. */
import { createExecutionContext, env, runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { CONTROLLERS } from "../../../durable-objects/platform/controllers";
import type { Env } from "../../../durable-objects/platform/env";
import { controller, leasesStore } from "../../../durable-objects/peers/peers";
import type { KubeObject, Lease } from "../../../src/api/meta/kubernetes";
import { rfc3339Micros } from "../../../src/api/meta/time";
import worker from "../../../src/worker/index";
import { countedCalls } from "../../support/objects/counted-calls";
import { countedStatements } from "../../support/objects/counted-rows";

const bindings = env as unknown as Env;
const CLUSTER = "lease-renewal";
const STORE = `${CLUSTER}/leases.coordination.k8s.io`;
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

async function send<T>(method: string, path: string, body: object): Promise<T> {
  const init = { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await worker.fetch(new Request(`http://h/clusters/${CLUSTER}${path}`, init), bindings, createExecutionContext());
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
  await countedCalls(() => Promise.all(CONTROLLERS.names.map((name) => controller(bindings, CLUSTER, name).poke())));
  const lifecycle = bindings.CONTROLLER.getByName(`${CLUSTER}/controllers/node-lifecycle-controller`);
  for (let rounds = 0; rounds < 20; rounds++) {
    // It looks at the Leases of Nodes every few seconds.
    await runInDurableObject(lifecycle, (_, { storage }) => storage.deleteAlarm());
    if ((await countedCalls(() => Promise.resolve())).length === 0) return lease;
  }
  throw new Error("the objects do not come to rest");
}

it("renewal of a node's Lease: one call to its store, a watch has it, and no other object hears of it", async () => {
  let lease = await settled();
  const { revision } = await leasesStore(bindings, CLUSTER).counters();
  const watched = await worker.fetch(
    new Request(`http://h/clusters/${CLUSTER}${LEASES}?watch=true&resourceVersion=${String(revision)}`),
    bindings,
    createExecutionContext(),
  );
  const calls = await countedCalls(async () => {
    for (let second = 1; second <= 3; second++) lease = await renewed(lease, second);
  });
  expect(calls.map(({ object, method }) => `${object} ${method}`)).toEqual(Array(3).fill(`${STORE} write`));
  expect((await leasesStore(bindings, CLUSTER).counters()).revision).toBe(revision + 3);
  const events = await firstEvents(watched, 3);
  const wanted = [1, 2, 3].map((step) => ["MODIFIED", String(revision + step)]);
  expect(events.map(({ type, object }) => [type, object.metadata?.resourceVersion])).toEqual(wanted);
});

/** Ends the watch behind them. */
async function firstEvents({ body }: Response, count: number): Promise<{ type: string; object: KubeObject }[]> {
  const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (text.split("\n").length <= count) text += (await reader.read()).value ?? "";
  await reader.cancel();
  return text.split("\n", count).map((line) => JSON.parse(line) as { type: string; object: KubeObject });
}

it("renewal of a node's Lease: writes its object, its history and the revision, and no other row", async () => {
  const lease = await settled();
  const statements = await countedStatements(bindings.RESOURCE_STORE.getByName(STORE), () => renewed(lease, 1));
  const written = statements.filter((statement) => statement.written > 0);
  const rows = written.map(({ query, written }) => [/\bINTO (\w+)/.exec(query)?.[1], written]);
  expect(rows).toEqual(["objects", "history", "history_before", "store_state"].map((table) => [table, 1]));
});
