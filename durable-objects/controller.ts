/** A controller of one cluster, named `<cluster>/controllers/<name>`. A shell: the loop is src/controllers/controller, the table is controllers.ts. */
import { DurableObject } from "cloudflare:workers";
import type { Settings } from "../src/core/config/settings";
import type { Wipeable } from "../src/tenancy/rpc";
import type { RepairControllerRpc, RepairCounts } from "../src/addresses/rpc/repair";
import type { ControllerRpc } from "../src/api/rpc/store";
import { type ControllerBrain, CONTROLLERS } from "./controllers";
import { configOf, type Env } from "./env";
import { controllerPeers } from "./controller-peers";
import { systemClock, systemRecorder } from "./ports";
import { GARBAGE_COLLECTION_SCHEMA, sqlGraphStorage } from "./sql/garbage-collection-sql";
import { IDENTITY_SCHEMA, objectName } from "./sql/identity-sql";
import { migrate, type Migration } from "./sql/migrate";
import { REPAIR_SCHEMA, REPAIR_SETTINGS_SCHEMA, REPAIR_TRIES_SCHEMA, sqlRepairStorage, sqlSettingsStorage } from "./sql/repair-sql";
import { restart, wipe } from "./wipe";

/** The tables of all controllers: an object has them all, and uses its own. */
export const CONTROLLER_MIGRATIONS: readonly Migration[] = [
  { id: 1, sql: IDENTITY_SCHEMA },
  { id: 2, sql: GARBAGE_COLLECTION_SCHEMA },
  { id: 3, sql: REPAIR_SCHEMA },
  { id: 4, sql: REPAIR_SETTINGS_SCHEMA },
  { id: 5, sql: REPAIR_TRIES_SCHEMA },
];

export class Controller extends DurableObject<Env> implements ControllerRpc, RepairControllerRpc, Wipeable {
  readonly #brain: ControllerBrain;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { storage } = ctx;
    migrate(storage, CONTROLLER_MIGRATIONS, systemClock.now());
    const name = objectName(ctx);
    const cluster = name.slice(0, name.indexOf("/"));
    this.#brain = CONTROLLERS.make(name, {
      cluster,
      clock: systemClock,
      recorder: systemRecorder({ object: name }),
      config: () => configOf(env),
      peers: controllerPeers(env, cluster),
      tables: { graph: sqlGraphStorage(storage), repair: sqlRepairStorage(storage), settings: sqlSettingsStorage(storage) },
      wakeAt: (atMs) => storage.setAlarm(atMs),
      background: (work) => ctx.waitUntil(work),
      restart: (reason) => void restart(ctx, reason),
    });
  }

  poke(): Promise<void> {
    return this.#brain.poke();
  }

  pokeFrom(settings: Settings): Promise<void> {
    return this.#asked("pokeFrom")(settings);
  }

  sweep(): Promise<void> {
    return this.#asked("sweep")();
  }

  repairCounts(): Promise<RepairCounts> {
    return this.#asked("repairCounts")();
  }

  wipe(): Promise<string[]> {
    return wipe(this.ctx);
  }

  override alarm(): Promise<void> {
    return this.#brain.alarm();
  }

  /** A call that not every controller answers. */
  #asked<K extends keyof RepairControllerRpc>(call: K): RepairControllerRpc[K] {
    const method = this.#brain[call];
    if (!method) throw new Error(`this controller has no ${call}`);
    return method.bind(this.#brain) as RepairControllerRpc[K];
  }
}
