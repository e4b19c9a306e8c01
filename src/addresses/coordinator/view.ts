/** The Coordinator's rows, parsed and indexed: who is affected by what. A value of one moment; take a new one after every await (viewOf). */
import { groupBy } from "../../core/base/group-by";
import { onlyCoveredBy, splitByOwner, type AddressInterval } from "../topology/coverage";
import { movesOf, remaindersOf, type Move, type Remainder } from "../topology/moves";
import { closedContent, ownerContent, RETIRED, type OwnerContent } from "../topology/owner-content";
import { containsPrefix, type Prefix } from "../../core/net/prefix";
import { storedPrefix, type NamedPrefix } from "../topology/stored-prefix";
import { isConfiguredRow } from "./configured-ranges";
import type { CidrRow, ClaimRow, CoordinatorState, HandoffRow, OwnerRow, RangeRow } from "./coordinator-storage";
import { PrefixTable } from "./prefix-table";
import { changesOf, type Changes } from "./row-changes";
import type { CoordinatorSettings } from "./settings";

export interface Claim extends ClaimRow, NamedPrefix {}

export interface Range extends RangeRow, NamedPrefix {}

export class View {
  readonly epoch: number;
  readonly cidrs: ReadonlyMap<string, CidrRow>;
  /** stands for the configured ranges, which then are the only ones that give out addresses */
  readonly configured: CidrRow | undefined;
  readonly owners: ReadonlyMap<string, OwnerRow>;
  readonly claims: readonly Claim[];
  readonly ranges: readonly Range[];
  readonly handoffs: readonly HandoffRow[];
  readonly #handoffsBySource: ReadonlyMap<string, HandoffRow[]>;
  readonly #claimTable: PrefixTable<Claim>;
  readonly #rangeTable: PrefixTable<Range>;
  readonly #state: CoordinatorState;
  readonly #settings: Pick<CoordinatorSettings, "staticBands">;
  #facts = new Facts();

  /** `before`: a view under the same settings; what was worked out there is taken over as far as it still holds. */
  constructor(state: CoordinatorState, settings: Pick<CoordinatorSettings, "staticBands">, before?: View) {
    this.#state = state;
    this.#settings = settings;
    this.configured = state.cidrs.find(isConfiguredRow);
    this.epoch = state.epoch;
    this.cidrs = readOnce(cidrsByUid, state.cidrs, byUid);
    this.owners = readOnce(ownersByUid, state.owners, byUid);
    this.#claimTable = readOnce(claimTables, state.claims, (rows) => {
      return new PrefixTable(
        rows.map((row) => parsedOnce(claimsOfRows, row)),
        (claim) => claim.ownerUid,
        before && before.#claimTable,
      );
    });
    this.#rangeTable = readOnce(rangeTables, state.ranges, (rows) => {
      return new PrefixTable(
        rows.map((row) => parsedOnce(rangesOfRows, row)),
        (range) => range.uid,
        before && before.#rangeTable,
      );
    });
    this.claims = this.#claimTable.rows;
    this.ranges = this.#rangeTable.rows;
    this.handoffs = state.handoffs;
    this.#handoffsBySource = groupBy(state.handoffs, (row) => row.sourceUid);
    if (before && before.configured === this.configured) this.#inherit(before);
  }

  /** Takes the facts of a view before, less what the changes since may touch; asked again, that view works its own out anew. */
  #inherit(before: View): void {
    this.#facts = before.#facts;
    before.#facts = new Facts();
    const cidrs = both(changesOf(before.#state.cidrs, this.#state.cidrs)).map(({ uid }) => uid);
    const claims = changesOf(before.claims, this.claims);
    const ranges = changesOf(before.ranges, this.ranges);
    const handoffs = both(changesOf(before.handoffs, this.handoffs));
    const touched = new Set([
      ...ranges.come,
      ...cidrs.flatMap((uid) => this.rangesOf(uid)),
      ...both(claims).flatMap(({ parsed }) => this.rangesIn(parsed)),
    ]);
    const changed = [...ranges.gone, ...[...touched].filter((range) => this.#isAllocatableAnew(range))];
    const under = changed.flatMap(({ parsed }) => this.claimsIn(parsed));
    const facts = this.#facts;
    for (const range of ranges.gone) facts.allocatable.delete(range);
    for (const claim of [...claims.gone, ...under]) facts.named.delete(claim);
    const owners = [...both(claims), ...under].map(({ ownerUid }) => ownerUid);
    const parties = handoffs.flatMap(({ sourceUid, targetUid }) => [sourceUid, targetUid]);
    // What a source has given away is told to it until its new owner is active, and is not among its claims.
    if (changed.length > 0) parties.push(...this.#handoffsIn("activating").map(({ sourceUid }) => sourceUid));
    for (const uid of [...cidrs, ...owners, ...parties]) {
      facts.moves.delete(uid);
      facts.contents.delete(uid);
    }
  }

  /** Works out once more whether the range may give out addresses; answers whether that may be another thing than before. */
  #isAllocatableAnew(range: Range): boolean {
    const before = this.#facts.allocatable.get(range);
    this.#facts.allocatable.delete(range);
    return this.isAllocatable(range) !== before;
  }

  rangesOf(cidrUid: string): readonly Range[] {
    return this.#rangeTable.groups.get(cidrUid) ?? [];
  }

  /** The ranges, of whatever ServiceCIDR and in whatever state, that have an address in common with the prefix. */
  rangesIn(prefix: Prefix): Range[] {
    return this.#rangeTable.index.intersecting(prefix);
  }

  claimsIn(prefix: Prefix): Claim[] {
    return this.#claimTable.index.intersecting(prefix);
  }

  claimsOf(ownerUid: string): readonly Claim[] {
    return this.#claimTable.groups.get(ownerUid) ?? [];
  }

  /** Everyone who writes or is to write a segment, or still has a configuration. */
  ownerUids(): string[] {
    const targets = this.#handoffsIn("copying").map((row) => row.targetUid);
    return [...new Set([...this.#claimTable.groups.keys(), ...this.owners.keys(), ...targets])];
  }

  /** The owner writes on for an object that is gone or going: what others cover is to become theirs. */
  isLeaving(ownerUid: string): boolean {
    return this.cidrs.get(ownerUid)?.deleting ?? true;
  }

  /** The hand-offs of an owner, at most one to each other one. */
  handoffsOf(sourceUid: string): readonly HandoffRow[] {
    return this.#handoffsBySource.get(sourceUid) ?? [];
  }

  /** Names of the ServiceCIDRs that a hand-off of this owner has been waiting for longer than it should. */
  awaited(sourceUid: string, nowMs: number): string[] {
    const late = this.handoffsOf(sourceUid).filter(
      ({ phase, failures, dueAt }) => (phase === "resting" && failures > 0) || (phase === "activating" && dueAt <= nowMs),
    );
    return late.map(({ targetUid }) => this.cidrs.get(targetUid)?.name ?? targetUid).sort();
  }

  /** What of the owner's segments another ready ServiceCIDR covers, and which takes it over (PROTOCOL rule 16). */
  movesOf(ownerUid: string): readonly Move[] {
    return once(this.#facts.moves, ownerUid, () => {
      const claims = this.claimsOf(ownerUid).filter((claim) => claim.seeded);
      return movesOf(claims, (prefix) => this.rangesIn(prefix).filter((range) => range.uid !== ownerUid && this.isCover(range)));
    });
  }

  /** The segments of an owner whose object is going or gone, as far as no other ServiceCIDR has them, in whatever state. */
  remaindersOf(ownerUid: string): Remainder[] {
    if (!this.isLeaving(ownerUid)) return [];
    return remaindersOf(this.claimsOf(ownerUid), (prefix) => this.rangesIn(prefix).filter((range) => range.uid !== ownerUid));
  }

  /** Whether the range keeps what is allocated in it covered: ready, seeded, and nothing takes it back. */
  isCover(range: Range): boolean {
    return range.ready && this.isAllocatable(range);
  }

  /** Whether the ServiceCIDR covers the prefix (of a segment). */
  covers(cidrUid: string, prefix: string): boolean {
    return this.rangesOf(cidrUid).some((range) => this.isCover(range) && containsPrefix(range.parsed, storedPrefix(prefix)));
  }

  /**
   * The target has confirmed that it writes the segments of a committed hand-off: a configuration from after the commit, which is one that
   * has it receive them no more. By then it may have them cut for others.
   */
  isActivated({ targetUid, id }: HandoffRow): boolean {
    const target = this.owners.get(targetUid);
    if (!target || target.ackedEpoch !== target.epoch) return false;
    const { receiving } = JSON.parse(target.content) as OwnerContent;
    return !receiving.some(({ handoff }) => handoff === id);
  }

  /** The range may give out addresses: seeded, and nothing takes it back (PROTOCOL rule 14). */
  isAllocatable(range: Range): boolean {
    return once(this.#facts.allocatable, range, () => this.#mayGiveOut(range));
  }

  #mayGiveOut(range: Range): boolean {
    const cidr = this.cidrs.get(range.uid);
    if (this.configured && range.uid !== this.configured.uid) return false;
    if (!cidr || cidr.deleting || cidr.suspended || cidr.fencedUntil > 0) return false;
    return this.claimsIn(range.parsed).every((claim) => claim.seeded);
  }

  /** The owners that hold a part of the ranges: those whose configuration depends on them. */
  ownersUnder(ranges: readonly Range[]): string[] {
    const uids = ranges.flatMap((range) => this.claimsIn(range.parsed).map((claim) => claim.ownerUid));
    return [...new Set(uids)];
  }

  /** Whether each of these owners has confirmed its newest configuration. */
  areSettled(ownerUids: readonly string[]): boolean {
    return ownerUids.every((uid) => {
      const owner = this.owners.get(uid);
      return owner !== undefined && owner.ackedEpoch === owner.epoch;
    });
  }

  /** The owners that take back no lost rows of Services now. */
  closings(): OwnerRow[] {
    return [...this.owners.values()].filter(({ closedUntil }) => closedUntil > 0);
  }

  /** Whether that is so under the owner's newest configuration, confirmed or not. */
  isClosed(ownerUid: string): boolean {
    return (this.owners.get(ownerUid)?.closedUntil ?? 0) > 0;
  }

  /** Whether the owner has confirmed a configuration that is not older than `epoch`. */
  hasConfirmed(ownerUid: string, epoch: number): boolean {
    return (this.owners.get(ownerUid)?.ackedEpoch ?? 0) >= epoch;
  }

  /** Whether some ServiceCIDR object, in whatever state, has a part of the segment. */
  isNamed(claim: Claim): boolean {
    return once(this.#facts.named, claim, () => this.rangesIn(claim.parsed).length > 0);
  }

  /** The addresses that block the object's deletion while they are taken, by owner: usable in none of the ready ranges of others. */
  onlyCoveredBy(cidrUid: string): Map<string, AddressInterval[]> {
    const own = this.rangesOf(cidrUid).map((range) => range.parsed);
    const others = own.flatMap((prefix) => this.rangesIn(prefix).filter((range) => range.uid !== cidrUid && range.ready));
    const intervals = onlyCoveredBy(
      own,
      others.map((range) => range.parsed),
    );
    return splitByOwner(intervals, [...new Set(own.flatMap((prefix) => this.claimsIn(prefix)))]);
  }

  /** What every owner has to know now, as JSON of an OwnerContent. An owner without claims and hand-offs whose object is gone is done for ever. */
  desiredContents(): Map<string, string> {
    const receivingOf = onDemand(() => groupBy(this.#handoffsIn("copying"), (row) => row.targetUid));
    return new Map(
      this.ownerUids().map((uid) => {
        const content = once(this.#facts.contents, uid, () => this.#contentOf(uid, receivingOf().get(uid) ?? []));
        return [uid, this.isClosed(uid) ? closedContent(content) : content];
      }),
    );
  }

  #contentOf(uid: string, incoming: readonly HandoffRow[]): string {
    const outgoing = this.handoffsOf(uid);
    const given = outgoing.flatMap(({ phase, prefixes }) => (phase === "activating" ? prefixes : []));
    const owned = [...this.claimsOf(uid), ...given.map((prefix) => ({ prefix, parsed: storedPrefix(prefix) }))];
    const receiving = incoming.map(({ id, prefixes }) => ({ handoff: id, prefixes }));
    const isDone = owned.length === 0 && receiving.length === 0 && !this.cidrs.has(uid);
    const frozen = outgoing.flatMap(({ prefixes }) => prefixes);
    const withStatic = this.#settings.staticBands;
    const allocatableIn = (prefix: Prefix): Range[] => this.rangesIn(prefix).filter((range) => this.isAllocatable(range));
    return JSON.stringify(isDone ? RETIRED : ownerContent({ owned, frozen, receiving, withStatic }, allocatableIn));
  }

  #handoffsIn(phase: HandoffRow["phase"]): HandoffRow[] {
    return this.handoffs.filter((row) => row.phase === phase);
  }
}

/** What has been worked out of a view: it follows from objects, ranges, claims and hand-offs, and not from what owners confirm. */
class Facts {
  readonly allocatable = new Map<Range, boolean>();
  readonly named = new Map<Claim, boolean>();
  /** by owner */
  readonly moves = new Map<string, readonly Move[]>();
  /** by owner */
  readonly contents = new Map<string, string>();
}

function once<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  const before = known.get(key);
  if (before !== undefined) return before;
  const made = make();
  known.set(key, made);
  return made;
}

function onDemand<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const cidrsByUid = new WeakMap<readonly CidrRow[], ReadonlyMap<string, CidrRow>>();
const ownersByUid = new WeakMap<readonly OwnerRow[], ReadonlyMap<string, OwnerRow>>();
const claimTables = new WeakMap<readonly ClaimRow[], PrefixTable<Claim>>();
const rangeTables = new WeakMap<readonly RangeRow[], PrefixTable<Range>>();

/** What is read of something that never changes; the second time, what was read the first time. */
function readOnce<Source extends object, T>(known: WeakMap<Source, T>, source: Source, read: (source: Source) => T): T {
  const before = known.get(source);
  if (before !== undefined) return before;
  const made = read(source);
  known.set(source, made);
  return made;
}

const claimsOfRows = new WeakMap<ClaimRow, Claim>();
const rangesOfRows = new WeakMap<RangeRow, Range>();

/** A row that did not change since the last view is not read again. */
function parsedOnce<Row extends { prefix: string }>(known: WeakMap<Row, Row & NamedPrefix>, row: Row): Row & NamedPrefix {
  return readOnce(known, row, () => ({ ...row, parsed: storedPrefix(row.prefix) }));
}

const views = new WeakMap<CoordinatorState, View>();
const latest = new WeakMap<Pick<CoordinatorSettings, "staticBands">, View>();

/** The view of a state; made once as long as the storage answers the same state. The settings of a Coordinator do not change. */
export function viewOf(state: CoordinatorState, settings: Pick<CoordinatorSettings, "staticBands">): View {
  return readOnce(views, state, () => {
    const view = new View(state, settings, latest.get(settings));
    latest.set(settings, view);
    return view;
  });
}

function byUid<Row extends { uid: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.uid, row]));
}

function both<Row>({ gone, come }: Changes<Row>): Row[] {
  return [...gone, ...come];
}
