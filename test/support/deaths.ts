/**
 * Objects that die at one chosen await of what a cluster does: at a call between objects, before it has an effect or after it, or at a wait for
 * the disk. Awaits are counted by cluster, so that many clusters can die side by side, each at an await of its own.
 */
import { runInDurableObject } from "cloudflare:test";
import { Controller } from "../../durable-objects/controller";
import { Coordinator } from "../../durable-objects/coordinator";
import { IPAddressesStore } from "../../durable-objects/ip-addresses-store";
import type { ControllerName } from "../../durable-objects/peers";
import { ResourceStore } from "../../durable-objects/resource-store";
import { ServiceCIDR } from "../../durable-objects/service-cidr";
import { ServicesStore } from "../../durable-objects/services-store";
import { objectName } from "../../durable-objects/sql/identity-sql";
import { StoreObject } from "../../durable-objects/store-object";

/** Every class of objects that hold a cluster's state. */
const CLASSES = [StoreObject, ServicesStore, IPAddressesStore, ResourceStore, Coordinator, ServiceCIDR, Controller] as const;
/** No calls that an object makes of another: handlers of the runtime, and what only metrics and tests ask. */
const NO_CALLS: ReadonlySet<string> = new Set(["constructor", "fetch", "alarm", "counters", "repairCounts", "allocations"]);
/** What each controller asks of stores and owners. */
const ASKED_BY: Readonly<Record<ControllerName, readonly string[]>> = {
  namespaces: [],
  "garbage-collection": ["changesSince", "listMetadata", "metadataOf"],
  repair: ["objectsSince", "objectsAfter", "objectsNamed", "writersOf", "checkBitmap", "makeWhole", "makeHeld", "restoreMany"],
};
/** How often an await that does not end looks whether the test has. */
const LOOK_MS = 1_000;

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** The n-th await of a cluster is the last one of all objects, or of the one that is called, or that waits for its disk. */
export interface Death {
  nth: number;
  when: "before" | "after";
  who: "all" | "called";
}

/** What has become of it. */
export interface Watched {
  /** how many awaits there were */
  awaits: number;
  /** `ServiceCIDR.allocate` where it happened; "" = not yet */
  at: string;
}

interface Plan {
  death: Death;
  watched: Watched;
  isCounted(object: string): boolean;
}

interface Living {
  ctx: DurableObjectState;
}

export class Deaths {
  readonly #plans = new Map<string, Plan>();
  /** who has which storage: a wait for the disk does not say whose it is */
  readonly #living = new WeakMap<object, Living>();
  readonly #undo: (() => void)[] = [];

  private constructor(private readonly controller: ControllerName | undefined) {}

  /**
   * `stub`: any object, through which the platform's own classes are found. Until `end` every call between objects goes through here. Pokes of
   * other controllers than this one are lost, which cron would make up for: their passes wake every store of the cluster.
   */
  static async begin(stub: DurableObjectStub, controller?: ControllerName): Promise<Deaths> {
    const deaths = new Deaths(controller);
    for (const { prototype } of CLASSES) {
      for (const method of Object.getOwnPropertyNames(prototype)) deaths.#watchCalls(prototype, method);
    }
    const storage = await runInDurableObject(stub, (_, state) => Object.getPrototypeOf(state.storage) as Record<"sync", Method>);
    deaths.#watchSync(storage);
    return deaths;
  }

  end(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }

  /** From now on awaits of the cluster are counted, of the objects that are (by their names without the cluster's). */
  plan(cluster: string, death: Death, isCounted: (object: string) => boolean): Watched {
    const watched = { awaits: 0, at: "" };
    this.#plans.set(cluster, { death, watched, isCounted });
    return watched;
  }

  /** Its calls get through again; those that hang do not come back. */
  forget(cluster: string): void {
    this.#plans.delete(cluster);
  }

  #watchCalls(prototype: object, method: string): void {
    const target = prototype as Record<string, Method>;
    const real = target[method];
    if (method === "constructor" || typeof real !== "function") return;
    const [note, awaiting, { controller }] = [this.#note.bind(this), this.#await.bind(this), this];
    const foreign = new Set(Object.entries(ASKED_BY).flatMap(([name, methods]) => (name === controller ? [] : methods)));
    const watched = function (this: Living & Record<string, Method>, ...args: unknown[]): unknown {
      const call = (): unknown => real.apply(this, args);
      note(this);
      // What overrides a method and calls it is one call, not two.
      if (NO_CALLS.has(method) || this[method] !== watched) return call();
      if (foreign.has(method)) return call();
      if (method.startsWith("poke") && !nameOf(this.ctx).endsWith(`/controllers/${controller ?? ""}`)) return Promise.resolve();
      return awaiting(`${this.constructor.name}.${method}`, this.ctx, call);
    };
    target[method] = watched as Method;
    this.#undo.push(() => (target[method] = real));
  }

  #watchSync(target: Record<"sync", Method>): void {
    const real = target.sync;
    const [living, awaiting] = [this.#living, this.#await.bind(this)];
    target.sync = function (this: unknown, ...args: unknown[]): unknown {
      const call = (): unknown => real.apply(this, args);
      const object = living.get(this as object);
      return object ? awaiting(`${object.constructor.name} disk`, object.ctx, call) : call();
    };
    this.#undo.push(() => (target.sync = real));
  }

  #note(object: Living): void {
    this.#living.set(object.ctx.storage, object);
  }

  #await(what: string, ctx: DurableObjectState, call: () => unknown): unknown {
    const name = nameOf(ctx);
    const [cluster, object] = [name.slice(0, name.indexOf("/")), name.slice(name.indexOf("/") + 1)];
    const plan = this.#plans.get(cluster);
    if (!plan) return call();
    const { death, watched } = plan;
    // After everything has died nothing goes on.
    if (watched.at !== "" && death.who === "all") return this.#hang();
    return plan.isCounted(object) && ++watched.awaits === death.nth ? this.#die(what, ctx, call, plan) : call();
  }

  async #die(what: string, ctx: DurableObjectState, call: () => unknown, plan: Plan): Promise<unknown> {
    if (plan.death.when === "after") {
      try {
        await call();
      } catch {
        // It dies of that, too.
      }
      // Its effect is on disk, and nobody hears of it.
      await ctx.storage.sync();
    }
    plan.watched.at = what;
    if (plan.death.who === "called") ctx.abort(`dies at ${what}`);
    return this.#hang();
  }

  /** Until the test is over: an object that has died does not hear of it. */
  async #hang(): Promise<never> {
    while (this.#undo.length > 0) await scheduler.wait(LOOK_MS);
    throw new Error("the test is over");
  }
}

/** An object that its alarm has woken is not told its name by the platform. */
function nameOf(ctx: DurableObjectState): string {
  return ctx.id.name ?? objectName(ctx);
}
