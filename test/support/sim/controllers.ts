/** The controllers of a simulated cluster: the product's, each in an object that dies, whose alarm fails and whose pokes get lost. */
import { type ControllerBrain, type ControllerName, CONTROLLERS, type ControllerSetting } from "../../../durable-objects/controllers";
import type { ControllerRpc, MaintainedStore } from "../../../src/api/rpc/store";
import { servicesDefinition } from "../../../src/api/registry/services/definition";
import { settingsOf } from "../../../src/core/config/settings";
import { MemoryGraphStorage } from "../memory/graph-storage";
import { MemoryRepairStorage } from "../memory/repair-storage";
import { MemorySettingsStorage } from "../memory/settings-storage";
import type { SimCluster } from "./cluster";
import { ALWAYS, type Caller, type Life, SimNode, whileAlive } from "./network";
import type { ProtocolStep } from "./protocol-steps";

/** The controllers that have work in a simulated cluster. */
export const SIMULATED = ["namespaces", "repair"] as const satisfies readonly ControllerName[];
type Simulated = (typeof SIMULATED)[number];

const POKES: Readonly<Record<Simulated, ProtocolStep>> = { namespaces: "pokeNamespaces", repair: "pokeRepair" };
/** A wait of this length is the fifth of a pass that leaves work again and again. */
const LONG_WAIT_MS = 8_000;

/** One controller: its tables are kept, its loop dies with its object. */
class SimController {
  readonly node: SimNode<ControllerBrain>;
  /** it answers pokes and does nothing */
  isOff = false;
  /** how often its object died */
  deaths = 0;
  #passes = 0;

  constructor(
    private readonly name: Simulated,
    private readonly cluster: SimCluster,
    make: (life: Life) => ControllerBrain,
  ) {
    this.node = new SimNode<ControllerBrain>(`controllers/${name}`, cluster.network, make, (brain) => this.track(brain.alarm()));
    this.node.hasRightTime = true;
    this.node.onCrash = () => {
      this.deaths++;
      if (this.#passes > 0) cluster.network.occurred(`pass of ${name} crashed`);
      this.#passes = 0;
    };
  }

  /** Notes that a pass is under way until the work is done. */
  async track(work: Promise<void>): Promise<void> {
    const { deaths } = this;
    this.#passes++;
    await work;
    if (deaths === this.deaths) this.#passes--;
  }

  /** Sets the alarm of the object, unless that fails. */
  wakeAt(life: Life, atMs: number): Promise<void> {
    const { network, scheduler } = this.cluster;
    if (network.chance(network.faults.alarmFails)) {
      network.faulted++;
      network.occurred(`alarm of ${this.name} not set`);
      return Promise.reject(new Error("the alarm cannot be set"));
    }
    // Repair sets its alarm for suspects too, which wait for time and not for a peer.
    if (this.name === "namespaces" && atMs - scheduler.now >= LONG_WAIT_MS) network.occurred("namespaces waited long");
    if (life.isAlive()) this.node.setAlarm(atMs);
    return Promise.resolve();
  }
}

export class SimControllers {
  readonly repairTables = new MemoryRepairStorage();
  readonly #settings = new MemorySettingsStorage();
  readonly #all: Readonly<Record<Simulated, SimController>>;

  constructor(private readonly cluster: SimCluster) {
    const controller = (name: Simulated): SimController => new SimController(name, cluster, (life) => this.#made(name, life));
    this.#all = { namespaces: controller("namespaces"), repair: controller("repair") };
  }

  of(name: Simulated): SimController {
    return this.#all[name];
  }

  /** Whoever calls it as a store does. */
  stub(caller: Caller, name: Simulated): ControllerRpc {
    const { network } = this.cluster;
    return {
      poke: () =>
        network.call(
          caller,
          this.#all[name].node,
          (brain) => brain.poke(),
          () => POKES[name],
        ),
    };
  }

  /** What cron does each minute. */
  cron(name: Simulated): void {
    const { network, config } = this.cluster;
    const settings = settingsOf(config);
    const poked = (brain: ControllerBrain): Promise<void> => (name === "repair" ? brain.pokeFrom?.(settings) : undefined) ?? brain.poke();
    void network.call(ALWAYS, this.#all[name].node, poked, () => POKES[name]).catch(() => undefined);
  }

  /** The stores of namespaced objects; those that hold nothing are left out. */
  content(caller: Caller): Pick<MaintainedStore, "closeNamespace" | "emptyNamespace"> {
    const { network, services } = this.cluster;
    return {
      closeNamespace: (name, uid) =>
        network.call(
          caller,
          services,
          (brain) => brain.closeNamespace(name, uid),
          () => "closeNamespace",
        ),
      emptyNamespace: (name, uid) =>
        network.call(
          caller,
          services,
          (brain) => brain.emptyNamespace(name, uid),
          () => "emptyNamespace",
        ),
    };
  }

  #made(name: Simulated, life: Life): ControllerBrain {
    const { cluster } = this;
    const { clock } = life;
    if (this.#all[name].isOff) return { poke: () => Promise.resolve(), alarm: () => Promise.resolve() };
    return CONTROLLERS.make(`default/controllers/${name}`, {
      cluster: "default",
      clock: (name === "repair" && cluster.sabotage.repairClock?.(clock)) || clock,
      recorder: cluster.recorder(life),
      config: () => cluster.config,
      peers: this.#peers(life),
      tables: {
        graph: new MemoryGraphStorage(),
        repair: whileAlive(this.repairTables, life),
        settings: whileAlive(this.#settings, life),
      },
      wakeAt: (atMs) => this.#all[name].wakeAt(life, atMs),
      background: (work) => void this.#all[name].track(work),
      restart: () => void (life.isAlive() && this.#all[name].node.crash()),
    });
  }

  #peers(life: Life): ControllerSetting["peers"] {
    const { network, namespaces, repairWatch } = this.cluster;
    const asked = <T>(step: ProtocolStep, work: (store: (typeof namespaces.node)["brain"]) => Promise<T>): Promise<T> =>
      network.call(life, namespaces.node, work, () => step);
    return {
      ...repairWatch.peers(life),
      stores: () => [{ definition: servicesDefinition, store: () => this.content(life) as never }],
      namespaces: () => ({
        get: (key, resourceVersion) => asked("getNamespace", (store) => store.get(key, resourceVersion)),
        write: (request) => {
          const isEnd = "subresource" in request && request.subresource === "finalize";
          return asked(isEnd ? "finalizeNamespace" : "reportNamespace", (store) => store.write(request));
        },
      }),
      listNamespaces: (request) => asked("listNamespaces", (store) => Promise.resolve(namespaces.list(store, request))),
      events: () => ({
        get: () => Promise.reject(new Error("events are not kept here")),
        write: () => Promise.reject(new Error("events are not kept here")),
      }),
    };
  }
}
