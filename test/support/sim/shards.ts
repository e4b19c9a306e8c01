/**
 * The shard of the directory of clusters that has the simulated cluster, and cron, which pokes it: the real brain in an object that dies, whose alarm fails
 * or is lost, and whose key KV shows late, wrongly or not at all. The shard has another cluster besides. That one ends, and is noted once more behind its end.
 */
import { settingsOf } from "../../../src/core/config/settings";
import type { WordRandom } from "../../../src/core/base/word-random";
import { BusyNotes, enterOrPut } from "../../../src/tenancy/busy-notes";
import { ClusterShard, type ShardWork } from "../../../src/tenancy/cluster-shard";
import { BUSY_LIFETIME_SECONDS, busyKey, directoryKey, type Rhythm, shardKey } from "../../../src/tenancy/directory-keys";
import type { ShardEntry, ShardJob } from "../../../src/tenancy/rpc";
import type { VisitReport, VisitRequest } from "../../../src/tenancy/shard-visits";
import { clusterShardName, clusterShardOf } from "../../../src/tenancy/shards";
import { memoryShardStorage } from "../memory/shard-storage";
import type { SimCluster } from "./cluster";
import { ALWAYS, type Caller, type Life, SimNode, whileAlive } from "./platform/network";
import { plainCopy } from "./platform/plain-copy";
import { CLUSTER } from "./platform/platform";

/** So far apart are ticks at least by their own time. A short history has as many as a long one: the clock of cron is ahead of the shard's then. */
const TICKS_APART_MS = 10_000;
/** Every so many ticks look at each shard that KV knows, and as many are an hour. */
const LOOK_EACH = 5;
const HOUR_EACH = 12;
const DAY_MS = 86_400_000;
/** Longer than a visit takes. */
const VISITED_MS = 60_000;
/** The longest rest of a cluster whose visits fail (busy-clusters.ts). */
const RESTED_MS = 600_000;
/** The name under which a shard keeps when it visits idle clusters (idle-visits.ts). */
const IDLE_TIMES = "idle";
const SHARD = clusterShardOf(CLUSTER);
/** The other cluster of the shard. */
const OTHER = otherIn(SHARD);

export class SimShards {
  readonly node: SimNode<ClusterShard>;
  readonly storage = memoryShardStorage();
  /** of the isolate in which all objects of the cluster are */
  #notes: BusyNotes;
  #tickMs = 0;
  #ticks = 0;
  /** when the shard last answered that the cluster has work for the minute's job, when the last visit began that came through, and when cron last came */
  #toldAt = 0;
  #visitedAt = 0;
  #tickedAt = 0;
  #otherHasEnded = false;
  /** notes of the other cluster that were put into KV before are over */
  #expiredAt = 0;
  #visits = 0;
  /** whether the Worker whose cron comes runs the release before */
  isCronEarlier: () => boolean = () => false;

  constructor(
    private readonly cluster: SimCluster,
    private readonly random: WordRandom,
  ) {
    const { network, scheduler } = cluster;
    const name = clusterShardName(SHARD);
    this.node = new SimNode(
      name,
      network,
      (life) => this.#made(life),
      (shard) => this.#rung(shard),
    );
    this.node.onCrash = () => {
      if (this.#visits > 0) network.occurred("shard died in a visit");
      this.#visits = 0;
    };
    this.#notes = new BusyNotes(scheduler.clock());
    cluster.noteBusy = (life, rhythm) => this.#note(life, rhythm);
    // As the record does when it opens the cluster.
    void cluster.directory.put(ALWAYS, directoryKey(CLUSTER), new Uint8Array([1]));
  }

  /** What happens to the directory beside the writes of the cluster. */
  act(): void {
    const { network, scheduler } = this.cluster;
    const dice = this.random.below(40);
    if (dice < 3) void this.#enter(ALWAYS, OTHER, ["minute", "hour"]).catch(() => undefined);
    else if (dice === 3) this.#endOther();
    // A new isolate has told nobody of anything.
    else if (dice === 4) this.#notes = new BusyNotes(scheduler.clock());
    if (network.chance(network.faults.crash / 4)) this.node.crash();
    if (network.chance(network.faults.alarmFails / 8)) {
      if (this.node.alarmAt !== undefined) network.occurred("alarm of a shard lost");
      this.node.loseAlarm();
    }
  }

  /** A tick of cron; nobody waits for it. */
  tick(): void {
    void (this.isCronEarlier() ? this.#tickAsEarlier() : this.#tick(invocation())).catch(() => undefined);
  }

  /** The time of the day has come at which the shard visits the cluster, if it is at rest, and the round through the directory has come to it. */
  async dayLater(): Promise<void> {
    const { scheduler } = this.cluster;
    await scheduler.run(this.#enter(ALWAYS, CLUSTER, []));
    this.storage.markPut(IDLE_TIMES, `${String(scheduler.now - DAY_MS)} 0`);
    this.node.setAlarm(scheduler.now);
  }

  /** The shard has taken a note of the cluster, and has not visited it since. */
  get owesVisit(): boolean {
    return this.#toldAt > this.#visitedAt;
  }

  /** The next tick visits the cluster. */
  get isBusy(): boolean {
    return (this.storage.busy().get(CLUSTER)?.minute ?? 0) > 0;
  }

  /** The other cluster has ended, and notes of it in KV are over. */
  letGo(): void {
    this.#expiredAt = this.cluster.scheduler.now;
    if (!this.#otherHasEnded) this.#endOther();
  }

  /** The other cluster is in the shard: a tick visits it, behind the rest that its failed visits have earned it, or else it is visited once a day alone. */
  async forgetOther(): Promise<void> {
    const { scheduler } = this.cluster;
    for (let round = 0; round < LOOK_EACH && (this.storage.busy().get(OTHER)?.minute ?? 0) > 0; round++) {
      await scheduler.pass(RESTED_MS);
      this.tick();
      await scheduler.pass(VISITED_MS);
    }
    if (!this.storage.has(OTHER)) return;
    await this.dayLater();
    await scheduler.pass(VISITED_MS);
  }

  /** What has to hold when cron has come several times. */
  checkTicks(): string[] {
    // A store that is asleep when a controller comes to it asks for visits anew, so it may have told the shard behind the last tick.
    return this.owesVisit && this.#tickedAt > this.#toldAt ? ["rule 30: the shard was told of the cluster, and no tick visits it"] : [];
  }

  /** What has to hold at last. */
  check(): string[] {
    return this.storage.has(OTHER) ? ["rule 30: a cluster that has ended stays in its shard"] : [];
  }

  #note(life: Life, rhythm: Rhythm): void {
    if (!life.isAlive()) return;
    if (life.isEarlier) this.#notes.note(CLUSTER, rhythm, (rhythms) => this.#putAll(life, rhythms));
    else this.#notes.note(CLUSTER, rhythm, (rhythms) => this.#enter(life, CLUSTER, rhythms));
  }

  /** Rejects when nobody takes it; never settles where the answer is lost. */
  async #enter(caller: Caller, id: string, rhythms: readonly Rhythm[]): Promise<void> {
    const { network, directory, scheduler } = this.cluster;
    if (id === OTHER && this.#otherHasEnded) network.occurred("ended cluster noted");
    await enterOrPut(
      { id, rhythms, facts: null },
      {
        enter: async (entry) => {
          await this.#entered(caller, [entry]);
          if (id === CLUSTER && rhythms.includes("minute")) this.#toldAt = scheduler.now;
        },
        put: (rhythm) => {
          network.occurred("note of a cluster in KV");
          return directory.put(caller, busyKey(rhythm, id), bytesOf(scheduler.now));
        },
      },
    );
  }

  /** Where the release before notes a cluster. */
  async #putAll(caller: Caller, rhythms: readonly Rhythm[]): Promise<void> {
    const { directory, scheduler } = this.cluster;
    for (const rhythm of rhythms) await directory.put(caller, busyKey(rhythm, CLUSTER), bytesOf(scheduler.now));
  }

  #entered(caller: Caller, entries: readonly ShardEntry[]): Promise<void> {
    return this.cluster.network.call(
      caller,
      this.node,
      (shard) => shard.enter(plainCopy(entries)),
      () => "enterShard",
    );
  }

  /** Its record does so, and goes on when a visit finds that it is gone. */
  #endOther(): void {
    this.#otherHasEnded = true;
    void this.#leave(invocation()).catch(() => undefined);
  }

  #leave(caller: Caller): Promise<void> {
    return this.cluster.network.call(
      caller,
      this.node,
      (shard) => shard.leave(OTHER),
      () => "leaveShard",
    );
  }

  async #tick(cron: Caller): Promise<void> {
    const { scheduler } = this.cluster;
    this.#tickMs = Math.max(scheduler.now, this.#tickMs + TICKS_APART_MS);
    this.#tickedAt = scheduler.now;
    this.#ticks++;
    const noted = await this.#takeNotes(cron);
    const known = await this.#known(cron);
    const looks = known !== undefined && this.#ticks % LOOK_EACH === 0;
    const isHour = this.#ticks % HOUR_EACH === 0;
    if (noted || looks || known?.minute) this.#poke(cron, "maintain");
    if (isHour && known?.hour) this.#poke(cron, "compact");
    if (isHour && (await this.#read(cron, directoryKey(CLUSTER)))) await this.#entered(cron, [{ id: CLUSTER, rhythms: [], facts: null }]);
  }

  /** The release before visits the clusters that have notes, by itself. */
  async #tickAsEarlier(): Promise<void> {
    const { cluster } = this;
    const cron: Caller = { ...invocation(), isEarlier: true };
    if (!(await this.#isNoted(cron, "minute", CLUSTER))) return;
    cluster.network.occurred("cron of the release before");
    await cluster.controllers.visitAsEarlier(cron);
  }

  #poke(cron: Caller, job: ShardJob): void {
    const { network, config } = this.cluster;
    const [tickMs, settings] = [this.#tickMs, settingsOf(config)];
    const poked = network.call(
      cron,
      this.node,
      (shard) => shard.poke(job, tickMs, settings),
      () => "pokeShard",
    );
    void poked.catch(() => undefined);
  }

  /** Notes that the shard did not take; whether it takes some now. */
  async #takeNotes(cron: Caller): Promise<boolean> {
    const entries: ShardEntry[] = [];
    for (const id of [CLUSTER, OTHER]) {
      for (const rhythm of ["minute", "hour"] as const)
        if (await this.#isNoted(cron, rhythm, id)) entries.push({ id, rhythms: [rhythm], facts: null });
    }
    if (entries.length > 0) await this.#entered(cron, entries);
    return entries.length > 0;
  }

  async #isNoted(cron: Caller, rhythm: Rhythm, id: string): Promise<boolean> {
    const putAt = Number((await this.#read(cron, busyKey(rhythm, id))) ?? 0);
    const overAt = id === OTHER ? this.#expiredAt : 0;
    return putAt > Math.max(overAt, this.cluster.scheduler.now - 1_000 * BUSY_LIFETIME_SECONDS[rhythm]);
  }

  /** What KV says of the shard; undefined = it does not know it. A key that says nothing counts as work. */
  async #known(cron: Caller): Promise<ShardWork | undefined> {
    const text = await this.#read(cron, shardKey(SHARD));
    if (text === undefined) return undefined;
    try {
      const { minute, hour } = JSON.parse(text) as Partial<ShardWork>;
      return { minute: minute !== false, hour: hour !== false };
    } catch {
      return { minute: true, hour: true };
    }
  }

  /** A key that cannot be read is not there. */
  async #read(cron: Caller, key: string): Promise<string | undefined> {
    const bytes = await this.cluster.directory.get(cron, key).catch(() => undefined);
    return bytes && new TextDecoder().decode(bytes);
  }

  #made(life: Life): ClusterShard {
    const { cluster } = this;
    const { directory } = cluster;
    const storage = whileAlive(this.storage, life);
    return new ClusterShard({
      storage: cluster.sabotage.shard?.(storage) ?? storage,
      number: SHARD,
      clock: life.clock,
      recorder: cluster.recorder(life),
      startedMs: 0,
      ownSettings: () => settingsOf(cluster.config),
      visit: (request) => this.#visit(life, request),
      wakeBy: (atMs) => this.#wakeBy(life, atMs),
      tell: (key, work) => directory.put(life, key, bytesOf(work)),
    });
  }

  #rung(shard: ClusterShard): Promise<void> {
    const { network } = this.cluster;
    if (this.isBusy) network.occurred("alarm of a busy shard");
    return shard.alarm();
  }

  #wakeBy(life: Life, atMs: number): Promise<void> {
    const { network } = this.cluster;
    if (network.chance(network.faults.alarmFails)) {
      network.faulted++;
      network.occurred("alarm of a shard not set");
      return Promise.reject(new Error("the alarm cannot be set"));
    }
    if (life.isAlive() && (this.node.alarmAt ?? Infinity) > atMs) this.node.setAlarm(atMs);
    return Promise.resolve();
  }

  async #visit(life: Life, request: VisitRequest): Promise<VisitReport> {
    const { cluster } = this;
    const beganAt = cluster.scheduler.now;
    if (request.id !== CLUSTER) {
      if (this.#otherHasEnded) await this.#leave(life);
      return { calls: 1, errors: 0, found: "rests" };
    }
    this.#visits++;
    const report = await cluster.controllers.visit(life, request);
    this.#visits--;
    if (request.job !== "compact" && report.errors === 0) this.#visitedAt = beganAt;
    return report;
  }
}

/** A request of a Worker, which the platform may drop. */
function invocation(): Caller {
  let isAlive = true;
  return { isAlive: () => isAlive, die: () => void (isAlive = false) };
}

function bytesOf(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** The id of a cluster that hashes to the shard. */
function otherIn(shard: number): string {
  for (let number = 0; ; number++) {
    const id = `other-${String(number)}`;
    if (clusterShardOf(id) === shard) return id;
  }
}
