/**
 * The rounds of cron's jobs through the busy clusters of a shard. A tick begins one; a tick during a round begins the next one behind it. A round that a
 * turn could not end goes on in the next turn. A round of each minute that dies in its first turn begins again with the next tick, and the others from what
 * is kept of them. Clusters that fail come behind all others.
 */
import type { Clock } from "../core/base/ports";
import type { Settings } from "../core/config/settings";
import type { BusyClusters } from "./busy-clusters";
import type { Rhythm } from "./directory-keys";
import type { ShardJob } from "./rpc";
import type { ShardStorage } from "./shard-storage";
import type { ShardTicks } from "./shard-ticks";
import type { ShardTurn } from "./shard-visits";

/** In the order in which a turn has them. Each leaves its share of a turn to those behind it. */
const SHARD_JOBS: readonly ShardJob[] = ["maintain", "leases", "compact"];
const RHYTHM: Readonly<Record<ShardJob, Rhythm>> = { maintain: "minute", leases: "hour", compact: "hour" };

/** Names of marks. */
const ROUND = "round/";
const CUT = "cut";
/** Behind every id. */
const ALL = "\uffff";

interface Tick {
  tickMs: number;
  /** of another Worker, whose tick it is */
  settings?: Settings | undefined;
}

interface ShardRound extends Tick {
  /** Clusters up to this id have been visited, of those that do not fail. */
  after: string;
  /** Only these; absent = all that the job has */
  only?: readonly string[];
}

/** A round of the hour that is over stays, for the tick that comes once more. It costs the row that its removal would. */
interface KeptRound extends ShardRound {
  isOver?: boolean;
}

/** In milliseconds; `begunAt` since the epoch. */
interface RoundPace {
  begunAt?: number | undefined;
  lastMs: number;
}

export class ShardRounds {
  readonly #rounds = new Map<ShardJob, ShardRound>();
  /** the tick that came during a round */
  readonly #next = new Map<ShardJob, Tick>();
  readonly #paces = new Map<ShardJob, RoundPace>();

  constructor(
    private readonly storage: ShardStorage,
    private readonly busy: BusyClusters,
    private readonly ticks: ShardTicks,
    private readonly clock: Pick<Clock, "now">,
  ) {
    for (const job of SHARD_JOBS) {
      const kept = storage.mark(ROUND + job);
      if (kept === undefined) continue;
      const { isOver = false, ...round } = JSON.parse(kept) as KeptRound;
      if (!isOver) this.#rounds.set(job, round);
      if (!round.only) ticks.inherit(job, round.tickMs, round.settings);
    }
  }

  get areLeft(): boolean {
    return this.#rounds.size > 0;
  }

  /** Clusters whose Leases are to be looked at again by the next tick of a minute. */
  get hasCut(): boolean {
    return this.storage.mark(CUT) !== undefined;
  }

  /** How long a cluster may wait for its turn, in milliseconds: the round under way, and the one before. */
  waitMs(job: ShardJob): number {
    const { begunAt, lastMs } = this.#paces.get(job) ?? { lastMs: 0 };
    return lastMs + (begunAt === undefined ? 0 : Math.max(0, this.clock.now() - begunAt));
  }

  /** Begins what the tick begins; false = the same tick came before. `isCron`: cron has come with it. */
  tick(job: ShardJob, tickMs: number, settings: Settings | undefined, isCron: boolean): boolean {
    if (!this.ticks.take(job, tickMs, settings, isCron)) return false;
    if (this.#rounds.has(job)) this.#next.set(job, { tickMs, settings });
    else if (this.busy.hasAny(RHYTHM[job])) this.#begin(job, { tickMs, settings, after: "" });
    if (job !== "maintain" || this.#rounds.has("leases")) return true;
    const cut = this.storage.mark(CUT);
    if (cut === undefined) return true;
    this.#begin("leases", { tickMs, after: "", only: JSON.parse(cut) as string[] });
    this.storage.markPut(CUT, null);
    return true;
  }

  /** Goes on with all rounds until the turn is over. Each goes on, however late the turn is: visits of those before it may hang. */
  async work(turn: ShardTurn): Promise<void> {
    for (const [index, job] of SHARD_JOBS.entries()) {
      const waiting = SHARD_JOBS.slice(index).filter((one) => this.#rounds.has(one)).length;
      const part = 1 / Math.max(1, waiting);
      let round = this.#rounds.get(job);
      while (round) {
        await this.#goOn(job, round, turn, part);
        round = turn.isOver(part) ? undefined : this.#rounds.get(job);
      }
    }
  }

  #begin(job: ShardJob, round: ShardRound): void {
    this.#rounds.set(job, round);
    this.#paces.set(job, { lastMs: this.#paces.get(job)?.lastMs ?? 0, begunAt: this.clock.now() });
    // The next tick is up to an hour away, so a death in the first turn must not lose the round.
    if (job !== "maintain") this.#keep(job, round);
  }

  async #goOn(job: ShardJob, round: ShardRound, turn: ShardTurn, part: number): Promise<void> {
    const { only, after, ...tick } = round;
    const ids = only ?? this.busy.idsOf(RHYTHM[job]);
    const cut: string[] = [];
    const visit = async (id: string): Promise<void> => {
      if (await this.#visit(job, id, tick, turn)) cut.push(id);
    };
    const head = ids.filter((id) => id > after && !this.busy.isFailing(id));
    const visited = await turn.visitSome(head, part, visit);
    round.after = visited === head.length ? ALL : (head[visited - 1] ?? after);
    const isThrough = round.after === ALL && (await this.#retry(job, ids, turn, part, visit));
    if (cut.length > 0) this.#lookAgain(cut);
    if (isThrough) this.#end(job);
    else this.#keep(job, round);
  }

  /** Visits those that fail, behind all others; true = the round is over. They hold up no tick: those that are left wait for the next round. */
  async #retry(
    job: ShardJob,
    ids: readonly string[],
    turn: ShardTurn,
    part: number,
    visit: (id: string) => Promise<void>,
  ): Promise<boolean> {
    const now = this.clock.now();
    const failing = this.busy.failingOf(ids, this.#paces.get(job)?.begunAt ?? now, now);
    const visited = await turn.visitSome(failing, part, visit);
    return visited === failing.length || this.#next.has(job);
  }

  /** Whether it needs more time. */
  async #visit(job: ShardJob, id: string, tick: Tick, turn: ShardTurn): Promise<boolean> {
    const { busy, clock, storage } = this;
    // It may have ended since.
    if (!storage.has(id)) return false;
    const rhythm = RHYTHM[job];
    const { errors, found } = await turn.visit({ id, job, facts: storage.factsOf(id), ...tick });
    if (!storage.has(id)) return false;
    const now = clock.now();
    if (errors > 0) busy.failed(id, rhythm, now);
    else busy.succeeded(id);
    if (found === "left") busy.note(id, [rhythm], now);
    // The job of the hour finds nothing left whatever it does; Leases alone say nothing about the others.
    else if (errors === 0 && (job === "compact" || (job === "maintain" && found === "rests"))) busy.settled(id, rhythm, now);
    return found === "cut";
  }

  #lookAgain(ids: readonly string[]): void {
    const before = JSON.parse(this.storage.mark(CUT) ?? "[]") as string[];
    this.storage.markPut(CUT, JSON.stringify([...new Set([...before, ...ids])].sort()));
  }

  #end(job: ShardJob): void {
    const { begunAt, lastMs } = this.#paces.get(job) ?? { lastMs: 0 };
    this.#paces.set(job, { lastMs: begunAt === undefined ? lastMs : Math.max(0, this.clock.now() - begunAt) });
    const ended = this.#rounds.get(job);
    this.#rounds.delete(job);
    if (this.storage.mark(ROUND + job) !== undefined) {
      const stays = ended && job !== "maintain" && !ended.only;
      this.storage.markPut(ROUND + job, stays ? JSON.stringify({ ...ended, isOver: true } satisfies KeptRound) : null);
    }
    const tick = this.#next.get(job);
    this.#next.delete(job);
    if (tick && this.busy.hasAny(RHYTHM[job])) this.#begin(job, { ...tick, after: "" });
  }

  #keep(job: ShardJob, round: ShardRound): void {
    this.storage.markPut(ROUND + job, JSON.stringify(round));
  }
}
