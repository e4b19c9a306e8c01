/**
 * One shard of the directory of clusters: which clusters there are, which of them have work, and the visits that cron owes them.
 *
 *   idle ── a write, noted by enter ──► busy: visited by each tick ── some minutes without a write, and nothing left ──► idle: visited once a day
 *
 * What must hold
 * - A cluster is a row from before `enter` answers until `leave`. No answer to a client depends on it: a lost row comes back from the directory in KV.
 * - The row of a busy cluster goes when a visit found nothing left that began behind the last note (rule 30).
 * - A turn is bounded, by time and by calls. What it leaves is a row, and the alarm begins the next turn. So a death costs repeated visits, never a round.
 * - Cron finds the shards with work by keys in KV, which may be late or lost. Where ticks stay away the alarm begins the rounds of each minute, more rarely.
 */
import { BusyClusters } from "./busy-clusters";
import { shardKey } from "./directory-keys";
import type { Settings } from "../core/config/settings";
import { IdleVisits } from "./idle-visits";
import type { ClusterShardRpc, ShardEntry, ShardJob, ShardReport, ShardWhereabouts } from "./rpc";
import { ShardRounds } from "./shard-rounds";
import type { ShardStorage } from "./shard-storage";
import { ShardTicks } from "./shard-ticks";
import { ShardTurn, type ShardVisitPorts } from "./shard-visits";
import { clusterShardOf } from "./shards";

const MINUTE_MS = 60_000;
/** Of a turn that cron waits for, which pokes other shards behind this one; and of one that the alarm begins. */
const POKED_TURN_MS = 5_000;
const ALARM_TURN_MS = 20_000;
/** Between two looks of the alarm at whether ticks come. Each costs a row and a request, which a tick does not. */
const LOOK_MS = 300_000;
/** Ticks of a minute for nothing, so long behind what KV was told: the key says what is not so any more. KV may be late by less. */
const TOLD_FOR_MS = 300_000;
/** Name of the mark: what KV was told, and when. */
const TOLD = "told";
/** The text of the mark where KV may have something else. */
const IN_DOUBT = "{}";

/** Whether ticks of the minute, and those of the hour, have something to do in a shard. */
export interface ShardWork {
  readonly minute: boolean;
  readonly hour: boolean;
}

export interface ClusterShardPorts extends ShardVisitPorts {
  storage: ShardStorage;
  /** of this shard; undefined = nobody knows, as in an object that its alarm has started */
  number: number | undefined;
  /** start of a local server, in milliseconds since the epoch; 0 = a deployment, whose objects live apart from one another */
  startedMs: number;
  /** of the Worker whose object this is */
  ownSettings(): Settings;
  /** the object's alarm, at this time or before */
  wakeBy(atMs: number): Promise<void>;
  /** puts the key of this shard into KV, and beside it whether ticks have something to do there */
  tell(key: string, work: ShardWork): Promise<void>;
}

export class ClusterShard implements ClusterShardRpc {
  readonly #busy: BusyClusters;
  readonly #ticks: ShardTicks;
  readonly #rounds: ShardRounds;
  readonly #idle: IdleVisits;
  /** the last of the turns, which follow each other */
  #turns: Promise<void> = Promise.resolve();
  #isTelling = false;
  #done = { visits: 0, errors: 0 };

  /** of this shard; undefined = nobody has told it in this life, and it has no clusters */
  #number: number | undefined;

  constructor(private readonly ports: ClusterShardPorts) {
    const { storage, clock, number, startedMs } = ports;
    const [first] = storage.ids(1);
    this.#number = first === undefined ? number : clusterShardOf(first);
    this.#busy = new BusyClusters(storage);
    this.#ticks = new ShardTicks(storage, clock);
    this.#rounds = new ShardRounds(storage, this.#busy, this.#ticks, clock);
    this.#idle = new IdleVisits(storage, this.#busy, clock, startedMs);
  }

  async enter(entries: readonly ShardEntry[]): Promise<void> {
    const { storage, clock } = this.ports;
    const now = clock.now();
    for (const { id, rhythms, facts } of entries) {
      const isKnown = storage.has(id);
      this.#number ??= clusterShardOf(id);
      // Who only lists the cluster has a copy, which may be older than what is known here.
      const isNews = facts !== undefined && rhythms.length > 0;
      const isOther = isNews && JSON.stringify(facts) !== JSON.stringify(storage.factsOf(id));
      if (!isKnown || isOther) storage.put(id, facts ?? null);
      if (!isKnown) this.#idle.entered(id, now);
      this.#busy.note(id, rhythms, now);
    }
    await this.#arm();
    void this.#tell();
  }

  leave(id: string): Promise<void> {
    this.#busy.remove(id);
    this.ports.storage.remove(id);
    void this.#tell();
    return Promise.resolve();
  }

  async poke(job: ShardJob, tickMs: number, settings?: Settings): Promise<ShardReport> {
    if (job === "maintain") this.#noteNeed(tickMs);
    const { ownSettings } = this.ports;
    const others = settings && JSON.stringify(settings) !== JSON.stringify(ownSettings()) ? settings : undefined;
    if (this.#rounds.tick(job, tickMs, others, true)) await this.#turn(POKED_TURN_MS);
    const report = { ...this.#done, isLeft: this.#rounds.areLeft };
    this.#done = { visits: 0, errors: 0 };
    return report;
  }

  whereabouts(id: string): Promise<ShardWhereabouts> {
    const { busy, rounds } = { busy: this.#busy, rounds: this.#rounds };
    const waitMs = { maintain: rounds.waitMs("maintain"), leases: rounds.waitMs("leases"), compact: rounds.waitMs("compact") };
    return Promise.resolve({ minute: busy.has(id, "minute"), hour: busy.has(id, "hour"), waitMs });
  }

  /** The object's alarm. Never rejects. */
  async alarm(): Promise<void> {
    const now = this.ports.clock.now();
    if (this.#ticks.areSilent && this.#work.minute) {
      this.#rounds.tick("maintain", Math.floor(now / MINUTE_MS) * MINUTE_MS, undefined, false);
      // Cron does not know of it.
      this.ports.storage.markPut(TOLD, IN_DOUBT);
    }
    await this.#turn(ALARM_TURN_MS);
  }

  /** Ticks of each minute follow one another. That of five minutes, which looks at every shard, says nothing about KV. */
  #noteNeed(tickMs: number): void {
    const told = this.#told;
    if (this.#work.minute || !told || !this.#isTold || !this.#ticks.follow("maintain", tickMs)) return;
    if (Math.abs(this.ports.clock.now() - told.atMs) >= TOLD_FOR_MS) this.ports.storage.markPut(TOLD, IN_DOUBT);
  }

  /** undefined = KV was never told anything */
  get #told(): (Partial<ShardWork> & { atMs: number }) | undefined {
    const told = this.ports.storage.mark(TOLD);
    return told === undefined ? undefined : { atMs: 0, ...(JSON.parse(told) as Partial<ShardWork>) };
  }

  get #isTold(): boolean {
    const { told, work } = { told: this.#told, work: this.#work };
    return told !== undefined && told.minute === work.minute && told.hour === work.hour;
  }

  /** Turns follow each other. Never rejects. */
  #turn(budgetMs: number): Promise<void> {
    this.#turns = this.#turns.then(async () => {
      const { clock, recorder } = this.ports;
      const now = clock.now();
      const turn = new ShardTurn(this.ports, now, budgetMs);
      try {
        await this.#rounds.work(turn);
        await this.#idle.work(turn, now);
      } catch (error) {
        recorder.log("error", "a shard of the directory of clusters could not go on", { error: String(error) });
      }
      this.#done.visits += turn.visits;
      this.#done.errors += turn.errors;
      await this.#arm();
      void this.#tell();
    });
    return this.#turns;
  }

  get #work(): ShardWork {
    return { minute: this.#busy.hasAny("minute") || this.#rounds.hasCut, hour: this.#busy.hasAny("hour") };
  }

  /** Never rejects: whoever starts this object again, or the next tick, asks for the alarm again. */
  async #arm(): Promise<void> {
    const { clock, recorder, wakeBy } = this.ports;
    try {
      const now = clock.now();
      const look = this.#work.minute ? now + LOOK_MS : Infinity;
      const at = this.#rounds.areLeft ? now : Math.min(this.#idle.nextMs, look);
      if (at !== Infinity) await wakeBy(Math.max(at, now));
    } catch (error) {
      recorder.log("warn", "a shard of the directory of clusters could not set its alarm", { error: String(error) });
    }
  }

  /** Tells KV what it does not know yet. A shard that never had clusters has nothing to tell. Never rejects. */
  async #tell(): Promise<void> {
    const { clock, recorder, storage, tell } = this.ports;
    if (this.#isTelling || this.#number === undefined) return;
    this.#isTelling = true;
    try {
      if (this.#told === undefined && storage.ids(1).length === 0) return;
      while (!this.#isTold) {
        const work = this.#work;
        await tell(shardKey(this.#number), work);
        storage.markPut(TOLD, JSON.stringify({ ...work, atMs: clock.now() }));
      }
    } catch (error) {
      // The next turn does it, or the alarm finds that no tick comes.
      recorder.log("warn", "the directory of clusters does not take a shard", { error: String(error) });
    } finally {
      this.#isTelling = false;
    }
  }
}
