/**
 * Addresses for Services of type LoadBalancer, in the store of the addresses of pools. One is taken in the transaction that stores its IPAddress object,
 * the row. The object has a finalizer, so whoever deletes it has to wait for the Service. Its claimRef names the Service and is not its own name.
 * So no claim takes it over, and no client can make one like it (pool-book.ts).
 *
 * The store of Services alone takes and releases rows. A release names the row, whose name never comes again: a late one frees nobody else's address.
 * A take of an earlier life of the store of Services that comes late takes nothing. Within one life that store releases what it does not know of.
 */
import { keyOf } from "../api/meta/object-key";
import { readObject } from "../api/meta/read-object";
import { rfc3339Seconds } from "../api/meta/time";
import { IPAM_GROUP, partsOfPoolKey, type PoolAddress, type PoolKey, poolText } from "../api/registry/ipam/ipam";
import { SERVICE_FINALIZER, SERVICE_LABEL, SERVICE_UID, serviceHolding, SHARING } from "../api/registry/ipam/service-row";
import type {
  AddressAnswer,
  AddressesMissing,
  AddressRequest,
  AddressRowKey,
  AskingService,
  BalancerAnswer,
  BalancerBookRpc,
  BalancerQuestion,
  ServiceRow,
  TakenRow,
  WantedRow,
} from "../api/rpc/load-balancers";
import type { CommittedChange, Operation, StoreExtension } from "../api/store/state/extension";
import { forwarded } from "../api/store/state/forwarded-extension";
import type { StoreStorage } from "../api/store/state/store-storage";
import type { StoreTurn } from "../api/store/state/store-turn";
import type { Clock, Random } from "../core/base/ports";
import { canonicalAddress, formatAddress, parseAddress } from "../core/net/address";
import { type Family, widthOf } from "../core/net/family";
import { memberAt } from "../core/net/interval";
import { BookSpaces } from "./book-spaces";
import { holdingOf, type PoolHolding } from "./held-addresses";
import { type BalancerPool, looksAtLabels, poolsFor, serves } from "./load-balancers/selection";
import { portsOfSharing, sharingKey, whyNotShared } from "./load-balancers/sharing";
import type { KnownPoolRow, PoolBook } from "./pool-book";

/** What the book is kept beside. */
export interface InternalStore {
  internally<T>(work: (turn: StoreTurn) => T): Promise<T>;
}

export interface ServiceAddressBookPorts {
  clock: Pick<Clock, "now">;
  random: Pick<Random, "uuid">;
  storage: Pick<StoreStorage, "objectScan">;
  book: Pick<PoolBook, "around" | "held" | "holders" | "pools">;
  /** of the last life of the store of Services that spoke; in the same database */
  sessions: { load(): number; save(session: number): void };
  /** These pools may have room. May be lost. */
  tellRoom(pools: readonly PoolKey[]): void;
}

interface Candidate extends BalancerPool {
  readonly known: KnownPoolRow;
}

type Spot = Pick<PoolHolding, "pool" | "family" | "value">;

type KeepingRequest = AddressRequest & Required<Pick<Extract<BalancerQuestion, { does: "take" }>, "shown">>;

interface SharedAddress extends Spot {
  /** row -> uid of its Service */
  readonly rows: Map<AddressRowKey, string>;
  readonly ports: Map<string, AddressRowKey>;
}

/** Services at one address: each of them is compared with one that comes. */
const SHARERS_MAX = 256;
/** Rows of one page, and objects that are looked at for it. */
const PAGE_ROWS = 500;
const PAGE_OBJECTS = 2_000;
const NO_ROOM: AddressesMissing = { why: "no available IPs", pools: [] };

export class ServiceAddressBook implements BalancerBookRpc {
  #store: InternalStore | undefined;
  readonly #spaces: BookSpaces;
  /** addresses that Services share, by the key and the text of each; undefined = nobody has asked */
  #shared: Map<string, Map<string, SharedAddress>> | undefined;
  /** the turn under way releases rows of Services */
  #isReleasing = false;

  constructor(private readonly ports: ServiceAddressBookPorts) {
    this.#spaces = new BookSpaces(ports.book);
  }

  /** The store that this is in. To be called once, before the first question. */
  attach(store: InternalStore): void {
    this.#store = store;
  }

  /** The extension of the store, and that of the book of pools, around another one. */
  around<Supply>(other: StoreExtension<Supply>): StoreExtension<Supply> {
    const inner = this.ports.book.around(other);
    const forget = (): void => {
      this.#spaces.forget();
      this.#shared = undefined;
    };
    return {
      ...forwarded(inner),
      committed: (change, operation) => {
        inner.committed?.(change, operation);
        this.#committed(change, operation);
      },
      writeUndone: () => {
        forget();
        inner.writeUndone?.();
      },
      turnLost: () => {
        forget();
        inner.turnLost?.();
      },
    };
  }

  async askBalancers(question: BalancerQuestion): Promise<BalancerAnswer> {
    switch (question.does) {
      case "take":
        return this.#inTurn((turn) => this.#takeAll(turn, question));
      case "release":
        return this.#inTurn((turn) => this.#release(turn, question.rows));
      case "rows":
        // In a turn, so that a take of an earlier session is before it, or takes nothing.
        return this.#inTurn(() => this.#outdated(question.session) ?? this.#rowsBehind(question.after));
      case "cover":
        return { kind: "covered", pools: question.addresses.map((address) => this.#covering(address)) };
    }
  }

  #inTurn(work: (turn: StoreTurn) => BalancerAnswer): Promise<BalancerAnswer> {
    if (!this.#store) throw new Error("the book of addresses has no store");
    return this.#store.internally(work);
  }

  #outdated(session: number): BalancerAnswer | undefined {
    const known = this.ports.sessions.load();
    if (session > known) this.ports.sessions.save(session);
    return session < known ? { kind: "outdated", session: known } : undefined;
  }

  #takeAll(turn: StoreTurn, { session, requests, shown = {} }: Extract<BalancerQuestion, { does: "take" }>): BalancerAnswer {
    const outdated = this.#outdated(session);
    if (outdated) return outdated;
    const pools = this.#pools();
    if (requests.some(({ service }) => !service.namespaceLabels) && pools.some(looksAtLabels)) return { kind: "labels" };
    return { kind: "taken", answers: requests.map((request) => this.#take(turn, pools, { ...request, shown })) };
  }

  #take(turn: StoreTurn, pools: readonly Candidate[], request: KeepingRequest): AddressAnswer {
    const taken: TakenRow[] = [];
    const missing: AddressesMissing[] = [];
    const picks = request.wanted.map((wanted) => ({ wanted, pick: this.#pick(turn, pools, request, wanted) }));
    const isWhole = picks.every(({ pick }) => "value" in pick);
    for (const { wanted, pick } of picks) {
      if (!("value" in pick)) missing.push(pick);
      else if (isWhole || !request.all) taken.push(this.#keep(turn, request, wanted, pick));
    }
    const isReplaced = ({ family, preferred }: WantedRow): boolean =>
      preferred !== undefined &&
      taken.some((row) => row.family === family && row.address !== preferred) &&
      this.#covering(preferred) !== null;
    const lost = request.wanted.filter(isReplaced).flatMap(({ preferred }) => preferred ?? []);
    const replaced = lost.length > 0 && { replaced: lost };
    if (missing.length === 0) return { taken, ...replaced };
    const pooled = [...new Set(missing.flatMap((one) => one.pools))];
    return { taken, missing: { why: missing[0]?.why ?? NO_ROOM.why, pools: pooled }, ...replaced };
  }

  /** What the row is to hold; a row of the Service that is there already holds what it holds. */
  #pick(
    turn: StoreTurn,
    pools: readonly Candidate[],
    { service, behind, shown }: KeepingRequest,
    { row, family, address, preferred, isHeld }: WantedRow,
  ): { pool: PoolKey; value: bigint; isThere?: true } | AddressesMissing {
    const stored = turn.get(row);
    if (stored) return thereFor(service, readObject<PoolAddress>(stored.data), isHeld ? address : undefined);
    if (address !== undefined) return this.#pickAsked(turn, pools, { service, family, address, shown, isHeld, ...(!isHeld && { behind }) });
    const first = preferred === undefined ? undefined : this.#pickAsked(turn, pools, { service, family, address: preferred, shown });
    if (first && "value" in first) return first;
    const ofFamily = pools.filter(({ known }) => known.row.facts.family === family);
    const candidates = poolsFor(ofFamily, service, service.pools !== undefined);
    const shared = this.#pickShared(turn, candidates, service);
    if (shared) return shared;
    for (const { key, known } of candidates) {
      const value = this.#spaces.lowest(key, known, behind?.pools[key] ?? 0, [...(behind?.asked[key] ?? []), ...Object.keys(shown)]);
      if (value !== undefined) return { pool: key, value };
    }
    return { why: this.#whyNone(pools, candidates, service), pools: candidates.map(({ key }) => key) };
  }

  #pickAsked(
    turn: StoreTurn,
    pools: readonly Candidate[],
    {
      service,
      family,
      address,
      isHeld,
      behind,
      shown,
    }: { service: AskingService; family: Family; address: string } & Pick<KeepingRequest, "shown"> &
      Pick<WantedRow, "isHeld"> &
      Pick<AddressRequest, "behind">,
  ): { pool: PoolKey; value: bigint } | AddressesMissing {
    const parsed = parseAddress(address);
    const value = parsed.ok ? parsed.value.value : -1n;
    const isGiven = ({ known }: Candidate): boolean => known.row.facts.family === family && memberAt(known.gives, value) !== undefined;
    const pool = pools.find((one) => isGiven(one) && (isHeld || serves(one, service, true)));
    if (!pool) return { why: `[${JSON.stringify(address)}] is not allowed in config`, pools: [] };
    const { key, known } = pool;
    const isFree = this.ports.book.holders(key, family, value).length === 0;
    const isKept = isFree && !isHeld && (shown[address] ?? service.uid) !== service.uid;
    const isOlder =
      behind && isFree && (behind.asked[key]?.includes(address) || this.#spaces.of(key, known).free <= BigInt(behind.pools[key] ?? 0));
    const why =
      isKept || isOlder
        ? `${JSON.stringify(address)} is left to a Service that waits longer`
        : this.#whyNot(turn, service, { pool: key, family, value });
    return why === undefined ? { pool: key, value } : { why, pools: [key] };
  }

  /** The lowest address that others with the same key have, and that may be shared with them, in the first pool that has one. */
  #pickShared(turn: StoreTurn, candidates: readonly Candidate[], service: AskingService): { pool: PoolKey; value: bigint } | undefined {
    const key = sharingKey(service.sharing);
    if (key === undefined) return undefined;
    const ports = portsOfSharing(service.sharing);
    const known = [...(this.#sharedRows.get(key)?.values() ?? [])];
    // Nearly all that are no use have one of the ports: no row is read for these.
    const open = known.filter(({ ports: taken, rows }) =>
      ports.every((port) => !taken.has(port) || rows.get(taken.get(port) ?? "") === service.uid),
    );
    open.sort((a, b) => (a.value < b.value ? -1 : 1));
    for (const { key: pool, known: of } of candidates) {
      const found = open.find(
        (one) => one.pool === pool && one.family === of.row.facts.family && this.#whyNot(turn, service, one) === undefined,
      );
      if (found) return { pool, value: found.value };
    }
    return undefined;
  }

  /** Why the Service may not have the address; undefined = it may. Its own rows are in nobody's way. */
  #whyNot(turn: StoreTurn, service: AskingService, { pool, family, value }: Spot): string | undefined {
    const address = formatAddress(family, value);
    const holders = this.ports.book.holders(pool, family, value);
    if (holders.length >= SHARERS_MAX) return `${JSON.stringify(address)} is shared by as many Services as may share one`;
    for (const { key } of holders) {
      const stored = turn.get(key);
      const object = stored && readObject<PoolAddress>(stored.data);
      const uid = object && serviceHolding(object);
      if (uid === service.uid) continue;
      const { namespace = "", labels, annotations } = object?.metadata ?? {};
      const sharing = uid === undefined ? undefined : annotations?.[SHARING];
      const holder = { namespace, name: labels?.[SERVICE_LABEL] ?? "", ...(sharing !== undefined && { sharing }) };
      const why = uid === undefined ? `${JSON.stringify(address)} is already in use` : whyNotShared(address, service, holder);
      if (why !== undefined) return why;
    }
    return undefined;
  }

  get #sharedRows(): Map<string, Map<string, SharedAddress>> {
    if (this.#shared) return this.#shared;
    this.#shared = new Map();
    for (const { data } of this.ports.storage.objectScan("", "")) {
      const object = data.includes(SHARING) ? readObject<PoolAddress>(data) : undefined;
      if (object) this.#noteShared(keyOf(object), object, true);
    }
    return this.#shared;
  }

  /** Of other objects the annotation is anybody's text. */
  #noteShared(row: AddressRowKey, object: PoolAddress, isThere: boolean): void {
    const uid = this.#shared && serviceHolding(object);
    const sharing = uid === undefined ? undefined : object.metadata?.annotations?.[SHARING];
    const key = sharingKey(sharing);
    const held = holdingOf(object);
    if (!this.#shared || uid === undefined || key === undefined || !held) return;
    const { pool, family, value } = held;
    const text = `${pool} ${value}`;
    const addresses = this.#shared.get(key) ?? new Map<string, SharedAddress>();
    const address = addresses.get(text) ?? { pool, family, value, rows: new Map(), ports: new Map() };
    for (const port of portsOfSharing(sharing)) {
      if (isThere) address.ports.set(port, row);
      else if (address.ports.get(port) === row) address.ports.delete(port);
    }
    if (isThere) {
      address.rows.set(row, uid);
      this.#shared.set(key, addresses.set(text, address));
    } else if (address.rows.delete(row) && address.rows.size === 0 && addresses.delete(text) && addresses.size === 0)
      this.#shared.delete(key);
  }

  #whyNone(pools: readonly Candidate[], candidates: readonly Candidate[], { pools: named }: AddressRequest["service"]): string {
    if (candidates.length > 0) return named ? `no available IPs in pool ${JSON.stringify(named.join(","))}` : NO_ROOM.why;
    const unknown = named?.find((name) => !pools.some(({ key }) => partsOfPoolKey(key).name === name));
    if (unknown !== undefined) return `unknown pool ${JSON.stringify(unknown)}`;
    return named ? `pool ${JSON.stringify(named.join(","))} not compatible for ip assignment` : NO_ROOM.why;
  }

  #keep(
    turn: StoreTurn,
    { service }: AddressRequest,
    { row, family }: WantedRow,
    { pool, value, isThere }: { pool: PoolKey; value: bigint; isThere?: true },
  ): TakenRow {
    const address = formatAddress(family, value);
    if (isThere) return { row, family, address };
    const { kind, name } = partsOfPoolKey(pool);
    turn.add(row, {
      metadata: {
        namespace: service.namespace,
        name: row.slice(row.indexOf("/") + 1),
        uid: this.ports.random.uuid(),
        creationTimestamp: rfc3339Seconds(this.ports.clock.now()),
        generation: 1,
        labels: { [SERVICE_LABEL]: service.name },
        annotations: { [SERVICE_UID]: service.uid, ...(service.sharing !== undefined && { [SHARING]: service.sharing }) },
        finalizers: [SERVICE_FINALIZER],
      },
      spec: {
        claimRef: { name: service.name },
        poolRef: { apiGroup: IPAM_GROUP, kind, name },
        address,
        prefix: widthOf(family),
      },
    } as PoolAddress);
    return { row, family, address };
  }

  #release(turn: StoreTurn, rows: readonly AddressRowKey[]): BalancerAnswer {
    const pools = new Set<PoolKey>();
    this.#isReleasing = true;
    try {
      for (const row of rows) {
        const stored = turn.get(row);
        const object = stored && readObject<PoolAddress>(stored.data);
        if (!object || serviceHolding(object) === undefined) continue;
        const held = holdingOf(object);
        turn.remove(row);
        if (held) pools.add(held.pool);
      }
    } finally {
      this.#isReleasing = false;
    }
    return { kind: "released", pools: [...pools] };
  }

  #rowsBehind(after: AddressRowKey): BalancerAnswer {
    const rows: ServiceRow[] = [];
    let objects = 0;
    for (const { key, data } of this.ports.storage.objectScan(after, "")) {
      if (key === after) continue;
      const object = readObject<PoolAddress>(data);
      const service = object && serviceHolding(object);
      const held = object && holdingOf(object);
      if (service !== undefined && held)
        rows.push({ row: key, family: held.family, address: formatAddress(held.family, held.value), service });
      if (++objects >= PAGE_OBJECTS || rows.length >= PAGE_ROWS) return { kind: "rows", rows, next: key };
    }
    return { kind: "rows", rows };
  }

  #covering(text: string): string | null {
    const parsed = parseAddress(canonicalAddress(text));
    if (!parsed.ok) return null;
    const { family, value } = parsed.value;
    for (const [key, { row, states }] of this.ports.book.pools) {
      const isBalancer = row.facts.loadBalancer ?? row.before?.loadBalancer;
      if (isBalancer && states.some((state) => state.family === family && memberAt(state.covers, value) !== undefined))
        return poolText(key);
    }
    return null;
  }

  /** Those that give addresses to Services now. One of which a write is under way gives what it gave before and will give. */
  #pools(): Candidate[] {
    return [...this.ports.book.pools].flatMap(([key, known]) => {
      const { facts, before, token, closed } = known.row;
      const states = token === undefined ? [facts] : before ? [facts, before] : [];
      const served = states.flatMap(({ loadBalancer }) => loadBalancer ?? []);
      return closed || served.length === 0 || served.length < states.length ? [] : [{ key, served, known }];
    });
  }

  #committed<Supply>(change: CommittedChange, operation: Operation<Supply> | undefined): void {
    const { key, before, after } = change;
    this.#spaces.committed(change);
    if (before) this.#noteShared(key, before, false);
    if (after) this.#noteShared(key, after, true);
    const was = before && holdingOf(before);
    const is = after && holdingOf(after);
    // Services that wait hear of addresses that claims give back. What Services give back the other store knows.
    const isBalancer = was && this.ports.book.pools.get(was.pool)?.row.facts.loadBalancer;
    if (was && !is && isBalancer && !(this.#isReleasing && operation === undefined)) this.ports.tellRoom([was.pool]);
  }
}

/** What the object that has the name of the row holds for the Service; `address` is the one that it has to be. Anybody may have made the object. */
function thereFor(
  service: AskingService,
  object: PoolAddress | undefined,
  address: string | undefined,
): { pool: PoolKey; value: bigint; isThere: true } | AddressesMissing {
  const held = object && serviceHolding(object) === service.uid ? holdingOf(object) : undefined;
  if (!held || (address !== undefined && formatAddress(held.family, held.value) !== address))
    return { why: "its record is another one", pools: [] };
  return { pool: held.pool, value: held.value, isThere: true };
}
