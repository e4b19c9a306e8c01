/** The Coordinator's rows, parsed and indexed: who is affected by what. A value of one moment; take a new one after every await (viewOf). */
import { onlyCoveredBy, type AddressInterval } from "../topology/coverage";
import { movesOf, type Move } from "../topology/moves";
import { ownerContent, RETIRED, type OwnerContent } from "../topology/owner-config";
import { containsPrefix } from "../net/prefix";
import { PrefixIndex } from "../topology/prefix-index";
import { storedPrefix, type NamedPrefix } from "../topology/stored-prefix";
import { isConfiguredRow } from "./configured-ranges";
import type { CidrRow, ClaimRow, CoordinatorState, HandoffRow, OwnerRow, RangeRow } from "./coordinator-storage";
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
  /** by source */
  readonly handoffs: ReadonlyMap<string, HandoffRow>;
  #claims: PrefixIndex<Claim> | undefined;
  #ranges: PrefixIndex<Range> | undefined;
  readonly #claimsByOwner: ReadonlyMap<string, Claim[]>;
  readonly #rangesByCidr: ReadonlyMap<string, Range[]>;
  readonly #settings: Pick<CoordinatorSettings, "staticBands">;

  constructor(state: CoordinatorState, settings: Pick<CoordinatorSettings, "staticBands">) {
    this.#settings = settings;
    this.configured = state.cidrs.find(isConfiguredRow);
    this.epoch = state.epoch;
    this.cidrs = new Map(state.cidrs.map((row) => [row.uid, row]));
    this.owners = new Map(state.owners.map((row) => [row.uid, row]));
    this.claims = state.claims.map((row) => parsedOnce(claimsOfRows, row));
    this.ranges = state.ranges.map((row) => parsedOnce(rangesOfRows, row));
    this.handoffs = new Map(state.handoffs.map((row) => [row.sourceUid, row]));
    this.#claimsByOwner = groupBy(this.claims, (claim) => claim.ownerUid);
    this.#rangesByCidr = groupBy(this.ranges, (range) => range.uid);
  }

  /** Made when they are first asked for: many views answer only what a row says. */
  get #claimIndex(): PrefixIndex<Claim> {
    return (this.#claims ??= indexed(this.claims));
  }

  get #rangeIndex(): PrefixIndex<Range> {
    return (this.#ranges ??= indexed(this.ranges));
  }

  rangesOf(cidrUid: string): readonly Range[] {
    return this.#rangesByCidr.get(cidrUid) ?? [];
  }

  claimsOf(ownerUid: string): readonly Claim[] {
    return this.#claimsByOwner.get(ownerUid) ?? [];
  }

  /** Everyone who writes or is to write a segment, or still has a configuration. */
  ownerUids(): string[] {
    const targets = this.#handoffsIn("copying").map((row) => row.targetUid);
    return [...new Set([...this.#claimsByOwner.keys(), ...this.owners.keys(), ...targets])];
  }

  /** The owner writes on for an object that is gone or going: what others cover is to become theirs. */
  isLeaving(ownerUid: string): boolean {
    return this.cidrs.get(ownerUid)?.deleting ?? true;
  }

  /** What of the owner's segments another ready ServiceCIDR covers, and which takes it over (PROTOCOL rule 16). */
  movesOf(ownerUid: string): Move[] {
    const claims = this.claimsOf(ownerUid).filter((claim) => claim.seeded);
    return movesOf(claims, (prefix) =>
      this.#rangeIndex.intersecting(prefix).filter((range) => range.uid !== ownerUid && this.isCover(range)),
    );
  }

  /** Whether the range keeps what is allocated in it covered: ready, seeded, and nothing takes it back. */
  isCover(range: Range): boolean {
    return range.ready && this.isAllocatable(range);
  }

  /** Whether the ServiceCIDR covers the prefix (of a segment). */
  covers(cidrUid: string, prefix: string): boolean {
    return this.rangesOf(cidrUid).some((range) => this.isCover(range) && containsPrefix(range.parsed, storedPrefix(prefix)));
  }

  /** The target has confirmed that it writes the segments of a committed hand-off. */
  isActivated({ targetUid, prefixes }: HandoffRow): boolean {
    const target = this.owners.get(targetUid);
    if (target?.ackedEpoch !== target?.epoch) return false;
    const owned = new Set((JSON.parse(target?.content ?? "{}") as Partial<OwnerContent>).owned ?? []);
    return prefixes.every((prefix) => owned.has(prefix));
  }

  /** The range may give out addresses: seeded, and nothing takes it back (PROTOCOL rule 14). */
  isAllocatable(range: Range): boolean {
    const cidr = this.cidrs.get(range.uid);
    if (this.configured && range.uid !== this.configured.uid) return false;
    if (!cidr || cidr.deleting || cidr.suspended || cidr.fencedUntil > 0) return false;
    return this.#claimIndex.intersecting(range.parsed).every((claim) => claim.seeded);
  }

  /** The owners that hold a part of the ranges: those whose configuration depends on them. */
  ownersUnder(ranges: readonly Range[]): string[] {
    const uids = ranges.flatMap((range) => this.#claimIndex.intersecting(range.parsed).map((claim) => claim.ownerUid));
    return [...new Set(uids)];
  }

  /** Whether each of these owners has confirmed its newest configuration. */
  areSettled(ownerUids: readonly string[]): boolean {
    return ownerUids.every((uid) => {
      const owner = this.owners.get(uid);
      return owner !== undefined && owner.ackedEpoch === owner.epoch;
    });
  }

  /** Whether some ServiceCIDR object, in whatever state, has a part of the segment. */
  isNamed(claim: Claim): boolean {
    return this.#rangeIndex.intersecting(claim.parsed).length > 0;
  }

  /** The addresses that block the object's deletion while they are taken: usable in none of the ready ranges of others. */
  onlyCoveredBy(cidrUid: string): AddressInterval[] {
    const own = this.rangesOf(cidrUid);
    const others = this.ranges.filter((range) => range.uid !== cidrUid && range.ready);
    return onlyCoveredBy(
      own.map((range) => range.parsed),
      others.map((range) => range.parsed),
    );
  }

  /** What every owner has to know now. An owner without claims and hand-offs whose object is gone is done for ever. */
  desiredContents(): Map<string, OwnerContent> {
    const allocatable = indexed(this.ranges.filter((range) => this.isAllocatable(range)));
    const receivingOf = groupBy(this.#handoffsIn("copying"), (row) => row.targetUid);
    const contents = new Map<string, OwnerContent>();
    const withStatic = this.#settings.staticBands;
    for (const uid of this.ownerUids()) {
      const outgoing = this.handoffs.get(uid);
      const given = outgoing?.phase === "activating" ? outgoing.prefixes.map((prefix) => ({ prefix, parsed: storedPrefix(prefix) })) : [];
      const owned = [...this.claimsOf(uid), ...given];
      const receiving = (receivingOf.get(uid) ?? []).map(({ id, prefixes }) => ({ handoff: id, prefixes }));
      const isDone = owned.length === 0 && receiving.length === 0 && !this.cidrs.has(uid);
      contents.set(uid, isDone ? RETIRED : ownerContent({ owned, frozen: outgoing?.prefixes ?? [], receiving, withStatic }, allocatable));
    }
    return contents;
  }

  #handoffsIn(phase: HandoffRow["phase"]): HandoffRow[] {
    return [...this.handoffs.values()].filter((row) => row.phase === phase);
  }
}

const claimsOfRows = new WeakMap<ClaimRow, Claim>();
const rangesOfRows = new WeakMap<RangeRow, Range>();

/** A row that did not change since the last view is not read again. */
function parsedOnce<Row extends { prefix: string }>(known: WeakMap<Row, Row & NamedPrefix>, row: Row): Row & NamedPrefix {
  const before = known.get(row);
  if (before) return before;
  const parsed = { ...row, parsed: storedPrefix(row.prefix) };
  known.set(row, parsed);
  return parsed;
}

const views = new WeakMap<CoordinatorState, View>();

/** The view of a state; made once as long as the storage answers the same state. The settings of a Coordinator do not change. */
export function viewOf(state: CoordinatorState, settings: Pick<CoordinatorSettings, "staticBands">): View {
  const known = views.get(state);
  if (known) return known;
  const view = new View(state, settings);
  views.set(state, view);
  return view;
}

function indexed<T extends NamedPrefix>(items: readonly T[]): PrefixIndex<T> {
  return new PrefixIndex(items.map((item) => ({ prefix: item.parsed, value: item })));
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
