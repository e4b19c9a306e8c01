/**
 * The one place of a cluster that knows which addresses of pools are held, and what its pools cover: the store of the addresses of pools. An address is
 * given in the transaction that stores its IPAddress, which is the row of the address, too. So a claim and its row are one operation, and no death parts them.
 *
 * What is refused here, in the turn that would store the object:
 *   - an address that another object has, in the same pool or in one that is not apart by its NAT domain
 *   - an address that another pool covers; a pool of somebody else is in no NAT domain
 *   - from a client, an address outside of its pool that a range of Services covers
 *   - an address of a pool of ours that is not named as the claim that it is for
 *   - from the controller, an address that its pool does not give out (any more), or whose pool is being deleted
 *   - a prefix that is longer than those of its pool
 * What an IPAddress of a pool of prefixes has is its whole prefix.
 *
 * A pool is a row as well, beside the objects. Before a pool is stored, its write claims here what it will cover (guarded-pools.ts). So a shrink
 * takes effect here first, and what a growth adds is kept from others first. Between claim and answer the row has both states. It covers what either covers, and
 * gives what both give: a pool that is coming to be gives nothing, since its write may still be refused. A row never says less than what is stored: one write of a pool is under way at a time, and it claims upon what is stored. Calls come
 * late, and so do answers of the book to calls of dead writers. So wherever row and question differ, the book reads the pool itself.
 *
 *   the write dies behind     what there is                                    what mends it
 *   the claim                 the row of a change that never came              `abandon`; without it the controller, the next write of the pool, or whoever
 *                                                                              overlaps it, has the book read the pool, or forget one that is not there.
 *                                                                              The settling of any pool forgets such ones, too
 *   the commit                a row with both states                           the controller settles it when it hears of the pool
 *   the row of a deletion     a closed pool that is there                      `abandon`; without it the controller settles it when it is refused an address
 *   the forgetting            a pool without a row, which has no address       the controller takes the finalizer away in its next pass
 */
import { badRequest, conflict, invalid, serviceUnavailable, type Status } from "../api/meta/status";
import { semanticEqual } from "../api/meta/equality";
import { invalidValue } from "../api/meta/field-errors";
import { keyOf } from "../api/meta/object-key";
import { readObject } from "../api/meta/read-object";
import { poolAddressesDefinition } from "../api/registry/ipam/definitions";
import { type AddressClaim, isAtRoot, type PoolAddress, type PoolKey, POOLS_MANAGER, poolText } from "../api/registry/ipam/ipam";
import { printedSet } from "../api/registry/ipam/pool-ranges";
import type { PoolAnswer, PoolBookRpc, PoolFacts, PoolQuestion, RangeOfServices, StoredPool } from "../api/rpc/pool-book";
import { isProgramFault } from "../api/rpc/program-fault";
import type { ObjectKey } from "../api/rpc/store";
import type { Admission, Operation, ProposedChange, StoreExtension } from "../api/store/state/extension";
import { forwarded } from "../api/store/state/forwarded-extension";
import type { StoreStorage } from "../api/store/state/store-storage";
import { OPERATION_DEADLINE_MS, RPC_TIMEOUT_MS } from "../core/base/limits";
import { withTimeout } from "../core/base/timeout";
import { SharedCall } from "../core/turns/shared-call";
import type { Clock } from "../core/base/ports";
import { formatAddress } from "../core/net/address";
import { type Family, widthOf } from "../core/net/family";
import { containsInterval, intersect, type Interval, normalize, overlapsOf, subtract } from "../core/net/interval";
import { addressesOf, type PoolHolding, HeldAddresses, holdingOf, placeText } from "./held-addresses";
import { areApart, intervalsOf, type MetRange, rangeMeeting, sameFacts } from "./pool-facts";

/** What is kept of a pool. */
export interface PoolRow {
  readonly facts: PoolFacts;
  /** A write is under way, or was lost: what the pool had before; null = there was none. */
  readonly before?: PoolFacts | null;
  /** of that write; absent = the pool is known to be there */
  readonly token?: string;
  /** when it came, in milliseconds since the epoch */
  readonly at?: number;
  /** no address is given any more */
  readonly closed?: boolean;
  /** It was closed before that write. */
  readonly wasClosed?: boolean;
}

/** In the same database as the objects. */
export interface PoolRows {
  load(): Iterable<[PoolKey, PoolRow]>;
  /** False: the row is larger than one may be, and nothing was written. */
  save(pool: PoolKey, row: PoolRow): boolean;
  remove(pool: PoolKey): void;
}

export interface PoolBookPorts {
  clock: Pick<Clock, "now" | "after">;
  storage: Pick<StoreStorage, "objectScan">;
  rows: PoolRows;
  /** the claim of this key; undefined = there is none */
  claimOf(key: ObjectKey): Promise<AddressClaim | undefined>;
  /** what the store of the pool has; undefined = there is none */
  poolOf(pool: PoolKey): Promise<StoredPool | undefined>;
  /** the ranges of Services of the cluster, those under way included */
  serviceRanges(): Promise<readonly RangeOfServices[]>;
  /** The pool is settled: what it gives counts from now on. Others may have it settled again before anybody hears of it. */
  settled?(pool: PoolKey, facts: PoolFacts): void;
}

/** A row with its intervals read. */
export interface KnownPoolRow {
  readonly row: PoolRow;
  /** what the pool may be now; it covers what each of them covers */
  readonly states: readonly State[];
  readonly gives: readonly Interval[];
}

type State = Pick<PoolFacts, "family" | "natDomain"> & { readonly covers: readonly Interval[] };

/** A write that claimed so long ago has ended. */
const CLAIM_MS = OPERATION_DEADLINE_MS + 10_000;
/** Of one question. */
const FORGOTTEN_MAX = 4;
const DONE: PoolAnswer = { kind: "done" };
const LATER: PoolAnswer = { kind: "later" };

export class PoolBook implements PoolBookRpc {
  #held: HeldAddresses | undefined;
  #pools: Map<PoolKey, KnownPoolRow> | undefined;
  /** writes of addresses whose claims have been read */
  readonly #compared = new WeakSet<object>();
  /** what these are about to hold: a range that comes at once meets it, or is met (guarded-ranges.ts) */
  readonly #underWay = new Map<object, PoolHolding>();
  /** the ranges of Services, for all addresses that came before the call */
  readonly #ranges = new SharedCall(() => withTimeout(this.ports.clock, RPC_TIMEOUT_MS, this.ports.serviceRanges()));

  constructor(private readonly ports: PoolBookPorts) {}

  /** The extension of the store, around another one. */
  around<Supply>(inner: StoreExtension<Supply>): StoreExtension<Supply> {
    return {
      ...forwarded(inner),
      admit: (change, operation) => {
        const refused = this.#refusal(change, operation);
        if (refused) return { kind: "refuse", status: refused };
        // The controller has read the claim.
        const address = !change.before && !isOurs(operation) && !this.#compared.has(operation) ? (change.after as PoolAddress) : undefined;
        if (address) return { kind: "wait", supply: () => this.#compare(address, operation) };
        return inner.admit?.(change, operation) ?? ({ kind: "go" } satisfies Admission);
      },
      committed: (change, operation) => {
        inner.committed?.(change, operation);
        this.#held?.set(change.key, change.after && holdingOf(change.after));
      },
      ended: (operation) => {
        inner.ended?.(operation);
        this.#underWay.delete(operation);
      },
      writeUndone: () => {
        this.#held = undefined;
        inner.writeUndone?.();
      },
      turnLost: () => {
        this.#held = undefined;
        this.#pools = undefined;
        inner.turnLost?.();
      },
    };
  }

  /**
   * An address that a client makes for a claim is of the pool of the claim. A claim that is not there is not missed. What no pool keeps for it is no
   * address of Services.
   */
  async #compare<Supply>(address: PoolAddress, operation: Operation<Supply>): Promise<Status | undefined> {
    this.#compared.add(operation);
    const { metadata, spec } = address;
    const { clock, claimOf } = this.ports;
    const held = holdingOf(address);
    if (held) this.#underWay.set(operation, held);
    const name = spec?.claimRef?.name ?? "";
    const refuse = refusing(address);
    try {
      const claim = await withTimeout(clock, RPC_TIMEOUT_MS, claimOf({ namespace: metadata?.namespace ?? "", name }));
      if (claim && !semanticEqual(claim.spec?.poolRef, spec?.poolRef)) return refuse("spec.poolRef", spec?.poolRef, OTHER_POOL);
      return held && !this.#covers(held) ? await this.#refusedByRange(address, held) : undefined;
    } catch (error) {
      if (isProgramFault(error)) throw error;
      return serviceUnavailable(
        "the claim of the address, or the ranges of Services, cannot be read now, try again later",
        RETRY_AFTER_SECONDS,
      );
    }
  }

  /**
   * Refuses an address of the root's pool that a range of Services has. A range that comes at once meets it from now on, until the operation ends.
   *
   * @throws where the ranges cannot be read
   */
  async compareRange<Supply>(address: PoolAddress, operation: Operation<Supply>): Promise<Status | undefined> {
    const held = holdingOf(address);
    if (!held) return undefined;
    this.#underWay.set(operation, held);
    return this.#refusedByRange(address, held);
  }

  async #refusedByRange(address: PoolAddress, held: PoolHolding): Promise<Status | undefined> {
    const range = await this.#rangeAround(held);
    if (range === undefined) return undefined;
    return range.isUnderWay
      ? serviceUnavailable(`the address belongs to ${range.text}, whose write is under way, try again later`, RETRY_AFTER_SECONDS)
      : refusing(address)("spec.address", address.spec?.address, `it belongs to ${range.text}`);
  }

  /** Whether its pool keeps ranges of Services away, whatever becomes of a write that is under way. */
  #covers(held: PoolHolding): boolean {
    const known = this.pools.get(held.pool);
    return known?.row.facts.family === held.family && containsInterval(known.gives, addressesOf(held));
  }

  /** A range of Services that has the address, as messages name it; undefined = there is none. */
  async #rangeAround(held: PoolHolding): Promise<MetRange | undefined> {
    const ranges = await this.#ranges.begin();
    return rangeMeeting(ranges, { family: held.family, natDomain: this.#domainOf(held.pool) }, [addressesOf(held)]);
  }

  async askPools(question: PoolQuestion): Promise<PoolAnswer> {
    switch (question.does) {
      case "claim":
        return this.#claimApart(question);
      case "close":
        return this.#close(question);
      case "abandon":
        return this.#abandon(question);
      case "settle": {
        const answer = await this.#settle(question);
        await this.#forgetLost();
        return answer;
      }
      case "forget":
        return this.#forget(question.pool);
      case "meet":
        return this.#meet(question.ranges);
    }
  }

  /**
   * A pool that changes its NAT domain takes its addresses along, those outside of its entries, too. The ranges of Services are read behind the claim, so
   * that one that comes at once meets them.
   */
  async #claimApart(question: PoolQuestion & { does: "claim" }): Promise<PoolAnswer> {
    const answer = await this.#claim(question);
    const { pool, token, facts, before } = question;
    if (answer.kind !== "done" || !before || before.natDomain === facts.natDomain) return answer;
    const own = [...this.held.of(pool), ...[...this.#underWay.values()].filter((held) => held.pool === pool)];
    if (own.length === 0) return answer;
    const ranges = await withTimeout(this.ports.clock, RPC_TIMEOUT_MS, this.ports.serviceRanges());
    for (const held of own) {
      const range = rangeMeeting(ranges, { family: held.family, natDomain: facts.natDomain }, [addressesOf(held)]);
      if (!range) continue;
      this.#abandon({ does: "abandon", pool, token });
      return { kind: "ranged", range: range.text, address: placeText(held), by: held.key, isUnderWay: range.isUnderWay };
    }
    return answer;
  }

  #claim({ pool, token, facts, before, dryRun, ...question }: PoolQuestion & { does: "claim" }): Promise<PoolAnswer> {
    return this.#asRead({ pool, token, facts: before }, (row) => {
      const met = this.#met(pool, facts, before);
      if (met) return met;
      if (before && !facts.keepsOutside) {
        const out = subtract(intervalsOf(before), facts.family === before.family ? intervalsOf(facts) : []);
        const used = [...this.held.of(pool)].filter(
          (held) => held.family === before.family && overlapsOf(out, addressesOf(held)).length > 0,
        );
        if (used.length > 0 && facts.unit !== undefined) return { kind: "shrinks", set: printedFirsts(used), ofPrefixes: true };
        const values = normalize(used.map(addressesOf));
        if (values.length > 0) return { kind: "shrinks", set: printedSet(before.family, values) };
      }
      const closed = question.closed ?? row?.closed ?? false;
      const claimed: PoolRow = { facts, before, token, at: this.ports.clock.now(), ...(closed && { closed, wasClosed: closed }) };
      return dryRun || this.#save(pool, claimed) ? DONE : { kind: "tooLarge" };
    });
  }

  /**
   * Goes on in the moment in which the pool is as the write has read it, and no other write of it is under way. `facts`: what the write has read;
   * null = there was no pool.
   */
  async #asRead(
    { pool, token, facts }: { pool: PoolKey; token: string; facts: PoolFacts | null },
    goOn: (row: PoolRow | undefined) => PoolAnswer,
  ): Promise<PoolAnswer> {
    for (;;) {
      const row = this.pools.get(pool)?.row;
      const known = row?.token === undefined ? row?.facts : row.token === token ? row.before : undefined;
      if (isSame(known, facts) && (row?.token === undefined || row.token === token)) return goOn(row);
      // Behind its commit the row of a write stays until the controller settles it.
      if (row && row.token !== token && this.#isUnderWay(row) && !isSame(row.facts, facts)) return LATER;
      const stored = await this.#stored(pool);
      if (!isSame(stored?.facts, facts)) return LATER;
      // It may have been settled meanwhile, or claimed by another write.
      if (this.#isStill(pool, row)) return goOn(row);
    }
  }

  #stored(pool: PoolKey): Promise<StoredPool | undefined> {
    return withTimeout(this.ports.clock, RPC_TIMEOUT_MS, this.ports.poolOf(pool));
  }

  #isStill(pool: PoolKey, row: PoolRow | undefined): boolean {
    return this.pools.get(pool)?.row === row;
  }

  /** What a range that is no pool would meet. */
  #meet(ranges: readonly PoolFacts[]): PoolAnswer {
    for (const facts of ranges) {
      const met = this.#met("", facts, null);
      if (met) return met;
      const coming = this.#heldIn(this.#underWay.values(), "", facts);
      if (coming) return { ...coming, isUnderWay: true };
    }
    return DONE;
  }

  /** Another pool, or an address of one, that these facts would meet. `before`: what the pool has now. */
  #met(pool: PoolKey, facts: PoolFacts, before: PoolFacts | null): PoolAnswer | undefined {
    const own = intervalsOf(facts);
    for (const [other, { row, states }] of this.pools) {
      if (other === pool) continue;
      const isMet = states.some((state) => isBeside(state, facts) && intersect(own, state.covers).length > 0);
      if (isMet) return { kind: "overlaps", pool: other, isUnderWay: this.#isUnderWay(row) };
    }
    const held = this.#heldIn(this.held.all, pool, facts);
    if (held) return held;
    return before?.natDomain === facts.natDomain ? undefined : this.#metByMove(pool, facts.natDomain);
  }

  /** One of these addresses, of another pool, that the facts would meet. */
  #heldIn(holdings: Iterable<PoolHolding>, pool: PoolKey, facts: PoolFacts): (PoolAnswer & { kind: "held" }) | undefined {
    const own = intervalsOf(facts);
    for (const held of holdings) {
      const { key, pool: other, family } = held;
      if (other === pool || family !== facts.family || areApart(this.#domainOf(other), facts.natDomain)) continue;
      if (overlapsOf(own, addressesOf(held)).length > 0) return { kind: "held", pool: other, address: placeText(held), by: key };
    }
    return undefined;
  }

  /** What its addresses would meet where the pool comes into another NAT domain. They may lie outside of it, and may be older than it. */
  #metByMove(pool: PoolKey, natDomain: string): PoolAnswer | undefined {
    for (const held of this.held.of(pool)) {
      const { key, family } = held;
      const address = placeText(held);
      for (const { key: by, pool: other } of this.held.having(held)) {
        if (other !== pool && !areApart(this.#domainOf(other), natDomain)) return { kind: "held", pool: other, address, by };
      }
      for (const [other, { row, states }] of this.pools) {
        const isMet = states.some(
          (state) => isBeside(state, { family, natDomain }) && overlapsOf(state.covers, addressesOf(held)).length > 0,
        );
        if (other === pool || !isMet) continue;
        return { kind: "moves", pool: other, address, by: key, isUnderWay: this.#isUnderWay(row) };
      }
    }
    return undefined;
  }

  /** Whether a write is under way that may still bring what the row says. */
  #isUnderWay({ token, at = 0 }: PoolRow): boolean {
    return token !== undefined && this.ports.clock.now() < at + CLAIM_MS;
  }

  #close({ pool, token, facts, inUse, dryRun }: PoolQuestion & { does: "close" }): Promise<PoolAnswer> {
    return this.#asRead({ pool, token, facts }, () => {
      if (!inUse && this.held.of(pool).size > 0) return { kind: "used" };
      // The same facts take the room of one.
      const closed: PoolRow = { facts, before: facts, token, at: this.ports.clock.now(), closed: true };
      return dryRun || this.#save(pool, closed) ? DONE : { kind: "tooLarge" };
    });
  }

  #abandon({ pool, token }: PoolQuestion & { does: "abandon" }): PoolAnswer {
    const row = this.pools.get(pool)?.row;
    if (row?.token !== token) return DONE;
    if (row.before) this.#save(pool, { facts: row.before, ...(row.wasClosed && { closed: true }) });
    else this.#remove(pool);
    return DONE;
  }

  async #settle({ pool, facts, closed }: PoolQuestion & { does: "settle" }): Promise<PoolAnswer> {
    const row = this.pools.get(pool)?.row;
    if (row && isSettled(row, { facts, closed })) return DONE;
    // The asker may have read it long ago.
    const stored = await this.#stored(pool);
    if (!stored || !this.#isStill(pool, row)) return LATER;
    return this.#settleAs(pool, row, stored) ? DONE : LATER;
  }

  /** Nobody else looks for pools that are not there, of which a lost write has told. One that cannot be read now stays for the next time. */
  async #forgetLost(): Promise<void> {
    const lost = [...this.pools].filter(([, { row }]) => row.token !== undefined && !this.#isUnderWay(row));
    for (const [pool] of lost.slice(0, FORGOTTEN_MAX)) await this.#forget(pool).catch(() => undefined);
  }

  async #forget(pool: PoolKey): Promise<PoolAnswer> {
    if (this.held.of(pool).size > 0) return { kind: "used" };
    const row = this.pools.get(pool)?.row;
    if (!row) return DONE;
    const stored = await this.#stored(pool);
    if (this.held.of(pool).size > 0) return { kind: "used" };
    if (!this.#isStill(pool, row)) return LATER;
    if (stored && !stored.closed) return !isSettled(row, stored) && this.#settleAs(pool, row, stored) ? DONE : LATER;
    // A creation may be under way, or a change of a pool that goes.
    if (this.#isUnderWay(row) && !(stored && isAs(row, stored))) return LATER;
    this.#remove(pool);
    return DONE;
  }

  /** False: a write is under way that may still change what is stored. */
  #settleAs(pool: PoolKey, row: PoolRow | undefined, stored: StoredPool): boolean {
    if (row && !isAs(row, stored) && this.#isUnderWay(row)) return false;
    const isKept = this.#save(pool, { facts: stored.facts, ...(stored.closed && { closed: true }) });
    if (isKept) this.ports.settled?.(pool, stored.facts);
    return isKept;
  }

  /** Whoever has the address, in the pool or in others that it may meet. */
  holders(pool: PoolKey, family: Family, value: bigint): PoolHolding[] {
    const natDomain = this.#domainOf(pool);
    const isMet = (held: PoolHolding): boolean => held.pool === pool || !areApart(this.#domainOf(held.pool), natDomain);
    return [...this.held.having({ family, value, length: widthOf(family) })].filter(isMet);
  }

  #refusal<Supply>({ after, before }: ProposedChange, operation: Operation<Supply>): Status | undefined {
    const object = after as PoolAddress | undefined;
    const held = object && !before ? holdingOf(object) : undefined;
    if (!object || !held) return undefined;
    const { name = "" } = object.metadata ?? {};
    const refuse = refusing(object);
    const claim = object.spec?.claimRef?.name;
    if ((!held.isForeign || isAtRoot(held.pool)) && claim !== name) return refuse("spec.claimRef.name", claim, OTHER_NAME);
    const unit = this.pools.get(held.pool)?.row.facts.unit;
    if (unit !== undefined && held.length > unit)
      return refuse("spec.prefix", object.spec?.prefix, `its pool gives out prefixes of length ${unit}, and none that are longer`);
    const why = this.whyNot(held);
    if (why !== undefined) return refuse("spec.address", object.spec?.address, why);
    // One object with a short prefix would take all addresses of a family from everybody.
    if (held.length < widthOf(held.family) && !held.isForeign && !this.#mayBeOf(held))
      return refuse("spec.address", object.spec?.address, NOT_ITS);
    // What the root has given is no matter of a pool of this cluster.
    const isOwn = isOurs(operation) && !held.isForeign;
    return isOwn && !this.#gives(held) ? conflict(poolAddressesDefinition, name, NOT_GIVEN) : undefined;
  }

  /** Whom the address would meet, as the end of a sentence; undefined = nobody. */
  whyNot(held: Omit<PoolHolding, "key">): string | undefined {
    const natDomain = this.#domainOf(held.pool);
    for (const { key, pool, isForeign } of this.held.having(held)) {
      // Two of somebody else's are his to keep apart.
      if (isForeign && held.isForeign && isAtRoot(pool) === isAtRoot(held.pool)) continue;
      if (pool === held.pool || !areApart(this.#domainOf(pool), natDomain)) return `IPAddress ${JSON.stringify(key)} has it`;
    }
    for (const [pool, { states }] of this.pools) {
      if (pool === held.pool) continue;
      const isMet = states.some(
        (state) => isBeside(state, { family: held.family, natDomain }) && overlapsOf(state.covers, addressesOf(held)).length > 0,
      );
      if (isMet) return `it belongs to ${poolText(pool)}`;
    }
    return undefined;
  }

  /** Whether the pool is there, and has the prefix or keeps what is outside of it. */
  #mayBeOf(held: PoolHolding): boolean {
    const { row, states = [] } = this.pools.get(held.pool) ?? {};
    const has = ({ family, covers }: KnownPoolRow["states"][number]): boolean =>
      family === held.family && containsInterval(covers, addressesOf(held));
    return row?.facts.keepsOutside === true || states.some(has);
  }

  #gives(held: PoolHolding): boolean {
    const known = this.pools.get(held.pool);
    if (known === undefined || known.row.closed || known.row.facts.family !== held.family) return false;
    return containsInterval(known.gives, addressesOf(held));
  }

  #domainOf(pool: PoolKey): string {
    const row = this.pools.get(pool)?.row;
    // Between claim and answer the pool is in both of its domains, so it is apart from nothing that one of them meets.
    return row?.before && row.before.natDomain !== row.facts.natDomain ? "" : (row?.facts.natDomain ?? "");
  }

  get held(): HeldAddresses {
    if (this.#held) return this.#held;
    const held = new HeldAddresses();
    for (const { data } of this.ports.storage.objectScan("", "")) {
      const object = readObject<PoolAddress>(data);
      if (object) held.set(keyOf(object), holdingOf(object));
    }
    return (this.#held = held);
  }

  get pools(): Map<PoolKey, KnownPoolRow> {
    return (this.#pools ??= new Map([...this.ports.rows.load()].map(([pool, row]) => [pool, known(row)])));
  }

  #save(pool: PoolKey, row: PoolRow): boolean {
    if (!this.ports.rows.save(pool, row)) return false;
    this.pools.set(pool, known(row));
    return true;
  }

  #remove(pool: PoolKey): void {
    this.ports.rows.remove(pool);
    this.pools.delete(pool);
  }
}

const OTHER_POOL = "the referenced pool is different from the pool referenced by the claim this address should fulfill";
const OTHER_NAME = "an IPAddress has the name of the claim that it is for";
const RETRY_AFTER_SECONDS = 1;
const ADDRESSES_SHRINK = "pool addresses do not contain allocated addresses";
const PREFIXES_SHRINK = "existing allocations become non-allocatable";
const NOT_ITS = "the referenced pool does not have this prefix";
const NOT_GIVEN = "the pool does not give this address out";

/** What refuses the write of this address. */
function refusing({ metadata }: PoolAddress): (field: string, value: unknown, why: string) => Status {
  return (field, value, why) => invalid(poolAddressesDefinition, metadata?.name ?? "", [invalidValue(field, value, why)]);
}

/** Whether the controller of pools writes. */
export function isOurs<Supply>({ request }: Operation<Supply>): boolean {
  const options = "options" in request && "fieldManager" in request.options ? request.options : undefined;
  return options?.byController === true && options.fieldManager === POOLS_MANAGER;
}

function known(row: PoolRow): KnownPoolRow {
  const { facts, before } = row;
  const own = intervalsOf(facts);
  const states = before ? [facts, before] : [facts];
  return {
    row,
    states: states.map((state) => ({ family: state.family, natDomain: state.natDomain, covers: intervalsOf(state) })),
    gives: before === undefined ? own : before?.family === facts.family ? intersect(own, intervalsOf(before)) : [],
  };
}

/** As upstream prints the first addresses of prefixes. */
function printedFirsts(holdings: readonly PoolHolding[]): string {
  const texts = holdings.map(({ family, value }) => formatAddress(family, value));
  return `[${texts.sort().join(" ")}]`;
}

function isSame(a: PoolFacts | null | undefined, b: PoolFacts | null): boolean {
  return a && b ? sameFacts(a, b) : !a && !b;
}

/** Whether the pool is stored as the row's write, or its last one, would make it. */
function isAs(row: PoolRow, { facts, closed }: StoredPool): boolean {
  return sameFacts(row.facts, facts) && (row.closed ?? false) === closed;
}

function isSettled(row: PoolRow, stored: StoredPool): boolean {
  return row.token === undefined && isAs(row, stored);
}

/** Whether addresses of the one may be met where those of the other are. */
function isBeside(a: Pick<PoolFacts, "family" | "natDomain">, b: Pick<PoolFacts, "family" | "natDomain">): boolean {
  return a.family === b.family && !areApart(a.natDomain, b.natDomain);
}

/** The refusal of a write of a pool; undefined = it may go on. `field`: which has the entries of the pool. */
export function refusalOf(
  answer: PoolAnswer,
  of: { definition: Parameters<typeof invalid>[0]; name: string; field: string; entries: readonly string[] },
): Status | undefined {
  const refuse = (why: string): Status => invalid(of.definition, of.name, [invalidValue(of.field, of.entries, why)]);
  switch (answer.kind) {
    case "done":
      return undefined;
    case "later":
      return serviceUnavailable("another write of the pool is under way, try again later", RETRY_AFTER_SECONDS);
    case "overlaps":
      return refuse(`overlaps with ${poolText(answer.pool)}`);
    case "held":
      return refuse(`IPAddress ${JSON.stringify(answer.by)} of ${poolText(answer.pool)} has ${answer.address}`);
    case "moves":
      return refuse(`its IPAddress ${JSON.stringify(answer.by)} has ${answer.address}, which belongs to ${poolText(answer.pool)}`);
    case "ranged":
      return answer.isUnderWay
        ? serviceUnavailable(`${answer.address} belongs to ${answer.range}, whose write is under way, try again later`, RETRY_AFTER_SECONDS)
        : refuse(`its IPAddress ${JSON.stringify(answer.by)} has ${answer.address}, which belongs to ${answer.range}`);
    case "tooLarge":
      return refuse("has too many ranges; a smaller pool can be made in its place");
    case "shrinks":
      return badRequest(`${answer.ofPrefixes ? PREFIXES_SHRINK : ADDRESSES_SHRINK}: ${answer.set}`);
    case "used":
      return badRequest("Pool has IPAddresses allocated. Cannot delete Pool until all IPAddresses have been removed.");
  }
}
