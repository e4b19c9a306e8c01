/**
 * Addresses of global pools of the root, in the store of addresses of another cluster. A global pool of that cluster itself comes first: the root is asked
 * where the cluster has none of the name. The controller proposes an IPAddress without a number of its own (pools-pass.ts), and the write takes one at the
 * root before it is stored. The record of who has it is the row there (fleet-address-book.ts). The IPAddress names the row, in an annotation that only this
 * store writes.
 *
 *   step                                  on disk at the root    on disk in the cluster
 *   the claim waits                       that it waits          the claim
 *   take: the row is stored               the row                the claim
 *   the IPAddress is stored               the row                the claim, the IPAddress that names the row
 *   the claim is told                     the row                the same, and the status of the claim
 *   the claim is deleted                  the row                the same, and a deletionTimestamp
 *   the IPAddress is removed              the row                the claim
 *   release: the row is removed           nothing                the claim, whose finalizer goes meanwhile
 *
 * So a crash at any place leaves a row to which no IPAddress refers, never an IPAddress without a row. A row in doubt, because its take was not answered, is
 * released twice (row-releases.ts). What a death forgets, the audit finds: it compares rows and objects behind the next start, once an hour, and when the root
 * asks. Its first question opens a session, behind which no take of an earlier life counts. A row that is lost, because the root came back from a time before,
 * is taken again for the IPAddress that names it. Where somebody else has that address by then, the IPAddress goes, and its claim gets another one.
 *
 * A client may make an IPAddress for a global pool that the cluster does not have, as a restore does. It is compared with the root, and stored if there is a
 * row of this cluster for its claim. Without such a row it is refused where a pool of the root has the name.
 *
 * A cluster whose claims name no such pool never calls the root.
 */
import { invalidValue } from "../api/meta/field-errors";
import { keyOf } from "../api/meta/object-key";
import { readObject } from "../api/meta/read-object";
import { conflict, invalid, serviceUnavailable, type Status } from "../api/meta/status";
import { poolAddressesDefinition } from "../api/registry/ipam/definitions";
import { rootRowOf, setRootRow } from "../api/registry/ipam/fleet-rows";
import { isGlobalPool, partsOfPoolKey, type PoolAddress, poolKeyOf } from "../api/registry/ipam/ipam";
import type { FleetAnswer, FleetPoolsRpc, FleetQuestion, FleetReply, FleetRequest, FleetRow } from "../api/rpc/fleet-pools";
import { isProgramFault } from "../api/rpc/program-fault";
import { isUnsupported } from "../api/rpc/protocol";
import type { Admission, CommittedChange, Operation, ProposedChange, StoreExtension } from "../api/store/state/extension";
import { forwarded } from "../api/store/state/forwarded-extension";
import type { StoreStorage } from "../api/store/state/store-storage";
import { RPC_TIMEOUT_MS } from "../core/base/limits";
import type { Clock, Random, Recorder } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import { gathered } from "../core/turns/gathered";
import { SharedCall } from "../core/turns/shared-call";
import { claimOwning } from "./known-pools";
import { RowReleases } from "./load-balancers/row-releases";
import { holdingOf } from "./held-addresses";
import { ImpossibleAddresses } from "./impossible-addresses";
import { isOurs, type PoolBook } from "./pool-book";
import { refusedByRoot } from "./root-refusal";
import type { InternalStore } from "./service-address-book";

export interface RootAddressesPorts {
  clock: Pick<Clock, "now" | "after">;
  random: Pick<Random, "uuid">;
  recorder: Recorder;
  /** id of the life of the cluster */
  cluster: string;
  storage: Pick<StoreStorage, "objectScan">;
  book: Pick<PoolBook, "compareRange" | "pools" | "whyNot">;
  /** of this life and those before; in the same database. 0 = the root was never asked */
  sessions: { load(): number; save(session: number): void };
  /** the root's store of addresses; makes a stub for one call. Rejects where nobody knows which it is */
  root(): Promise<FleetPoolsRpc>;
  /** The object's alarm rings then, or earlier. */
  wakeAt(atMs: number): void;
}

/** What a write has found out so far. */
interface RootSupply {
  /** absent = the address is none of a pool of the root */
  readonly row?: string;
  /** taken by this write */
  readonly taken?: { readonly address: string; readonly prefix: number; readonly gateway?: string };
}

interface KnownRow extends FleetRow {
  /** of the IPAddress object */
  readonly key: string;
  readonly pool: string;
}

/** Addresses that one write is given and cannot have, before it gives up. */
const TRIES = 8;
const REQUESTS_MAX = 250;
const HOUR_MS = 3_600_000;
const RETRY_AFTER_SECONDS = 1;

export class RootAddresses implements FleetPoolsRpc {
  #store: InternalStore | undefined;
  #session: number | undefined;
  #auditedAt = -Infinity;
  /** what IPAddress objects name, by row; undefined = nobody has looked */
  #known: Map<string, KnownRow> | undefined;
  /** rows of which it is not decided yet whether an object gets them */
  readonly #underWay = new Set<string>();
  readonly #supplies = new WeakMap<object, RootSupply>();
  /** rows that are given back, which no object has had */
  readonly #unused = new Set<string>();
  readonly #impossible: ImpossibleAddresses;
  /** rows that the turn under way gives back */
  #released: string[] = [];
  readonly #releases: RowReleases;
  readonly #audit = new SharedCall(() => this.#compare());
  readonly #take: (request: FleetRequest) => Promise<FleetAnswer>;

  constructor(private readonly ports: RootAddressesPorts) {
    const { clock, recorder, cluster, wakeAt } = ports;
    this.#impossible = new ImpossibleAddresses(clock);
    this.#releases = new RowReleases({
      ...{ clock, recorder, wakeAt },
      release: async (rows) => {
        const unused = rows.filter((row) => this.#unused.has(row));
        await this.#call({ does: "release", cluster, rows, ...(unused.length > 0 && { unused }) }, "released");
        for (const row of unused) this.#unused.delete(row);
        return [];
      },
      freed: () => undefined,
    });
    this.#take = gathered<FleetRequest, FleetAnswer>({
      call: async (requests) => (await this.#call({ does: "take", cluster, session: this.#openSession(), requests }, "taken")).answers,
      weightMax: REQUESTS_MAX,
      weigh: () => 1,
    });
  }

  /** The store that this is in. To be called once, before the first write. */
  attach(store: InternalStore): void {
    this.#store = store;
  }

  /** When rows are to be sent again, in milliseconds since the epoch; undefined = none wait. */
  get dueAt(): number | undefined {
    return this.#releases.dueAt;
  }

  /** The extension of the store, around another one. */
  around<Supplied>(inner: StoreExtension<Supplied>): StoreExtension<Supplied> {
    return {
      ...forwarded(inner),
      admit: (change, operation) => this.#admit(inner, change, operation),
      committed: (change, operation) => {
        inner.committed?.(change, operation);
        this.#committed(change);
      },
      turnCommitted: () => {
        inner.turnCommitted?.();
        const released = this.#released;
        this.#released = [];
        if (released.length > 0) void this.#giveBack(released);
      },
      writeUndone: () => {
        this.#known = undefined;
        inner.writeUndone?.();
      },
      turnLost: () => {
        this.#known = undefined;
        this.#released = [];
        inner.turnLost?.();
      },
      ended: (operation) => {
        inner.ended?.(operation);
        const { row, taken } = this.#supplies.get(operation) ?? {};
        this.#supplies.delete(operation);
        if (row === undefined) return;
        this.#underWay.delete(row);
        // A row that was there before goes on, unless the audit finds it without an object.
        if (taken) void this.#giveBack([row], true);
      },
    };
  }

  async askFleet(question: FleetQuestion): Promise<FleetReply> {
    if (question.does !== "audit") throw new Error("the pools of the fleet are those of the root");
    if (question.hasRows || this.ports.sessions.load() > 0 || this.#index.size > 0) await this.#audit.begin();
    return { kind: "audited" };
  }

  /** Cron's visit. Calls nobody where no claim ever asked the root. Never rejects. */
  async maintain(): Promise<void> {
    await this.#releases.drain();
    if (this.ports.sessions.load() === 0 || this.ports.clock.now() < this.#auditedAt + HOUR_MS) return;
    await this.#audit.begin().catch((error: unknown) => {
      this.ports.recorder.log("warn", "addresses of pools of the root could not be compared", { error: String(error) });
    });
  }

  /** The object's alarm went off. Never rejects. */
  alarm(): Promise<void> {
    return this.#releases.drain();
  }

  /** The store came back from a time before: its objects may be others than the rows say. */
  beginAnew(): void {
    this.#auditedAt = -Infinity;
    this.#known = undefined;
  }

  #openSession(known = -1): number {
    const { sessions } = this.ports;
    if (this.#session === undefined || this.#session < known) sessions.save((this.#session = Math.max(sessions.load(), known) + 1));
    return this.#session;
  }

  /** One call. Rejects without its answer. */
  async #call<Kind extends FleetReply["kind"]>(question: FleetQuestion, kind: Kind): Promise<Extract<FleetReply, { kind: Kind }>> {
    let answer = await this.#asked(question);
    // A store that came back from a time before has forgotten sessions: this life alone can be the newest.
    if (answer.kind === "outdated" && "session" in question)
      answer = await this.#asked({ ...question, session: this.#openSession(answer.session) });
    if (answer.kind === kind) return answer as Extract<FleetReply, { kind: Kind }>;
    throw new Error(`the pools of the root answer ${answer.kind}`);
  }

  #asked(question: FleetQuestion): Promise<FleetReply> {
    const { clock, root } = this.ports;
    return withTimeout(
      clock,
      RPC_TIMEOUT_MS,
      root().then((store) => store.askFleet(question)),
    );
  }

  #admit<Supplied>(inner: StoreExtension<Supplied>, change: ProposedChange, operation: Operation<Supplied>): Admission {
    const address = change.before ? undefined : (change.after as PoolAddress | undefined);
    const pool = address && poolKeyOf(address.spec?.poolRef, address.metadata?.namespace);
    if (!address || pool === undefined || !isGlobalPool(pool) || this.ports.book.pools.has(pool))
      return inner.admit?.(change, operation) ?? { kind: "go" };
    const supply = this.#supplies.get(operation);
    const { name } = partsOfPoolKey(pool);
    if (!supply) {
      const own = isOurs(operation);
      return { kind: "wait", supply: () => (own ? this.#supply(address, name, operation) : this.#confirm(address, name, operation)) };
    }
    const { row, taken } = supply;
    if (row === undefined) return inner.admit?.(change, operation) ?? { kind: "go" };
    // Another write has been told of the row, too, and has let it go.
    if (!this.#underWay.has(row) || this.#releases.has(row)) return { kind: "refuse", status: NOT_NOW };
    // Two writes may have been told of one row.
    if (this.#index.has(row))
      return { kind: "refuse", status: conflict(poolAddressesDefinition, nameOf(address), "another IPAddress has its row") };
    complete(address, row, taken);
    const admission = inner.admit?.(change, operation) ?? { kind: "go" };
    return admission.kind === "go" ? { kind: "go", completed: true } : admission;
  }

  /** Takes an address that the cluster can have. */
  async #supply<Supplied>(address: PoolAddress, pool: string, operation: Operation<Supplied>): Promise<Status | undefined> {
    const { clock, random } = this.ports;
    const not = this.#impossible.of(pool);
    let refused: Status | undefined;
    try {
      for (let tries = 0; tries < TRIES; tries++) {
        const row = random.uuid();
        const request = {
          row,
          claim: keyOf(address),
          uid: claimOwning(address) ?? "",
          pool,
          since: clock.now(),
          ...(not.length > 0 && { not }),
        };
        const answer = await this.#taken(request);
        if (answer.kind !== "given") return refused ?? refusedByRoot(pool, answer.kind);
        const tried = { ...address, metadata: { ...address.metadata } };
        complete(tried, row, answer);
        try {
          refused = this.#whyNot(tried) ?? (await this.ports.book.compareRange(tried, operation));
        } catch (error) {
          void this.#giveBack([row], true);
          throw error;
        }
        if (!refused) {
          this.#supplies.set(operation, { row, taken: answer });
          return undefined;
        }
        void this.#giveBack([row], true);
        if (refused.code !== UNPROCESSABLE) return refused;
        not.push(answer.address);
        this.#impossible.add(pool, answer.address);
      }
      return refused;
    } catch (error) {
      if (isProgramFault(error)) throw error;
      return NOT_NOW;
    }
  }

  /** Where the root does not answer, what it may have given is released. */
  async #taken(request: FleetRequest): Promise<FleetAnswer> {
    const { row } = request;
    this.#underWay.add(row);
    try {
      const answer = await this.#take(request);
      if (answer.kind !== "given") this.#underWay.delete(row);
      return answer;
    } catch (error) {
      this.#underWay.delete(row);
      // An object that has it already keeps it.
      if (!this.#index.has(row)) this.#releases.addInDoubt([row]);
      void this.#releases.drain();
      throw error;
    }
  }

  #whyNot(address: PoolAddress): Status | undefined {
    const held = holdingOf(address);
    const why = held && this.ports.book.whyNot(held);
    if (why === undefined) return undefined;
    return invalid(poolAddressesDefinition, nameOf(address), [invalidValue("spec.address", address.spec?.address, why)]);
  }

  /** Of an address that a client makes. */
  async #confirm(address: PoolAddress, pool: string, operation: object): Promise<Status | undefined> {
    const { cluster } = this.ports;
    const text = address.spec?.address ?? "";
    const { sent } = this.#releases;
    try {
      const { row, isServed } = await this.#call({ does: "confirm", cluster, pool, claim: keyOf(address), address: text }, "confirmed");
      if (row === null && isServed) {
        const why = "the pool of this name is the root's, and has not given it to the claim of this name";
        return invalid(poolAddressesDefinition, nameOf(address), [invalidValue("spec.address", text, why)]);
      }
      // The root may have said so before it heard that the row is given back.
      if (row !== null && (this.#releases.has(row) || this.#releases.sent !== sent)) return NOT_NOW;
      if (row !== null) this.#underWay.add(row);
      this.#supplies.set(operation, row === null ? {} : { row });
      return undefined;
    } catch (error) {
      if (isProgramFault(error)) throw error;
      // A root of the release before has no pools for other clusters.
      if (isUnsupported(error)) return this.#isNone(operation);
      return NOT_NOW;
    }
  }

  #isNone(operation: object): undefined {
    this.#supplies.set(operation, {});
    return undefined;
  }

  #committed({ key, before, after }: CommittedChange): void {
    const was = before && rootRowOf(before);
    const is = after && rootRowOf(after);
    if (was === is) return;
    // Read before the change is noted: it has the change already.
    const known = this.#index;
    if (was !== undefined) {
      known.delete(was);
      this.#released.push(was);
    }
    const row = after && knownRow(key, after);
    if (row) known.set(row.row, row);
  }

  get #index(): Map<string, KnownRow> {
    if (this.#known) return this.#known;
    const known = new Map<string, KnownRow>();
    for (const { key, data } of this.ports.storage.objectScan("", "")) {
      const object = readObject<PoolAddress>(data);
      const row = object && knownRow(key, object);
      if (row) known.set(row.row, row);
    }
    return (this.#known = known);
  }

  /** Those of the rows that no object has. `unused`: nor had one before. Never rejects. */
  #giveBack(rows: readonly string[], unused = false): Promise<void> {
    for (const row of rows) this.#underWay.delete(row);
    const nobodys = rows.filter((row) => !this.#index.has(row));
    if (unused) for (const row of nobodys) this.#unused.add(row);
    this.#releases.add(nobodys);
    return this.#releases.drain();
  }

  /** Rejects where the root does not answer. */
  async #compare(): Promise<void> {
    const { cluster } = this.ports;
    const missing = new Map(this.#index);
    for (let after: string | undefined = ""; after !== undefined;) {
      const page: Extract<FleetReply, { kind: "rows" }> = await this.#call(
        { does: "rows", cluster, session: this.#openSession(), after },
        "rows",
      );
      const nobodys: string[] = [];
      for (const { row, address } of page.rows) {
        if (missing.get(row)?.address === address) missing.delete(row);
        if (!this.#underWay.has(row)) nobodys.push(row);
      }
      await this.#giveBack(nobodys);
      after = page.next;
    }
    for (const one of missing.values()) await this.#takeAgain(one);
    this.#auditedAt = this.ports.clock.now();
  }

  async #takeAgain({ key, row, claim, uid, pool, address }: KnownRow): Promise<void> {
    if (!this.#index.has(row)) return;
    const answer = await this.#taken({ row, claim, uid, pool, since: this.ports.clock.now(), held: address });
    this.#underWay.delete(row);
    // It may have gone meanwhile.
    if (answer.kind === "given") return this.#giveBack([row]);
    this.ports.recorder.log("warn", "an address of a pool of the root is somebody else's now", { object: key, address });
    await this.#store?.internally((turn) => {
      const stored = turn.get(key);
      const object = stored && readObject<PoolAddress>(stored.data);
      if (object && rootRowOf(object) === row) turn.remove(key);
    });
  }
}

const UNPROCESSABLE = 422;
const NOT_NOW = serviceUnavailable("the pools of the root cannot be asked now, try again later", RETRY_AFTER_SECONDS);

function knownRow(key: string, object: PoolAddress): KnownRow | undefined {
  const row = rootRowOf(object);
  const { poolRef, address = "" } = object.spec ?? {};
  return row === undefined ? undefined : { key, row, claim: key, uid: claimOwning(object) ?? "", pool: poolRef?.name ?? "", address };
}

/** Makes the object the address of the row. */
function complete(object: PoolAddress, row: string, taken: RootSupply["taken"]): void {
  setRootRow(object, row);
  if (!taken) return;
  const { address, prefix, gateway } = taken;
  object.spec = { ...object.spec, address, prefix, ...(gateway !== undefined && { gateway }) };
}

function nameOf({ metadata }: PoolAddress): string {
  return metadata?.name ?? "";
}
