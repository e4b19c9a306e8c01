import { abortAllDurableObjects, env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Coordinator } from "../../durable-objects/coordinator";
import type { Env } from "../../durable-objects/env";
import { coordinator, ipAddressesStore, owner } from "../../durable-objects/peers";
import { coordinatorStorage } from "../../durable-objects/sql/coordinator-sql";
import type { IPAddress, ServiceCIDR } from "../../src/meta/kubernetes";
import type { Topology } from "../../src/rpc/coordinator";
import type { WriteOptions, WriteResult } from "../../src/rpc/store";

const bindings = env as unknown as Env;
const OPTIONS: WriteOptions = {
  dryRun: false,
  fieldManager: "test",
  fieldValidation: "Strict",
  force: false,
  group: "networking.k8s.io",
  version: "v1",
};
const DELETE = { dryRun: false, preconditions: {}, propagationPolicy: "", gracePeriodSeconds: undefined } as const;

let clusters = 0;

/** The Coordinator of a cluster of its own, with what tests ask of it. */
class Cluster {
  readonly name = `coordinator-test-${++clusters}`;

  get coordinator() {
    return coordinator(bindings, this.name);
  }

  owner(uid: string) {
    return owner(bindings, this.name, uid);
  }

  get stub(): DurableObjectStub<Coordinator> {
    return bindings.COORDINATOR.getByName(`${this.name}/coordinator`) as unknown as DurableObjectStub<Coordinator>;
  }

  create(name: string, cidrs: string[]): Promise<WriteResult> {
    return this.coordinator.write({
      verb: "create",
      namespace: "",
      object: JSON.stringify({ metadata: { name }, spec: { cidrs } }),
      options: OPTIONS,
    });
  }

  remove(name: string): Promise<WriteResult> {
    return this.coordinator.write({ verb: "delete", key: { namespace: "", name }, options: DELETE });
  }

  async get(name: string): Promise<ServiceCIDR | undefined> {
    const result = await this.coordinator.get({ namespace: "", name }, "");
    return result.ok ? (JSON.parse(result.object) as ServiceCIDR) : undefined;
  }

  async condition(name: string): Promise<string> {
    const ready = (await this.get(name))?.status?.conditions?.find((condition) => condition.type === "Ready");
    return ready ? `${ready.status} ${ready.reason}` : "";
  }

  async ready(name: string): Promise<string> {
    await eventually(async () => (await this.condition(name)) === "True ");
    return (await this.get(name))?.metadata?.uid ?? "";
  }

  async allocate(uid: string, address: string, token: string): Promise<boolean> {
    const holder = { kind: "service", namespace: "default", name: token, uid: token } as const;
    const { results } = await this.owner(uid).allocate([{ token, holder, family: "IPv4", address }]);
    return results[0]?.ok ?? false;
  }
}

/** Waits for what alarms and jobs of real objects bring about. */
async function eventually(predicate: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    if (await predicate()) return;
    await scheduler.wait(20);
  }
  expect(await predicate(), String(predicate)).toBe(true);
}

function prefixes(topology: Topology): { claims: string[]; ranges: string[] } {
  return { claims: topology.claims.map((claim) => claim.prefix), ranges: topology.ranges.map((range) => range.prefix) };
}

/** Rows have no order of their own; free counts are hints of a life. */
function inOrder({ claims, ranges, owners, ...rest }: Topology): unknown {
  const sorted = <T>(rows: readonly T[]): string[] => rows.map((row) => JSON.stringify(row)).sort();
  return { ...rest, claims: sorted(claims), ranges: sorted(ranges), owners: sorted(owners), free: [] };
}

describe("Coordinator", () => {
  it("bootstraps the default ServiceCIDR on the first request, whichever it is; repeats change nothing", async () => {
    const cluster = new Cluster();
    const topologies = await Promise.all(Array.from({ length: 8 }, () => cluster.coordinator.readyTopology(5_000)));
    for (const topology of topologies) expect(prefixes(topology)).toEqual({ claims: ["10.96.0.0/16"], ranges: ["10.96.0.0/16"] });
    const uid = await cluster.ready("kubernetes");
    expect(topologies[0]?.claims[0]?.ownerUid).toBe(uid);
    expect(await cluster.get("kubernetes")).toMatchObject({
      metadata: { name: "kubernetes", finalizers: ["networking.k8s.io/service-cidr-finalizer"] },
      spec: { cidrs: ["10.96.0.0/16"] },
    });
    expect(await cluster.allocate(uid, "10.96.0.1", "first")).toBe(true);
    const byGet = new Cluster();
    expect((await byGet.get("kubernetes"))?.spec?.cidrs).toEqual(["10.96.0.0/16"]);
  });

  it("keeps claims, epochs and objects over a restart", async () => {
    const cluster = new Cluster();
    await cluster.coordinator.readyTopology(5_000);
    await cluster.create("extra", ["10.97.0.0/24"]);
    const uid = await cluster.ready("extra");
    await cluster.allocate(uid, "10.97.0.9", "nine");
    const before = await cluster.coordinator.topology();
    await abortAllDurableObjects();
    const after = await cluster.coordinator.topology();
    expect(inOrder(after)).toEqual(inOrder(before));
    expect(await cluster.ready("extra")).toBe(uid);
    expect(await cluster.allocate(uid, "10.97.0.9", "again")).toBe(false);
  });

  it("deletes when nothing is covered by it alone, and waits with a condition while something is", async () => {
    const cluster = new Cluster();
    await cluster.create("extra", ["10.97.0.0/24"]);
    const uid = await cluster.ready("extra");
    expect(await cluster.allocate(uid, "10.97.0.9", "nine")).toBe(true);
    const result = await cluster.remove("extra");
    expect(result).toMatchObject({ ok: true, gone: false });
    expect(await cluster.allocate(uid, "10.97.0.10", "ten"), "fenced before the answer").toBe(false);
    await eventually(async () => (await cluster.condition("extra")) === "False Terminating");
    await cluster.owner(uid).release([{ address: "10.97.0.9", token: "nine" }]);
    await cluster.coordinator.maintain();
    expect(await cluster.get("extra")).toBeUndefined();
    await eventually(
      async () => (await cluster.owner(uid).allocate([])).epoch > 0 && prefixes(await cluster.coordinator.topology()).claims.length === 1,
    );
  });

  it("a waiting deletion goes on by the alarm, without any request", async () => {
    const cluster = new Cluster();
    await cluster.create("extra", ["10.97.0.0/24"]);
    const uid = await cluster.ready("extra");
    await cluster.allocate(uid, "10.97.0.9", "nine");
    await cluster.remove("extra");
    await eventually(async () => (await cluster.condition("extra")) === "False Terminating");
    await cluster.owner(uid).release([{ address: "10.97.0.9", token: "nine" }]);
    await abortAllDurableObjects();
    await runDurableObjectAlarm(cluster.stub);
    await eventually(async () => (await cluster.get("extra")) === undefined);
  });

  it("marks IPAddress objects that lie in a new range as taken", async () => {
    const cluster = new Cluster();
    await cluster.coordinator.readyTopology(5_000);
    const address: IPAddress = {
      metadata: { name: "10.97.0.9" },
      spec: { parentRef: { group: "", resource: "services", namespace: "default", name: "web" } },
    };
    const made = await ipAddressesStore(bindings, cluster.name).write({
      verb: "create",
      namespace: "",
      object: JSON.stringify(address),
      options: OPTIONS,
    });
    expect(made).toMatchObject({ ok: true });
    await cluster.create("extra", ["10.97.0.0/24"]);
    const uid = await cluster.ready("extra");
    expect(await cluster.allocate(uid, "10.97.0.9", "nine")).toBe(false);
    expect(await cluster.allocate(uid, "10.97.0.10", "ten")).toBe(true);
  });

  it("dry runs and refused writes leave no claim, no fence and no epoch behind", async () => {
    const cluster = new Cluster();
    await cluster.create("extra", ["10.97.0.0/24"]);
    await cluster.ready("extra");
    const { epoch } = await cluster.coordinator.topology();
    const object = JSON.stringify({ metadata: { name: "dry" }, spec: { cidrs: ["10.98.0.0/24"] } });
    await cluster.coordinator.write({ verb: "create", namespace: "", object, options: { ...OPTIONS, dryRun: true } });
    await cluster.coordinator.write({ verb: "delete", key: { namespace: "", name: "extra" }, options: { ...DELETE, dryRun: true } });
    expect(await cluster.create("extra", ["10.98.0.0/24"])).toMatchObject({ ok: false, status: { code: 409 } });
    const wrong = await cluster.coordinator.write({
      verb: "delete",
      key: { namespace: "", name: "extra" },
      options: { ...DELETE, preconditions: { uid: "another" } },
    });
    expect(wrong).toMatchObject({ ok: false, status: { code: 409 } });
    expect((await cluster.coordinator.topology()).epoch).toBe(epoch);
  });

  it("the base address of a claim is unique in the database", async () => {
    const cluster = new Cluster();
    await cluster.coordinator.readyTopology(5_000);
    const message = await runInDurableObject(cluster.stub, (_object, state) => {
      try {
        coordinatorStorage(state.storage).claimInsert({ prefix: "10.96.0.0/24", ownerUid: "another", seeded: true });
        return "inserted";
      } catch (error) {
        return String(error);
      }
    });
    expect(message).toContain("UNIQUE constraint failed: claims.base");
  });
});
