/** A controller of one cluster, named `<cluster>/controllers/<name>`. A shell: the loop is src/controllers/frame/controller, the table is controllers.ts. */
import type { ControllersSetting } from "../src/core/config/controllers";
import type { SwitchedObject, Wipeable } from "../src/tenancy/rpc";
import type { ControllerRpc } from "../src/api/rpc/store";
import { ASKED_CALLS, type AskedRpc, type ControllerBrain, CONTROLLERS } from "./platform/controllers";
import { objectConfig, type Env } from "./platform/env";
import { controllerPeers } from "./peers/controller-peers";
import { CONTROLLER_MIGRATIONS, controllerTables } from "./controller-tables";
import { systemClock, systemRecorder } from "./platform/ports";
import { shellOf } from "./platform/shell";
import { objectName } from "./sql/identity-sql";
import { migrate } from "./sql/migrate";
import { type ObjectSwitches, objectSwitches } from "./peers/switches";
import { restart, wipe } from "./platform/wipe";

export class Controller
  extends shellOf<ControllerBrain & AskedRpc>()("poke", "alarm", ...ASKED_CALLS)
  implements ControllerRpc, AskedRpc, SwitchedObject, Wipeable
{
  readonly #switches: ObjectSwitches;

  constructor(ctx: DurableObjectState, env: Env) {
    const { storage } = ctx;
    migrate(storage, CONTROLLER_MIGRATIONS, systemClock.now());
    const name = objectName(ctx);
    const cluster = name.slice(0, name.indexOf("/"));
    const own = CONTROLLERS.named(name);
    const switches = objectSwitches(storage, objectConfig(env));
    const brain = CONTROLLERS.make(name, {
      cluster,
      clock: systemClock,
      recorder: systemRecorder({ object: name }),
      config: () => objectConfig(env),
      peers: controllerPeers(env, cluster, () => CONTROLLERS.names.filter((other) => other !== own && switches.isOn(other))),
      tables: controllerTables(storage),
      wakeAt: (atMs) => storage.setAlarm(atMs),
      cancelAlarm: () => storage.deleteAlarm(),
      isOn: () => switches.isOn(own),
      background: (work) => ctx.waitUntil(work),
      restart: (reason) => void restart(ctx, reason),
    });
    super(ctx, env, brain as ControllerBrain & AskedRpc);
    this.#switches = switches;
  }

  async setControllers(setting: ControllersSetting): Promise<void> {
    this.#switches.set(setting);
    await this.brain.switched?.();
  }

  wipe(): Promise<string[]> {
    return wipe(this.ctx);
  }
}
