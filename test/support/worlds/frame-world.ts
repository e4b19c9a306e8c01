/**
 * A small controller on the frame, in virtual time: each object of the store `sources` has a twin with the same data in the store `twins`, whose changes ask
 * for a pass. The stores, the loop and the frame are the product's. Each place where the controller's object may die has a number: before and after the effect of each call, and
 * before and after each commit of its rows.
 */
import type { ConfigMap } from "../../../src/api/meta/kubernetes";
import { configMapsDefinition } from "../../../src/api/registry/config-maps/definition";
import { ObjectFeedReader } from "../../../src/api/store/feeds/object-feed-reader";
import { objectKey } from "../../../src/api/store/state/keys";
import type { WrittenStore } from "../../../src/controllers/followed/called-store";
import { FollowedStore } from "../../../src/controllers/followed/followed-store";
import { KeptFacts } from "../../../src/controllers/followed/kept-facts";
import { KeptRows } from "../../../src/controllers/followed/kept-rows";
import { createRequest, deleteRequest, updateRequest } from "../../../src/controllers/followed/write-requests";
import { Controller } from "../../../src/controllers/frame/controller";
import { Frame } from "../../../src/controllers/frame/frame";
import { outcomeOf } from "../../../src/controllers/frame/round";
import type { ControllerStatus } from "../../../src/controllers/frame/status";
import { MemoryRowStorage } from "../memory/row-storage";
import { SimulatedCrash } from "../sim/platform/journal";
import { SimScheduler } from "../sim/platform/scheduler";
import { StoreWorld } from "./store-world";

type Kind = "sources" | "twins";

/** Which object an object is, and what it says. */
interface Fact {
  readonly uid: string;
  readonly data: string;
}

const CORE = { group: "" };
const WRITER = { manager: "twins", group: "" };
/** How long a dead object stays away. */
const DEAD_MS = 100;

export class FrameWorld {
  readonly scheduler = new SimScheduler();
  readonly stores: Record<Kind, StoreWorld>;
  readonly rows = new MemoryRowStorage();
  /** calls of the controller, as `twins create a` */
  readonly calls: string[] = [];
  /** places where the object could have died so far */
  points = 0;
  dieAt: number;
  /** asked at each point: whether the object dies */
  dies: () => boolean = () => false;
  /** asked before each call: an error = the call fails without an effect */
  fault: (call: string) => Error | undefined = () => undefined;
  deaths = 0;
  #life = 0;
  #controller: Controller | undefined;
  #cancelAlarm = (): void => undefined;

  /**
   * @param dieAt the number of the point where the object dies; 0 = it does not
   * @param historyEntries of each store: with few of them the controller lists now and then
   */
  constructor({ dieAt = 0, historyEntries = 10_000 } = {}) {
    this.dieAt = dieAt;
    this.stores = { sources: this.#store(1, historyEntries), twins: this.#store(2, historyEntries, true) };
    this.rows.journal.gate = { beforeCommit: () => this.#crashPoint(), afterCommit: () => this.#crashPoint() };
    this.#wake();
  }

  async put(name: string, value: string): Promise<void> {
    const { sources } = this.stores;
    const object: ConfigMap = { metadata: { name, namespace: "ns" }, data: { value } };
    const answer = await (sources.stored(name) ? sources.update(object, CORE) : sources.create(object, CORE));
    if (!answer.ok) throw new Error(answer.status.message);
  }

  async remove(kind: Kind, name: string): Promise<void> {
    await this.stores[kind].delete(name);
  }

  poke(): void {
    void this.#controller?.poke();
  }

  pass(durationMs: number): Promise<void> {
    return this.scheduler.pass(durationMs);
  }

  async status(): Promise<ControllerStatus | null | undefined> {
    return this.#controller?.controllerStatus();
  }

  /** by name: the data of each object of a store */
  objects(kind: Kind): Record<string, string> {
    const texts = [...this.stores[kind].storage.objectScan("", "")].map(({ data }) => JSON.parse(data) as ConfigMap);
    return Object.fromEntries(texts.map(({ metadata, data }) => [metadata?.name ?? "", data?.value ?? ""]).sort());
  }

  /** by name: what the rows say of the objects of a store */
  kept(kind: Kind): Record<string, string> {
    const facts = this.rows.rows(kind).map(([key, text]) => [objectKey(key).name, (JSON.parse(text) as Fact).data]);
    return Object.fromEntries(facts.sort()) as Record<string, string>;
  }

  #store(seed: number, entriesMax: number, pokes = false): StoreWorld {
    const historyBounds = { entriesMax, sizeMax: 1e9, trimEntries: 1 };
    const extension = { turnCommitted: () => void (pokes && this.poke()) };
    return new StoreWorld({ definition: configMapsDefinition, scheduler: this.scheduler, historyBounds, extension, seed });
  }

  #wake(): void {
    const life = ++this.#life;
    const clock = this.scheduler.clock(() => life === this.#life);
    const ports = { clock, recorder: { log: () => undefined } };
    const rows = new KeptRows(this.rows);
    const factOf = ({ metadata, data }: ConfigMap): Fact => ({ uid: metadata?.uid ?? "", data: data?.value ?? "" });
    const facts = {
      sources: new KeptFacts<ConfigMap, Fact>(rows, "sources", factOf),
      twins: new KeptFacts<ConfigMap, Fact>(rows, "twins", factOf),
    };
    const stores = { sources: this.#called("sources", life), twins: this.#called("twins", life) };
    const followed = (["sources", "twins"] as const).map(
      (kind) => new FollowedStore(kind, stores[kind], facts[kind].reader, rows, ports.recorder),
    );
    const frame = new Frame<string>(ports, {
      rows,
      keeps: [facts.sources, facts.twins],
      follows: () => [followed],
      work: {
        plan: () =>
          [...new Set([...facts.sources.keys, ...facts.twins.keys])].filter(
            (key) => facts.sources.get(key)?.data !== facts.twins.get(key)?.data,
          ),
        async write(key) {
          const [wanted, twin] = [facts.sources.get(key), facts.twins.get(key)];
          const object = {
            metadata: { ...objectKey(key), ...(twin && { uid: twin.uid }) },
            ...(wanted && { data: { value: wanted.data } }),
          };
          const request = !wanted ? deleteRequest(object) : twin ? updateRequest(object, WRITER) : createRequest(object, WRITER);
          return outcomeOf(await stores.twins.write(request));
        },
        nameOf: (key) => key,
        atOnce: 2,
      },
    });
    this.#controller = new Controller(
      {
        ...ports,
        wakeAt: (atMs) => Promise.resolve(this.#setAlarm(life, atMs)),
        cancelAlarm: () => Promise.resolve(),
        isOn: () => life === this.#life,
        background: (work) => void work,
        restart: () => this.#die(),
      },
      frame.pass,
    );
    this.poke();
  }

  #setAlarm(life: number, atMs: number): void {
    if (life !== this.#life) return;
    this.#cancelAlarm();
    this.#cancelAlarm = this.scheduler.after(atMs - this.scheduler.now, () => void this.#controller?.alarm());
  }

  #called(kind: Kind, life: number): WrittenStore {
    const { store } = this.stores[kind];
    const feed = new ObjectFeedReader(store);
    const clock = this.scheduler.clock(() => life === this.#life);
    const call = async <T>(what: string, work: () => T | Promise<T>): Promise<T> => {
      const name = `${kind} ${what}`;
      this.calls.push(name);
      await clock.sleep(1);
      await this.#point();
      const fault = this.fault(name);
      if (fault) throw fault;
      const result = await work();
      await clock.sleep(1);
      await this.#point();
      return result;
    };
    return {
      objectsSince: (cursor, limit) => call("objectsSince", () => feed.objectsSince(cursor, limit)),
      objectsAfter: (after, limit) => call("objectsAfter", () => feed.objectsAfter(after, Math.min(limit, 2))),
      objectsNamed: (keys) => call("objectsNamed", () => feed.objectsNamed(keys)),
      write: (request) => call(`${request.verb} ${"key" in request ? request.key.name : ""}`, () => store.write(request)),
    };
  }

  /** What dies here waits for ever. */
  async #point(): Promise<void> {
    if (this.#isDeath()) {
      this.#die();
      await new Promise(() => undefined);
    }
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
