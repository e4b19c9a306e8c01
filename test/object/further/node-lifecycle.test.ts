/** The node lifecycle controller in its real object, on a clock that the test moves. */
import { abortAllDurableObjects, createExecutionContext, env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import type { Node } from "../../../src/api/meta/kubernetes";
import type { ControllerRpc } from "../../../src/api/rpc/store";
import { rfc3339Micros, rfc3339Seconds } from "../../../src/api/meta/time";
import worker from "../../../src/worker/index";
import { type Call, countedCalls } from "../../support/objects/counted-calls";
import { countedStatements } from "../../support/objects/counted-rows";
import { freshCluster } from "../../support/objects/store-stubs";
import { PATIENCE } from "../../support/objects/patience";

const bindings = env as unknown as Env;
const NODES = "/api/v1/nodes";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const PERIOD_MS = 5_000;
/** Alarms are set by the clock of the test and ring by the real one: not before the test rings them. */
const BEGUN = Math.ceil(Date.now() / 1_000) * 1_000 + 86_400_000;

let cluster: string;
let nowMs: number;

beforeEach(() => {
  cluster = freshCluster();
  moveTo(BEGUN);
});
afterEach(() => {
  vi.useRealTimers();
});

function moveTo(ms: number): void {
  nowMs = ms;
  vi.setSystemTime(ms);
}

async function send(method: string, path: string, body?: object): Promise<unknown> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const init = { method, headers: { "Content-Type": type }, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await worker.fetch(new Request(`http://h/clusters/${cluster}${path}`, init), bindings, createExecutionContext());
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

const renew = (name: string): Promise<unknown> => send("PATCH", `${LEASES}/${name}`, { spec: { renewTime: rfc3339Micros(nowMs) } });

async function addNode(name: string): Promise<void> {
  await send("POST", LEASES, { metadata: { name }, spec: { renewTime: rfc3339Micros(nowMs) } });
  const now = rfc3339Seconds(nowMs);
  const conditions = [{ type: "Ready", status: "True", lastHeartbeatTime: now, lastTransitionTime: now }];
  await send("POST", NODES, { metadata: { name }, status: { conditions } });
}

async function ready(name: string): Promise<string | undefined> {
  const node = (await send("GET", `${NODES}/${name}`)) as Node;
  return node.status?.conditions?.find(({ type }) => type === "Ready")?.status;
}

const controller = (): DurableObjectStub =>
  bindings.CONTROLLER.get(bindings.CONTROLLER.idFromName(`${cluster}/controllers/node-lifecycle-controller`));
const alarmAt = (): Promise<number | null> => runInDurableObject(controller(), (_, { storage }) => storage.getAlarm());

/** Period by period the alarm rings when it is due. */
async function pass(durationMs: number, ...renewing: string[]): Promise<void> {
  for (const end = nowMs + durationMs; nowMs < end;) {
    moveTo(nowMs + PERIOD_MS);
    for (const name of renewing) await renew(name);
    if (((await alarmAt()) ?? Infinity) <= nowMs) await runDurableObjectAlarm(controller());
  }
}

it("a Node that falls silent becomes Unknown, also when its objects start again meanwhile; then no alarm is set", async () => {
  await addNode("n");
  await vi.waitFor(async () => expect(await alarmAt()).not.toBeNull(), PATIENCE);
  await pass(100_000, "n");
  await pass(25_000);
  await abortAllDurableObjects();
  await pass(25_000);
  expect(await ready("n")).toBe("True");
  // The store of Leases has started again, and has to serve for three periods.
  await pass(25_000);
  expect(await ready("n")).toBe("Unknown");
  // What a poke may have asked for is done.
  await vi.waitFor(async () => {
    await runDurableObjectAlarm(controller());
    expect(await alarmAt()).toBeNull();
  }, PATIENCE);
});

it("objects that were away for two minutes: a Node has the whole grace again", async () => {
  await addNode("n");
  await vi.waitFor(async () => expect(await alarmAt()).not.toBeNull(), PATIENCE);
  await pass(30_000, "n");
  await abortAllDurableObjects();
  moveTo(nowMs + 120_000);
  await pass(50_000);
  expect(await ready("n")).toBe("True");
  await pass(15_000);
  expect(await ready("n")).toBe("Unknown");
});

it("a Node that renews: a look in a grace, which costs one call and the row of its alarm", async () => {
  await addNode("n");
  await vi.waitFor(async () => expect(await alarmAt()).not.toBeNull(), PATIENCE);
  await pass(60_000, "n");
  const before = await alarmAt();
  moveTo((before ?? 0) - 1);
  await renew("n");
  moveTo(before ?? 0);
  const calls: Call[] = [];
  const stub = controller();
  const statements = await countedStatements(stub, async () => {
    calls.push(...(await countedCalls(async () => void (await runDurableObjectAlarm(stub)))));
  });
  expect(calls.filter(({ object }) => object.startsWith(cluster)).map(({ method }) => method)).toEqual(["valuesSince"]);
  expect(statements.filter(({ object, written }) => object?.startsWith(`${cluster}/`) && written > 0)).toEqual([]);
  expect((await alarmAt()) ?? 0).toBeGreaterThan(nowMs + 48_000);
});

it("pokes between two looks: the alarm that is set stays, and is not set again", async () => {
  await addNode("n");
  await vi.waitFor(async () => expect(await alarmAt()).not.toBeNull(), PATIENCE);
  await pass(60_000, "n");
  const before = await alarmAt();
  const storage = await runInDurableObject(controller(), (_, state) => state.storage);
  const set = vi.spyOn(Object.getPrototypeOf(storage) as DurableObjectStorage, "setAlarm");
  const poked = await countedCalls(async () => {
    await (controller() as unknown as ControllerRpc).poke();
  });
  expect(poked.map(({ method }) => method)).toContain("objectsSince");
  // Other objects set theirs.
  expect([set.mock.contexts.filter((setter) => setter === storage), await alarmAt()]).toEqual([[], before]);
  set.mockRestore();
});

it("a renewal: calls no controller", async () => {
  await addNode("n");
  await vi.waitFor(async () => expect(await alarmAt()).not.toBeNull(), PATIENCE);
  vi.useRealTimers();
  const calls = await countedCalls(async () => void (await renew("n")));
  expect(calls.map(({ object }) => object).filter((object) => !object.includes("controllers/"))).not.toEqual([]);
  expect(calls.filter(({ object }) => object.includes("controllers/"))).toEqual([]);
});
