/**
 * A Coordinator with real owners and a small `servicecidrs` store on memory ports, in virtual time, with a network between them. Every event is in
 * one queue, so a run is reproducible. Each point where the Coordinator's object could die has a number. `crashAt` kills the object there: before
 * a commit, before a call arrives, or after the effect of a call and before its answer.
 */
import { Owner } from "../../../src/addresses/alloc/owner";
import type { Clock } from "../../../src/core/base/ports";
import { Coordinator } from "../../../src/addresses/coordinator/coordinator";
import type { Fence } from "../../../src/addresses/coordinator/intents";
import type { CoordinatorPeers, ServiceCIDRObjects } from "../../../src/addresses/coordinator/coordinator-ports";
import type { EventReport } from "../../../src/api/events/event-recorder";
import type { ServiceCIDR } from "../../../src/api/meta/kubernetes";
import type { Status } from "../../../src/api/meta/status";
import { containsAddress, relation } from "../../../src/core/net/prefix";
import { parseAddress } from "../../../src/core/net/address";
import type { SeedRow } from "../../../src/addresses/rpc/ip-addresses";
import type { AllocateResult, OwnerConfig } from "../../../src/addresses/rpc/service-cidr";
import type { Operation } from "../../../src/api/store/state/extension";
import { storedPrefix } from "../../../src/addresses/topology/stored-prefix";
import { MemoryCoordinatorStorage } from "../memory/coordinator-storage";
import { MemoryOwnerStorage } from "../memory/owner-storage";
import { seededRandom } from "../sim/platform/seeded-random";

const OPERATION_DEADLINE_MS = 20_000;
/** IPAddress objects of one page of a seeding list. */
const SEED_PAGE = 2;

class CrashError extends Error {}

interface Timer {
  at: number;
  run(): void;
}

export interface WorldOptions {
  ranges?: string[];
  /** MultiCIDRServiceAllocator=false */
  onlyRanges?: string[];
  /** first number of uids and tokens: another world with the same contents must not repeat them */
  uidsFrom?: number;
  /** ServiceIPStaticSubrange */
  staticBands?: boolean;
  seed?: number;
  /** number of the point at which the Coordinator's object dies; 0 = never */
  crashAt?: number;
  /** probability of dying at each point */
  crashRate?: number;
}

export class CoordinatorWorld {
  nowMs = 1_700_000_000_000;
  readonly random;
  readonly storage: MemoryCoordinatorStorage;
  readonly ownerStorages = new Map<string, MemoryOwnerStorage>();
  /** user-made IPAddress objects by address */
  readonly userAddresses = new Map<string, SeedRow>();
  readonly logged: { level: string; event: string; fields?: unknown }[] = [];
  readonly reported: EventReport[] = [];
  /** why the servicecidrs store refuses commits of the Coordinator; "" = it commits */
  refuses = "";
  /** every configuration that reached an owner, in order of arrival */
  readonly pushed: { uid: string; config: OwnerConfig; accepted: boolean }[] = [];
  /** names of the points passed so far */
  readonly points: string[] = [];
  /** owners that do not answer */
  readonly deaf = new Set<string>();
  /** checks the world after each event; throws at a violation */
  check: (world: CoordinatorWorld) => void = () => undefined;
  /** called with each call to a peer before it is delivered */
  intercept: (call: string) => Promise<void> | void = () => undefined;
  coordinator: Coordinator;

  /** what a range of Services would meet among pools, as the end of a sentence */
  metPool: string | undefined;
  readonly #options: Required<Omit<WorldOptions, "onlyRanges">> & WorldOptions;
  readonly #owners = new Map<string, Owner>();
  #turns: (() => void)[] = [];
  #timers: Timer[] = [];
  #life = 0;
  #uids: number;

  constructor(options: WorldOptions = {}) {
    this.#options = { ranges: ["10.0.0.0/26"], seed: 1, crashAt: 0, crashRate: 0, staticBands: true, uidsFrom: 0, ...options };
    this.#uids = this.#options.uidsFrom;
    this.random = seededRandom(this.#options.seed);
    this.storage = new MemoryCoordinatorStorage(() => this.#point("commit"));
    this.coordinator = this.#start();
  }

  // ---- the clients of the API -----------------------------------------------------------------------------------------------------------

  object(name: string): ServiceCIDR | undefined {
    return this.storage.contents.objects[name];
  }

  readyOf(name: string): { status: string; reason?: string; message?: string } | undefined {
    return this.object(name)?.status?.conditions?.find((condition) => condition.type === "Ready");
  }

  uidOf(name: string): string {
    return this.object(name)?.metadata?.uid ?? "";
  }

  /** Makes a ServiceCIDR and waits until it is Ready; answers its uid. */
  async created(name: string, cidrs: string[]): Promise<string> {
    const refusal = await this.run(this.create(name, cidrs));
    if (refusal) throw new Error(`${name} is refused: ${String(refusal.message)}`);
    await this.until(() => this.readyOf(name)?.status === "True");
    return this.uidOf(name);
  }

  create(name: string, cidrs: string[]): Promise<Status | undefined> {
    return this.#write(name, (before) => (before ? undefined : { metadata: { name, uid: `uid-${++this.#uids}` }, spec: { cidrs } }));
  }

  remove(name: string): Promise<Status | undefined> {
    return this.#write(name, (before) => {
      if (!before || before.metadata?.deletionTimestamp) return undefined;
      if (!before.metadata?.finalizers?.length) return "gone";
      return { ...before, metadata: { ...before.metadata, deletionTimestamp: new Date(this.nowMs).toISOString() } };
    });
  }

  edit(name: string, change: (object: ServiceCIDR) => ServiceCIDR): Promise<Status | undefined> {
    return this.#write(name, (before) => {
      if (!before) return undefined;
      const after = change(before);
      return after.metadata?.deletionTimestamp && !after.metadata.finalizers?.length ? "gone" : after;
    });
  }

  /** Removes the object's finalizers by force, as a client would. */
  dropFinalizers(name: string): Promise<Status | undefined> {
    return this.edit(name, (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } }));
  }

  setReady(name: string, status: "True" | "False"): Promise<Status | undefined> {
    const ready = { type: "Ready", status, reason: "ByUser", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
    return this.edit(name, (object) => ({ ...object, status: { conditions: [ready] } }));
  }

  // ---- owners -----------------------------------------------------------------------------------------------------------------------------

  owner(uid: string): Owner {
    const known = this.#owners.get(uid);
    if (known) return known;
    const storage = this.ownerStorages.get(uid) ?? new MemoryOwnerStorage();
    this.ownerStorages.set(uid, storage);
    const made = new Owner({
      storage,
      durable: () => Promise.resolve(),
      abort: () => this.#owners.delete(uid),
      clock: this.#clock(() => true),
      random: this.random,
      recorder: { log: () => undefined },
    });
    this.#owners.set(uid, made);
    return made;
  }

  /** The owner's own state; undefined = the owner was never configured. */
  configOf(uid: string): OwnerConfig | undefined {
    const stored = this.ownerStorages.get(uid)?.configLoad();
    return stored && { epoch: stored.epoch, ...(JSON.parse(stored.content) as Omit<OwnerConfig, "epoch">) };
  }

  async allocate(uid: string, address = "", token = `token-${++this.#uids}`): Promise<AllocateResult & { token: string }> {
    const holder = { kind: "service", namespace: "default", name: token, uid: token } as const;
    const family = address.includes(":") ? "IPv6" : "IPv4";
    const answer = await this.run(this.owner(uid).allocate([{ token, holder, family, address }]));
    const result = answer.results[0];
    if (!result) throw new Error("one item, one result");
    return { ...result, token };
  }

  /** All addresses that owners hold rows for, with the owner. */
  async held(): Promise<{ uid: string; address: string; token: string }[]> {
    const all = [];
    for (const uid of this.ownerStorages.keys()) {
      const { rows } = await this.owner(uid).rowsSince(0, 10_000);
      all.push(...rows.map(({ address, token }) => ({ uid, address, token })));
    }
    return all;
  }

  // ---- time, crashes ------------------------------------------------------------------------------------------------------------------------

  /** Runs events until the promise is settled. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    promise.then(
      () => (settled = true),
      () => (settled = true),
    );
    await this.until(() => settled);
    return promise;
  }

  /** Runs events until the predicate holds; virtual time moves when no event is due. */
  async until(predicate: () => boolean, limitMs = 600_000): Promise<void> {
    const end = this.nowMs + limitMs;
    for (;;) {
      await this.#settle();
      if (predicate()) return;
      if (!(await this.#step(end))) throw new Error(`nothing more happens, and it does not hold: ${String(predicate)}`);
    }
  }

  /** Runs all events that are due within `durationMs`. */
  async pass(durationMs: number): Promise<void> {
    const end = this.nowMs + durationMs;
    await this.#settle();
    while (await this.#step(end)) await this.#settle();
    this.nowMs = end;
  }

  /** The object dies, and a new one starts on the durable state. Promises of the old one never settle. */
  crash(): void {
    this.#life++;
    this.coordinator = this.#start();
  }

  async #step(end: number): Promise<boolean> {
    const turn = this.#turns.shift();
    if (turn) {
      turn();
      await this.#settle();
      this.check(this);
      return true;
    }
    const { alarmAt } = this.storage.contents;
    const timer = this.#timers.reduce<Timer | undefined>((first, t) => (first && first.at <= t.at ? first : t), undefined);
    const at = Math.min(timer?.at ?? Infinity, alarmAt > 0 ? alarmAt : Infinity);
    if (at > end) return false;
    this.nowMs = Math.max(this.nowMs, at);
    if (timer && timer.at <= at) {
      this.#timers = this.#timers.filter((t) => t !== timer);
      timer.run();
    } else {
      this.storage.alarmSet(0);
      void this.coordinator.alarm();
    }
    return true;
  }

  async #settle(): Promise<void> {
    for (let i = 0; i < 25; i++) await Promise.resolve();
  }

  /** One numbered place to die; throws at the chosen number. */
  #point(name: string): void {
    this.points.push(name);
    if (this.points.length !== this.#options.crashAt && !(this.#options.crashRate > 0 && this.random.next() < this.#options.crashRate))
      return;
    // The object that throws here is replaced in a turn of its own: this one is still on the stack.
    this.#life++;
    this.#turns.push(() => (this.coordinator = this.#start()));
    throw new CrashError(name);
  }

  // ---- the ports of one life of the object -----------------------------------------------------------------------------------------------------

  #start(): Coordinator {
    const life = this.#life;
    const isAlive = (): boolean => life === this.#life;
    const storage = new Proxy(this.storage, {
      get: (target, property) => {
        if (!isAlive()) throw new CrashError("the object is dead");
        const value: unknown = Reflect.get(target, property);
        return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
      },
    });
    const events = {
      report: (report: EventReport): void => {
        if (isAlive()) this.reported.push(report);
      },
    };
    const coordinator = new Coordinator(
      {
        storage,
        objects: this.#objects(isAlive),
        peers: this.#peers(isAlive),
        alarm: {
          arm: (atMs) => {
            if (isAlive()) this.storage.alarmSet(atMs);
          },
        },
        clock: this.#clock(isAlive),
        random: this.random,
        recorder: {
          log: (level, event, fields) => {
            if (isAlive()) this.logged.push({ level, event, fields });
          },
        },
        events,
        rangeEvents: events,
        pools: { met: () => Promise.resolve(this.metPool) },
      },
      { defaultRanges: this.#options.ranges, onlyRanges: this.#options.onlyRanges, staticBands: this.#options.staticBands },
    );
    return coordinator;
  }

  #clock(isAlive: () => boolean): Clock {
    const after = (delayMs: number, work: () => void): (() => void) => {
      const timer: Timer = { at: this.nowMs + delayMs, run: () => isAlive() && work() };
      this.#timers.push(timer);
      return () => (this.#timers = this.#timers.filter((t) => t !== timer));
    };
    return {
      now: () => this.nowMs,
      sleep: (durationMs) => new Promise((resolve) => after(durationMs, resolve)),
      after,
      nextTurn: () => new Promise((resolve) => this.#turns.push(() => isAlive() && resolve())),
    };
  }

  /** One call over the network: one turn to arrive, one turn to return, and a place to die at either end. */
  #call<T>(isAlive: () => boolean, name: string, effect: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void): void => void this.#turns.push(() => isAlive() && this.#survives(name) && settle());
      this.#turns.push(() => {
        if (!isAlive() || !this.#survives(name)) return;
        void Promise.resolve(this.intercept(name))
          .then(effect)
          .then(
            (value) => answer(() => resolve(structuredClone(value))),
            (error: unknown) => answer(() => reject(error instanceof Error ? error : new Error(String(error)))),
          );
      });
    });
  }

  #survives(name: string): boolean {
    try {
      this.#point(name);
      return true;
    } catch (error) {
      if (error instanceof CrashError) return false;
      throw error;
    }
  }

  #peers(isAlive: () => boolean): CoordinatorPeers {
    return {
      owner: (uid) => {
        const call = <T>(method: string, effect: (owner: Owner) => Promise<T>): Promise<T> =>
          this.deaf.has(uid) ? new Promise(() => undefined) : this.#call(isAlive, `${method} ${uid}`, () => effect(this.owner(uid)));
        return {
          configure: (config) => call("configure", (owner) => this.#configure(owner, uid, config)),
          seed: (epoch, items) => call("seed", (owner) => owner.seed(epoch, items)),
          release: (items) => call("release", (owner) => owner.release(items)),
          countTaken: (intervals) => call("countTaken", (owner) => owner.countTaken(intervals)),
          free: () => call("free", (owner) => owner.free()),
          partition: (prefixes, rowsMax) => call("partition", (owner) => owner.partition(prefixes, rowsMax)),
          copyOut: (handoff, after) => call("copyOut", (owner) => owner.copyOut(handoff, after)),
          receive: (handoff, chunk) => call("receive", (owner) => owner.receive(handoff, structuredClone(chunk))),
        };
      },
      ipAddresses: () => ({
        claimPrefixes: (_epoch, _prefixes, { within, after }) =>
          this.#call(isAlive, "claimPrefixes", () => {
            const rows = [...this.userAddresses.values()].filter(({ address }) => address >= after);
            rows.sort((a, b) => (a.address < b.address ? -1 : 1));
            const page = rows.slice(0, SEED_PAGE).filter(({ address }) => within.some((prefix) => isInside(prefix, address)));
            return Promise.resolve({ rows: page, next: rows[SEED_PAGE]?.address ?? "" });
          }),
      }),
    };
  }

  async #configure(owner: Owner, uid: string, config: OwnerConfig): ReturnType<Owner["configure"]> {
    const result = await owner.configure(config);
    this.pushed.push({ uid, config, accepted: result.ok });
    return result;
  }

  #objects(isAlive: () => boolean): ServiceCIDRObjects {
    const turn = async <T>(work: () => T): Promise<T> => {
      await this.#clock(isAlive).nextTurn();
      if (this.refuses) throw new Error(this.refuses);
      const result = this.storage.transaction(work);
      this.coordinator.intents.turnCommitted();
      return result;
    };
    return {
      updateInternal: (key, uid, mutate) =>
        turn(() => {
          const before = this.object(key.name);
          if (before?.metadata?.uid !== uid) return false;
          const after = mutate(structuredClone(before));
          if (!after) return false;
          const isGone = after.metadata?.deletionTimestamp && !after.metadata.finalizers?.length;
          this.#commit(key.name, before, isGone ? "gone" : after);
          return true;
        }),
      replaceInternal: (key, uid, work) =>
        turn(() => {
          const before = this.object(key.name);
          if (before?.metadata?.uid !== uid) return undefined;
          work();
          this.#commit(key.name, before, "gone");
          if (before.metadata.deletionTimestamp) return "gone";
          const { status: _status, ...after } = { ...before, metadata: { ...before.metadata, uid: `uid-${++this.#uids}` } };
          this.#commit(key.name, undefined, after);
          return after;
        }),
      read: (name) => structuredClone(this.object(name)),
      createInternal: (object) =>
        turn(() => {
          const name = object.metadata?.name ?? "";
          if (this.object(name)) return false;
          this.#commit(name, undefined, { ...object, metadata: { ...object.metadata, uid: `uid-${++this.#uids}` } });
          return true;
        }),
    };
  }

  /** A client's write, with the turns and the admission of the real store. Never settles if the object dies meanwhile. */
  #write(name: string, decide: (before: ServiceCIDR | undefined) => ServiceCIDR | "gone" | undefined): Promise<Status | undefined> {
    const life = this.#life;
    const clock = this.#clock(() => life === this.#life);
    const { intents } = this.coordinator;
    const operation = { deadline: this.nowMs + OPERATION_DEADLINE_MS, supply: undefined } as Operation<Fence>;
    const attempt = async (refusal: Status | undefined): Promise<Status | undefined> => {
      await clock.nextTurn();
      const outcome = this.storage.transaction(() => {
        const refuse = (status: Status): Status => {
          if (operation.supply) intents.abandon(operation);
          return status;
        };
        if (refusal) return refuse(refusal);
        const before = structuredClone(this.object(name));
        const after = decide(before);
        if (after === undefined) return undefined;
        const change = { ...(after === "gone" ? {} : { after }), ...(before ? { before } : {}), dryRun: false };
        const admission = intents.admit(change, operation);
        if (admission.kind === "refuse") return refuse(admission.status);
        if (admission.kind === "wait") return admission.supply;
        this.#commit(name, before, after);
        return undefined;
      });
      intents.turnCommitted();
      return typeof outcome === "function" ? attempt(await outcome()) : outcome;
    };
    return attempt(undefined).catch((error: unknown) =>
      error instanceof CrashError ? new Promise<never>(() => undefined) : Promise.reject(error as Error),
    );
  }

  #commit(name: string, before: ServiceCIDR | undefined, after: ServiceCIDR | "gone"): void {
    const uid = (before ?? (after as ServiceCIDR)).metadata?.uid ?? "";
    const change = { key: name, uid, revision: 0, ...(before ? { before } : {}) };
    if (after === "gone") {
      this.storage.objectDelete(name);
      this.coordinator.intents.committed({ ...change, type: "DELETED" });
    } else {
      this.storage.objectSave(name, after);
      this.coordinator.intents.committed({ ...change, type: before ? "MODIFIED" : "ADDED", after });
    }
  }
}

/** A cluster whose default range gives out addresses. I1 is checked after each event. */
export async function startedWorld(options: WorldOptions = {}): Promise<CoordinatorWorld> {
  const world = new CoordinatorWorld(options);
  world.check = checkOwnership;
  await world.run(world.coordinator.readyTopology(10_000));
  return world;
}

/** An IPAddress object that a client made, as the ipaddresses store lists it for seeding. */
export function seedRow(address: string): SeedRow {
  return { address, token: `seed-${address}`, holder: { kind: "ipaddress", namespace: "", name: address, uid: `uid of ${address}` } };
}

function isInside(prefix: string, address: string): boolean {
  const parsed = parseAddress(address);
  return parsed.ok && containsAddress(storedPrefix(prefix), parsed.value.family, parsed.value.value);
}

/** I1 by topology: no address has two writers by the owners' own state, and no epoch was used twice. */
export function checkOwnership(world: CoordinatorWorld): void {
  const owned = [...world.ownerStorages.keys()].flatMap((uid) => {
    const { owned = [], frozen = [] } = world.configOf(uid) ?? {};
    return owned.filter((prefix) => !frozen.includes(prefix)).map((prefix) => ({ uid, prefix: storedPrefix(prefix) }));
  });
  for (const a of owned) {
    for (const b of owned) {
      if (a !== b && relation(a.prefix, b.prefix) !== "disjoint")
        throw new Error(`${a.uid} and ${b.uid} both own ${JSON.stringify([a, b], big)}`);
    }
  }
  const refused = world.logged.find((line) => line.event === "an owner refused its configuration" || line.level === "error");
  if (refused) throw new Error(JSON.stringify(refused));
}

function big(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
