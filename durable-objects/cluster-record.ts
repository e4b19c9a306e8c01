/** The record of one cluster, in an object named by the cluster's name. A shell: the rules are in src/tenancy/cluster-record. */
import { DurableObject } from "cloudflare:workers";
import type { ControllerList } from "../src/core/config/controllers";
import type { ClusterRecordRpc, ClusterState } from "../src/tenancy/rpc";
import type { Location } from "../src/core/config/location";
import { listCopyKey, storeName } from "../src/api/store/list/list-copy";
import { ClusterRecord as Brain } from "../src/tenancy/cluster-record";
import { busyKey, directoryKey } from "../src/tenancy/directory-keys";
import { topologyCopyKey } from "../src/addresses/topology/topology-copy";
import { directoryFacts, noteBusy, noteControllers } from "./peers/busy";
import { objectsIn } from "./platform/controllers";
import type { Env } from "./platform/env";
import { listPorts } from "./peers/list-of-clusters";
import { allStores, clusterShard, recordedObject } from "./peers/peers";
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
      wipe: (id, object, listed) => recordedObject(env, id, object).wipe(listed),
      tell: (id, object, setting) => recordedObject(env, id, object).setControllers(setting),
      noteControllers: (id, list) => noteControllers(env, id, list ? directoryFacts(list) : undefined),
      async forget(id) {
        const copies = allStores(env, id).map(({ definition }) => listCopyKey(storeName(id, definition)));
        const keys = [directoryKey(id), busyKey("minute", id), busyKey("hour", id), topologyCopyKey(id), ...copies];
        await Promise.all([clusterShard(env, id).leave(id), ...keys.map((key) => env.DIRECTORY.delete(key))]);
      },
      isInDirectory: async (id) => (await env.DIRECTORY.get(directoryKey(id))) !== null,
      ...listPorts(env, name),
      noteBusy: (id) => noteBusy(env, id, "minute"),
    });
    this.#brain.resume();
  }

  look(): Promise<ClusterState> {
    return this.#brain.look();
  }

  listed(stamp: string): Promise<ClusterState> {
    return this.#brain.listed(stamp);
  }

  open(): Promise<{ state: ClusterState; opened: boolean }> {
    return this.#brain.open();
  }

  openIn(location: Location): Promise<{ state: ClusterState; opened: boolean }> {
    return this.#brain.openIn(location);
  }

  setControllers(list: ControllerList | null): Promise<{ state: ClusterState; isTold: boolean }> {
    return this.#brain.setControllers(list);
  }

  remove(id?: string): Promise<ClusterState> {
    return this.#brain.remove(id);
  }

  carryOn(id: string): Promise<void> {
    return this.#brain.carryOn(id);
  }

  override alarm(): Promise<void> {
    return this.#brain.alarm();
  }
}
