/** The controllers of a simulated cluster: the product's, each in an object that dies, whose alarm fails and whose pokes get lost. */
import { type ControllerBrain, CONTROLLERS, type ControllerSetting } from "../../../durable-objects/platform/controllers";
import { READ } from "../../../src/api/rpc/store";
import { settingsOf } from "../../../src/core/config/settings";
import { withTimeout } from "../../../src/core/base/timeout";
import type { VisitReport, VisitRequest } from "../../../src/tenancy/shard-visits";
import { enteringOnce } from "../../../src/controllers/frame/entering";
import { OlderCallers } from "../../../src/controllers/frame/older-callers";
import { ENTERED_KIND, LIST_KIND } from "../../../src/tenancy/visit-list";
import { OLDER_CRON_AT } from "../../../src/addresses/repair/repair-ports";
import type { MemoryRowStorage } from "../memory/row-storage";
import { overriding } from "../worlds/overriding";
import { CollectorWatch } from "./watches/collector-watch";
import { namespacesList } from "./namespaces";
import { ALWAYS, type Caller, type Life, type SimNode, whileAlive } from "./platform/network";
import { contentNodes, contentOf, controllerOf, pokeStepOf, visitListOf, visitTo } from "./peers";
import { type SimPlatform, type Simulated, SIMULATED } from "./platform/platform";
import type { ProtocolStep } from "./protocol-steps";
import type { RepairWatch } from "./watches/repair-watch";

/** Of one call of a visit, as in durable-objects/peers/cluster-visits.ts. */
const CALL_TIMEOUT_MS = 25_000;
/** Stores that every cluster uses: they enter nowhere. */
const USED_BY_ALL = ["namespaces", "services", "servicecidrs.networking.k8s.io", "ipaddresses.networking.k8s.io"];
/** A wait of this length is the fifth of a pass that leaves work again and again. */
const LONG_WAIT_MS = 8_000;

export class SimControllers {
  readonly collectorWatch: CollectorWatch;
  /** passes under way, by controller */
  readonly #passes = new Map<Simulated, number>();

  constructor(
    private readonly cluster: SimPlatform,
    private readonly repairWatch: RepairWatch,
  ) {
    this.collectorWatch = new CollectorWatch(cluster);
    for (const name of SIMULATED) {
      cluster.controllerNodes[name].onCrash = () => {
        if ((this.#passes.get(name) ?? 0) > 0) cluster.network.occurred(`pass of ${name} crashed`);
        this.#passes.delete(name);
      };
    }
  }

  of(name: Simulated): SimNode<ControllerBrain> {
    return this.cluster.controllerNodes[name];
  }

  /** What cron does in a full visit. */
  cron(name: Simulated): void {
    void this.#poked(ALWAYS, name).catch(() => undefined);
  }

  /** What a shard of the directory does in the cluster (durable-objects/peers/cluster-visits.ts). Never rejects. */
  async visit(shard: Life, { job, tickMs, settings = settingsOf(this.cluster.config) }: VisitRequest): Promise<VisitReport> {
    const { network } = this.cluster;
    const { repair } = this.cluster.controllerNodes;
    const report: VisitReport = { calls: 0, errors: 0, found: "done" };
    const attempt = async <T>(work: Promise<T>): Promise<T | undefined> => {
      report.calls++;
      try {
        return await withTimeout(shard.clock, CALL_TIMEOUT_MS, work);
      } catch {
        report.errors++;
        return undefined;
      }
    };
    if (job !== "compact") {
      const visited = network.call(
        shard,
        repair,
        (brain) => brain.pokeFrom?.(settings, "cron", tickMs) ?? Promise.resolve(undefined),
        () => "pokeRepair",
      );
      const found = await attempt(visited);
      if (found) report.found = found;
      else await this.#visitEverybody(shard, attempt);
      if (job === "idle") network.occurred("idle visit");
    }
    if (job === "compact" || job === "idle") await this.#compact(shard, attempt);
    return report;
  }

  /** What cron of the release before does each minute in a cluster that had writes. Each call may fail, and comes again. */
  async visitAsEarlier(cron: Caller): Promise<void> {
    const { network, controllerNodes, scheduler, tables } = this.cluster;
    const { repair } = controllerNodes;
    const settings = settingsOf(this.cluster.config);
    const attempt = (work: Promise<unknown>): Promise<unknown> =>
      withTimeout(scheduler.clock(), CALL_TIMEOUT_MS, work).catch(() => undefined);
    await this.#visitEverybody(cron, attempt);
    const visited = (brain: ControllerBrain): Promise<unknown> => {
      if (repair.isEarlier) tables.controllers.repair.numberSet(OLDER_CRON_AT, scheduler.now);
      return brain.pokeFrom?.(settings, "cron") ?? Promise.resolve();
    };
    await attempt(network.call(cron, repair, visited, () => "pokeRepair"));
  }

  async #visitEverybody(shard: Caller, attempt: (work: Promise<unknown>) => Promise<unknown>): Promise<void> {
    const { network, services, ipAddresses, coordinator } = this.cluster;
    const maintained = [services, ipAddresses, coordinator] as unknown as SimNode<{ maintain(): Promise<void> }>[];
    for (const node of maintained) await attempt(network.call(shard, node, (store) => store.maintain()));
    for (const name of SIMULATED) if (name !== "repair") await attempt(this.#poked(shard, name));
  }

  async #compact(shard: Life, attempt: (work: Promise<unknown>) => Promise<unknown>): Promise<void> {
    const { network, services, ipAddresses, coordinator, plain } = this.cluster;
    const stores = [services, ipAddresses, coordinator, ...Object.values(plain)] as unknown as SimNode<{ compact(): Promise<void> }>[];
    for (const node of stores) await attempt(network.call(shard, node, (store) => store.compact()));
  }

  #poked(caller: Caller, name: Simulated): Promise<unknown> {
    const settings = settingsOf(this.cluster.config);
    const poked = (brain: ControllerBrain): Promise<unknown> =>
      (name === "repair" ? brain.pokeFrom?.(settings) : undefined) ?? brain.poke();
    return this.cluster.network.call(caller, this.of(name), poked, () => pokeStepOf(name));
  }

  /** Somebody has asked for visits, and was not found settled. */
  get awaitsVisits(): boolean {
    return [...this.cluster.tables.controllers.rows.rows("visits")].length > 0;
  }

  /** The brain of a controller in one life. */
  made(name: Simulated, life: Life): ControllerBrain {
    if (this.cluster.off.has(name)) return { poke: () => Promise.resolve(READ), alarm: () => Promise.resolve() };
    const setting = this.setting(name, life);
    const { clock, peers, recorder } = setting;
    const { sabotage } = this.cluster;
    const older: OlderCallers = new OlderCallers({
      ...{ clock, recorder },
      tell: () => (name === "repair" ? (brain.doubt?.() ?? Promise.resolve()) : visitListOf(this.cluster, life).doubt()),
    });
    const known = older.known(peers.entered ?? (() => Promise.resolve(null)));
    const entered = sabotage.neverInDoubt ? () => this.#entered() : known;
    this.of(name).onEarlierCaller = () => {
      if (!life.isAlive()) return;
      this.cluster.network.occurred("controller called by the release before");
      older.called();
    };
    const brain = this.brain(name, { ...setting, peers: { ...peers, entered } });
    return overriding(brain, { alarm: () => this.#track(name, brain.alarm()) });
  }

  /** Who has entered, whoever may be missing. */
  #entered(): Promise<readonly string[]> {
    const rows = this.cluster.tables.controllers.rows.rows(ENTERED_KIND);
    return Promise.resolve([...USED_BY_ALL, ...rows.map(([name]) => name)]);
  }

  brain(name: Simulated, setting: ControllerSetting): ControllerBrain {
    return CONTROLLERS.make(`default/controllers/${name}`, setting);
  }

  /** What a controller has of its object. */
  setting(name: Simulated, life: Life): ControllerSetting {
    const { cluster } = this;
    const { clock } = life;
    const { graph, repair, settings, rows } = cluster.tables.controllers;
    return {
      cluster: "default",
      clock: (name === "repair" && cluster.sabotage.repairClock?.(clock)) || clock,
      recorder: cluster.recorder(life),
      config: () => cluster.config,
      peers: this.#peers(life),
      tables: {
        graph: whileAlive(graph, life),
        repair: whileAlive(repair, life),
        settings: whileAlive(settings, life),
        rows: life.isEarlier ? withoutList(whileAlive(rows, life)) : whileAlive(rows, life),
      },
      wakeAt: (atMs) => this.#wakeAt(name, life, atMs),
      noteBusy: () => cluster.noteBusy(life, "minute"),
      askVisit: () => visitListOf(cluster, life).askVisits(`controllers/${name}`),
      enter: enteringOnce(whileAlive(rows, life), `controllers/${name}`, (entering) => visitListOf(cluster, life).enter(entering)),
      ...(life.isEarlier && NO_LIST),
      cancelAlarm: () => Promise.resolve(),
      isOn: () => true,
      background: (work) => void this.#track(name, work),
      restart: () => void (life.isAlive() && this.of(name).crash()),
    };
  }

  /** Notes that a pass is under way until the work is done. */
  async #track(name: Simulated, work: Promise<void>): Promise<void> {
    const { deaths } = this.of(name);
    this.#passes.set(name, (this.#passes.get(name) ?? 0) + 1);
    await work;
    if (deaths === this.of(name).deaths) this.#passes.set(name, (this.#passes.get(name) ?? 1) - 1);
  }

  /** Sets the alarm of the object, unless that fails. */
  #wakeAt(name: Simulated, life: Life, atMs: number): Promise<void> {
    const { network, scheduler } = this.cluster;
    if (network.chance(network.faults.alarmFails)) {
      network.faulted++;
      network.occurred(`alarm of ${name} not set`);
      return Promise.reject(new Error("the alarm cannot be set"));
    }
    // Repair sets its alarm for suspects too, which wait for time and not for a peer.
    if (name === "namespaces" && atMs - scheduler.now >= LONG_WAIT_MS) network.occurred("namespaces waited long");
    if (life.isAlive()) this.of(name).setAlarm(atMs);
    return Promise.resolve();
  }

  #peers(life: Caller): ControllerSetting["peers"] {
    const { cluster } = this;
    const { network, plain } = cluster;
    const asked = <T>(step: ProtocolStep, work: (store: (typeof plain.namespaces)["brain"]) => Promise<T>): Promise<T> =>
      network.call(life, plain.namespaces, work, () => step);
    const content = new Map(contentNodes(cluster).map((node) => [node.name, contentOf(cluster, life, node)]));
    return {
      ...this.repairWatch.peers(life),
      controllers: SIMULATED,
      // The release before asks nobody: every store may be used.
      entered: () => (life.isEarlier ? Promise.resolve(null) : visitListOf(cluster, life).entered()),
      visit: (visited) => visitTo(cluster, life, visited),
      others: () => SIMULATED.filter((other) => other !== "repair").map((other) => controllerOf(cluster, life, other)),
      stores: () =>
        this.collectorWatch.stores(life).map(({ definition, store }) => ({
          definition,
          store: () => ({ ...NO_CONTENT, ...store(), ...content.get(definition.resource) }),
        })),
      namespaces: () => ({
        get: (key, resourceVersion) => asked("getNamespace", (store) => store.get(key, resourceVersion)),
        write: (request) => {
          const isEnd = "subresource" in request && request.subresource === "finalize";
          return asked(isEnd ? "finalizeNamespace" : "reportNamespace", (store) => store.write(request));
        },
      }),
      listNamespaces: (request) => asked("listNamespaces", (store) => Promise.resolve(namespacesList(store, request))),
      quotas: () => ({
        objectsAfter: () => Promise.reject(new Error("quotas are not kept here")),
        limitsHeld: () => Promise.reject(new Error("quotas are not kept here")),
        write: () => Promise.reject(new Error("quotas are not kept here")),
      }),
      storeOf: () => {
        throw new Error("the controllers of endpoints and Nodes are not simulated here");
      },
      fleet: () => {
        throw new Error("Clusters are not kept here");
      },
      poolBook: () => {
        throw new Error("pools are not kept here");
      },
      leases: () => ({ valuesSince: () => Promise.reject(new Error("Leases are not kept here")) }),
      nodeProxy: () => ({ push: () => Promise.reject(new Error("the health of nodes is not kept here")) }),
      events: () => ({
        get: () => Promise.reject(new Error("events are not kept here")),
        write: () => Promise.reject(new Error("events are not kept here")),
      }),
    };
  }
}

/** The release before has no list of visits: it tells nobody, and leaves the rows of this one alone. */
const NO_LIST: Pick<ControllerSetting, "noteBusy" | "askVisit" | "enter"> = {
  noteBusy: () => undefined,
  askVisit: () => Promise.reject(new Error("the release before has no visits")),
  enter: () => Promise.resolve(),
};

function withoutList(rows: MemoryRowStorage): MemoryRowStorage {
  const isOfList = (kind: string): boolean => kind === LIST_KIND || kind === ENTERED_KIND;
  return overriding(rows, {
    rowPut: (kind, key, text) => void (isOfList(kind) || rows.rowPut(kind, key, text)),
    rowDelete: (kind, key) => void (isOfList(kind) || rows.rowDelete(kind, key)),
  });
}

const NO_CONTENT = {
  quotaReport: () => Promise.reject(new Error("quotas are not kept here")),
  quotaUsage: () => Promise.reject(new Error("quotas are not kept here")),
  closeNamespace: () => Promise.reject(new Error("this store is of no namespace")),
  emptyNamespace: () => Promise.reject(new Error("this store is of no namespace")),
};
