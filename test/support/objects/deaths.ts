/**
 * Objects that die at one chosen await: at a call between objects, before or after its effect, or at a wait for the disk. Awaits are counted
 * by cluster, so that many clusters can die side by side, each at an await of its own.
 *
 * The platform itself tells who calls: only the object whose code runs can use its storage.
 */
import { env, runInDurableObject } from "cloudflare:test";
import { DurableObject } from "cloudflare:workers";
import { Controller } from "../../../durable-objects/controller";
import { Coordinator } from "../../../durable-objects/coordinator";
import type { Env } from "../../../durable-objects/platform/env";
import { IPAddressesStore } from "../../../durable-objects/ip-addresses-store";
import type { ControllerName } from "../../../durable-objects/platform/controllers";
import { ResourceStore } from "../../../durable-objects/resource-store";
import { ServiceCIDR } from "../../../durable-objects/service-cidr";
import { ServicesStore } from "../../../durable-objects/services-store";
import { objectName } from "../../../durable-objects/sql/identity-sql";
import { className } from "../runtime/class-name";

const bindings = env as unknown as Env;

/** Every class of objects that hold a cluster's state. */
const CLASSES: readonly { prototype: object }[] = [ServicesStore, IPAddressesStore, ResourceStore, Coordinator, ServiceCIDR, Controller];
/** Calls that no object makes of another: handlers of the runtime, and questions of metrics and tests alone. */
const NO_CALLS: ReadonlySet<string> = new Set([
  "constructor",
  "fetch",
  "alarm",
  "counters",
  "repairCounts",
  "controllerStatus",
  "allocations",
  "nodePortAllocations",
]);
const FEEDS = ["objectsSince", "objectsAfter", "objectsNamed"];
/** The calls of each controller to stores and owners; several may make the same. */
const ASKED_BY: Readonly<Record<ControllerName, readonly string[]>> = {
  namespaces: [],
  "resource-quotas": ["objectsAfter", "quotaReport", "limitsHeld"],
  "garbage-collection": ["changesSince", "listMetadata", "metadataOf", "whereabouts"],
  repair: [
    ...[...FEEDS, "writersOf", "checkBitmap", "makeWhole", "makeHeld", "restoreMany"],
    ...["makeServicesWhole", "makeNodePortsWhole", "leakedNodePorts", "settleNodePorts"],
  ],
  "endpointslice-controller": FEEDS,
  "endpoints-controller": FEEDS,
  "endpointslice-mirroring-controller": FEEDS,
  "node-lifecycle-controller": [...FEEDS, "valuesSince"],
  "pod-garbage-collector-controller": FEEDS,
  "taint-eviction-controller": FEEDS,
  "proxy-health": FEEDS,
  "serviceaccount-controller": FEEDS,
  "root-ca-certificate-publisher-controller": FEEDS,
  "clusterrole-aggregation-controller": FEEDS,
  clusters: FEEDS,
  "ip-pools": [...FEEDS, "askPools"],
};
/** The stores by name that are no ResourceStore. */
const STORES: Readonly<Record<string, string>> = {
  coordinator: className(Coordinator),
  services: className(ServicesStore),
  "ipaddresses.networking.k8s.io": className(IPAddressesStore),
};
const UID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Suffix of the name of a wait for the disk. */
export const AT_DISK = " disk";
/** How often an endless await checks whether the test has ended. */
const LOOK_MS = 1_000;

type Method = (this: unknown, ...args: unknown[]) => unknown;

/**
 * The death at the n-th await of a cluster, or at the first one with the name `place`: of all objects, or of the called object, or of the one that waits for its disk. With `caller` an
 * object dies at the n-th call that it makes, and the called one lives on. `before`: the call arrives when all is over (Watched.late). `after`:
 * nobody hears the answer.
 */
export interface Death {
  nth: number;
  place?: string;
  when: "before" | "after";
  who: "all" | "called" | "caller";
}

/** The state of one enumeration. */
export interface Watched {
  /** the number of awaits */
  awaits: number;
  /** the number of calls among them that an object made of another */
  calls: number;
  /** `Coordinator.write` of each call of a client or the Worker, which cannot die */
  asked: Set<string>;
  /** `ServiceCIDR.allocate` where the death happened; "" = not yet */
  at: string;
  /** lets the call of a dead caller arrive */
  late?: () => Promise<unknown>;
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
  /** the objects of each cluster, dead ones included; none of a forgotten cluster */
  readonly #objects = new Map<string, DurableObjectState[]>();
  readonly #forgotten = new Set<string>();
  /** names of all objects that ever began */
  readonly #begun = new Set<string>();
  /** the owner of each storage: a wait for the disk does not name its object */
  readonly #living = new WeakMap<object, Living>();
  readonly #undo: (() => void)[] = [];

  private constructor(private readonly controller: ControllerName | undefined) {}

  /**
   * `stub`: any object, through which the classes of the platform are found. Until `end` every call between objects goes through here. Clusters
   * that began before are unknown. Pokes of other controllers are lost, because their passes would wake every store of the cluster; cron would
   * make up for them.
   */
  static async begin(stub: DurableObjectStub, controller?: ControllerName): Promise<Deaths> {
    const deaths = new Deaths(controller);
    for (const type of CLASSES) {
      const prototypes = prototypesOf(type);
      deaths.#watchBirths(prototypes.at(-1)?.constructor ?? type);
      for (const prototype of prototypes) {
        for (const method of Object.getOwnPropertyNames(prototype)) deaths.#watchCalls(prototype, method);
      }
    }
    const storage = await runInDurableObject(stub, (_, state) => Object.getPrototypeOf(state.storage) as Record<"sync", Method>);
    deaths.#watchSync(storage);
    deaths.#watchStubs(Object.getPrototypeOf(bindings.COORDINATOR) as DurableObjectNamespace);
    return deaths;
  }

  end(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }

  /** Counts the awaits of the cluster from now on, of the objects that `isCounted` picks by their names without the cluster. */
  plan(cluster: string, death: Death, isCounted: (object: string) => boolean): Watched {
    const watched = { awaits: 0, calls: 0, asked: new Set<string>(), at: "" };
    this.#plans.set(cluster, { death, watched, isCounted });
    return watched;
  }

  /** The calls of the cluster arrive again; hanging calls do not return. */
  forget(cluster: string): void {
    this.#plans.delete(cluster);
    this.#objects.delete(cluster);
    this.#forgotten.add(cluster);
  }

  /** Whether the object with this name ever began: one that did not holds nothing. */
  hasBegun(name: string): boolean {
    return this.#begun.has(name);
  }

  /** A counted call, neither of another controller nor a lost poke. */
  #isCall(method: string, name: string): boolean {
    if (NO_CALLS.has(method) || this.#isLost(method, name)) return false;
    if (this.controller && ASKED_BY[this.controller].includes(method)) return true;
    return !Object.values(ASKED_BY).some((methods) => methods.includes(method));
  }

  #isLost(method: string, name: string): boolean {
    return method.startsWith("poke") && !name.endsWith(`/controllers/${this.controller ?? ""}`);
  }

  #watchBirths(base: object): void {
    const real = Object.getPrototypeOf(base) as object;
    const born = (ctx: DurableObjectState): void => {
      const name = nameOf(ctx);
      this.#begun.add(name);
      const { cluster } = partsOf(name);
      if (!this.#forgotten.has(cluster)) this.#objects.set(cluster, [...(this.#objects.get(cluster) ?? []), ctx]);
    };
    class Born extends DurableObject<object> {
      constructor(ctx: DurableObjectState, given: object) {
        super(ctx, given);
        born(ctx);
      }
    }
    Object.setPrototypeOf(base, Born);
    this.#undo.push(() => Object.setPrototypeOf(base, real));
  }

  /** The object whose code runs now; undefined: the test's code runs. */
  #running(cluster: string): DurableObjectState | undefined {
    return this.#objects.get(cluster)?.find(isRunning);
  }

  #watchCalls(prototype: object, method: string): void {
    const target = prototype as Record<string, Method>;
    const real = target[method];
    if (method === "constructor" || typeof real !== "function") return;
    const [note, awaiting] = [this.#note.bind(this), this.#await.bind(this)];
    const [isCall, isLost] = [this.#isCall.bind(this), this.#isLost.bind(this)];
    const watched = function (this: Living & Record<string, Method>, ...args: unknown[]): unknown {
      const call = (): unknown => real.apply(this, args);
      note(this);
      // A method and the overridden method that it calls are one call.
      if (this[method] !== watched) return call();
      const name = nameOf(this.ctx);
      if (isLost(method, name)) return Promise.resolve();
      return isCall(method, name) ? awaiting(`${className(this.constructor)}.${method}`, this.ctx, call) : call();
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
      return object ? awaiting(`${className(object.constructor)}${AT_DISK}`, object.ctx, call) : call();
    };
    this.#undo.push(() => (target.sync = real));
  }

  /** `target`: the common part of all bindings of objects. A stub of theirs serves one call; its caller makes it. */
  #watchStubs(target: DurableObjectNamespace): void {
    const stubFor = this.#stubFor.bind(this);
    const watch = <Key extends "get" | "getByName", Asked>(key: Key, nameIn: (asked: Asked) => string): void => {
      const real = Object.getOwnPropertyDescriptor(target, key)?.value as (this: unknown, asked: Asked) => DurableObjectStub;
      target[key] = function (this: unknown, asked: Asked): DurableObjectStub {
        return stubFor(nameIn(asked), () => real.call(this, asked));
      } as DurableObjectNamespace[Key];
      this.#undo.push(() => (target[key] = real as DurableObjectNamespace[Key]));
    };
    watch("get", ({ name = "" }: DurableObjectId) => name);
    watch("getByName", (name: string) => name);
  }

  #stubFor(name: string, make: () => DurableObjectStub): DurableObjectStub {
    const stub = make();
    const { cluster, object } = partsOf(name);
    const plan = this.#plans.get(cluster);
    if (!plan) return stub;
    const caller = this.#running(cluster);
    return new Proxy(stub, {
      get: (target, method) => {
        const value: unknown = Reflect.get(target, method);
        if (typeof value !== "function" || typeof method !== "string" || method === "constructor") return value;
        return (...args: unknown[]) => {
          const send = (to: DurableObjectStub) => (to as unknown as Record<string, Method>)[method]?.(...args);
          if (!this.#isCall(method, name)) return send(target);
          const what = `${classOf(object)}.${method}`;
          if (!caller) plan.watched.asked.add(what);
          // A stub from before the cluster was forgotten reaches nobody.
          const isCounted = caller && this.#plans.get(cluster) === plan && plan.isCounted(object);
          const isLast = isCounted && isDue(plan, ++plan.watched.calls, what) && plan.death.who === "caller";
          return isLast ? this.#callerDies(what, { plan, caller, call: () => send(target), late: async () => send(make()) }) : send(target);
        };
      },
    });
  }

  async #callerDies(
    what: string,
    { plan, caller, call, late }: { plan: Plan; caller: DurableObjectState; call(): unknown; late(): Promise<unknown> },
  ): Promise<never> {
    const { death, watched } = plan;
    if (death.when === "before") watched.late = late;
    else {
      try {
        await call();
      } catch {
        // Neither object hears of the other.
      }
    }
    watched.at = what;
    caller.abort(`dies calling ${what}`);
    return this.#hang();
  }

  #note(object: Living): void {
    this.#living.set(object.ctx.storage, object);
  }

  #await(what: string, ctx: DurableObjectState, call: () => unknown): unknown {
    const { cluster, object } = partsOf(nameOf(ctx));
    const plan = this.#plans.get(cluster);
    if (!plan) return call();
    const { death, watched } = plan;
    // After the death of all objects no work continues.
    if (watched.at !== "" && death.who === "all") return this.#hang();
    const isLast = plan.isCounted(object) && isDue(plan, ++watched.awaits, what) && death.who !== "caller";
    return isLast ? this.#die(what, ctx, call, plan) : call();
  }

  async #die(what: string, ctx: DurableObjectState, call: () => unknown, plan: Plan): Promise<unknown> {
    if (plan.death.when === "after") {
      try {
        await call();
      } catch {
        // The object dies of that, too.
      }
      // The effect is on disk, and nobody hears of it.
      await ctx.storage.sync();
    }
    plan.watched.at = what;
    if (plan.death.who === "called") ctx.abort(`dies at ${what}`);
    return this.#hang();
  }

  /** Until the end of the test: a dead object never hears the answer. */
  async #hang(): Promise<never> {
    while (this.#undo.length > 0) await scheduler.wait(LOOK_MS);
    throw new Error("the test is over");
  }
}

/** Whether the death is at this await, the `count`-th. */
function isDue({ death: { nth, place }, watched }: Plan, count: number, what: string): boolean {
  return place === undefined ? count === nth : what === place && watched.at === "";
}

/** The prototype of a class and those above it, up to the platform's. */
function prototypesOf({ prototype }: { prototype: object }): object[] {
  const prototypes: object[] = [];
  for (let at = prototype; at !== DurableObject.prototype; at = Object.getPrototypeOf(at) as object) prototypes.push(at);
  return prototypes;
}

/** The platform does not tell an object its name when its alarm wakes it. */
function nameOf(ctx: DurableObjectState): string {
  return ctx.id.name ?? objectName(ctx);
}

function partsOf(name: string): { cluster: string; object: string } {
  const slash = name.indexOf("/");
  return { cluster: name.slice(0, slash), object: name.slice(slash + 1) };
}

/** The class of the objects with this name. */
function classOf(object: string): string {
  if (UID.test(object)) return className(ServiceCIDR);
  if (object.startsWith("controllers/")) return className(Controller);
  return STORES[object] ?? className(ResourceStore);
}

/** Whether the code of this object runs: no other object can use its storage. */
function isRunning({ storage }: DurableObjectState): boolean {
  try {
    return storage.sql.databaseSize >= 0;
  } catch {
    return false;
  }
}
