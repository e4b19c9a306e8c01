/**
 * Shards of the directory of clusters in virtual time: the real brains, over storages that outlive them, with alarms, cron's ticks and a KV that is late.
 * What they do in a cluster is a call that takes as long as one to the other side of the world.
 */
import { ClusterShard, type ShardWork } from "../../../src/tenancy/cluster-shard";
import { shardKey } from "../../../src/tenancy/directory-keys";
import type { ClusterShardRpc, ShardEntry, ShardJob } from "../../../src/tenancy/rpc";
import type { VisitReport, VisitRequest } from "../../../src/tenancy/shard-visits";
import { clusterShardOf, SHARDS } from "../../../src/tenancy/shards";
import { memoryShardStorage } from "../memory/shard-storage";
import { SimScheduler } from "../sim/platform/scheduler";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
const ALARM_RETRY_MS = 2_000;

export interface Visited extends VisitRequest {
  atMs: number;
}

/** One life of an object. */
interface Life {
  readonly brain: ClusterShard;
  /** calls to it, and its own, without an answer so far */
  pending: number;
  cancelDrop: () => void;
}

/** One object: its storage and alarm stay, its brain may die. The platform drops one that nothing happens to for `ShardWorld.dropsAfterMs`. */
class SimShard {
  readonly storage = memoryShardStorage();
  alarms = 0;
  lives = 0;
  #life: Life | undefined;
  #alarmAt: number | undefined;
  #cancelAlarm: () => void = () => undefined;
  #isRinging = false;

  /** Each call reaches the life that there is, as one to a stub does. */
  readonly brain: ClusterShardRpc = {
    enter: (entries) => this.#called((brain) => brain.enter(entries)),
    leave: (id) => this.#called((brain) => brain.leave(id)),
    poke: (job, tickMs, settings) => this.#called((brain) => brain.poke(job, tickMs, settings)),
    whereabouts: (id) => this.#called((brain) => brain.whereabouts(id)),
  };

  constructor(
    private readonly world: ShardWorld,
    readonly number: number,
  ) {}

  /** Whatever runs hears nothing any more. The platform rings an alarm again whose object died. */
  die(): void {
    this.#life?.cancelDrop();
    this.#life = undefined;
    if (this.#isRinging) this.#ringAt(this.world.scheduler.now + ALARM_RETRY_MS);
    this.#isRinging = false;
  }

  /** As when the platform lost it. */
  loseAlarm(): void {
    this.#cancelAlarm();
    this.#alarmAt = undefined;
  }

  #called<T>(work: (brain: ClusterShard) => Promise<T>): Promise<T> {
    const life = (this.#life ??= this.#start());
    return this.#during(life, () => work(life.brain));
  }

  async #during<T>(life: Life, work: () => Promise<T>): Promise<T> {
    life.cancelDrop();
    life.pending++;
    try {
      return await work();
    } finally {
      life.pending--;
      if (life.pending === 0 && this.#life === life) {
        life.cancelDrop = this.world.scheduler.after(this.world.dropsAfterMs, () => {
          if (this.#life === life) this.#life = undefined;
        });
      }
    }
  }

  #start(): Life {
    const { world } = this;
    const { scheduler } = world;
    this.lives++;
    const isAlive = (): boolean => this.#life === life;
    const clock = scheduler.clock(isAlive);
    const answered = async <T>(work: () => Promise<T>): Promise<T> => {
      const answer = await this.#during(life, work);
      // A dead one goes on with nothing.
      return isAlive() ? answer : new Promise<never>(() => undefined);
    };
    const brain = new ClusterShard({
      storage: this.storage,
      number: this.number,
      clock: { ...clock, now: () => scheduler.now + world.clockOffMs },
      recorder: { log: (level, event, fields) => void world.logged.push(`${level} ${event} ${JSON.stringify(fields)}`) },
      startedMs: world.startedMs,
      ownSettings: () => ({}),
      visit: (request) => answered(() => world.visit(request, this)),
      wakeBy: (atMs) =>
        answered(async () => {
          await world.reached(this);
          if (isAlive() && (this.#alarmAt === undefined || this.#alarmAt > atMs)) this.#ringAt(atMs - world.clockOffMs);
        }),
      tell: (key, work) => answered(() => world.tell(key, work, this)),
    });
    const life: Life = { brain, pending: 0, cancelDrop: () => undefined };
    return life;
  }

  #ringAt(atMs: number): void {
    const { scheduler } = this.world;
    this.#cancelAlarm();
    this.#alarmAt = atMs;
    this.#cancelAlarm = scheduler.after(atMs - scheduler.now, () => {
      this.#alarmAt = undefined;
      this.#isRinging = true;
      this.alarms++;
      const life = (this.#life ??= this.#start());
      void this.#during(life, () => life.brain.alarm()).then(() => {
        if (this.#life === life) this.#isRinging = false;
      });
    });
  }
}

export class ShardWorld {
  readonly scheduler = new SimScheduler();
  readonly visits: Visited[] = [];
  readonly logged: string[] = [];
  readonly shards = Array.from({ length: SHARDS }, (_, number) => new SimShard(this, number));
  /** What cron sees of KV. */
  readonly told = new Map<string, ShardWork>();
  startedMs = 0;
  /** of the shards' clocks */
  clockOffMs = 0;
  kvLagMs = 30_000;
  visitMs = 200;
  /** behind the last answer: the platform drops the memory of an object that nothing happens to */
  dropsAfterMs = 10_000;
  pokes = 0;
  /** writes of KV */
  puts = 0;
  /** visits that are kept; others are only counted by `onVisit` */
  keeps = true;
  onVisit: (visited: Visited) => void = () => undefined;
  answer: (request: VisitRequest) => Partial<VisitReport> | Promise<Partial<VisitReport>> = () => ({});
  /** the shard dies when it reaches its await of this number, counted from 1; 0 = never */
  diesAt = 0;
  awaits = 0;

  shardOf(id: string): SimShard {
    return this.shards[clusterShardOf(id)] as SimShard;
  }

  enter(id: string, rhythms: ShardEntry["rhythms"] = ["minute"], more: Partial<ShardEntry> = {}): Promise<void> {
    return this.scheduler.run(this.shardOf(id).brain.enter([{ id, rhythms, ...more }]));
  }

  /** One await of a shard begins. */
  async reached(shard: SimShard): Promise<void> {
    this.awaits++;
    if (this.awaits === this.diesAt) shard.die();
    return Promise.resolve();
  }

  async visit(request: VisitRequest, shard: SimShard): Promise<VisitReport> {
    const visited = { ...request, atMs: this.scheduler.now };
    if (this.keeps) this.visits.push(visited);
    this.onVisit(visited);
    await this.reached(shard);
    await new Promise<void>((resolve) => void this.scheduler.after(this.visitMs, resolve));
    return { calls: 1, errors: 0, found: "rests", ...(await this.answer(request)) };
  }

  async tell(key: string, work: ShardWork, shard: SimShard): Promise<void> {
    await this.reached(shard);
    this.puts++;
    this.scheduler.after(this.kvLagMs, () => void this.told.set(key, work));
  }

  /** Ticks of cron in each minute, and of its hour, for so long. */
  async pass(durationMs: number): Promise<void> {
    const { scheduler } = this;
    const end = scheduler.now + durationMs;
    while (scheduler.now < end) {
      const next = (Math.floor(scheduler.now / MINUTE_MS) + 1) * MINUTE_MS;
      if (next > end) return scheduler.pass(end - scheduler.now);
      await scheduler.pass(next - scheduler.now);
      this.tick("maintain");
      if (next % HOUR_MS === 0) for (const job of ["leases", "compact"] as const) this.tick(job);
    }
  }

  /** What cron does: nobody waits for it here. */
  tick(job: ShardJob): void {
    const rhythm = job === "maintain" ? "minute" : "hour";
    for (const shard of this.shards) {
      if (!this.told.get(shardKey(shard.number))?.[rhythm]) continue;
      this.pokes++;
      void shard.brain.poke(job, this.scheduler.now);
    }
  }

  /** How often each cluster was visited, by a job. */
  counted(job: VisitRequest["job"]): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { id, job: of } of this.visits) if (of === job) counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  }
}
