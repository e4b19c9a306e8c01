/**
 * The store of Services with its addresses of pools, and the store of addresses with its book, in virtual time. Each place where the object of one of them may
 * die has a number: before and after the effect of each call between them. A client asks again until it has an answer.
 */
import type { EventReport } from "../../../src/api/events/event-recorder";
import type { Service } from "../../../src/api/meta/kubernetes";
import type { PoolAddress } from "../../../src/api/registry/ipam/ipam";
import { poolAddressesDefinition } from "../../../src/api/registry/ipam/definitions";
import { servicesDefinition } from "../../../src/api/registry/services/definition";
import type { BalancerAnswer, BalancerQuestion } from "../../../src/api/rpc/load-balancers";
import type { PoolFacts } from "../../../src/api/rpc/pool-book";
import type { WriteResult } from "../../../src/api/rpc/store";
import { deferred } from "../../../src/core/base/deferred";
import { parsePoolEntry } from "../../../src/api/registry/ipam/pool-ranges";
import { normalize } from "../../../src/core/net/interval";
import { ServiceAddresses } from "../../../src/pools/load-balancers/service-addresses";
import type { BalancerNumber, HeldByService, ServiceRows, WaitingService } from "../../../src/pools/load-balancers/service-rows";
import { PoolBook, type PoolRow } from "../../../src/pools/pool-book";
import { ServiceAddressBook } from "../../../src/pools/service-address-book";
import { seededRandom } from "../sim/platform/seeded-random";
import { SimScheduler } from "../sim/platform/scheduler";
import { createRequest, DELETE, StoreWorld, WRITE } from "../worlds/store-world";

const CALL_MS = 5;
const DEAD_MS = 50;
const CORE = { group: "", version: "v1" };

export class BalancerWorld {
  readonly scheduler = new SimScheduler();
  readonly pools = new Map<string, PoolRow>();
  readonly held = new Map<string, HeldByService>();
  readonly waiting = new Map<string, WaitingService>();
  readonly numbers = new Map<BalancerNumber, number>();
  readonly labels = new Map<string, Record<string, string>>();
  readonly reports: EventReport[] = [];
  readonly calls: string[] = [];
  readonly addresses: StoreWorld;
  readonly services: StoreWorld;
  isDefault = false;
  /** places where an object could have died so far */
  points = 0;
  dieAt = 0;
  deaths = 0;
  /** asked before each call: an error = it has no effect; behind it: the answer is lost */
  fault: (question: BalancerQuestion, when: "before" | "after") => Error | undefined = () => undefined;
  own!: ServiceAddresses;
  #book!: ServiceAddressBook;
  #died = deferred<undefined>();
  #session = 0;
  #lives = 0;
  readonly #random = seededRandom(7);

  constructor() {
    this.addresses = new StoreWorld({
      definition: poolAddressesDefinition,
      scheduler: this.scheduler,
      extension: this.#makeBook(),
      seed: 2,
    });
    this.#book.attach(this.addresses.store);
    this.services = new StoreWorld({ definition: servicesDefinition, scheduler: this.scheduler, extension: this.#delegated(), seed: 3 });
    this.#beginServices();
  }

  /** A pool for load balancers that is settled; its key is `GlobalInClusterIPPool//name`, or the one that is given. */
  pool(name: string, entries: string[], loadBalancer: PoolFacts["loadBalancer"] | null = { priority: 0 }): void {
    const key = name.includes("/") ? name : `GlobalInClusterIPPool//${name}`;
    const ranges = entries.flatMap((entry) => parsePoolEntry(entry) ?? []);
    const intervals = normalize(ranges).map(({ first, last }) => [String(first), String(last)] as const);
    const facts: PoolFacts = {
      family: ranges[0]?.family ?? "IPv4",
      intervals,
      natDomain: "",
      keepsOutside: false,
      ...(loadBalancer && { loadBalancer }),
    };
    this.row(key, { facts });
  }

  /** What the book keeps of a pool. */
  row(key: string, row: PoolRow): void {
    this.pools.set(key, row);
    this.numbers.set("pools", 1);
    this.#restartBook();
  }

  /** A create; asked again where an object dies. */
  create(name: string, spec: Service["spec"] = {}, metadata: Service["metadata"] = {}): Promise<WriteResult> {
    const base: Service["spec"] = { type: "LoadBalancer", loadBalancerClass: "servicenet.dev/pool", ports: [{ port: 80 }] };
    const families = { ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" };
    const object: Service = { metadata: { namespace: "ns", ...metadata, name }, spec: { ...base, ...families, ...spec } };
    return this.#asked(() => this.services.store.write(createRequest(object, CORE)));
  }

  update(name: string, change: (service: Service) => Service, subresource: "" | "status" = ""): Promise<WriteResult> {
    const write = (): Promise<WriteResult> =>
      this.services.store.write({
        verb: "update",
        key: { namespace: "ns", name },
        subresource,
        object: JSON.stringify(change(this.service(name) ?? {})),
        options: { ...WRITE, ...CORE },
      });
    return this.#asked(write);
  }

  remove(name: string): Promise<WriteResult> {
    const key = { namespace: "ns", name };
    return this.#asked(() => this.services.store.write({ verb: "delete", key, options: DELETE }));
  }

  service(name: string): Service | undefined {
    return this.services.stored<Service>(name);
  }

  /** `name address…` of each Service that shows one. */
  get shown(): string[] {
    return [...this.services.storage.objectScan("", "")].flatMap(({ data }) => {
      const { metadata, status } = JSON.parse(data) as Service;
      const ips = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname);
      return ips.length > 0 ? [`${metadata?.name ?? ""} ${ips.join(" ")}`] : [];
    });
  }

  /** `service address` of each row. */
  get rows(): string[] {
    const rows = [...this.addresses.storage.objectScan("", "")].map(({ data }) => JSON.parse(data) as PoolAddress);
    return rows.map(({ metadata, spec }) => `${metadata?.labels?.["servicenet.dev/service"] ?? "-"} ${spec?.address ?? ""}`).toSorted();
  }

  get rowKeys(): string[] {
    return [...this.addresses.storage.objectScan("", "")].map(({ key }) => key);
  }

  async expectPools(): Promise<void> {
    await this.#asked(() => this.own.expectBalancerPools());
  }

  /** A claim has the address. */
  async claimed(address: string, pool: string, more: PoolAddress["spec"] = {}): Promise<WriteResult> {
    const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: "GlobalInClusterIPPool", name: pool };
    const spec = { claimRef: { name: "claim" }, poolRef, address, prefix: 24, ...more };
    const object = { metadata: { namespace: "ns", name: "claim" }, spec } as PoolAddress;
    return this.addresses.create(object, { group: "ipam.cluster.x-k8s.io", version: "v1beta2" });
  }

  /** A question that another life asks. */
  ask(question: BalancerQuestion): Promise<BalancerAnswer> {
    return this.scheduler.run(this.#book.askBalancers(question));
  }

  get events(): string[] {
    return this.reports.map(({ regarding, reason, note }) => `${regarding.name ?? ""} ${reason}: ${note}`);
  }

  pass(ms: number): Promise<void> {
    return this.scheduler.pass(ms);
  }

  async maintain(): Promise<void> {
    await this.#asked(() => this.own.maintain());
  }

  /** The store of Services dies, and starts again. */
  restartServices(): void {
    this.#lives++;
    this.deaths++;
    const died = this.#died;
    this.#died = deferred();
    died.resolve(undefined);
    this.services.restart();
    this.#beginServices();
    const { own } = this;
    this.scheduler.after(DEAD_MS, () => void own.recover());
  }

  /** Nobody has two, no address is two Services', and every row is a Service's. */
  get problems(): string[] {
    const shown = this.shown.flatMap((text) =>
      text
        .split(" ")
        .slice(1)
        .map((address) => `${text.split(" ")[0] ?? ""} ${address}`),
    );
    const doubles = shown.map((text) => text.split(" ")[1] ?? "").filter((address, i, all) => all.indexOf(address) !== i);
    const { rows } = this;
    return [
      ...doubles.map((address) => `${address} is shown twice`),
      ...shown.filter((text) => !rows.includes(text)).map((text) => `${text} has no row`),
      ...rows.filter((text) => !shown.includes(text)).map((text) => `the row ${text} is nobody's`),
    ];
  }

  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      const died = this.#died.promise;
      const answer = await this.scheduler.run(Promise.race([ask().then((value) => ({ value })), died]));
      if (answer) return answer.value;
      await this.scheduler.pass(DEAD_MS);
    }
  }

  #restartBook(): void {
    const extension = this.#makeBook();
    Object.assign(this.#inBook, extension);
    this.#book.attach(this.addresses.store);
  }

  readonly #inBook: object = {};

  #makeBook(): object {
    const storage = { objectScan: (from: string, to: string) => this.addresses.storage.objectScan(from, to) };
    const clock = { now: () => this.scheduler.now, after: (ms: number, work: () => void) => this.scheduler.after(ms, work) };
    const book = new PoolBook({
      ...{ clock, storage },
      claimOf: () => Promise.resolve(undefined),
      poolOf: () => Promise.resolve(undefined),
      serviceRanges: () => Promise.resolve([]),
      rows: {
        load: () => [...this.pools],
        save: (pool, row) => Boolean(this.pools.set(pool, row)),
        remove: (pool) => void this.pools.delete(pool),
      },
    });
    this.#book = new ServiceAddressBook({
      ...{ clock, storage, book, random: this.#random },
      sessions: { load: () => this.#session, save: (session) => void (this.#session = session) },
      tellRoom: (pools) => void this.own.roomInPools(pools),
    });
    const extension = this.#book.around<undefined>({});
    return Object.assign(this.#inBook, extension);
  }

  /** The store keeps its extension through its lives. */
  #delegated(): object {
    const inner = {};
    const current = () => this.own.around<undefined>(inner);
    const names = ["admit", "committed", "turnCommitted", "turnLost", "writeUndone", "settled", "ended"] as const;
    const methods = names.map((name) => [name, (...args: never[]) => (current()[name] as (...of: never[]) => unknown)(...args)]);
    return Object.fromEntries(methods) as object;
  }

  #beginServices(): void {
    const life = this.#lives;
    const clock = this.scheduler.clock(() => life === this.#lives);
    const rows: ServiceRows = {
      held: (key) => this.held.get(key),
      allHeld: () => [...this.held],
      saveHeld: (key, held) => void (held ? this.held.set(key, held) : this.held.delete(key)),
      waiting: () => [...this.waiting],
      saveWaiting: (key, waiting) => void (waiting ? this.waiting.set(key, waiting) : this.waiting.delete(key)),
      number: (name) => this.numbers.get(name) ?? 0,
      saveNumber: (name, value) => void this.numbers.set(name, value),
    };
    this.own = new ServiceAddresses({
      ...{ clock, rows, random: this.#random, recorder: { log: () => undefined }, isDefault: this.isDefault },
      book: () => ({ askBalancers: (question) => this.#call(question, life) }),
      labelsOf: (namespace) => Promise.resolve(this.labels.get(namespace) ?? {}),
      report: (report) => void this.reports.push(report),
    });
    const { own } = this;
    own.attach({
      internally: (work) => this.services.store.internally(work),
      stored: (key) => this.services.storage.objectGet(key),
      objects: () => this.services.storage.objectScan("", ""),
      wakeAt: (atMs) => void clock.after(Math.max(0, atMs - this.scheduler.now), () => void own.alarm()),
    });
  }

  async #call(question: BalancerQuestion, life: number): Promise<BalancerAnswer> {
    this.calls.push(question.does);
    await this.#away(life);
    const fault = this.fault(question, "before");
    if (fault) throw fault;
    const answer = await this.#book.askBalancers(question);
    await this.#away(life);
    const lost = this.fault(question, "after");
    if (lost) throw lost;
    return answer;
  }

  /** Some time passes. The caller may die meanwhile: then nothing comes back to it. */
  async #away(life: number): Promise<void> {
    const { promise, resolve } = deferred<undefined>();
    this.scheduler.after(CALL_MS, () => resolve(undefined));
    await promise;
    if (life === this.#lives && ++this.points === this.dieAt) this.restartServices();
    if (life !== this.#lives) await new Promise(() => undefined);
  }
}
