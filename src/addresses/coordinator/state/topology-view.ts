/**
 * The rules of the topology over the Coordinator's rows: who is affected by what. A view is a value of one moment: take a new one after every
 * await (viewOf).
 */
import { groupBy } from "../../../core/base/group-by";
import { containsPrefix, type Prefix } from "../../../core/net/prefix";
import type { AddressInterval } from "../../rpc/service-cidr";
import { onlyCoveredBy, splitByOwner } from "../../topology/coverage";
import { movesOf, remaindersOf, type Move, type Remainder } from "../../topology/moves";
import { closedContent, type GivingRange, ownerContent, RETIRED, type OwnerContent } from "../../topology/owner-content";
import { storedPrefix } from "../../topology/stored-prefix";
import type { CoordinatorSettings } from "./coordinator-settings";
import type { CidrRow, CoordinatorState, HandoffRow } from "./coordinator-storage";
import { type ParsedClaim, type ParsedRange, readOnce, RowIndex } from "./row-index";
import { dropTouched, ViewFacts } from "./view-facts";

export class TopologyView extends RowIndex {
  readonly #settings: Pick<CoordinatorSettings, "staticBands">;
  #facts = new ViewFacts();

  /** `before`: an earlier view under the same settings; the facts that still hold are taken over from it. */
  constructor(state: CoordinatorState, settings: Pick<CoordinatorSettings, "staticBands">, before?: TopologyView) {
    super(state, before);
    this.#settings = settings;
    if (!before || before.configured !== this.configured || before.isZoned !== this.isZoned) return;
    this.#facts = before.#facts;
    // Asked again, the earlier view works its facts out anew.
    before.#facts = new ViewFacts();
    dropTouched(this.#facts, { before, after: this }, (range) => this.isAllocatable(range));
  }

  /** Whether some ServiceCIDR, in whatever state, is kept for the Services of some namespaces. */
  get isZoned(): boolean {
    return !this.configured && readOnce(zoned, this.cidrRows, (rows) => rows.some(({ tenancy }) => tenancy !== undefined));
  }

  /** Whether the range may give out addresses: seeded, and nothing takes it back (rule 14). */
  isAllocatable(range: ParsedRange): boolean {
    return once(this.#facts.allocatable, range, () => this.#mayGiveOut(range));
  }

  #mayGiveOut(range: ParsedRange): boolean {
    const cidr = this.cidrs.get(range.uid);
    if (this.configured && range.uid !== this.configured.uid) return false;
    if (!cidr || cidr.deleting || cidr.suspended || cidr.fencedUntil > 0) return false;
    return this.claimsIn(range.parsed).every((claim) => claim.seeded);
  }

  /** Whether the range is cover: Ready, seeded, and not being deleted. */
  isCover(range: ParsedRange): boolean {
    return range.ready && this.isAllocatable(range);
  }

  /** Whether the ServiceCIDR covers the prefix (of a segment). */
  covers(cidrUid: string, prefix: string): boolean {
    return this.rangesOf(cidrUid).some((range) => this.isCover(range) && containsPrefix(range.parsed, storedPrefix(prefix)));
  }

  /** Whether every range of the ServiceCIDR is ready. */
  isReady(cidrUid: string): boolean {
    return this.rangesOf(cidrUid).every((range) => range.ready);
  }

  /** Whether some ServiceCIDR object, in whatever state, has a part of the segment. */
  isNamed(claim: ParsedClaim): boolean {
    return once(this.#facts.named, claim, () => this.rangesIn(claim.parsed).length > 0);
  }

  /** The parts of the owner's segments that other ready ServiceCIDRs cover, and which of them takes each over (rule 16). */
  movesOf(ownerUid: string): readonly Move[] {
    return once(this.#facts.moves, ownerUid, () => {
      const claims = this.claimsOf(ownerUid).filter((claim) => claim.seeded);
      return movesOf(claims, (prefix) => this.rangesIn(prefix).filter((range) => range.uid !== ownerUid && this.isCover(range)));
    });
  }

  /** The segments of an owner whose object is gone or being deleted, less what other ServiceCIDRs name, in whatever state. */
  remaindersOf(ownerUid: string): Remainder[] {
    if (!this.isLeaving(ownerUid)) return [];
    return remaindersOf(this.claimsOf(ownerUid), (prefix) => this.rangesIn(prefix).filter((range) => range.uid !== ownerUid));
  }

  /** The addresses that block the object's deletion while they are taken, by owner: usable in no ready range of another ServiceCIDR. */
  onlyCoveredBy(cidrUid: string): Map<string, AddressInterval[]> {
    const own = this.rangesOf(cidrUid).map((range) => range.parsed);
    const others = own.flatMap((prefix) => this.rangesIn(prefix).filter((range) => range.uid !== cidrUid && range.ready));
    const intervals = onlyCoveredBy(
      own,
      others.map((range) => range.parsed),
    );
    return splitByOwner(intervals, [...new Set(own.flatMap((prefix) => this.claimsIn(prefix)))]);
  }

  /** Names of the ServiceCIDRs that a hand-off of this source has been waiting for longer than it should. */
  awaited(sourceUid: string, nowMs: number): string[] {
    const late = this.handoffsOf(sourceUid).filter(
      ({ phase, failures, dueAt }) => (phase === "resting" && failures > 0) || (phase === "activating" && dueAt <= nowMs),
    );
    return late.map(({ targetUid }) => this.cidrs.get(targetUid)?.name ?? targetUid).sort();
  }

  /**
   * Whether the target has confirmed that it writes the segments of a committed hand-off: its confirmed configuration no longer receives them.
   * The target may have cut them for other owners since.
   */
  isActivated({ targetUid, id }: HandoffRow): boolean {
    const target = this.owners.get(targetUid);
    if (!target || target.ackedEpoch !== target.epoch) return false;
    const { receiving } = JSON.parse(target.content) as OwnerContent;
    return !receiving.some(({ handoff }) => handoff === id);
  }

  /** What every owner has to know now, as JSON of an OwnerContent. An owner without claims, hand-offs and object is retired for ever. */
  desiredContents(): Map<string, string> {
    const receivingOf = onDemand(() => groupBy(this.handoffsIn("copying"), (row) => row.targetUid));
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
    const giving = (range: ParsedRange): GivingRange => (this.cidrs.get(range.uid)?.tenancy ? { ...range, isKept: true } : range);
    const allocatableIn = (prefix: Prefix): GivingRange[] =>
      this.rangesIn(prefix)
        .filter((range) => this.isAllocatable(range))
        .map(giving);
    return JSON.stringify(isDone ? RETIRED : ownerContent({ owned, frozen, receiving, withStatic, zoned: this.isZoned }, allocatableIn));
  }
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

const zoned = new WeakMap<readonly CidrRow[], boolean>();
const views = new WeakMap<CoordinatorState, TopologyView>();
const latest = new WeakMap<Pick<CoordinatorSettings, "staticBands">, TopologyView>();

/** The view of a state, made once per state object. The settings of a Coordinator never change. */
export function viewOf(state: CoordinatorState, settings: Pick<CoordinatorSettings, "staticBands">): TopologyView {
  return readOnce(views, state, () => {
    const view = new TopologyView(state, settings, latest.get(settings));
    latest.set(settings, view);
    return view;
  });
}
