/** The Coordinator's rows of one moment, parsed and indexed: look-ups that need no rule. */
import { groupBy } from "../../../core/base/group-by";
import type { Prefix } from "../../../core/net/prefix";
import { storedPrefix, type NamedPrefix } from "../../topology/stored-prefix";
import { isConfiguredRow } from "./configured-ranges";
import type { CidrRow, ClaimRow, CoordinatorState, HandoffRow, OwnerRow, RangeRow } from "./coordinator-storage";
import { PrefixTable } from "./prefix-table";

export interface ParsedClaim extends ClaimRow, NamedPrefix {}

export interface ParsedRange extends RangeRow, NamedPrefix {}

export class RowIndex {
  readonly epoch: number;
  readonly cidrs: ReadonlyMap<string, CidrRow>;
  readonly cidrRows: readonly CidrRow[];
  /** the row that stands for the configured ranges; while it exists, only they give out addresses */
  readonly configured: CidrRow | undefined;
  readonly owners: ReadonlyMap<string, OwnerRow>;
  readonly claims: readonly ParsedClaim[];
  readonly ranges: readonly ParsedRange[];
  readonly handoffs: readonly HandoffRow[];
  readonly #handoffsBySource: ReadonlyMap<string, HandoffRow[]>;
  readonly #claimTable: PrefixTable<ParsedClaim>;
  readonly #rangeTable: PrefixTable<ParsedRange>;

  /** `before`: the rows of an earlier moment, whose parsed prefixes and indexes are used again where they still hold. */
  constructor(state: CoordinatorState, before?: RowIndex) {
    this.configured = state.cidrs.find(isConfiguredRow);
    this.epoch = state.epoch;
    this.cidrRows = state.cidrs;
    this.cidrs = readOnce(cidrsByUid, state.cidrs, byUid);
    this.owners = readOnce(ownersByUid, state.owners, byUid);
    this.#claimTable = readOnce(claimTables, state.claims, (rows) => {
      const claims = rows.map((row) => parsedOnce(claimsOfRows, row));
      return new PrefixTable(claims, (claim) => claim.ownerUid, before && before.#claimTable);
    });
    this.#rangeTable = readOnce(rangeTables, state.ranges, (rows) => {
      const ranges = rows.map((row) => parsedOnce(rangesOfRows, row));
      return new PrefixTable(ranges, (range) => range.uid, before && before.#rangeTable);
    });
    this.claims = this.#claimTable.rows;
    this.ranges = this.#rangeTable.rows;
    this.handoffs = state.handoffs;
    this.#handoffsBySource = groupBy(state.handoffs, (row) => row.sourceUid);
  }

  rangesOf(cidrUid: string): readonly ParsedRange[] {
    return this.#rangeTable.groups.get(cidrUid) ?? [];
  }

  /** The ranges of all ServiceCIDRs, in whatever state, that share an address with the prefix. */
  rangesIn(prefix: Prefix): ParsedRange[] {
    return this.#rangeTable.index.intersecting(prefix);
  }

  claimsIn(prefix: Prefix): ParsedClaim[] {
    return this.#claimTable.index.intersecting(prefix);
  }

  claimsOf(ownerUid: string): readonly ParsedClaim[] {
    return this.#claimTable.groups.get(ownerUid) ?? [];
  }

  /** The hand-offs of a source, at most one to each target. */
  handoffsOf(sourceUid: string): readonly HandoffRow[] {
    return this.#handoffsBySource.get(sourceUid) ?? [];
  }

  handoffsIn(phase: HandoffRow["phase"]): HandoffRow[] {
    return this.handoffs.filter((row) => row.phase === phase);
  }

  /** Everyone who writes a segment, is to write one, or still has a configuration. */
  ownerUids(): string[] {
    const targets = this.handoffsIn("copying").map((row) => row.targetUid);
    return [...new Set([...this.#claimTable.groups.keys(), ...this.owners.keys(), ...targets])];
  }

  /** The owners of the segments that the ranges share an address with: their configurations depend on the ranges. */
  ownersUnder(ranges: readonly ParsedRange[]): string[] {
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

  /** Whether the owner has confirmed a configuration of this epoch or a later one. */
  hasConfirmed(ownerUid: string, epoch: number): boolean {
    return (this.owners.get(ownerUid)?.ackedEpoch ?? 0) >= epoch;
  }

  /** The owners that take back no lost rows of Services now. */
  closings(): OwnerRow[] {
    return [...this.owners.values()].filter(({ closedUntil }) => closedUntil > 0);
  }

  /** Whether the owner's newest configuration, confirmed or not, forbids it to take back lost rows. */
  isClosed(ownerUid: string): boolean {
    return (this.owners.get(ownerUid)?.closedUntil ?? 0) > 0;
  }

  /** Whether the owner's object is gone or being deleted: its segments are to go to other ServiceCIDRs that cover them. */
  isLeaving(ownerUid: string): boolean {
    return this.cidrs.get(ownerUid)?.deleting ?? true;
  }
}

const cidrsByUid = new WeakMap<readonly CidrRow[], ReadonlyMap<string, CidrRow>>();
const ownersByUid = new WeakMap<readonly OwnerRow[], ReadonlyMap<string, OwnerRow>>();
const claimTables = new WeakMap<readonly ClaimRow[], PrefixTable<ParsedClaim>>();
const rangeTables = new WeakMap<readonly RangeRow[], PrefixTable<ParsedRange>>();
const claimsOfRows = new WeakMap<ClaimRow, ParsedClaim>();
const rangesOfRows = new WeakMap<RangeRow, ParsedRange>();

/** Reads a source that never changes once; later calls answer the first reading. */
export function readOnce<Source extends object, T>(known: WeakMap<Source, T>, source: Source, read: (source: Source) => T): T {
  const before = known.get(source);
  if (before !== undefined) return before;
  const made = read(source);
  known.set(source, made);
  return made;
}

/** A row that did not change since the last index is not parsed again. */
function parsedOnce<Row extends { prefix: string }>(known: WeakMap<Row, Row & NamedPrefix>, row: Row): Row & NamedPrefix {
  return readOnce(known, row, () => ({ ...row, parsed: storedPrefix(row.prefix) }));
}

function byUid<Row extends { uid: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.uid, row]));
}
