/**
 * A controller on the frame, in virtual time. Its stores and its loop are the product's. Each place where its object may die has a number: before and
 * after the effect of each call, and before and after each commit of its rows.
 */
import { deferred } from "../../../src/core/base/deferred";
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { ObjectFeedReader } from "../../../src/api/store/feeds/object-feed-reader";
import type { StoreNews } from "../../../src/api/rpc/store";
import type { StoreExtension } from "../../../src/api/store/state/extension";
import { ownWrites, type WrittenStore } from "../../../src/controllers/followed/called-store";
import type { RowStorage } from "../../../src/controllers/followed/row-storage";
import { Controller, type Pass } from "../../../src/controllers/frame/controller";
import type { FramePorts } from "../../../src/controllers/frame/frame";
import type { ControllerStatus } from "../../../src/controllers/frame/status";
import { MemoryRowStorage } from "../memory/row-storage";
import { SimulatedCrash } from "../sim/platform/journal";
import { SimScheduler } from "../sim/platform/scheduler";
import { StoreWorld } from "./store-world";

/** What the controller has of its object in one life. */
export interface ControllerWorldPorts<Kind extends string> extends FramePorts {
  storage: RowStorage;
  stores: Readonly<Record<Kind, WrittenStore>>;
  /** a call to anything else: it takes time, and the object may die before and after its effect */
  called<T>(what: string, work: () => T): Promise<T>;
}

export interface ControllerWorldOptions<Kind extends string> {
  definitions: Readonly<Record<Kind, ResourceDefinition>>;
  make(ports: ControllerWorldPorts<Kind>): Pass;
  /** the stores whose changes ask for a pass; absent = all */
  follows?: readonly Kind[];
  /** the number of the place where the object dies; 0 = it does not */
  dieAt?: number;
  /** what stands in the write path of a store */
  extensions?: Readonly<Partial<Record<Kind, StoreExtension<undefined>>>>;
  /** of each store: with few of them the controller lists now and then */
  historyEntries?: number;
}

/** How long a dead object stays away. */
const DEAD_MS = 100;

export class ControllerWorld<Kind extends string> {
  readonly scheduler = new SimScheduler();
  readonly stores: Record<Kind, StoreWorld>;
  readonly rows = new MemoryRowStorage();
  /** calls of the controller, as `pods create` or `pods delete a` */
  readonly calls: string[] = [];
  /** places where the object could have died so far */
  points = 0;
  dieAt: number;
  /** asked at each place: whether the object dies */
  dies: () => boolean = () => false;
  /** asked before each call: an error = the call fails without an effect */
  fault: (call: string) => Error | undefined = () => undefined;
  deaths = 0;
  readonly #lost = new Map<Kind, ReturnType<typeof deferred<never>>>();
  #life = 0;
  #controller: Controller | undefined;
  #cancelAlarm = (): void => undefined;

  constructor(private readonly options: ControllerWorldOptions<Kind>) {
    const { definitions, dieAt = 0 } = options;
    const kinds = Object.keys(definitions) as Kind[];
    this.dieAt = dieAt;
    this.stores = Object.fromEntries(kinds.map((kind, i) => [kind, this.#store(kind, i + 1)])) as Record<Kind, StoreWorld>;
    this.rows.journal.gate = { beforeCommit: () => this.#crashPoint(), afterCommit: () => this.#crashPoint() };
    this.#wake();
  }

  get now(): number {
    return this.scheduler.now;
  }

  /** Creates the object, or replaces the one of its name; in the namespace `ns`. */
  async put(kind: Kind, object: KubeObject): Promise<void> {
    const store = this.stores[kind];
    const whole = { ...object, metadata: { namespace: "ns", ...object.metadata } };
    const options = { group: store.definition.group };
    const answer = await (store.stored(whole.metadata.name ?? "") ? store.update(whole, options) : store.create(whole, options));
    if (!answer.ok) throw new Error(answer.status.message);
  }

  async remove(kind: Kind, name: string): Promise<void> {
    await this.stores[kind].delete(name);
  }

  /** All objects of a store, in the order of their names. */
  objects<T extends KubeObject>(kind: Kind): T[] {
    return [...this.stores[kind].storage.objectScan("", "")].map(({ data }) => JSON.parse(data) as T);
  }

  names(kind: Kind): string[] {
    return this.objects(kind).map(({ metadata }) => metadata?.name ?? "");
  }

  /** `news` absent = the poke names no store, as cron's. */
  poke(news?: StoreNews[]): void {
    void this.#controller?.poke(news);
  }

  /** What a poke of the store says now. */
  news(kind: Kind): StoreNews {
    const { incarnation, revision } = this.stores[kind].store;
    return { store: kind, incarnation, revision };
  }

  pass(durationMs: number): Promise<void> {
    return this.scheduler.pass(durationMs);
  }

  /** The calls since the last call of this. */
  takeCalls(): string[] {
    return this.calls.splice(0);
  }

  async status(): Promise<ControllerStatus | null | undefined> {
    return this.#controller?.controllerStatus();
  }

  #store(kind: Kind, seed: number): StoreWorld {
    const { definitions, follows, historyEntries = 10_000 } = this.options;
    const historyBounds = { entriesMax: historyEntries, sizeMax: 1e9, trimEntries: 1 };
    const observer = { turnCommitted: () => void ((follows?.includes(kind) ?? true) && this.poke([this.news(kind)])) };
    const extension = this.options.extensions?.[kind];
    const definition = definitions[kind];
    return new StoreWorld({
      ...{ definition, scheduler: this.scheduler, historyBounds, observers: [observer], seed },
      ...(extension && { extension }),
    });
  }

  #wake(): void {
    const life = ++this.#life;
    const clock = this.scheduler.clock(() => life === this.#life);
    const kinds = Object.keys(this.stores) as Kind[];
    const stores = Object.fromEntries(kinds.map((kind) => [kind, this.#called(kind, life)])) as Record<Kind, WrittenStore>;
    const ports = { clock, recorder: { log: () => undefined } };
    this.#controller = new Controller(
      {
        ...ports,
        wakeAt: (atMs) => Promise.resolve(this.#setAlarm(life, atMs)),
        cancelAlarm: () => Promise.resolve(),
        isOn: () => life === this.#life,
        background: (work) => void work,
        restart: () => this.#die(),
      },
      this.options.make({ ...ports, storage: this.rows, stores, called: (what, work) => this.#call(life, what, work) }),
    );
    this.poke();
  }

  #setAlarm(life: number, atMs: number): void {
    if (life !== this.#life) return;
    this.#cancelAlarm();
    this.#cancelAlarm = this.scheduler.after(atMs - this.now, () => void this.#controller?.alarm());
  }

  /** A store dies and starts again: who has called it hears nothing but an error. */
  restartStore(kind: Kind): void {
    this.stores[kind].restart();
    const lost = this.#lost.get(kind);
    this.#lost.delete(kind);
    lost?.reject(new Error(`the store of ${kind} has died`));
  }

  /** The answer, unless the store dies first. */
  #unlessLost<T>(kind: Kind, answer: Promise<T>): Promise<T> {
    const lost = this.#lost.get(kind) ?? deferred<never>();
    this.#lost.set(kind, lost);
    lost.promise.catch(() => undefined);
    return Promise.race([answer, lost.promise]);
  }

  #called(kind: Kind, life: number): WrittenStore {
    let fed: { store: unknown; feed: ObjectFeedReader } | undefined;
    const reader = (): ObjectFeedReader => {
      const { store } = this.stores[kind];
      if (fed?.store !== store) fed = { store, feed: new ObjectFeedReader(store) };
      return fed.feed;
    };
    const call = <T>(what: string, work: () => T | Promise<T>): Promise<T> => this.#call(life, `${kind} ${what}`.trim(), work);
    const { heard, onWritten } = ownWrites();
    return {
      resource: kind,
      onWritten,
      objectsSince: (cursor, limit) => call("objectsSince", () => reader().objectsSince(cursor, limit)),
      objectsAfter: (after, limit) => call("objectsAfter", () => reader().objectsAfter(after, Math.min(limit, 2))),
      objectsNamed: (keys) => call("objectsNamed", () => reader().objectsNamed(keys)),
      write: async (request) =>
        heard(
          await call(`${request.verb} ${"key" in request ? request.key.name : ""}`, () =>
            this.#unlessLost(kind, this.stores[kind].store.write(request)),
          ),
        ),
    };
  }

  async #call<T>(life: number, name: string, work: () => T | Promise<T>): Promise<T> {
    const clock = this.scheduler.clock(() => life === this.#life);
    this.calls.push(name);
    await clock.sleep(1);
    await this.#point();
    const fault = this.fault(name);
    if (fault) throw fault;
    const result = await work();
    await clock.sleep(1);
    await this.#point();
    return result;
  }

  /** What dies here waits for ever. */
  async #point(): Promise<void> {
    if (!this.#isDeath()) return;
    this.#die();
    await new Promise(() => undefined);
  }

  #crashPoint(): void {
    if (!this.#isDeath()) return;
    this.#die();
    throw new SimulatedCrash();
  }

  #isDeath(): boolean {
    return ++this.points === this.dieAt || this.dies();
  }

  #die(): void {
    this.deaths++;
    this.#life++;
    this.#controller = undefined;
    this.scheduler.after(DEAD_MS, () => this.#wake());
  }
}
