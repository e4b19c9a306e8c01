/** A controller of one cluster, named `<cluster>/controllers/<name>`. A shell: the loop is src/controllers/controller, the table is controllers.ts. */
import { DurableObject } from "cloudflare:workers";
import type { ControllersSetting } from "../src/core/config/controllers";
import type { Settings } from "../src/core/config/settings";
import type { SwitchedObject, Wipeable } from "../src/tenancy/rpc";
import type { RepairCounts } from "../src/addresses/rpc/repair";
import type { EndpointCounts } from "../src/endpoints/rpc/endpoint-counts";
import type { ControllerRpc } from "../src/api/rpc/store";
import type { NodeTarget } from "../src/proxy-health/pushed/node-target";
import type { Cursor, ShardChange } from "../src/proxy-health/pushed/shard-change";
import { asked, type AskedRpc, type ControllerBrain, CONTROLLERS } from "./controllers";
import { configOf, type Env } from "./env";
import { controllerPeers } from "./controller-peers";
import { CONTROLLER_MIGRATIONS, controllerTables } from "./controller-tables";
import { systemClock, systemRecorder } from "./ports";
import { objectName } from "./sql/identity-sql";
import { migrate } from "./sql/migrate";
import { type ObjectSwitches, objectSwitches } from "./switches";
import { restart, wipe } from "./wipe";

export class Controller extends DurableObject<Env> implements ControllerRpc, AskedRpc, SwitchedObject, Wipeable {
  readonly #brain: ControllerBrain;
  readonly #switches: ObjectSwitches;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { storage } = ctx;
    migrate(storage, CONTROLLER_MIGRATIONS, systemClock.now());
    const name = objectName(ctx);
    const cluster = name.slice(0, name.indexOf("/"));
    const own = CONTROLLERS.named(name);
    const switches = (this.#switches = objectSwitches(storage, configOf(env).controllers));
    this.#brain = CONTROLLERS.make(name, {
      cluster,
      clock: systemClock,
      recorder: systemRecorder({ object: name }),
      config: () => configOf(env),
      peers: controllerPeers(env, cluster, () => CONTROLLERS.names.filter((other) => other !== own && switches.isOn(other))),
      tables: controllerTables(storage),
      wakeAt: (atMs) => storage.setAlarm(atMs),
      cancelAlarm: () => storage.deleteAlarm(),
      isOn: () => switches.isOn(own),
      background: (work) => ctx.waitUntil(work),
      restart: (reason) => void restart(ctx, reason),
    });
  }

  poke(): Promise<void> {
    return this.#brain.poke();
  }

  pokeFrom(settings: Settings, who?: "cron"): Promise<void> {
    return asked(this.#brain, "pokeFrom")(settings, who);
  }

  sweep(): Promise<void> {
    return asked(this.#brain, "sweep")();
  }

  repairCounts(): Promise<RepairCounts> {
    return asked(this.#brain, "repairCounts")();
  }

  endpointCounts(): Promise<EndpointCounts | null> {
    return asked(this.#brain, "endpointCounts")();
  }

  shardState(shard: number, known: Cursor | null): Promise<ShardChange | null> {
    return asked(this.#brain, "shardState")(shard, known);
  }

  targets(): Promise<NodeTarget[]> {
    return asked(this.#brain, "targets")();
  }

  async setControllers(setting: ControllersSetting): Promise<void> {
    this.#switches.set(setting);
    await this.#brain.switched?.();
  }

  wipe(): Promise<string[]> {
    return wipe(this.ctx);
  }

  override alarm(): Promise<void> {
    return this.#brain.alarm();
  }
}
