/** The record of one cluster, in an object named by the cluster's name. A shell: the rules are in src/tenancy/cluster-record. */
import { DurableObject } from "cloudflare:workers";
import type { ControllerList } from "../src/core/config/controllers";
import type { QuotaAmounts } from "../src/api/rpc/namespace-quotas";
import type { ClusterRecordRpc, ClusterSource, ClusterState, ToldSetting } from "../src/tenancy/rpc";
import { ClusterRecord as Brain } from "../src/tenancy/cluster-record";
import { objectsIn } from "./platform/controllers";
import type { Env } from "./platform/env";
import { listPorts } from "./peers/list-of-clusters";
import { recordedCluster } from "./peers/recorded-cluster";
import { setAlarm, systemClock, systemRecorder } from "./platform/ports";
import { sqlRecordStorage } from "./sql/cluster-record-sql";

export class ClusterRecord extends DurableObject<Env> implements ClusterRecordRpc {
  readonly #brain: Brain;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const storage = sqlRecordStorage(ctx.storage, () => systemClock.now());
    // An object that its alarm wakes may not know its name.
    const name = storage.load()?.name ?? ctx.id.name?.split("/")[0];
    if (name === undefined) throw new Error("an object must be called by its name first");
    this.#brain = new Brain(name, {
      storage,
      clock: systemClock,
      recorder: systemRecorder({ object: `${name}/record` }),
      wakeAt: (atMs) => setAlarm(ctx.storage, atMs),
      objects: () => objectsIn(name),
      ...recordedCluster(env),
      ...listPorts(env, name),
    });
    this.#brain.resume();
  }

  look(): Promise<ClusterState> {
    return this.#brain.look();
  }

  listed(stamp: string): Promise<ClusterState> {
    return this.#brain.listed(stamp);
  }

  open(source?: ClusterSource): Promise<{ state: ClusterState; opened: boolean }> {
    return this.#brain.open(source);
  }

  openIn(...asked: Parameters<Brain["openIn"]>): Promise<{ state: ClusterState; opened: boolean }> {
    return this.#brain.openIn(...asked);
  }

  openWith(...asked: Parameters<Brain["openWith"]>): Promise<{ state: ClusterState; opened: boolean }> {
    return this.#brain.openWith(...asked);
  }

  setControllers(list: ControllerList | null, source?: ClusterSource): Promise<ToldSetting> {
    return this.#brain.setControllers(list, source);
  }

  setQuotas(hard: QuotaAmounts | null, source?: ClusterSource): Promise<ToldSetting> {
    return this.#brain.setQuotas(hard, source);
  }

  remove(id?: string, source?: ClusterSource): Promise<ClusterState> {
    return this.#brain.remove(id, source);
  }

  carryOn(id: string): Promise<void> {
    return this.#brain.carryOn(id);
  }

  override alarm(): Promise<void> {
    return this.#brain.alarm();
  }
}
