/** A controller of one cluster, named `<cluster>/controllers/<name>`. A shell: the loop is src/controllers/frame/controller, the table is controllers.ts. */
import type { ControllersSetting } from "../src/core/config/controllers";
import { isRootCluster } from "../src/tenancy/cluster-id";
import type { SwitchedObject, Wipeable } from "../src/tenancy/rpc";
import type { ControllerRpc } from "../src/api/rpc/store";
import { enteringOnce } from "../src/controllers/frame/entering";
import { OlderCallers } from "../src/controllers/frame/older-callers";
import { ASKED_CALLS, type AskedRpc, type ControllerBrain, CONTROLLERS } from "./platform/controllers";
import { objectConfig, type Env } from "./platform/env";
import { noteBusy } from "./peers/busy";
import { controllerPeers } from "./peers/controller-peers";
import { repairStub } from "./peers/peers";
import { CONTROLLER_MIGRATIONS, controllerTables } from "./controller-tables";
import { setAlarmOnce, systemClock, systemRecorder } from "./platform/ports";
import { shellOf } from "./platform/shell";
import { CALLED_BY_OLDER } from "./platform/versions";
import { objectName } from "./sql/identity-sql";
import { migrate } from "./sql/migrate";
import { type ObjectSwitches, objectSwitches } from "./peers/switches";
import { restart, wipe } from "./platform/wipe";

export class Controller
  extends shellOf<ControllerBrain & AskedRpc>()("poke", "alarm", ...ASKED_CALLS)
  implements ControllerRpc, AskedRpc, SwitchedObject, Wipeable
{
  readonly #switches: ObjectSwitches;
  readonly #older: OlderCallers;

  constructor(ctx: DurableObjectState, env: Env) {
    const { storage } = ctx;
    migrate(storage, CONTROLLER_MIGRATIONS, systemClock.now());
    const name = objectName(ctx);
    const cluster = name.slice(0, name.indexOf("/"));
    const own = CONTROLLERS.named(name);
    const switches = objectSwitches(storage, objectConfig(env));
    const tables = controllerTables(storage);
    const recorder = systemRecorder({ object: name });
    const older: OlderCallers = new OlderCallers({
      ...{ clock: systemClock, recorder },
      tell: () => (own === "repair" ? asked.doubt() : repairStub(env, cluster).doubt()),
    });
    const peers = controllerPeers(env, cluster, () =>
      CONTROLLERS.namesIn(isRootCluster(cluster)).filter((other) => other !== own && switches.isOn(other)),
    );
    const brain = CONTROLLERS.make(name, {
      cluster,
      clock: systemClock,
      recorder,
      config: () => objectConfig(env),
      peers: { ...peers, entered: older.known(() => repairStub(env, cluster).entered()) },
      tables,
      wakeAt: (atMs) => setAlarmOnce(storage, atMs),
      noteBusy: () => noteBusy(env, cluster, "minute", switches.facts),
      askVisit: () => repairStub(env, cluster).askVisits(`controllers/${own}`),
      enter: enteringOnce(tables.rows, `controllers/${own}`, (entering) => repairStub(env, cluster).enter(entering)),
      cancelAlarm: () => storage.deleteAlarm(),
      isOn: () => switches.isOn(own),
      background: (work) => ctx.waitUntil(work),
      restart: (reason) => void restart(ctx, reason),
    });
    const asked = brain as ControllerBrain & AskedRpc;
    super(ctx, env, asked);
    this.#switches = switches;
    this.#older = older;
  }

  [CALLED_BY_OLDER](): void {
    this.#older.called();
  }

  async setControllers(setting: ControllersSetting): Promise<void> {
    this.#switches.set(setting);
    await this.brain.switched?.();
  }

  wipe(): Promise<string[]> {
    return wipe(this.ctx);
  }
}
