/** The controllers of endpoints in real Durable Objects: rows and cursors outlive their objects. */
import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import type { Controller } from "../../../durable-objects/controller";
import type { ControllerName } from "../../../durable-objects/platform/controllers";
import type { Env } from "../../../durable-objects/platform/env";
import { allStores, controller as controllerStub, servicesStore } from "../../../durable-objects/peers/peers";
import { sqlRowStorage } from "../../../durable-objects/sql/followed-rows-sql";
import type { CoreEvent, EndpointSlice, KubeObject, Pod } from "../../../src/api/meta/kubernetes";
import { inParallel } from "../../../src/core/base/in-parallel";
import { endpointsOf } from "../../../src/endpoints/slices/slice-endpoint";
import { metricsResponse } from "../../../src/worker/system/metrics";
import { type Call, countedCalls } from "../../support/objects/counted-calls";
import { collect, freshCluster, storeStubOf } from "../../support/objects/store-stubs";
import { parsePrometheus } from "../../support/values/prometheus";
import { createRequest, WRITE } from "../../support/worlds/store-world";
import { PATIENCE } from "../../support/objects/patience";

const bindings = env as unknown as Env;
const SLICES = "endpointslices.discovery.k8s.io";
const CORE = { ...WRITE, group: "" };

class Cluster {
  readonly name = freshCluster();

  async create(resource: "pods" | "nodes" | "services", object: KubeObject): Promise<void> {
    const store = resource === "services" ? servicesStore(bindings, this.name) : storeStubOf(this.name, resource);
    const answer = await store.write(createRequest(object, CORE));
    expect(answer, JSON.stringify(answer)).toMatchObject({ ok: true });
  }

  async pod(name: string, ip: string): Promise<void> {
    const metadata = { namespace: "default", name, labels: { app: "web" } };
    const spec = { nodeName: "n1", containers: [{ name: "c", image: "i" }] };
    await this.create("pods", { metadata, spec } as Pod);
    await this.ready(name, ip, "True");
  }

  async ready(name: string, ip: string, status: string): Promise<void> {
    const patch = JSON.stringify({ status: { phase: "Running", podIPs: [{ ip }], podIP: ip, conditions: [{ type: "Ready", status }] } });
    const key = { namespace: "default", name };
    const request = { verb: "patch", key, subresource: "status", patchType: "merge", patch, options: CORE } as const;
    expect(await storeStubOf(this.name, "pods").write(request)).toMatchObject({ ok: true });
  }

  /** Service `web` with Pods web-0, web-1, …, and slices that have them all. */
  async filled(count: number): Promise<void> {
    await servicesStore(bindings, this.name).ensureBootstrapped();
    await this.create("nodes", { metadata: { name: "n1" } });
    const pods = Array.from({ length: count }, (_, i) => i);
    await inParallel(pods, 20, (i) => this.pod(`web-${i}`, addressOf(i)));
    // Else the first slice may be made before the last Pod was read, and be changed once.
    await this.hasRead(["pods"]);
    const spec = { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] };
    await this.create("services", { metadata: { namespace: "default", name: "web" }, spec } as KubeObject);
    await this.has(count);
  }

  async slices(): Promise<EndpointSlice[]> {
    return (await this.list<EndpointSlice>(SLICES)).items;
  }

  async list<T>(resource: "pods" | typeof SLICES): Promise<{ items: T[]; metadata: { resourceVersion: string } }> {
    const [name = "", ...group] = resource.split(".");
    return (await collect(storeStubOf(this.name, resource), group.join("."), name)).json();
  }

  /** Waits until so many endpoints are ready. */
  async has(ready: number): Promise<void> {
    const count = async (): Promise<number> => {
      const slices = await this.slices();
      return slices.flatMap(endpointsOf).filter(({ conditions }) => conditions?.ready).length;
    };
    await vi.waitFor(async () => expect(await count()).toBe(ready), PATIENCE);
  }

  /** Series of the slice controller and of mirroring in /metrics, without buckets and durations: `changes create` -> 3. */
  async metrics(): Promise<Record<string, number>> {
    const families = parsePrometheus(await (await metricsResponse(bindings, this.name)).text());
    const samples = [...families].flatMap(([name, family]) => (name.startsWith("endpoint_slice_") ? family.samples : []));
    const shown = samples.filter(({ name }) => !/_bucket$|duration/.test(name));
    return Object.fromEntries(
      shown.map(({ name, labels: { cluster: _cluster, ...labels }, value }) => [
        [name.replace("endpoint_slice_", "").replace("_controller", ""), ...Object.values(labels)].join(" "),
        value,
      ]),
    );
  }

  /** Events of a reporter: subject, its uid, reason. */
  async events(reporter: string): Promise<string[]> {
    const { items } = await (await collect(storeStubOf(this.name, "events"), "", "events")).json<{ items: CoreEvent[] }>();
    const own = items.filter(({ reportingComponent }) => reportingComponent === reporter);
    return own.map(({ involvedObject: { kind, uid }, type, reason }) => [kind, uid, type, reason].join(" "));
  }

  object(name: ControllerName): DurableObjectStub {
    return bindings.CONTROLLER.getByName(`${this.name}/controllers/${name}`);
  }

  /** Waits until the slice controller has stored that it read every Pod and slice: after cron's poke it does. */
  async hasRead(resources: readonly ("pods" | typeof SLICES)[] = ["pods", SLICES]): Promise<void> {
    for (const resource of resources) {
      const { metadata } = await this.list(resource);
      const cursor = (): Promise<number | undefined> =>
        runInDurableObject(
          this.object("endpointslice-controller"),
          (_, { storage }) => [...sqlRowStorage(storage).cursors()].find(([name]) => name === resource.split(".")[0])?.[1].revision,
        );
      const stored = async (): Promise<number | undefined> => {
        await controllerStub(bindings, this.name, "endpointslice-controller").poke();
        return cursor();
      };
      await vi.waitFor(async () => expect(await stored()).toBe(Number(metadata.resourceVersion)), PATIENCE);
    }
  }
}

function addressOf(i: number): string {
  return `10.1.${Math.floor(i / 250)}.${(i % 250) + 1}`;
}

describe("the slice controller sleeps", () => {
  it("one Pod of 500 changes: it goes on from its cursors, lists nothing, and writes one slice", async () => {
    const cluster = new Cluster();
    await cluster.filled(500);
    await cluster.hasRead();
    const revision = async (): Promise<number> => Number((await cluster.list(SLICES)).metadata.resourceVersion);
    const before = await revision();
    await abortAllDurableObjects();
    const calls = await countedCalls(async () => {
      await cluster.ready("web-1", addressOf(1), "False");
      await cluster.has(499);
    });
    const of = (resource: string): string[] =>
      calls.filter(({ object }: Call) => object === `${cluster.name}/${resource}`).map(({ method }) => method);
    expect(of("pods")).toContain("objectsSince");
    // After a sleep repair lists Services, and the node lifecycle controller Nodes.
    for (const resource of ["pods", SLICES]) expect(of(resource), resource).not.toContain("objectsAfter");
    expect(await revision()).toBe(before + 1);
    expect(await cluster.slices()).toHaveLength(5);
  }, 60_000);

  it("its rows are lost: it lists, and writes nothing", async () => {
    const cluster = new Cluster();
    await cluster.filled(3);
    await cluster.hasRead();
    const before = (await cluster.slices()).map(({ metadata }) => metadata?.resourceVersion);
    await runInDurableObject(cluster.object("endpointslice-controller"), (_, { storage }) => sqlRowStorage(storage).clear());
    await abortAllDurableObjects();
    const controller = controllerStub(bindings, cluster.name, "endpointslice-controller");
    const calls = await countedCalls(() => controller.poke());
    expect(calls).toContainEqual({ object: `${cluster.name}/pods`, method: "objectsAfter" });
    await cluster.hasRead();
    expect((await cluster.slices()).map(({ metadata }) => metadata?.resourceVersion)).toEqual(before);
  });
});

describe("stores that begin above what clients have seen", () => {
  it("the slice controller awake and asleep: lists them, and goes on with its slices", async () => {
    const cluster = new Cluster();
    await cluster.filled(2);
    await cluster.hasRead();
    const names = async (): Promise<(string | undefined)[]> => (await cluster.slices()).map(({ metadata }) => metadata?.name);
    const before = await names();
    const beginAbove = async (head?: number): Promise<void> => {
      const data = { asOf: Date.now(), ...(head === undefined ? {} : { head }) };
      for (const { store } of allStores(bindings, cluster.name)) expect(await store().beginAbove(data)).toBeGreaterThan(1_000_000_000);
    };
    const calls = await countedCalls(async () => {
      await beginAbove(4_711);
      await cluster.ready("web-1", addressOf(1), "False");
      await cluster.has(1);
    });
    expect(calls).toContainEqual({ object: `${cluster.name}/pods`, method: "objectsAfter" });
    // The stores were brought back, with all that they hold.
    await beginAbove();
    await abortAllDurableObjects();
    await cluster.ready("web-1", addressOf(1), "True");
    await cluster.has(2);
    await cluster.hasRead();
    expect(await names()).toEqual(before);
  });
});

describe("the controllers of endpoints at rest", () => {
  it("nothing changes: no alarm, no call", async () => {
    const cluster = new Cluster();
    await cluster.filled(3);
    const alarms = () =>
      Promise.all(
        (["endpointslice-controller", "endpoints-controller", "endpointslice-mirroring-controller"] as const).map((name) =>
          runInDurableObject(cluster.object(name), (_, { storage }) => storage.getAlarm()),
        ),
      );
    await vi.waitFor(async () => {
      const calls = await countedCalls(() => Promise.resolve());
      expect(calls.filter(({ object }) => object.startsWith(`${cluster.name}/`))).toEqual([]);
      expect(await alarms()).toEqual([null, null, null]);
    }, PATIENCE);
  });
});

describe("/metrics of the slice controllers", () => {
  const FILLED = {
    "controller_changes create": 1,
    controller_desired_endpoint_slices: 1,
    controller_endpoints_added_per_sync_count: 1,
    controller_endpoints_added_per_sync_sum: 3,
    controller_endpoints_desired: 3,
    controller_endpoints_removed_per_sync_count: 1,
    controller_endpoints_removed_per_sync_sum: 0,
    "controller_endpointslices_changed_per_sync_count Disabled ": 1,
    "controller_endpointslices_changed_per_sync_sum Disabled ": 1,
    controller_num_endpoint_slices: 1,
    // of `kubernetes`, too
    "controller_syncs success": 2,
    mirroring_desired_endpoint_slices: 0,
    mirroring_endpoints_desired: 0,
    mirroring_num_endpoint_slices: 0,
  };

  it("three Pods, and the objects start again: exact, each object is asked once, and nothing is listed", async () => {
    const cluster = new Cluster();
    await cluster.filled(3);
    await vi.waitFor(async () => expect(await cluster.metrics()).toEqual(FILLED), PATIENCE);
    await cluster.hasRead();
    await abortAllDurableObjects();

    const calls = await countedCalls(async () => expect(await cluster.metrics()).toEqual(FILLED));
    for (const name of ["endpointslice-controller", "endpointslice-mirroring-controller"]) {
      const call = { object: `${cluster.name}/controllers/${name}`, method: "endpointCounts" };
      expect(calls.filter(({ object, method }) => object === call.object && method === call.method)).toEqual([call]);
    }
    // Not of Nodes: their lifecycle is looked at every few seconds, and an object that starts lists them.
    for (const resource of ["pods", SLICES]) {
      expect(calls, resource).not.toContainEqual({ object: `${cluster.name}/${resource}`, method: "objectsAfter" });
    }

    await cluster.ready("web-1", addressOf(1), "False");
    await cluster.has(2);
    const after = {
      ...FILLED,
      "controller_changes update": 1,
      controller_endpoints_added_per_sync_count: 2,
      controller_endpoints_removed_per_sync_count: 2,
      "controller_endpointslices_changed_per_sync_count Disabled ": 2,
      "controller_endpointslices_changed_per_sync_sum Disabled ": 2,
      "controller_syncs success": 3,
    };
    await vi.waitFor(async () => expect(await cluster.metrics()).toEqual(after), PATIENCE);
  }, 60_000);

  it("switched off: no series; switched on again: what was counted goes on", async () => {
    const cluster = new Cluster();
    await cluster.filled(1);
    const creates = async (): Promise<number | undefined> => (await cluster.metrics())["controller_changes create"];
    await vi.waitFor(async () => expect(await creates()).toBe(1), PATIENCE);
    const object = cluster.object("endpointslice-controller") as DurableObjectStub<Controller>;
    await object.setControllers({ version: 1, list: ["-endpointslice-controller", "*"] });
    expect(await creates()).toBeUndefined();
    await object.setControllers({ version: 2, list: null });
    expect(await creates()).toBe(1);
  });
});

describe("events of the endpoint controllers", () => {
  it("each has upstream's reporter, and the uid of its subject", async () => {
    const cluster = new Cluster();
    await servicesStore(bindings, cluster.name).ensureBootstrapped();
    const annotations = { "service.kubernetes.io/topology-mode": "Auto" };
    const spec = { selector: { app: "web" }, ports: [{ port: 80 }] };
    await cluster.create("services", { metadata: { namespace: "default", name: "auto", annotations }, spec } as KubeObject);
    const stored = await servicesStore(bindings, cluster.name).get({ namespace: "default", name: "auto" }, "");
    const uid = stored.ok ? (JSON.parse(stored.object) as KubeObject).metadata?.uid : undefined;
    const events = (): Promise<string[]> => cluster.events("endpoint-slice-controller");
    await vi.waitFor(async () => expect(await events()).toEqual([`Service ${String(uid)} Warning TopologyAwareHintsDisabled`]), PATIENCE);
  });
});
