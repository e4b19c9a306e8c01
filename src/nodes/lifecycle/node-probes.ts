/**
 * When something was last heard of each Node (upstream's probe time). That is when it was first seen, when its Lease had a newer renewTime, or when the
 * heartbeat of its condition Ready changed. Machines' clocks are never asked. The server keeps the time of each write with the object (api/fields/last-written.ts), so a
 * look finds it long after. That time may be a second late, and never early.
 *
 * So a look is due when the first Node may have been silent for its grace, and not before. A Node that is heard regularly costs no row.
 *
 * Silence counts only while Nodes could be heard.
 * - A look that comes late, as after an outage, begins anew: every Node has the whole grace again. That time is a row.
 * - A store of Leases that started, or lost a turn, since the Node was heard, may have missed a renewal. It has to serve for CONFIRM_PERIODS before the
 *   Node is judged. In that time each period has a look, which also keeps the store in memory.
 *
 * A Node has a row of its own where it is judged silent, and where the stores do not tell a new start all that counts.
 */
import type { KeptRows } from "../../controllers/followed/kept-rows";
import { heartbeatOf, type NodeState } from "./node-state";

const KIND_LISTENED = "listened";
const KIND_SILENT = "silent";
/** In periods: a look that is later begins anew. */
const LATE_PERIODS = 2;
/** In periods. Longer than the wait of a kubelet between two renewals, and between two attempts to renew. */
const CONFIRM_PERIODS = 3;
/** What the stores tell may be earlier by so much without a row. */
const TOLERANCE_MS = 2_000;

/** `until` and `looks` are for the release before: it wrote them, and reads them. All times here are in milliseconds since the epoch. */
interface Listened {
  readonly since: number;
  readonly until: number;
  readonly looks: readonly never[];
}

/** What the store of Leases tells of one. */
export interface Renewal {
  /** "" = none */
  readonly renewTime: string;
  /** see ObjectValue; undefined = nobody knows */
  readonly agoMs: number | undefined;
}

/** A Node that may become Unknown. */
export interface WatchedNode {
  readonly name: string;
  readonly graceMs: number;
  /** Its write was refused, and waits. */
  readonly isPutOff: boolean;
}

/** The row of a Node. The release before knows no `isJudged`. */
interface HeardRow {
  readonly at: number;
  /** of the Lease, as a text that sorts by time; undefined = not told since the start */
  readonly renewTime: string | undefined;
  /** see heartbeatOf */
  readonly heartbeat: string | undefined;
  /** It was silent for the grace, and that counts until it is heard again. */
  readonly isJudged?: true;
}

interface Heard extends HeardRow {
  /** what a new start would find in the stores for `at` */
  readonly told: number;
  /** The store does not tell when the heartbeat, or renewTime, was written: a new start has to know which one was there. */
  readonly isHeartbeatUntold?: boolean;
  readonly isRenewalUntold?: boolean;
}

type Rows = Pick<KeptRows, "saved" | "put" | "delete">;

export class NodeProbes {
  /** From when on silence counts; undefined = the first look is still to come. */
  #since: number | undefined;
  /** the question of the last look in this life went out */
  #lookedAt: number | undefined;
  /** when the look under way was due, by what the looks before had found; undefined = it is the first one of this object */
  #dueAt: number | undefined;
  /** since when the store of Leases takes each write; undefined = it runs the release before, and tells no times */
  #servingSince: number | undefined;
  readonly #heard = new Map<string, Heard>();
  /** the rows as they are, or are to be saved */
  readonly #rowOf = new Map<string, HeardRow>();

  constructor(
    private readonly rows: Rows,
    private readonly periodMs: number,
  ) {}

  /** To be called once, first; with the names of the Nodes that were known before. */
  load(known: Iterable<string>): void {
    for (const [, { since }] of this.rows.saved<Listened>(KIND_LISTENED)) this.#since = since;
    for (const name of known) this.#heard.set(name, { at: -Infinity, told: -Infinity, renewTime: undefined, heartbeat: undefined });
    for (const [name, row] of this.rows.saved<HeardRow>(KIND_SILENT)) {
      this.#heard.set(name, { ...row, told: -Infinity });
      this.#rowOf.set(name, row);
    }
  }

  /** When the next look is due, in milliseconds since the epoch; the first look of an object is due at once. */
  nextLook(watched: Iterable<WatchedNode>, nowMs: number): number {
    const lookedAt = this.#lookedAt;
    if (lookedAt === undefined || lookedAt > nowMs) return nowMs;
    const soonest = lookedAt + this.periodMs;
    if (this.#servingSince === undefined) return soonest;
    // A Node that is judged may be heard before it is written.
    return Math.max(
      soonest,
      this.#firstSilent(watched, ({ isPutOff }) => (isPutOff ? Infinity : -Infinity)),
    );
  }

  /** A look begins. */
  asked(watched: Iterable<WatchedNode>): void {
    const soonest = this.#lookedAt === undefined ? undefined : this.#lookedAt + this.periodMs;
    this.#dueAt = soonest === undefined ? undefined : Math.max(soonest, this.#firstSilent(watched));
  }

  /**
   * The Leases have been read; `askedAt` is when the question went out, and `answeredAt` when its answer came.
   *
   * @param servingMs see ObjectValues
   */
  looked(askedAt: number, answeredAt: number, servingMs: number | undefined, watched: readonly WatchedNode[]): void {
    const before = this.#lookedAt;
    this.#servingSince = servingMs === undefined ? undefined : answeredAt - servingMs;
    const isBack = askedAt < Math.max(before ?? -Infinity, this.#since ?? -Infinity);
    // The clock was set back: nobody is heard in the future.
    if (isBack || before === undefined) {
      for (const [name, heard] of this.#heard) this.#heard.set(name, { ...heard, at: Math.min(heard.at, answeredAt) });
    }
    const dueAt = this.#dueAt ?? this.#firstSilent(watched);
    this.#lookedAt = askedAt;
    if (this.#since === undefined || isBack || askedAt - dueAt > LATE_PERIODS * this.periodMs) this.beginAnew(askedAt);
    this.#keep(watched);
  }

  /** From now on every Node has the whole grace, as after an outage. */
  beginAnew(nowMs: number): void {
    this.#since = nowMs;
    this.rows.put(KIND_LISTENED, "", { since: nowMs, until: nowMs, looks: [] } satisfies Listened);
    for (const [name, { isJudged, ...heard }] of this.#heard) if (isJudged) this.#heard.set(name, heard);
  }

  /**
   * A Node was read. One that is met for the first time without a condition Ready counts as heard at its creation.
   *
   * @param writtenAt see heartbeatAt
   */
  seen(node: NodeState, writtenAt: number | undefined, nowMs: number): void {
    const { name } = node;
    const heard = this.#heard.get(name);
    const heartbeat = heartbeatOf(node);
    const told = heartbeat === "" ? Math.min(node.createdAt, nowMs) : writtenAt;
    const isHeartbeatUntold = told === undefined;
    if (!heard) {
      const at = heartbeat === "" ? (told ?? nowMs) : nowMs;
      this.#heard.set(name, { at, told: told ?? -Infinity, renewTime: "", heartbeat, isHeartbeatUntold });
      if (this.#needsRow(name)) this.#putRow(name);
    } else if (heard.heartbeat !== heartbeat) this.#hear(name, { ...heard, heartbeat, isHeartbeatUntold }, told, nowMs);
    else this.#heard.set(name, { ...heard, isHeartbeatUntold, told: Math.max(heard.told, told ?? -Infinity) });
  }

  /** The look that is under way read this Lease. One of an unknown Node is passed over. */
  renewed(name: string, { renewTime, agoMs }: Renewal, nowMs: number): void {
    const heard = this.#heard.get(name);
    if (!heard || renewTime === "") return;
    const told = agoMs === undefined ? undefined : nowMs - agoMs;
    const isRenewalUntold = told === undefined;
    if (heard.renewTime === undefined || renewTime > heard.renewTime) {
      this.#hear(name, { ...heard, renewTime, isRenewalUntold }, told, nowMs);
    } else if (renewTime === heard.renewTime) {
      this.#heard.set(name, { ...heard, isRenewalUntold, told: Math.max(heard.told, told ?? -Infinity) });
    }
  }

  forget(name: string): void {
    this.#heard.delete(name);
    this.#dropRow(name);
  }

  /** Whether nothing was heard of the Node for longer than its grace, while it could have been heard, until the last look. */
  isSilent({ name, graceMs }: WatchedNode): boolean {
    const until = this.#lookedAt;
    if (until === undefined) return false;
    const from = this.#silentFrom(name);
    const serving = this.#servingSince ?? -Infinity;
    return until - from > graceMs && (serving <= from || until - serving >= CONFIRM_PERIODS * this.periodMs);
  }

  /** These Nodes are judged silent: that is a row, which is to be saved before anybody hears of it. */
  judge(names: Iterable<string>): void {
    for (const name of names) {
      const heard = this.#heard.get(name);
      if (!heard || heard.isJudged) continue;
      this.#heard.set(name, { ...heard, isJudged: true });
      this.#putRow(name);
    }
  }

  /** When the first of them has been silent for longer than its grace; `judged`: what counts for one that is judged. */
  #firstSilent(watched: Iterable<WatchedNode>, judged: (node: WatchedNode) => number = () => Infinity): number {
    let first = Infinity;
    for (const node of watched) {
      const at = this.#heard.get(node.name)?.isJudged ? judged(node) : this.#silentFrom(node.name) + node.graceMs + 1;
      first = Math.min(first, at);
    }
    return first;
  }

  #silentFrom(name: string): number {
    return Math.max(this.#heard.get(name)?.at ?? Infinity, this.#since ?? Infinity);
  }

  /** A sign of life; `told`: when it was, as the store tells it. */
  #hear(name: string, { isJudged: _, ...heard }: Heard, told: number | undefined, nowMs: number): void {
    const at = Math.max(heard.at, Math.min(told ?? nowMs, nowMs));
    this.#heard.set(name, { ...heard, at, told: Math.max(heard.told, told ?? -Infinity) });
  }

  /** Brings the rows in line with what is known. */
  #keep(watched: readonly WatchedNode[]): void {
    const names = new Set(watched.map(({ name }) => name));
    for (const name of [...this.#rowOf.keys()]) if (!names.has(name)) this.#dropRow(name);
    // The release before tells no times: each Node would need a row, which a new start in these minutes can do without.
    if (this.#servingSince === undefined) return;
    for (const name of names) {
      if (this.#needsRow(name)) this.#putRow(name);
      else this.#dropRow(name);
    }
  }

  #needsRow(name: string): boolean {
    const heard = this.#heard.get(name);
    if (!heard) return false;
    return (
      heard.isJudged === true || heard.isHeartbeatUntold === true || heard.isRenewalUntold === true || this.#isAhead(heard.at, heard.told)
    );
  }

  /** Whether the time says more than the other one. */
  #isAhead(at: number, other: number): boolean {
    const since = this.#since ?? 0;
    return Math.max(at, since) - Math.max(other, since) > TOLERANCE_MS;
  }

  #putRow(name: string): void {
    const heard = this.#heard.get(name);
    if (!heard) return;
    const { at, renewTime, heartbeat, isJudged, told, isRenewalUntold } = heard;
    const before = this.#rowOf.get(name);
    const isSame =
      before?.isJudged === isJudged && before?.heartbeat === heartbeat && (!isRenewalUntold || before?.renewTime === renewTime);
    if (before && isSame && !this.#isAhead(at, Math.max(before.at, told))) return;
    const row: HeardRow = { at, renewTime, heartbeat, ...(isJudged && { isJudged }) };
    this.#rowOf.set(name, row);
    this.rows.put(KIND_SILENT, name, row, !before);
  }

  #dropRow(name: string): void {
    if (this.#rowOf.delete(name)) this.rows.delete(KIND_SILENT, name);
  }
}
