/** The ServiceCIDRs of a cluster of real Durable Objects: its Coordinator, called as the Worker calls it, and the owners of addresses. */
import { env, runInDurableObject } from "cloudflare:test";
import { expect, vi } from "vitest";
import type { Coordinator } from "../../../durable-objects/coordinator";
import type { Env } from "../../../durable-objects/platform/env";
import { coordinator, owner } from "../../../durable-objects/peers/peers";
import { coordinatorStorage } from "../../../durable-objects/sql/coordinator-sql";
import type { CoordinatorState } from "../../../src/addresses/coordinator/state/coordinator-storage";
import type { ServiceCIDR } from "../../../src/api/meta/kubernetes";
import type { AllocateItem } from "../../../src/addresses/rpc/service-cidr";
import type { Subresource, WriteResult } from "../../../src/api/rpc/store";
import { createRange, deleteRange, patchRange } from "./range-requests";
import { freshCluster } from "./store-stubs";
import { PATIENCE } from "./patience";

const bindings = env as unknown as Env;
const ROWS_MAX = 10_000;

/** Waits for effects of alarms and jobs of real objects. */
export async function eventually(predicate: () => Promise<boolean>): Promise<void> {
  await vi.waitFor(async () => expect(await predicate(), String(predicate)).toBe(true), PATIENCE);
}

export class ObjectRanges {
  constructor(readonly name = freshCluster()) {}

  get coordinator() {
    return coordinator(bindings, this.name);
  }

  get stub(): DurableObjectStub<Coordinator> {
    return bindings.COORDINATOR.getByName(`${this.name}/coordinator`) as unknown as DurableObjectStub<Coordinator>;
  }

  owner(uid: string) {
    return owner(bindings, this.name, uid);
  }

  create(name: string, ...cidrs: string[]): Promise<WriteResult> {
    return this.coordinator.write(createRange(name, cidrs));
  }

  patch(name: string, patch: object, subresource: Subresource = ""): Promise<WriteResult> {
    return this.coordinator.write(patchRange(name, patch, subresource));
  }

  remove(name: string): Promise<WriteResult> {
    return this.coordinator.write(deleteRange(name));
  }

  /** A client sets the Ready condition to False: the ServiceCIDR stops giving out addresses. */
  shut(name: string): Promise<WriteResult> {
    const condition = { type: "Ready", status: "False", reason: "Test", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
    return this.patch(name, { status: { conditions: [condition] } }, "status");
  }

  async get(name: string): Promise<ServiceCIDR | undefined> {
    const result = await this.coordinator.get({ namespace: "", name }, "");
    return result.ok ? (JSON.parse(result.object) as ServiceCIDR) : undefined;
  }

  /** Status and reason of the Ready condition, "" without one. */
  async condition(name: string): Promise<string> {
    const ready = (await this.get(name))?.status?.conditions?.find((condition) => condition.type === "Ready");
    return ready ? `${ready.status} ${ready.reason}` : "";
  }

  /** Waits until the ServiceCIDR gives out addresses; answers its uid. */
  async ready(name: string): Promise<string> {
    await eventually(async () => (await this.condition(name)) === "True ");
    return (await this.get(name))?.metadata?.uid ?? "";
  }

  /** A new ServiceCIDR that gives out addresses; answers its uid. */
  async created(name: string, ...cidrs: string[]): Promise<string> {
    expect(await this.create(name, ...cidrs)).toMatchObject({ ok: true });
    return this.ready(name);
  }

  /** The Coordinator's rows, read from its tables. */
  state(): Promise<CoordinatorState> {
    return runInDurableObject(this.stub, (_object, { storage }) => coordinatorStorage(storage).load());
  }

  /** Whether the owner gives this address to `token`. */
  async allocate(uid: string, address: string, token: string): Promise<boolean> {
    const { results } = await this.owner(uid).allocate([item(token, address)]);
    return results[0]?.ok ?? false;
  }

  /** Any addresses of the owner, or the reasons of its refusals. */
  async allocateAny(uid: string, count: number): Promise<string[]> {
    const { results } = await this.owner(uid).allocate(Array.from({ length: count }, (_, i) => item(`${uid}-${i}`, "")));
    return results.map((result) => (result.ok ? result.address : result.reason));
  }

  /** The addresses of all rows of the owner. */
  async held(uid: string): Promise<string[]> {
    return (await this.owner(uid).rowsSince(0, ROWS_MAX)).rows.map(({ address }) => address).sort();
  }
}

function item(token: string, address: string): AllocateItem {
  return { token, holder: { kind: "service", namespace: "default", name: token, uid: token }, family: "IPv4", address };
}
