/**
 * The daily visits of a shard's clusters at rest. Each has its own time of the day. Kept is the time through which all have been visited, so that a visit
 * costs no row, and a death repeats the visits of one turn. After an outage of days each is visited once.
 */
import type { Clock } from "../core/base/ports";
import { leastOf } from "../core/base/extremes";
import type { BusyClusters } from "./busy-clusters";
import type { ShardStorage } from "./shard-storage";
import type { ShardTurn } from "./shard-visits";
import { visitTimeOf } from "./shards";

const DAY_MS = 86_400_000;
/** Idle clusters are visited together, late by so much at most: an alarm costs as much as seven visits. */
const APART_MS = 900_000;
/** Of one turn, behind the rounds of busy clusters. */
const VISITS_PER_TURN = 60;
const TURN_PART = 0.25;

/** Names of marks: the time through which all have been visited and when the next visits are due, both in milliseconds since the epoch; and a start. */
const TIMES = "idle";
const STARTED = "started";

export class IdleVisits {
  constructor(
    private readonly storage: ShardStorage,
    private readonly busy: BusyClusters,
    private readonly clock: Pick<Clock, "now">,
    /** start of a local server, whose objects all died with the one before; 0 = a deployment */
    private readonly startedMs: number,
  ) {}

  /** When the next visits are due; Infinity = there are no clusters. */
  get nextMs(): number {
    return this.#times?.next ?? Infinity;
  }

  /** A cluster has come. Its first visit is at its time of the day. */
  entered(id: string, nowMs: number): void {
    const { done = nowMs, next = Infinity } = this.#times ?? {};
    const at = nextVisitOf(id, nowMs);
    if (at < next) this.#keep(done, at);
  }

  /** Visits those that are due, until this part of the turn is over; what is left is due at once. */
  async work(turn: ShardTurn, nowMs: number): Promise<void> {
    const { busy, storage, startedMs } = this;
    this.#noteStart(nowMs);
    const { done: kept, next } = this.#times ?? { done: nowMs, next: Infinity };
    if (nowMs < next && kept <= nowMs) return;
    // A clock that was set back: nobody knows what was visited.
    const from = kept > nowMs ? nowMs - DAY_MS : Math.max(kept, nowMs - DAY_MS);
    const ids = storage.ids();
    const due = ids
      .map((id) => ({ id, atMs: nextVisitOf(id, from) }))
      .filter(({ atMs }) => atMs <= nowMs)
      .sort((a, b) => a.atMs - b.atMs);
    const some = due.slice(0, VISITS_PER_TURN);
    const visited = await turn.visitSome(some, TURN_PART, async ({ id, atMs }) => {
      // Busy ones have full visits each hour.
      if (busy.has(id, "minute") || !storage.has(id)) return;
      const { errors, found } = await turn.visit({ id, job: "idle", facts: storage.factsOf(id), tickMs: Math.max(atMs, startedMs) });
      if (!storage.has(id)) return;
      if (errors > 0) busy.failed(id, "minute", this.clock.now());
      else if (found === "left") busy.note(id, ["minute"], nowMs);
      // The job that needed more time is one of the hour.
      else if (found === "cut") busy.note(id, ["minute", "hour"], nowMs);
    });
    const last = some[visited - 1];
    // Another one with the very time of the last one has its visit tomorrow: a day has more milliseconds than a shard has clusters.
    if (visited < due.length && last) return this.#keep(last.atMs, nowMs);
    const first = leastOf(storage.ids().map((id) => nextVisitOf(id, nowMs)));
    this.#keep(nowMs, Math.max(first, nowMs + APART_MS));
  }

  /** A local server began: all clusters are visited, because everything that had work to do died with the one before. */
  #noteStart(nowMs: number): void {
    const { storage, startedMs } = this;
    const started = String(startedMs);
    if (startedMs === 0 || this.#times === undefined || storage.mark(STARTED) === started) return;
    storage.markPut(STARTED, started);
    this.#keep(nowMs - DAY_MS, nowMs);
  }

  get #times(): { done: number; next: number } | undefined {
    const [done, next] = (this.storage.mark(TIMES) ?? "").split(" ");
    return done && next ? { done: Number(done), next: Number(next) } : undefined;
  }

  /** Without clusters there is nothing to keep. */
  #keep(done: number, next: number): void {
    this.storage.markPut(TIMES, Number.isFinite(next) ? `${String(done)} ${String(next)}` : null);
  }
}

/** The first visit of the cluster behind this time. */
function nextVisitOf(id: string, fromMs: number): number {
  const today = Math.floor(fromMs / DAY_MS) * DAY_MS + visitTimeOf(id);
  return today > fromMs ? today : today + DAY_MS;
}
