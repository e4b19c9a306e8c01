/** The controllers of Pods without a kubelet in real Durable Objects, on a clock that the test moves: rows and alarms outlive their objects. */
import { abortAllDurableObjects, env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ControllerName } from "../../../../durable-objects/platform/controllers";
import type { Env } from "../../../../durable-objects/platform/env";
import type { CoreEvent, KubeObject, Pod } from "../../../../src/api/meta/kubernetes";
import type { WriteRequest } from "../../../../src/api/rpc/store";
import { upstreamRow } from "../../../conformance/upstream-row";
import { countedCalls } from "../../../support/objects/counted-calls";
import { collect, freshCluster, storedIn, storeStubOf } from "../../../support/objects/store-stubs";
import { createRequest, DELETE, WRITE } from "../../../support/worlds/store-world";
import { PATIENCE } from "../../../support/objects/patience";

const bindings = env as unknown as Env;
const CORE = { ...WRITE, group: "" };
const TAINT = { key: "example.com/t", effect: "NoExecute" as const };
/** Alarms are set by the clock of the test and ring by the real one, so none rings by itself. */
const BEGUN = Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000;
const SECOND = 1_000;

afterEach(() => {
  vi.useRealTimers();
});

class Cluster {
  readonly name = freshCluster();

  async write(resource: "pods" | "nodes", request: WriteRequest): Promise<void> {
    const answer = await storeStubOf(this.name, resource).write(request);
    expect(answer, JSON.stringify(answer)).toMatchObject({ ok: true });
  }

  node(name: string, taints: object[] = []): Promise<void> {
    return this.write("nodes", createRequest({ metadata: { name }, spec: { taints } } as KubeObject, CORE));
  }

  /** Ready of the Node becomes Unknown. */
  unknown(name: string): Promise<void> {
    const patch = JSON.stringify({ status: { conditions: [{ type: "Ready", status: "Unknown" }] } });
    const key = { namespace: "", name };
    return this.write("nodes", { verb: "patch", key, subresource: "status", patchType: "merge", patch, options: CORE });
  }

  pod(name: string, spec: object = {}): Promise<void> {
    const whole = { nodeName: "n", containers: [{ name: "c", image: "i" }], ...spec };
    return this.write("pods", createRequest({ metadata: { namespace: "default", name }, spec: whole } as KubeObject, CORE));
  }

  status(name: string, status: object): Promise<void> {
    const key = { namespace: "default", name };
    const patch = JSON.stringify({ status });
    return this.write("pods", { verb: "patch", key, subresource: "status", patchType: "merge", patch, options: CORE });
  }

  delete(name: string): Promise<void> {
    return this.write("pods", { verb: "delete", key: { namespace: "default", name }, options: DELETE });
  }

  stored(name: string): Promise<Pod | undefined> {
    return storedIn<Pod>(storeStubOf(this.name, "pods"), "default", name);
  }

  controller(name: ControllerName): DurableObjectStub {
    return bindings.CONTROLLER.getByName(`${this.name}/controllers/${name}`);
  }

  alarmOf(name: ControllerName): Promise<number | null> {
    return runInDurableObject(this.controller(name), (_, { storage }) => storage.getAlarm());
  }

  /** Waits for the alarm, goes to its time and rings it. Answers the time, counted from BEGUN. */
  async ring(name: ControllerName): Promise<number> {
    const at = await vi.waitFor(async () => {
      const alarm = await this.alarmOf(name);
      expect(alarm).not.toBeNull();
      return Number(alarm);
    }, PATIENCE);
    vi.setSystemTime(at);
    await runDurableObjectAlarm(this.controller(name));
    return at - BEGUN;
  }

  /** What Events of evictions say. */
  async notes(): Promise<(string | undefined)[]> {
    const { items } = await (await collect(storeStubOf(this.name, "events"), "", "events")).json<{ items: CoreEvent[] }>();
    return items.filter(({ reason }) => reason === "TaintManagerEviction").map(({ message }) => message);
  }
}

describe("pod-garbage-collector-controller", () => {
  it("a Pod that is being deleted on a Node whose Ready is Unknown: goes after its grace, although its objects slept; then no alarm is left", async () => {
    vi.setSystemTime(BEGUN);
    const cluster = new Cluster();
    await cluster.node("n");
    await cluster.unknown("n");
    await cluster.pod("p");
    await cluster.delete("p");
    expect((await cluster.stored("p"))?.metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
    await vi.waitFor(async () => expect(await cluster.alarmOf("pod-garbage-collector-controller")).not.toBeNull(), PATIENCE);
    await abortAllDurableObjects();
    let at = 0;
    for (let rings = 0; rings < 10 && (await cluster.stored("p")); rings++) at = await cluster.ring("pod-garbage-collector-controller");
    expect(await cluster.stored("p")).toBeUndefined();
    expect(at).toBeGreaterThanOrEqual(30 * SECOND);
    expect(at).toBeLessThanOrEqual(60 * SECOND);
    for (let rings = 0; rings < 3 && (await cluster.alarmOf("pod-garbage-collector-controller")) !== null; rings++) {
      await cluster.ring("pod-garbage-collector-controller");
    }
    expect(await cluster.alarmOf("pod-garbage-collector-controller")).toBeNull();
  });

  it("a Pod on a Node that does not exist: fails and goes after the quarantine", async () => {
    vi.setSystemTime(BEGUN);
    const cluster = new Cluster();
    await cluster.pod("p", { nodeName: "gone" });
    let at = 0;
    for (let rings = 0; rings < 10 && (await cluster.stored("p")); rings++) at = await cluster.ring("pod-garbage-collector-controller");
    expect(await cluster.stored("p")).toBeUndefined();
    expect(at).toBeGreaterThanOrEqual(40 * SECOND);
    expect(at).toBeLessThanOrEqual(80 * SECOND);
  });
});

upstreamRow("tainteviction: TestPodDeletionEvent", () => {
  it("a tolerated time: stands when the object slept; then the Pod has the condition and is deleted, and Events tell it", async () => {
    vi.setSystemTime(BEGUN);
    const cluster = new Cluster();
    await cluster.node("n", [TAINT]);
    await cluster.pod("p", { tolerations: [{ ...TAINT, operator: "Exists", tolerationSeconds: 70 }] });
    await cluster.pod("intolerant");
    // The first pass may have begun before this Pod came. The alarm begins the next one a second later.
    for (let rings = 0; rings < 3 && !(await cluster.stored("intolerant"))?.metadata?.deletionTimestamp; rings++) {
      await cluster.ring("taint-eviction-controller");
    }
    expect((await cluster.stored("intolerant"))?.metadata?.deletionTimestamp).toBeDefined();
    expect((await cluster.stored("p"))?.metadata?.deletionTimestamp).toBeUndefined();
    const marked = (name: string): string => `Marking for deletion Pod default/${name}`;
    // The pass that did it has not ended before that.
    await vi.waitFor(async () => expect(await cluster.notes()).toEqual([marked("intolerant")]), PATIENCE);
    let at = 0;
    for (let rings = 0; rings < 10 && !(await cluster.stored("p"))?.metadata?.deletionTimestamp; rings++) {
      await abortAllDurableObjects();
      at = await cluster.ring("taint-eviction-controller");
    }
    const { metadata, status } = (await cluster.stored("p")) ?? {};
    expect(metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
    expect(status?.conditions).toMatchObject([{ type: "DisruptionTarget", status: "True", reason: "DeletionByTaintManager" }]);
    expect(at).toBeGreaterThanOrEqual(70 * SECOND);
    expect(at).toBeLessThanOrEqual(75 * SECOND);
    await vi.waitFor(async () => expect((await cluster.notes()).sort()).toEqual([marked("intolerant"), marked("p")]), PATIENCE);
    expect(await cluster.alarmOf("taint-eviction-controller")).toBeNull();
  });
});

it("statuses of Pods that live on: neither controller hears of them", async () => {
  const cluster = new Cluster();
  await cluster.node("n");
  await cluster.pod("p");
  await cluster.status("p", { phase: "Running" });
  const calls = await countedCalls(async () => {
    for (let i = 0; i < 20; i++) await cluster.status("p", { podIP: `10.0.0.${i}`, podIPs: [{ ip: `10.0.0.${i}` }] });
  });
  const heard = calls.filter(({ object, method }) => method === "poke" && /pod-garbage|taint-eviction/.test(object));
  expect(heard.length).toBeLessThanOrEqual(2);
  expect(calls.filter(({ object, method }) => method === "poke" && object.endsWith("endpointslice-controller")).length).toBeGreaterThan(0);
});
