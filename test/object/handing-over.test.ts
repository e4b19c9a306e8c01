/** The hand-off of a ServiceCIDR's addresses on real Durable Objects, every object dying at each of its steps in turn. */
import { abortAllDurableObjects, env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Coordinator } from "../../durable-objects/coordinator";
import type { Env } from "../../durable-objects/env";
import { coordinator, owner } from "../../durable-objects/peers";
import { ServiceCIDR as ServiceCIDRObject } from "../../durable-objects/service-cidr";
import { coordinatorStorage } from "../../durable-objects/sql/coordinator-sql";
import type { HandoffRow } from "../../src/coordinator/coordinator-storage";
import type { ServiceCIDR } from "../../src/meta/kubernetes";
import type { Holder } from "../../src/rpc/service-cidr";
import type { WriteOptions } from "../../src/rpc/store";

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
const HELD = 300;

let clusters = 0;

class Cluster {
  readonly name = `handoff-test-${++clusters}`;

  get coordinator() {
    return coordinator(bindings, this.name);
  }

  owner(uid: string) {
    return owner(bindings, this.name, uid);
  }

  get stub(): DurableObjectStub<Coordinator> {
    return bindings.COORDINATOR.getByName(`${this.name}/coordinator`) as unknown as DurableObjectStub<Coordinator>;
  }

  /** A Ready ServiceCIDR; answers its uid. */
  async created(name: string, cidr: string): Promise<string> {
    const object = JSON.stringify({ metadata: { name }, spec: { cidrs: [cidr] } });
    expect(await this.coordinator.write({ verb: "create", namespace: "", object, options: OPTIONS })).toMatchObject({ ok: true });
    await eventually(async () => (await this.get(name))?.status?.conditions?.[0]?.status === "True");
    return (await this.get(name))?.metadata?.uid ?? "";
  }

  async get(name: string): Promise<ServiceCIDR | undefined> {
    const result = await this.coordinator.get({ namespace: "", name }, "");
    return result.ok ? (JSON.parse(result.object) as ServiceCIDR) : undefined;
  }

  remove(name: string) {
    return this.coordinator.write({ verb: "delete", key: { namespace: "", name }, options: DELETE });
  }

  handoffs(): Promise<HandoffRow[]> {
    return runInDurableObject(this.stub, (_object, state) => coordinatorStorage(state.storage).load().handoffs);
  }

  async allocate(uid: string, count: number): Promise<string[]> {
    const holder: Holder = { kind: "service", namespace: "default", name: "web", uid: "uid" };
    const items = Array.from({ length: count }, (_, i) => ({ token: `${uid}-${i}`, holder, family: "IPv4" as const, address: "" }));
    const { results } = await this.owner(uid).allocate(items);
    return results.map((result) => (result.ok ? result.address : result.reason));
  }

  /** Every address with a row, by owner. */
  async held(uid: string): Promise<string[]> {
    return (await this.owner(uid).rowsSince(0, 10_000)).rows.map(({ address }) => address).sort();
  }
}

async function eventually(predicate: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    if (await predicate()) return;
    await scheduler.wait(20);
  }
  expect(await predicate(), String(predicate)).toBe(true);
}

async function aboutToMove() {
  const cluster = new Cluster();
  const source = await cluster.created("old", "10.97.0.0/23");
  const addresses = (await cluster.allocate(source, HELD)).sort();
  const target = await cluster.created("new", "10.97.0.0/22");
  return { cluster, source, target, addresses };
}

/** Calls of a deletion with a hand-off: configurations are the fence, then freeze and opening (in either order), activation, drop, retirement. */
const CALLS = [
  ["partition", 1],
  ["configure", 2],
  ["configure", 3],
  ["copyOut", 1],
  ["receive", 1],
  ["configure", 4],
  ["configure", 5],
  ["configure", 6],
] as const;
const DEATHS = CALLS.flatMap(([method, nth]) => (["before", "after"] as const).map((when) => ({ method, nth, when })));

afterEach(() => {
  vi.restoreAllMocks();
});

/** The n-th call of the method to any owner is lost: before it has an effect, or after it with its answer. Then the test lets all objects die. */
function lostAt(method: "partition" | "configure" | "copyOut" | "receive", nth: number, when: "before" | "after"): { happened: boolean } {
  const lost = { happened: false };
  const real = ServiceCIDRObject.prototype[method] as (this: ServiceCIDRObject, ...args: unknown[]) => Promise<unknown>;
  let calls = 0;
  const patched = async function (this: ServiceCIDRObject, ...args: unknown[]): Promise<unknown> {
    const isLost = ++calls === nth;
    if (isLost && when === "before") {
      lost.happened = true;
      throw new Error("lost before");
    }
    const answer = await real.apply(this, args);
    if (!isLost) return answer;
    lost.happened = true;
    throw new Error("lost after");
  };
  vi.spyOn(ServiceCIDRObject.prototype, method).mockImplementation(patched as never);
  return lost;
}

describe("a hand-off between real objects", () => {
  it("moves every row with its gen, and the old owner is retired for ever", async () => {
    const { cluster, source, target, addresses } = await aboutToMove();
    const before = new Map(
      (await cluster.owner(source).rowsSince(0, 1_000)).rows.map(({ address, gen, token }) => [address, { gen, token }]),
    );
    expect(await cluster.remove("old")).toMatchObject({ ok: true });
    await eventually(async () => (await cluster.get("old")) === undefined);
    expect(await cluster.held(target)).toEqual(addresses);
    const { rows } = await cluster.owner(target).rowsSince(0, 1_000);
    for (const { address, gen, token } of rows) expect({ gen, token }).toEqual(before.get(address));
    await eventually(async () => (await cluster.held(source)).length === 0);
    expect(await cluster.owner(source).release([{ address: addresses[0] ?? "", token: "any" }])).toEqual(["stale"]);
    const { claims } = await cluster.coordinator.topology();
    expect(claims).toContainEqual({ prefix: "10.97.0.0/22", ownerUid: target });
    await abortAllDurableObjects();
    expect(await cluster.held(target)).toEqual(addresses);
    const fresh = (await cluster.allocate(target, 600)).filter((address) => address.startsWith("10."));
    expect(new Set([...addresses, ...fresh]).size, "none is given out again").toBe(addresses.length + fresh.length);
  });

  it.each(DEATHS)("every object dies $when call $nth of $method: it ends as without", async ({ method, nth, when }) => {
    const { cluster, source, target, addresses } = await aboutToMove();
    const lost = lostAt(method, nth, when);
    expect(await cluster.remove("old")).toMatchObject({ ok: true });
    await eventually(() => Promise.resolve(lost.happened));
    await abortAllDurableObjects();
    await runDurableObjectAlarm(cluster.stub);
    await eventually(async () => (await cluster.get("old")) === undefined && (await cluster.held(source)).length === 0);
    expect(await cluster.held(target)).toEqual(addresses);
    expect(await cluster.handoffs()).toEqual([]);
  });
});
