/** The controller "repair": the loop of every controller around the passes of the Repairer, and what Workers and operators ask of repair. */
import { type Config } from "../../core/config/config";
import { type Settings, settingsOf } from "../../core/config/settings";
import type { Clock } from "../../core/base/ports";
import { type EventSubject, referenceTo } from "../../api/events/event-recorder";
import { DEFAULT_NAME, DEFAULT_NAMESPACE } from "../../api/registry/default-objects";
import { servicesDefinition } from "../../api/registry/services/definition";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { ControllerRpc } from "../../api/rpc/store";
import { Controller, type ControllerPorts, type PassResult } from "../../controllers/frame/controller";
import type { ControllerStatus, ControllerStatusRpc } from "../../controllers/frame/status";
import type { RepairControllerRpc, RepairCounts } from "../rpc/repair";
import { CRON_AT, type RepairPorts, type RepairStorage, SWEEP_ASKED } from "./repair-ports";
import { repairCounts } from "./repair-counts";
import { Repairer } from "./repairer";
import { readService } from "./round";
import { differingSettings, noteSettings, type SettingsStorage, SettingsWatch } from "./settings-watch";

export interface RepairControllerPorts extends ControllerPorts {
  clock: Clock;
  storage: RepairStorage;
  settings: SettingsStorage;
  /** the configuration that the objects of the cluster run under; throws when it is broken */
  config(): Config;
  /** the cluster's other controllers that are switched on */
  others(): readonly ControllerRpc[];
  /** what repair needs under this configuration; asked for with the first pass */
  repair(config: Config): RepairPorts;
}

export class RepairController implements ControllerRpc, ControllerStatusRpc, RepairControllerRpc {
  readonly #loop: Controller;
  #parts: { repairer: Repairer; settings: SettingsWatch } | undefined;
  /** a pass of this life has done the work of a first repair */
  #isRepaired = false;

  constructor(private readonly ports: RepairControllerPorts) {
    this.#loop = new Controller(ports, (isPoked) => this.#pass(isPoked));
  }

  poke(): Promise<void> {
    return this.#loop.poke();
  }

  alarm(): Promise<void> {
    return this.#loop.alarm();
  }

  controllerStatus(): Promise<ControllerStatus | null> {
    return this.#loop.controllerStatus();
  }

  pokeFrom(theirs: Settings, who?: "cron"): Promise<void> {
    const { clock, settings, config, storage } = this.ports;
    if (who === "cron") storage.numberSet(CRON_AT, clock.now());
    noteSettings(settings, settingsOf(config()), theirs, clock.now());
    return this.#loop.ask();
  }

  sweep(): Promise<void> {
    this.ports.storage.numberSet(SWEEP_ASKED, 1);
    return this.#loop.poke();
  }

  repairCounts(): Promise<RepairCounts> {
    const { clock, settings, storage } = this.ports;
    const differing = differingSettings(settings, clock.now());
    return Promise.resolve({ ...repairCounts(storage), differingSettings: differing, isRepaired: this.#isRepaired });
  }

  async #pass(isPoked: boolean): Promise<PassResult> {
    const { repairer, settings } = (this.#parts ??= this.#made());
    await settings.run();
    // A store of a cluster at rest pokes when it starts. That is no reason to read more of it than what has changed.
    const result = await repairer.run({ sweeps: !isPoked });
    // The first repair of a cluster looks at everything; that of a later life makes up for what its predecessor left.
    this.#isRepaired ||= result.report?.left === false || (!result.left && repairCounts(this.ports.storage).sweeps > 0);
    return result;
  }

  /** Pokes the other controllers, too: nobody tells one that the variable CONTROLLERS has turned it on again. */
  #lookAtEverything(): void {
    this.ports.storage.numberSet(SWEEP_ASKED, 1);
    for (const other of this.ports.others()) void other.poke().catch(() => undefined);
  }

  #made(): { repairer: Repairer; settings: SettingsWatch } {
    const { config, recorder, repair, settings } = this.ports;
    const own = config();
    const ports = repair(own);
    const watch = new SettingsWatch(settingsOf(own), {
      recorder,
      storage: settings,
      events: ports.events,
      subject: () => defaultService(ports.services),
      lookAtEverything: () => this.#lookAtEverything(),
    });
    return { repairer: new Repairer(ports), settings: watch };
  }
}

/** The Service `default/kubernetes`, which every cluster has; undefined as long as it is not there or cannot be read. */
async function defaultService(services: ObjectFeed): Promise<EventSubject | undefined> {
  const [text] = await services.objectsNamed([{ namespace: DEFAULT_NAMESPACE, name: DEFAULT_NAME }]).catch(() => []);
  const service = text ? readService(text) : undefined;
  return service && referenceTo(servicesDefinition, service);
}
