/** The controllers of Pods without a kubelet in virtual time: their passes and the loop are the product's, and so are the stores that they follow. */
import type { EventReport } from "../../../src/api/events/event-recorder";
import type { KubeObject, Node, Pod } from "../../../src/api/meta/kubernetes";
import { nodesDefinition } from "../../../src/api/registry/nodes/definition";
import { podsDefinition } from "../../../src/api/registry/pods/definition";
import type { WriteRequest, WriteResult } from "../../../src/api/rpc/store";
import type { ChangeFilter } from "../../../src/api/store/feeds/follower-pokes";
import type { StoreObserver } from "../../../src/api/store/state/observer";
import { ObjectFeedReader } from "../../../src/api/store/feeds/object-feed-reader";
import { Controller } from "../../../src/controllers/frame/controller";
import type { WrittenStore } from "../../../src/controllers/followed/called-store";
import { podCollectionController, taintEvictionController } from "../../../src/nodes/pod-controllers";
import { podCollectionPass } from "../../../src/nodes/pod-collection/pod-collection-pass";
import { taintEvictionPass } from "../../../src/nodes/taint-eviction/taint-eviction-pass";
import { MemoryRowStorage } from "../memory/row-storage";
import { SimScheduler } from "../sim/platform/scheduler";
import { StoreWorld } from "./store-world";

export type Kind = "pods" | "nodes";
export type PodController = "collector" | "evictor";

const CORE = { group: "" };
/** A store's answer to a write that it refuses. */
export const REFUSED: WriteResult = {
  ok: false,
  status: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 422, reason: "Invalid", message: "no" },
  warnings: [],
};
const FILTERS = { collector: podCollectionController.filters, evictor: taintEvictionController.filters };

export class PodWorld {
  readonly scheduler = new SimScheduler();
  readonly stores: Record<Kind, StoreWorld>;
  readonly rows = new MemoryRowStorage();
  readonly events: EventReport[] = [];
  /** calls of the controller to stores, as `pods delete p` */
  calls: string[] = [];
  /** when the alarm rings; undefined = there is none */
  alarmAt: number | undefined;
  passes = 0;
  /** asked before each call: an error = the call fails, a result = the answer */
  fault: (call: string) => Error | WriteResult | undefined = () => undefined;
  /** asked before each call: how long it takes, in milliseconds */
  duration: (call: string) => number = () => 1;
  /** what the controller said, with its fields */
  readonly logs: [message: string, fields: object | undefined][] = [];
  #life = 0;
  #controller: Controller | undefined;
  #cancelAlarm = (): void => undefined;

  constructor(
    private readonly name: PodController,
    private readonly setting: { terminatedThreshold?: number; historyEntries?: number } = {},
  ) {
    this.stores = { pods: this.#store("pods"), nodes: this.#store("nodes") };
    this.wake();
    void this.poke();
  }

  get now(): number {
    return this.scheduler.now;
  }

  /** The controller's object begins anew: of its memory nothing is left, its alarm stays. */
  wake(): void {
    this.#life++;
    this.#controller = this.#made(this.#life);
  }

  /** Nothing runs, and no alarm rings, while this time passes. Then the server starts. */
  async away(durationMs: number): Promise<void> {
    this.#life++;
    this.#controller = undefined;
    this.#cancelAlarm();
    const { alarmAt } = this;
    await this.scheduler.pass(durationMs);
    this.wake();
    if (alarmAt !== undefined) await this.#setAlarm(Math.max(alarmAt, this.now));
  }

  poke(): Promise<unknown> | undefined {
    return this.#controller?.poke();
  }

  /** Time passes. */
  async pass(durationMs: number): Promise<void> {
    await this.scheduler.pass(durationMs);
  }

  /** A Pod on the Node, in the phase; with more of its spec. */
  async pod(name: string, node = "", phase = "Running", spec: Partial<Pod["spec"] & object> = {}, metadata: object = {}): Promise<void> {
    const whole = {
      metadata: { name, namespace: "ns", ...metadata },
      spec: { containers: [{ name: "c", image: "i" }], ...(node ? { nodeName: node } : {}), ...spec },
    };
    must(await this.stores.pods.create(whole, CORE));
    if (phase !== "Pending") await this.status("pods", name, { phase });
  }

  /** A Node; `ready` undefined = nobody has ever written the condition. */
  async node(name: string, ready?: "True" | "False" | "Unknown", taints: NonNullable<Node["spec"]>["taints"] = []): Promise<void> {
    must(await this.stores.nodes.create({ metadata: { name }, spec: { taints } } as KubeObject, CORE));
    if (ready) await this.ready(name, ready);
  }

  ready(name: string, status: "True" | "False" | "Unknown"): Promise<void> {
    return this.status("nodes", name, { conditions: [{ type: "Ready", status }] });
  }

  taint(name: string, taints: NonNullable<Node["spec"]>["taints"]): Promise<void> {
    return this.patch("nodes", name, { spec: { taints } });
  }

  async status(kind: Kind, name: string, status: object): Promise<void> {
    const stored = this.object(kind, name);
    must(await this.stores[kind].update({ ...stored, status: { ...(stored as Pod).status, ...status } } as KubeObject, CORE, "status"));
  }

  async patch(kind: Kind, name: string, patch: object): Promise<void> {
    must(await this.stores[kind].patch(name, "merge", patch, CORE, kind === "pods" ? "ns" : ""));
  }

  /** @param gracePeriodSeconds undefined = that of the object */
  async delete(kind: Kind, name: string, gracePeriodSeconds?: number): Promise<void> {
    must(await this.stores[kind].delete(name, { gracePeriodSeconds }, kind === "pods" ? "ns" : ""));
  }

  object<T extends KubeObject = Pod>(kind: Kind, name: string): T | undefined {
    return this.stores[kind].stored(name, kind === "pods" ? "ns" : "") as T | undefined;
  }

  /** The names of all Pods, sorted. */
  get pods(): string[] {
    return [...this.stores.pods.storage.objectScan("", "")].map(({ key }) => key.replace("ns/", "")).sort();
  }

  /** The names of the Pods that are being deleted. */
  get terminating(): string[] {
    return this.pods.filter((name) => this.object("pods", name)?.metadata?.deletionTimestamp);
  }

  /** The texts of the events since the last call. */
  takeNotes(): string[] {
    return this.events.splice(0).map(({ note }) => note);
  }

  /** The calls since the last call. */
  takeCalls(): string[] {
    return this.calls.splice(0);
  }

  #store(kind: Kind): StoreWorld {
    const definition = kind === "pods" ? podsDefinition : nodesDefinition;
    const historyBounds = { entriesMax: this.setting.historyEntries ?? 10_000, sizeMax: 1e9, trimEntries: 1 };
    const filter: ChangeFilter | undefined = FILTERS[this.name]?.[kind];
    const observer: StoreObserver = {
      turnCommitted: (changes) => {
        if (changes.some((change) => filter?.(change) ?? true)) void this.poke();
      },
    };
    return new StoreWorld({ definition, scheduler: this.scheduler, observers: [observer], historyBounds, seed: kind.length });
  }

  #setAlarm(atMs: number): Promise<void> {
    this.#cancelAlarm();
    this.alarmAt = atMs;
    this.#cancelAlarm = this.scheduler.clock().after(atMs - this.now, () => {
      this.alarmAt = undefined;
      void this.#controller?.alarm();
    });
    return Promise.resolve();
  }

  #made(life: number): Controller {
    const clock = this.scheduler.clock(() => life === this.#life);
    const ports = {
      clock,
      recorder: { log: (_: string, message: string, fields?: object) => void this.logs.push([message, fields]) },
      storage: this.rows,
      pods: this.#followed("pods", life),
      nodes: this.#followed("nodes", life),
      events: { report: (event: EventReport) => void this.events.push(event), flush: () => Promise.resolve() },
    };
    const { terminatedThreshold = 12_500 } = this.setting;
    const pass = this.name === "collector" ? podCollectionPass(ports, { terminatedThreshold }) : taintEvictionPass(ports);
    return new Controller(
      {
        clock,
        recorder: ports.recorder,
        wakeAt: (atMs) => this.#setAlarm(atMs),
        cancelAlarm: () => Promise.resolve(),
        isOn: () => life === this.#life,
        background: (work) => void work,
        restart: () => this.wake(),
      },
      (isPoked) => {
        this.passes++;
        return pass(isPoked);
      },
    );
  }

  #followed(kind: Kind, life: number): WrittenStore {
    const world = this.stores[kind];
    const feed = new ObjectFeedReader(world.store);
    const clock = this.scheduler.clock(() => life === this.#life);
    const call = async <T>(what: string, work: () => T | Promise<T>): Promise<T> => {
      await clock.sleep(this.duration(`${kind} ${what}`));
      this.calls.push(`${kind} ${what}`);
      const fault = this.fault(`${kind} ${what}`);
      if (fault instanceof Error) throw fault;
      return fault ? (fault as T) : work();
    };
    return {
      objectsSince: (cursor, limit) => call("objectsSince", () => feed.objectsSince(cursor, limit)),
      objectsAfter: (after, limit) => call("objectsAfter", () => feed.objectsAfter(after, Math.min(limit, 3))),
      objectsNamed: (keys) => call("objectsNamed", () => feed.objectsNamed(keys)),
      write: (request: WriteRequest) =>
        call(`${request.verb} ${"key" in request ? request.key.name : ""}`, () => world.store.write(request)),
    };
  }
}

function must(result: WriteResult): void {
  if (!result.ok) throw new Error(result.status.message);
}
