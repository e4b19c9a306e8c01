/** The controller "repair": the loop of every controller around the passes of the Repairer, and what Workers and operators ask of repair. */
import { type Config } from "../../core/config/config";
import { withTimeout } from "../../core/base/timeout";
import { type Settings, settingsOf } from "../../core/config/settings";
import type { Clock } from "../../core/base/ports";
import { type EventSubject, referenceTo } from "../../api/events/event-recorder";
import { DEFAULT_NAME, DEFAULT_NAMESPACE } from "../../api/registry/default-objects";
import { ipAddressesDefinition } from "../../api/registry/ip-addresses/definition";
import { namespacesDefinition } from "../../api/registry/namespaces/definition";
import { serviceCIDRsDefinition } from "../../api/registry/service-cidrs/definition";
import { servicesDefinition } from "../../api/registry/services/definition";
import { qualifiedResource } from "../../api/meta/status";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { ControllerRpc, PokeAnswer, StoreNews } from "../../api/rpc/store";
import { Controller, type ControllerPorts, type PassResult } from "../../controllers/frame/controller";
import type { ControllerStatus, ControllerStatusRpc } from "../../controllers/frame/status";
import type { RepairControllerRpc, RepairCounts } from "../rpc/repair";
import { ENTERED_KIND, LIST_KIND, VisitList, type VisitListPorts, type VisitRows } from "../../tenancy/visit-list";
import type { VisitListRpc, VisitOutcome } from "../../api/rpc/visits";
import {
  CRON_AT,
  FULL_AT,
  OLDER_CRON_AT,
  OLDER_PORTIONED_AT,
  PORTIONED_AT,
  type RepairPorts,
  type RepairStorage,
  SWEEP_ASKED,
} from "./repair-ports";
import { repairCounts } from "./repair-counts";
import { Repairer } from "./repairer";
import { readService } from "./round";
import { differingSettings, hasChanged, noteSettings, type SettingsStorage, SettingsWatch } from "./settings-watch";

/** Between two portions of the sweep that cron's ticks ask for: a pass that only reads on costs half as many calls. */
const PORTIONS_APART_MS = 5 * 60_000;
/** The name of the controller in the list of those that cron visits. */
const SELF = "controllers/repair";
/** Stores that have something from the beginning of a cluster on, or that are a part of how it is made. */
const ALWAYS_USED = [namespacesDefinition, servicesDefinition, serviceCIDRsDefinition, ipAddressesDefinition].map(qualifiedResource);
/** What earlier releases note of cron, and this one does not. */
const OLDER_MARKS = [OLDER_CRON_AT, OLDER_PORTIONED_AT];
/** How long a tick waits for a full visit. The rest of it goes on behind the answer. */
const FULL_WAIT_MS = 20_000;

export interface RepairControllerPorts extends ControllerPorts {
  clock: Clock;
  storage: RepairStorage;
  settings: SettingsStorage;
  /** the configuration that the objects of the cluster run under; throws when it is broken */
  config(): Config;
  /** the cluster's other controllers that are switched on */
  others(): readonly ControllerRpc[];
  /** tells cron that the cluster has work in its job of each minute; may be lost. Absent = nobody reads notes */
  noteBusy?(): void;
  /** rows of the list of those that cron visits */
  rows: VisitRows;
  /** see VisitListPorts, as the next two */
  visit(name: string): Promise<VisitOutcome> | undefined;
  controllers: readonly string[];
  stores: VisitListPorts["stores"];
  /** what repair needs under this configuration; asked for with the first pass */
  repair(config: Config): RepairPorts;
}

export class RepairController implements ControllerRpc, ControllerStatusRpc, RepairControllerRpc, VisitListRpc {
  readonly #loop: Controller;
  readonly #visits: VisitList;
  #parts: { repairer: Repairer; settings: SettingsWatch } | undefined;
  /** a pass of this life has done the work of a first repair */
  #isRepaired = false;
  /** a full visit is under way */
  #isFull = false;

  constructor(private readonly ports: RepairControllerPorts) {
    const { clock, controllers, recorder, rows, storage } = ports;
    // Every full visit calls it, so it needs not enter.
    const { enter: _, ...others } = ports;
    const asked = { ...others, askVisit: () => this.askVisits(SELF) };
    this.#loop = new Controller(asked, (isPoked) => this.#pass(isPoked));
    this.#visits = new VisitList({
      ...{ clock, recorder, rows, controllers, last: SELF, always: ALWAYS_USED, isNew: isNew(ports) },
      visit: (name) => (name === SELF ? this.#visited() : ports.visit(name)),
      older: {
        get haveBeen() {
          return OLDER_MARKS.some((mark) => storage.numberGet(mark) !== 0);
        },
        forget: () => {
          for (const mark of OLDER_MARKS) if (storage.numberGet(mark) !== 0) storage.numberSet(mark, 0);
        },
      },
      stores: () => ports.stores().filter(({ name }) => !ALWAYS_USED.includes(name)),
    });
  }

  poke(news?: readonly StoreNews[], untilRead?: true): Promise<PokeAnswer> {
    return this.#loop.poke(news, untilRead);
  }

  async askVisits(name: string): Promise<boolean> {
    const wasListed = await this.#visits.askVisits(name);
    // Who asks before its turn may die before it notes anything.
    if (!wasListed) this.ports.noteBusy?.();
    return wasListed;
  }

  enter(name: string): Promise<void> {
    return this.#visits.enter(name);
  }

  entered(): Promise<readonly string[] | null> {
    return this.#visits.entered();
  }

  doubt(): Promise<void> {
    return this.#visits.doubt();
  }

  alarm(): Promise<void> {
    return this.#loop.alarm();
  }

  controllerStatus(): Promise<ControllerStatus | null> {
    return this.#loop.controllerStatus();
  }

  async pokeFrom(theirs: Settings, who?: "cron", tickMs?: number): Promise<"rests" | "left" | undefined> {
    const { clock, settings, config, storage } = this.ports;
    const configured = config();
    const own = settingsOf(configured);
    if (noteSettings(settings, own, theirs, clock.now()) || hasChanged(settings, own)) await this.askVisits(SELF);
    if (who === undefined || tickMs === undefined) {
      await this.#loop.ask();
      return undefined;
    }
    const isFull = this.#visits.isFullDue(storage.numberGet(FULL_AT), tickMs, configured.serverStartedAtMs);
    if (!isFull && this.#visits.isEmpty) return "rests";
    storage.numberSet(CRON_AT, clock.now());
    if (isFull) {
      storage.numberSet(FULL_AT, tickMs);
      return this.#visitInFull();
    }
    return (await this.#visits.visitAll()) === "settled" ? "rests" : "left";
  }

  async #visitInFull(): Promise<"rests" | "left" | undefined> {
    const { background, clock } = this.ports;
    this.#isFull = true;
    const visited = this.#visits.visitInFull();
    background(visited.then(() => void (this.#isFull = false)));
    const outcome = await withTimeout(clock, FULL_WAIT_MS, visited).catch(() => "left" as const);
    if (outcome !== "unknown") return outcome === "settled" ? "rests" : "left";
    await this.#loop.ask();
    background(this.#visits.learn());
    return undefined;
  }

  /** A visit to itself: it reads on, and sweeps at times. */
  async #visited(): Promise<VisitOutcome> {
    const { clock, storage } = this.ports;
    const age = clock.now() - storage.numberGet(PORTIONED_AT);
    const isEarly = !this.#isFull && age >= 0 && age < PORTIONS_APART_MS;
    await (isEarly ? this.#loop.poke(undefined, true) : this.#loop.ask(true));
    return "settled";
  }

  async sweep(): Promise<void> {
    this.ports.storage.numberSet(SWEEP_ASKED, 1);
    await this.#loop.poke();
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

/** Whether nothing was ever noted here: the cluster begins now. */
function isNew({ rows, settings, storage }: RepairControllerPorts): boolean {
  const isUnmarked = [CRON_AT, FULL_AT, PORTIONED_AT, ...OLDER_MARKS].every((name) => storage.numberGet(name) === 0);
  const isUnread = storage.progressLoad("services").cursor === undefined && Object.keys(settings.openedLoad()).length === 0;
  return isUnmarked && isUnread && [...rows.rows(LIST_KIND), ...rows.rows(ENTERED_KIND)].length === 0;
}

/** The Service `default/kubernetes`, which every cluster has; undefined as long as it is not there or cannot be read. */
async function defaultService(services: ObjectFeed): Promise<EventSubject | undefined> {
  const [text] = await services.objectsNamed([{ namespace: DEFAULT_NAMESPACE, name: DEFAULT_NAME }]).catch(() => []);
  const service = text ? readService(text) : undefined;
  return service && referenceTo(servicesDefinition, service);
}
