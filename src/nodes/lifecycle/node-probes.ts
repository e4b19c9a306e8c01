/**
 * When something was last heard of each Node (upstream's probe time), by the controller's own clock. That is when it was first seen, when its Lease
 * had a newer renewTime, or when the heartbeat of its condition Ready changed.
 *
 * Silence counts only while this controller listens. It listens from one look at the Leases to the next one, if that comes in time. After a late
 * look, as after an outage or a start, nothing counts as heard before that look: so a Node has the whole grace again.
 *
 * A Node that is heard regularly costs no row. A row is written when a Node has been silent for a third of the grace, and goes when it is heard
 * again. A new start finds in the revisions of Node and Lease at which look all other Nodes were heard.
 */
import type { KeptRows } from "../../controllers/followed/kept-rows";
import { heartbeatOf, type NodeState } from "./node-state";

const KIND_LISTENED = "listened";
const KIND_SILENT = "silent";
/** In periods: a longer pause between two looks ends the listening. */
const LATE_PERIODS = 2;
const SILENT_SHARE = 1 / 3;
/** Looks that are kept. A Node that was heard before the first of them counts as heard at it. */
const LOOKS_MAX = 100;

interface Listened {
  /** milliseconds since the epoch, as all times here */
  readonly since: number;
  readonly until: number;
  /** the last ones, in order */
  readonly looks: readonly Look[];
}

/** How far the stores had been read at a look, by their revisions. */
interface Look {
  readonly at: number;
  readonly leases: number;
  readonly nodes: number;
}

/** What the store of Leases tells of one. */
export interface Renewal {
  /** "" = none */
  readonly renewTime: string;
  readonly revision: number;
}

interface Heard {
  readonly at: number;
  /** of the Lease, as a text that sorts by time; undefined = not told since the start */
  readonly renewTime: string | undefined;
  /** see heartbeatOf */
  readonly heartbeat: string | undefined;
}

type Rows = Pick<KeptRows, "saved" | "put" | "delete">;

export class NodeProbes {
  #listened: Listened | undefined;
  readonly #heard = new Map<string, Heard>();
  /** the Nodes that have a row */
  readonly #silent = new Set<string>();

  constructor(
    private readonly rows: Rows,
    private readonly setting: { graceMs: number; periodMs: number },
  ) {}

  /** To be called once, first; with the names of the Nodes that were known before. */
  load(known: Iterable<string>): void {
    for (const [, listened] of this.rows.saved<Listened>(KIND_LISTENED)) this.#listened = listened;
    // What was heard later is found when Nodes and Leases are read; what was heard earlier has a row.
    const at = this.#listened?.looks[0]?.at ?? 0;
    for (const name of known) this.#heard.set(name, { at, renewTime: undefined, heartbeat: undefined });
    for (const [name, heard] of this.rows.saved<Heard>(KIND_SILENT)) {
      this.#heard.set(name, heard);
      this.#silent.add(name);
    }
  }

  /** When the next look is due, in milliseconds since the epoch. */
  nextLook(nowMs: number): number {
    const { until } = this.#listened ?? { until: -Infinity };
    return until > nowMs ? nowMs : until + this.setting.periodMs;
  }

  /** The Nodes have been read to this revision, and then the Leases; the question went out at this time. */
  looked(nowMs: number, read: { leases: number; nodes: number }): void {
    const before = this.#listened;
    const { graceMs, periodMs } = this.setting;
    const isBack = before !== undefined && nowMs < before.until;
    const isLate = !before || isBack || nowMs - before.until > LATE_PERIODS * periodMs;
    // The clock was set back: nobody is heard in the future.
    if (isBack) for (const [name, heard] of this.#heard) this.#heard.set(name, { ...heard, at: Math.min(heard.at, nowMs) });
    const keptFrom = nowMs - SILENT_SHARE * graceMs - LATE_PERIODS * periodMs;
    const looks = isLate ? [] : before.looks.filter(({ at }) => at >= keptFrom);
    this.#listen({ since: isLate ? nowMs : before.since, until: nowMs, looks: [...looks, { at: nowMs, ...read }].slice(-LOOKS_MAX) });
  }

  /** From now on every Node has the whole grace, as after an outage. */
  beginAnew(nowMs: number): void {
    this.#listen({ until: nowMs, looks: [], ...this.#listened, since: nowMs });
  }

  /** A Node was read. One that is met for the first time without a condition Ready counts as heard at its creation. */
  seen(node: NodeState, nowMs: number): void {
    const { name } = node;
    const heard = this.#heard.get(name);
    const heartbeat = heartbeatOf(node);
    const at = heartbeat === "" ? Math.min(node.createdAt, nowMs) : nowMs;
    if (!heard) this.#heard.set(name, { at, renewTime: "", heartbeat });
    else if (heard.heartbeat === undefined) {
      this.#heard.set(name, { ...heard, heartbeat, at: Math.max(heard.at, this.#lookAt("nodes", node.revision, nowMs)) });
    } else if (heard.heartbeat !== heartbeat) this.#hear(name, { ...heard, at: nowMs, heartbeat });
  }

  /** The look that is under way read this Lease. One of an unknown Node is passed over. */
  renewed(name: string, { renewTime, revision }: Renewal, nowMs: number): void {
    const heard = this.#heard.get(name);
    if (!heard) return;
    if (heard.renewTime === undefined) {
      this.#heard.set(name, { ...heard, renewTime, at: Math.max(heard.at, this.#lookAt("leases", revision, nowMs)) });
    } else if (renewTime > heard.renewTime) this.#hear(name, { ...heard, at: nowMs, renewTime });
  }

  /** The look at which an object of this revision was read; now, if it was none of the last ones. */
  #lookAt(store: "leases" | "nodes", revision: number, nowMs: number): number {
    return this.#listened?.looks.find((look) => look[store] >= revision)?.at ?? nowMs;
  }

  forget(name: string): void {
    this.#heard.delete(name);
    this.#speak(name);
  }

  /** How long nothing was heard of the Node until the last look, as far as this controller listened, in milliseconds. */
  silence(name: string): number {
    const heard = this.#heard.get(name);
    if (!this.#listened || !heard) return 0;
    const { since, until } = this.#listened;
    return until - Math.max(heard.at, since);
  }

  /** Notes the Nodes, of those that are watched, that have been silent for long. */
  noteSilent(names: Iterable<string>): void {
    for (const name of names) {
      const heard = this.#heard.get(name);
      if (!heard || this.#silent.has(name) || this.silence(name) <= SILENT_SHARE * this.setting.graceMs) continue;
      this.#silent.add(name);
      this.rows.put(KIND_SILENT, name, heard, true);
    }
  }

  #listen(listened: Listened): void {
    this.#listened = listened;
    this.rows.put(KIND_LISTENED, "", listened);
  }

  #hear(name: string, heard: Heard): void {
    this.#heard.set(name, heard);
    this.#speak(name);
  }

  #speak(name: string): void {
    if (this.#silent.delete(name)) this.rows.delete(KIND_SILENT, name);
  }
}
