/**
 * The Coordinator of one cluster, named `<cluster>/coordinator`: the `servicecidrs` store and the topology in one object, so that objects,
 * claims and epochs have one order. A shell: the rules are in src/coordinator.
 */
import { Coordinator as Brain } from "../src/coordinator/coordinator";
import type { Fence } from "../src/coordinator/intents";
import { storeObjects } from "../src/coordinator/store-objects";
import type { CoordinatorRpc, Topology } from "../src/rpc/coordinator";
import type { GetResult, ObjectKey, WriteRequest, WriteResult } from "../src/rpc/store";
import type { Env } from "./env";
import { ipAddressesStore, owner } from "./peers";
import { COORDINATOR_SCHEMA, coordinatorStorage } from "./sql/coordinator-sql";
import { type ObjectIdentity, openStore, STORE_MIGRATIONS, StoreObject } from "./store-object";

const MIGRATIONS = [...STORE_MIGRATIONS, { id: 2, sql: COORDINATOR_SCHEMA }];

function identify(name: string): ObjectIdentity {
  return { cluster: name.slice(0, name.indexOf("/")), group: "networking.k8s.io", resource: "servicecidrs" };
}

export class Coordinator extends StoreObject<Fence> implements CoordinatorRpc {
  readonly #brain: Brain;

  constructor(ctx: DurableObjectState, env: Env) {
    const setting = openStore(ctx, env, MIGRATIONS, identify);
    const { cluster, clock, random, recorder, config } = setting;
    const ports = {
      storage: coordinatorStorage(ctx.storage),
      objects: storeObjects(() => this.store),
      peers: { owner: (uid: string) => owner(env, cluster, uid), ipAddresses: () => ipAddressesStore(env, cluster) },
      alarm: { arm: (atMs: number) => void ctx.storage.setAlarm(atMs) },
      clock,
      random,
      recorder,
    };
    const brain = new Brain(ports, config.serviceRanges);
    super(ctx, env, setting, brain.intents);
    this.#brain = brain;
    brain.kick();
  }

  topology(): Promise<Topology> {
    return this.#brain.topology();
  }

  readyTopology(waitMs: number): Promise<Topology> {
    return this.#brain.readyTopology(waitMs);
  }

  override async write(request: WriteRequest): Promise<WriteResult> {
    await this.#brain.bootstrapped();
    return super.write(request);
  }

  override async get(key: ObjectKey, resourceVersion: string): Promise<GetResult> {
    await this.#brain.bootstrapped();
    return super.get(key, resourceVersion);
  }

  override async fetch(request: Request): Promise<Response> {
    await this.#brain.bootstrapped();
    return super.fetch(request);
  }

  override maintain(): Promise<void> {
    return this.#brain.maintain();
  }

  override alarm(): Promise<void> {
    return this.#brain.alarm();
  }
}
