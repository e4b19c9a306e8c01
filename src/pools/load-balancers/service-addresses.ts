/**
 * What the store of Services does for Services of type LoadBalancer that pools serve, around what it does for ClusterIPs. The address is taken while the
 * ClusterIPs are, so it stands in the answer of the create. The record of who has it is the row at the book (service-address-book.ts).
 * Beside the Service stands which rows it has; its status shows their addresses, and is no record.
 *
 *   taking     the row at the book, then the Service and its note in one transaction
 *   releasing  the Service and its note, then the row at the book
 *
 * So a crash at any place leaves rows that nobody refers to, never a Service whose address is somebody else's. The audit behind the next start
 * releases such rows (row-audit.ts). A row in doubt, because its take was not answered, is released twice (row-releases.ts).
 *
 * A pool that cannot be asked, or is full, hinders no write: the Service waits. Who waits longest is served first (waiting-pass.ts). A younger Service
 * leaves the older ones what they wait for, also an address that one of them names.
 */
import type { EventReport } from "../../api/events/event-recorder";
import { invalidValue } from "../../api/meta/field-errors";
import type { Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { readObject } from "../../api/meta/read-object";
import { invalid, serviceUnavailable, type Status } from "../../api/meta/status";
import { servicesDefinition } from "../../api/registry/services/definition";
import type {
  AddressAnswer,
  AddressesMissing,
  AddressRequest,
  AddressRowKey,
  BalancedServicesRpc,
  BalancerBookRpc,
  TakenRow,
} from "../../api/rpc/load-balancers";
import type { Admission, CommittedChange, Operation, ProposedChange, StoreExtension } from "../../api/store/state/extension";
import { forwarded } from "../../api/store/state/forwarded-extension";
import type { StoredObject } from "../../api/store/state/store-storage";
import type { StoreTurn } from "../../api/store/state/store-turn";
import { deferred } from "../../core/base/deferred";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import {
  type AddressOutcome,
  addressOutcome,
  type BalancerPlan,
  addressPlan,
  heldBy,
  isFor,
  type KnownServices,
  type LackedAddress,
  rowFor,
  serviceOfRow,
} from "./address-outcome";
import { addressAssigned, addressLost, addressPassedOn, allocationFailed, wishUnreadable } from "./balancer-events";
import { RememberedRows } from "./remembered-rows";
import { RowAudit } from "./row-audit";
import { RowReleases } from "./row-releases";
import type { ServiceRows } from "./service-rows";
import { askingService, ingressAddresses, isAddress, isLoadBalancer, type ServiceWish, wishKey, withIngress } from "./service-wish";
import { TakeQueue } from "./take-queue";
import { WaitingPass } from "./waiting-pass";
import { WaitingServices } from "./waiting-services";

export interface ServiceAddressesPorts {
  clock: Clock;
  random: Pick<Random, "uuid">;
  recorder: Recorder;
  /** in the same database as the Services */
  rows: ServiceRows;
  /** Services without a class are ours. */
  isDefault: boolean;
  /** makes a stub for one call */
  book(): BalancerBookRpc;
  /** of a namespace, as they are now */
  labelsOf(namespace: string): Promise<Readonly<Record<string, string>>>;
  /** See EventRecorder. */
  report(report: EventReport): void;
}

/** The store that this is in. */
export interface StoreOfServices {
  internally<T>(work: (turn: StoreTurn) => T): Promise<T>;
  stored(key: string): StoredObject | undefined;
  objects(): Iterable<StoredObject>;
  /** The object's alarm rings then, or earlier. */
  wakeAt(atMs: number): void;
}

/** What a write has found out so far. */
interface Supply {
  readonly rows: TakenRow[];
  /** wishes that the book has answered */
  readonly wishes: Set<string>;
  missing?: AddressesMissing | undefined;
  /** addresses of the status that are known to be no pool's */
  readonly foreign: Set<string>;
  /** how often room had been made when the book was asked */
  rooms: number;
}

interface Turn {
  released: AddressRowKey[];
  reports: EventReport[];
  settled: (() => void)[];
  /** A Service begins to wait behind room that it was not asked for. */
  isMissed: boolean;
}

interface Asked {
  readonly request: AddressRequest;
  readonly wish: string;
}

const RETRY_AFTER_SECONDS = 1;

export class ServiceAddresses implements BalancedServicesRpc {
  #own: StoreOfServices | undefined;
  readonly #queue: TakeQueue;
  readonly #releases: RowReleases;
  readonly #waiting: WaitingServices;
  readonly #pass: WaitingPass;
  readonly #audit: RowAudit;
  readonly #known: KnownServices;
  #session: number | undefined;
  /** rows of which it is not decided yet whether a Service gets them */
  readonly #underWay = new Set<AddressRowKey>();
  readonly #supplies = new WeakMap<object, Supply>();
  readonly #outcomes = new WeakMap<object, AddressOutcome>();
  readonly #settling = new WeakMap<object, Promise<undefined>>();
  /** of the server's own change under way, by key */
  readonly #ownOutcomes = new Map<string, AddressOutcome>();
  /** of the turn under way: rows that its changes gave back, Events, and who waits until the rows are free */
  #turn: Turn = newTurn();
  /** by address: a Service that gave it back while others wait */
  readonly #givenBack = new Map<string, Service>();

  readonly #rows: RememberedRows;

  constructor(private readonly ports: ServiceAddressesPorts) {
    const { clock, recorder } = ports;
    const rows = new RememberedRows(ports.rows);
    this.#rows = rows;
    this.#known = { rows, isDefault: ports.isDefault };
    this.#waiting = new WaitingServices(rows);
    this.#queue = new TakeQueue({ ...ports, session: (known) => this.#openSession(known), shown: () => this.#waiting.shown });
    const wakeAt = (atMs: number): void => this.#store.wakeAt(atMs);
    this.#releases = new RowReleases({
      ...{ clock, recorder, wakeAt },
      release: async (names) => (await this.#queue.call({ does: "release", rows: names }, "released")).pools,
      freed: (pools) => this.#pass.room(pools),
    });
    const lose = (key: string, row: TakenRow, why: string): Promise<void> => this.#lose(key, row, why);
    this.#pass = new WaitingPass({
      ...{ clock, recorder, wakeAt },
      waiting: this.#waiting,
      requestOf: (key) => this.#requestOfWaiting(key),
      take: (request) => this.#take(request),
      give: (lot) => this.#giveAll(lot),
    });
    this.#audit = new RowAudit({
      ...{ clock, recorder, rows, lose },
      page: async (after) => this.#queue.call({ does: "rows", session: this.#openSession(), after }, "rows"),
      isUnderWay: (row) => this.#underWay.has(row),
      release: (names) => this.#giveBack(names),
      claim: (key, row) => this.#claimAgain(key, row),
    });
  }

  /** The store that this is in. To be called once, before the first request. */
  attach(store: StoreOfServices): void {
    this.#own = store;
  }

  get #store(): StoreOfServices {
    if (!this.#own) throw new Error("the addresses of Services have no store");
    return this.#own;
  }

  /** The extension of the store, around another one. */
  around<Supplied>(inner: StoreExtension<Supplied>): StoreExtension<Supplied> {
    return {
      ...forwarded(inner),
      admit: (change, operation) => this.#admit(inner, change, operation),
      committed: (change, operation) => {
        inner.committed?.(change, operation);
        this.#committed(change, operation);
      },
      turnCommitted: () => {
        inner.turnCommitted?.();
        this.#turnCommitted();
      },
      writeUndone: () => {
        this.#rows.forget();
        this.#waiting.forget();
        inner.writeUndone?.();
      },
      turnLost: () => {
        this.#rows.forget();
        this.#waiting.forget();
        for (const done of this.#turn.settled) done();
        this.#turn = newTurn();
        inner.turnLost?.();
      },
      settled: async (operation) => {
        await Promise.all([inner.settled?.(operation), this.#settling.get(operation)]);
      },
      ended: (operation) => {
        inner.ended?.(operation);
        this.#ended(operation);
      },
    };
  }

  /** Once after a start: what a crash may have left undone. Calls nobody where no Service ever asked a pool. Never rejects. */
  async recover(): Promise<void> {
    const { isDefault } = this.ports;
    const rows = this.#rows;
    const was = rows.number("default") === 1;
    if (isDefault !== was) rows.saveNumber("default", isDefault ? 1 : 0);
    if (isDefault && !was && rows.number("pools") === 1) await this.#findWaiting();
    if (rows.number("session") === 0) return;
    await this.#audit.run();
    if (this.#waiting.size > 0) await this.#pass.run();
  }

  /** Cron's visit: tries again whatever failed. Never rejects. */
  async maintain(): Promise<void> {
    await this.#releases.drain();
    if (this.#rows.number("session") > 0) await this.#audit.runHourly();
    if (this.#waiting.size > 0) await this.#pass.run();
  }

  /** The object's alarm went off. Never rejects. */
  async alarm(): Promise<void> {
    await this.#releases.drain();
    await this.#pass.goOn();
  }

  async expectBalancerPools(): Promise<void> {
    const rows = this.#rows;
    if (rows.number("pools") === 1) return;
    rows.saveNumber("pools", 1);
    await this.#findWaiting();
  }

  roomInPools(pools: readonly string[]): Promise<void> {
    this.#pass.room(pools);
    return Promise.resolve();
  }

  #openSession(known = -1): number {
    const rows = this.#rows;
    if (this.#session === undefined || this.#session < known) {
      rows.saveNumber("session", (this.#session = Math.max(rows.number("session"), known) + 1));
    }
    return this.#session;
  }

  #admit<Supplied>(inner: StoreExtension<Supplied>, change: ProposedChange, operation: Operation<Supplied>): Admission {
    const go = (): Admission => inner.admit?.(change, operation) ?? { kind: "go" };
    const after = change.after as Service | undefined;
    const before = change.before as Service | undefined;
    if (!after || !(isLoadBalancer(after) || isLoadBalancer(before))) return go();
    const foreign = this.#foreignAddresses(after, before, operation);
    if (foreign.length > 0) return { kind: "wait", supply: () => this.#checkForeign(after, foreign, operation) };
    if (change.dryRun) return go();
    // Not behind the inner extension, which gives node ports when the write goes on: they would come back as asked for. A create waits there for ClusterIPs.
    const early = before && this.#toAsk(after, before, operation);
    if (early) return { kind: "wait", supply: () => this.#supply(early, operation) };
    const admission = go();
    if (admission.kind === "refuse") return admission;
    const late = before ? undefined : this.#toAsk(after, before, operation);
    if (late) {
      const both = async (): Promise<Status | undefined> => {
        const [refused] = await Promise.all([admission.kind === "wait" ? admission.supply() : undefined, this.#supply(late, operation)]);
        return refused;
      };
      return { kind: "wait", supply: both };
    }
    if (admission.kind === "wait") return admission;
    this.#decide(after, before, operation);
    return { kind: "go", completed: true };
  }

  /** Addresses that the write brings into the status, and that the Service does not have. */
  #foreignAddresses(after: Service, before: Service | undefined, operation: object): string[] {
    if (!before || this.#rows.number("pools") === 0) return [];
    const known = new Set([...ingressAddresses(before), ...heldBy(after, this.#rows).map(({ address }) => address)]);
    const foreign = this.#supplies.get(operation)?.foreign;
    return ingressAddresses(after).filter((address) => isAddress(address) && !known.has(address) && !foreign?.has(address));
  }

  async #checkForeign(after: Service, addresses: readonly string[], operation: object): Promise<Status | undefined> {
    try {
      const { pools } = await this.#queue.call({ does: "cover", addresses }, "covered");
      const errors = pools.flatMap((pool, i) =>
        pool === null ? [] : [invalidValue("status.loadBalancer.ingress", addresses[i], `the address belongs to ${pool}`)],
      );
      if (errors.length > 0) return invalid(servicesDefinition, after.metadata?.name ?? "", errors);
    } catch {
      return serviceUnavailable("the pools of the cluster cannot be asked now, try again later", RETRY_AFTER_SECONDS);
    }
    for (const address of addresses) this.#supplyOf(operation).foreign.add(address);
    return undefined;
  }

  #supplyOf(operation: object): Supply {
    let supply = this.#supplies.get(operation);
    if (!supply) this.#supplies.set(operation, (supply = { rows: [], wishes: new Set(), foreign: new Set(), rooms: this.#pass.rooms }));
    return supply;
  }

  /** What the write has to ask the book; undefined = nothing, or it was asked already. Who waits goes on waiting unless the wish changes. */
  #toAsk(after: Service, before: Service | undefined, operation: object): Asked | undefined {
    const { wish: wanted, lacks } = addressPlan(after, this.#known);
    const supply = this.#supplies.get(operation);
    const missing = lacks.filter((lack) => !supply?.rows.some((row) => isFor(row, lack)));
    if (!wanted || missing.length === 0 || after.metadata?.deletionTimestamp) return undefined;
    const wish = wishKey(after);
    if (supply?.wishes.has(wish)) return undefined;
    const waits = before && this.#waiting.get(keyOf(after))?.uid === after.metadata?.uid;
    return waits && wishKey(before) === wish ? undefined : { wish, request: this.#requestFor(after, wanted, missing, true) };
  }

  /** `leaves`: to older ones what they wait for */
  #requestFor(service: Service, wish: ServiceWish, lacks: readonly LackedAddress[], leaves: boolean): AddressRequest {
    const behind = leaves ? this.#waiting.before(keyOf(service)) : undefined;
    const wanted = lacks.map((lack) => ({ ...lack, row: rowFor(service, this.ports.random.uuid()) }));
    return { service: askingService(service, wish), wanted, all: wish.all, ...(behind && { behind }) };
  }

  /** Never refuses: who gets no address waits for one. */
  async #supply({ request, wish }: Asked, operation: object): Promise<undefined> {
    const supply = this.#supplyOf(operation);
    supply.rooms = this.#pass.rooms;
    const { taken, missing } = await this.#take(request);
    supply.wishes.add(wish);
    supply.rows.push(...taken);
    supply.missing = missing;
    return undefined;
  }

  /** Asks the book. Where it does not answer, what it may have given is released. Never rejects. */
  async #take(request: AddressRequest): Promise<AddressAnswer> {
    const rows = request.wanted.map(({ row }) => row);
    for (const row of rows) this.#underWay.add(row);
    try {
      const answer = await this.#queue.ask(request);
      const taken = new Set(answer.taken.map(({ row }) => row));
      for (const row of rows) if (!taken.has(row)) this.#underWay.delete(row);
      const { sharing } = request.service;
      return sharing === undefined ? answer : { ...answer, taken: answer.taken.map((row) => ({ ...row, sharing })) };
    } catch (error) {
      this.ports.recorder.log("warn", "the book of addresses did not answer", { rows: rows.length, error: String(error) });
      for (const row of rows) this.#underWay.delete(row);
      this.#releases.addInDoubt(rows);
      void this.#releases.drain();
      this.#pass.later();
      return { taken: [], missing: { why: "the pools cannot be asked now", pools: [] } };
    }
  }

  /** Decides what the change makes of the addresses, and writes them into the status. Nothing is kept before the commit. */
  #decide(after: Service, before: Service | undefined, operation: object): void {
    const { rows: taken = [], missing } = this.#supplies.get(operation) ?? {};
    const outcome = this.#outcomeOf(after, taken, missing);
    this.#outcomes.set(operation, outcome);
    if (isLoadBalancer(after)) this.#show(after, before ? heldBy(before, this.#rows) : [], outcome);
  }

  #outcomeOf(service: Service, taken: readonly TakenRow[], missing: AddressesMissing | undefined): AddressOutcome {
    const waited = this.#waiting.get(keyOf(service));
    return addressOutcome(service, this.#known, { taken, missing, waited, now: this.ports.clock.now() });
  }

  /** `replaced`: it has shown them, and has others instead */
  #show(service: Service, had: readonly TakenRow[], { held }: AddressOutcome, replaced: readonly string[] = []): void {
    const own = held?.rows.map(({ address }) => address) ?? [];
    const lost = [...had.map(({ address }) => address), ...replaced].filter((address) => !own.includes(address));
    if (own.length + lost.length > 0) withIngress(service, own, lost);
  }

  #committed({ key, after, before }: CommittedChange, operation: object | undefined): void {
    const service = after as Service | undefined;
    const earlier = before as Service | undefined;
    if (!isLoadBalancer(service) && !isLoadBalancer(earlier)) return;
    const decided = operation ? this.#outcomes.get(operation) : this.#ownOutcomes.get(key);
    const held = this.#rows.held(key);
    const nothing = { held: undefined, waiting: undefined, released: held?.rows.map(({ row }) => row) ?? [] };
    const outcome = service ? (decided ?? this.#outcomeOf(service, [], undefined)) : nothing;
    if (service && operation) this.#tellProblem(service, earlier);
    const subject = service ?? earlier;
    if (subject) this.#keep(key, outcome, subject);
    // Room that was made meanwhile has served nobody who came later.
    const supply = operation && this.#supplies.get(operation);
    if (supply && outcome.waiting && supply.rooms !== this.#pass.rooms) this.#turn.isMissed = true;
    if (!operation || outcome.released.length === 0) return;
    // The answer waits until the addresses are free.
    const { promise, resolve } = deferred<undefined>();
    this.#turn.settled.push(() => resolve(undefined));
    this.#settling.set(operation, promise);
  }

  /** Once, unless the problem becomes another one. */
  #tellProblem(service: Service, before: Service | undefined): void {
    const problemOf = (one: Service | undefined): string | undefined => one && addressPlan(one, this.#known).wish?.problem;
    const problem = problemOf(service);
    if (problem !== undefined && problem !== problemOf(before)) this.#turn.reports.push(wishUnreadable(service, problem));
  }

  /** In the transaction of the change. */
  #keep(key: string, { held, waiting, released }: AddressOutcome, service: Service): void {
    const rows = this.#rows;
    const before = rows.held(key);
    if (JSON.stringify(before) !== JSON.stringify(held)) rows.saveHeld(key, held);
    const waited = this.#waiting.get(key);
    if (JSON.stringify(waited) !== JSON.stringify(waiting)) this.#waiting.set(key, waiting);
    const { reports } = this.#turn;
    this.#turn.released.push(...released);
    if (waiting?.told !== undefined && waiting.told !== waited?.told && !held) reports.push(allocationFailed(service, waiting.told));
    const got = held?.rows.filter(({ row }) => !before?.rows.some((one) => one.row === row)) ?? [];
    if (waited && got.length > 0) {
      reports.push(
        addressAssigned(
          service,
          got.map(({ address }) => address),
        ),
      );
    }
    for (const { address } of got) {
      const giver = this.#givenBack.get(address);
      this.#givenBack.delete(address);
      if (giver) reports.push(addressPassedOn(giver, address, service));
    }
    if (this.#waiting.size === 0) this.#givenBack.clear();
    else for (const { row, address } of before?.rows ?? []) if (released.includes(row)) this.#givenBack.set(address, service);
  }

  #turnCommitted(): void {
    const { released, reports, settled, isMissed } = this.#turn;
    if (released.length + reports.length + settled.length === 0 && !isMissed) return;
    this.#turn = newTurn();
    if (isMissed) void this.#pass.run();
    for (const report of reports) this.ports.report(report);
    const end = (): void => settled.forEach((done) => done());
    void this.#giveBack(released).then(end, end);
  }

  /** The database says what the Service has. The rest of what was taken for it goes back. */
  #ended(operation: object): void {
    const rows = this.#supplies.get(operation)?.rows ?? [];
    this.#supplies.delete(operation);
    if (rows.length > 0) void this.#giveBack(rows.map(({ row }) => row));
  }

  /** Those of the rows that no Service has. Never rejects. */
  #giveBack(rows: readonly AddressRowKey[]): Promise<void> {
    for (const row of rows) this.#underWay.delete(row);
    this.#releases.add(rows.filter((row) => !this.#isHeld(row)));
    return this.#releases.drain();
  }

  #isHeld(row: AddressRowKey): boolean {
    return this.#rows.held(serviceOfRow(row))?.rows.some((one) => one.row === row) ?? false;
  }

  #read(key: string): Service | undefined {
    const stored = this.#store.stored(key);
    return stored && readObject<Service>(stored.data);
  }

  /** undefined = the Service waits no more */
  #requestOfWaiting(key: string): AddressRequest | undefined {
    const service = this.#read(key);
    const plan: BalancerPlan | undefined = service && addressPlan(service, this.#known);
    if (!service || !plan?.wish || plan.lacks.length === 0 || service.metadata?.deletionTimestamp) return undefined;
    return this.#requestFor(service, plan.wish, plan.lacks, false);
  }

  /** What the book has answered for Services that wait, in one transaction. Never rejects for a reason that one of them causes. */
  async #giveAll(lot: readonly { key: string; answer: AddressAnswer }[]): Promise<void> {
    const rows = lot.flatMap(({ answer }) => answer.taken.map(({ row }) => row));
    try {
      await this.#store.internally((turn) => lot.forEach(({ key, answer }) => this.#give(turn, key, answer)));
    } finally {
      await this.#giveBack(rows);
    }
  }

  #give(turn: StoreTurn, key: string, { taken, missing, replaced = [] }: AddressAnswer): void {
    const stored = turn.get(key);
    const service = stored && readObject<Service>(stored.data);
    if (!service || !isLoadBalancer(service)) return this.#waiting.set(key, undefined);
    const outcome = this.#outcomeOf(service, taken, missing);
    if (!taken.some((row) => outcome.held?.rows.includes(row))) return this.#keep(key, outcome, service);
    const shown = ingressAddresses(service);
    const earlier = heldBy(service, this.#rows);
    const lost = replaced.filter((address) => shown.includes(address) && !earlier.some((row) => row.address === address));
    for (const address of lost) this.#turn.reports.push(addressLost(service, address, "a pool has it for others"));
    this.#put(turn, key, service, outcome, lost);
  }

  #put(turn: StoreTurn, key: string, service: Service, outcome: AddressOutcome, replaced: readonly string[] = []): void {
    this.#show(service, heldBy(service, this.#rows), outcome, replaced);
    this.#ownOutcomes.set(key, outcome);
    try {
      turn.put(key, service);
    } finally {
      this.#ownOutcomes.delete(key);
    }
  }

  /** The row of a Service is not at the book. Answers why it cannot be there again; undefined = it is. Rejects without an answer. */
  async #claimAgain(key: string, { row, family, address, sharing }: TakenRow): Promise<string | undefined> {
    const service = this.#read(key);
    const wish = service && addressPlan(service, this.#known).wish;
    if (!service || !wish || !this.#isHeld(row)) return undefined;
    const wanted = [{ row, family, address, isHeld: true as const }];
    const asking = askingService(service, { ...(sharing !== undefined && { sharing }) });
    this.#underWay.add(row);
    try {
      const { missing } = await this.#queue.ask({ service: asking, wanted, all: false });
      return missing?.why;
    } catch (error) {
      // Its Service may be gone when the take comes late.
      if (!this.#isHeld(row)) this.#releases.addInDoubt([row]);
      throw error;
    } finally {
      void this.#giveBack([row]);
    }
  }

  async #lose(key: string, row: TakenRow, why: string): Promise<void> {
    await this.#store.internally((turn) => {
      const stored = turn.get(key);
      const service = stored && readObject<Service>(stored.data);
      const held = this.#rows.held(key);
      if (!service || !held || !this.#isHeld(row.row)) return;
      const rest = held.rows.filter((one) => one.row !== row.row);
      const waiting = { uid: held.uid, since: this.ports.clock.now(), pools: [], asked: [] };
      this.#turn.reports.push(addressLost(service, row.address, why));
      this.#put(turn, key, service, { held: rest.length > 0 ? { ...held, rows: rest } : undefined, waiting, released: [row.row] });
    });
    this.#pass.room([]);
  }

  /** Services that were there before any pool was for them. Those whose status shows an address come first: it may be one of a pool. */
  async #findWaiting(): Promise<void> {
    await this.#store.internally(() => {
      for (const { key, data } of this.#store.objects()) {
        if (!data.includes('"LoadBalancer"')) continue;
        const service = readObject<Service>(data);
        const plan = service && addressPlan(service, this.#known);
        if (!service || !plan?.wish || plan.lacks.length === 0 || service.metadata?.deletionTimestamp) continue;
        const since = ingressAddresses(service).length > 0 ? 0 : Date.parse(service.metadata?.creationTimestamp ?? "") || 0;
        const { uid = "" } = service.metadata ?? {};
        const waited = this.#waiting.get(key);
        const shown = plan.lacks.flatMap(({ preferred }) => preferred ?? []);
        const none = { uid, pools: [], asked: [] };
        this.#waiting.set(key, { ...none, ...(waited?.uid === uid && waited), since, ...(shown.length > 0 && { shown }) });
      }
    });
    this.#pass.room([]);
  }
}

function newTurn(): Turn {
  return { released: [], reports: [], settled: [], isMissed: false };
}
