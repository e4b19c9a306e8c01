/**
 * Seats for requests under way, shared fairly. A flow is a user in a cluster. Clusters share the seats, and the users of a cluster share its part.
 *
 * - A request takes seats by its cost. Reads and writes have seats of their own.
 * - It begins at once while there is room and its flow has no more under way than its neighbours allow (neighbours.ts).
 * - A user with less than the promised minimum begins whatever other users of its cluster have under way, as long as the minimum of every other active
 *   cluster stays free.
 * - A request whose body has stopped coming holds no seat until the body comes again. A flow has few of them.
 * - Otherwise it waits in its flow's queue. Free seats go to the flow with the earliest virtual time: the one that was given least so far
 *   (start-time fair queueing; upstream: util/flowcontrol/fairqueuing). A request that finds its turn but not its seats lets no other past.
 * - A queue that is full, or a wait that is too long, refuses the request.
 * - Exempt requests have no neighbours and are first in turn, within the same seats.
 *
 * What holds: seats never exceed the maximum, except for a request that is alone. The flow that waits longest in virtual time is next, so no flow
 * starves.
 */
import { assert } from "../../core/base/assert";
import { EndableWait } from "../../core/base/endable-wait";
import { Histogram, type HistogramValue } from "../../core/telemetry/histogram";
import type { Clock } from "../../core/base/ports";
import { FLOWS_MAX, NEIGHBOUR_MS, QUEUE_MAX, QUEUED_MAX, RESTING_MAX } from "./queue-limits";
import { type Kind, Neighbours, Sharer } from "./neighbours";
import { PeriodCount } from "./period-count";
import { Pressure } from "./pressure";

/** The share of the limit that one request under way takes. */
export interface HeldSeats {
  /**
   * The body of the request has stopped coming: gives a seat back until `grow` takes it again. Answers false, and changes nothing, where its flow has too
   * many such requests.
   */
  rest(nowMs: number): boolean;
  /** Raises the seats of the request to `seats`; never lowers them. Answers false, and changes nothing, where there is no room, or after the end. */
  grow(seats: number, nowMs: number): boolean;
  /** Gives the place back: the request has ended, or keeps nothing of its body any more. A second call changes nothing. */
  end(): void;
}

export type RefusedBecause = "concurrency-limit" | "queue-full" | "time-out" | "cancelled";

export interface WantedSeats {
  kind: Kind;
  cluster: string;
  /** "" = all users are one flow */
  user: string;
  seats: number;
  /** all seats of the kind; 0 = any number */
  max: number;
  /** seats that a flow may have under way however little its neighbours ask for; 0 = its neighbours do not matter */
  least: number;
  /** 0 = it does not wait */
  waitMs: number;
  isExempt: boolean;
  /** the client's disconnect */
  signal?: AbortSignal | undefined;
}

type Turn = { kind: Kind; seats: number; max: number; least: number };

interface Waiter extends Turn {
  place: FairSeats;
  beganMs: number;
  answer(place: HeldSeats | undefined): void;
}

class UserQueues extends Sharer {
  readonly queues: Record<Kind, Waiter[]> = { reads: [], writes: [] };
}

class ClusterQueues extends Sharer {
  readonly users = new Neighbours<UserQueues>();
  /** users with a queue of the kind */
  readonly waiting: Record<Kind, Set<UserQueues>> = { reads: new Set(), writes: new Set() };
  /** virtual time of its users */
  time = 0;
}

interface Flow {
  cluster: ClusterQueues;
  user: UserQueues;
}

/** All seats of one kind. */
class SeatPool {
  readonly held = new PeriodCount();
  readonly exempt: Waiter[] = [];
  /** clusters with a queue */
  readonly waiting = new Set<ClusterQueues>();
  queued = 0;
  readonly pressure = new Pressure();
  readonly refused: Record<RefusedBecause, number> = { "concurrency-limit": 0, "queue-full": 0, "time-out": 0, cancelled: 0 };
  readonly waits = new Histogram(WAIT_BOUNDS);

  hasRoom(seats: number, max: number): boolean {
    return max === 0 || this.held.sum === 0 || this.held.sum + seats <= max;
  }
}

/** Source: upstream util/flowcontrol/metrics (requestDurationSecondsBuckets). */
const WAIT_BOUNDS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];

/** What the metrics say of one kind. */
export interface FairCounts {
  taken: number;
  queued: number;
  refused: Readonly<Record<RefusedBecause, number>>;
  /** seconds of the requests that waited and then began */
  waits: HistogramValue;
}

export class FairQueue {
  readonly #pools: Record<Kind, SeatPool> = { reads: new SeatPool(), writes: new SeatPool() };
  readonly #clusters = new Neighbours<ClusterQueues>();
  #time = 0;
  #flows = 0;
  #sweptMs = -Infinity;
  readonly #clock: Pick<Clock, "now" | "after">;
  readonly #periodMs: number;

  /** `periodMs`: a request that the platform has dropped silently keeps its seats for one to two such periods. */
  constructor(clock: Pick<Clock, "now" | "after">, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  static get waitBounds(): readonly number[] {
    return WAIT_BOUNDS;
  }

  /** The place at once, or when the turn has come. Undefined: too many requests. */
  begin(wanted: WantedSeats): HeldSeats | undefined | Promise<HeldSeats | undefined> {
    const { kind, seats, max, least, isExempt } = wanted;
    const nowMs = this.#clock.now();
    const pool = this.#pools[kind];
    const period = pool.held.turnTo(Math.floor(nowMs / this.#periodMs));
    const flow = isExempt ? undefined : this.#flowOf(wanted, nowMs);
    const place = new FairSeats(this, pool, { kind, max, least }, flow, period);
    if (flow) this.#note(flow, seats, nowMs);
    const waitsBehind = isExempt ? pool.exempt.length > 0 : pool.queued > 0 && this.#waitsBehind(pool, wanted, flow, nowMs);
    if (!waitsBehind && pool.hasRoom(seats, max) && this.#mayBegin(flow, wanted, nowMs)) {
      this.#start(place, seats);
      pool.pressure.serve(nowMs);
      return place;
    }
    return this.#queue({ place, kind, seats, max, least, beganMs: nowMs, answer: () => undefined }, wanted);
  }

  /** What clients that are refused now are told to wait. */
  retryAfterSeconds(kind: Kind): number {
    return this.#pools[kind].pressure.waitSeconds(this.#clock.now());
  }

  counts(kind: Kind): FairCounts {
    const { held, queued, refused, waits } = this.#pools[kind];
    held.turnTo(Math.floor(this.#clock.now() / this.#periodMs));
    return { taken: held.sum, queued, refused: { ...refused }, waits: waits.value };
  }

  /** For the place of a request that has ended: others may begin. */
  ended(): void {
    for (const kind of ["reads", "writes"] as const) if (this.#pools[kind].queued > 0) this.#drain(kind);
  }

  /** For the place of a request that holds `counted` seats: whether its neighbours let it have `wanted`. */
  mayGrow(
    { cluster, user }: Flow,
    { kind, max, least }: Omit<Turn, "seats">,
    { counted, wanted, nowMs }: { counted: number; wanted: number; nowMs: number },
  ): boolean {
    if (wanted <= counted) return true;
    const limits = { max, least, nowMs };
    return (
      this.#clusters.mayGrow(cluster, cluster.held[kind].sum - counted, wanted, limits) &&
      cluster.users.mayGrow(user, user.held[kind].sum - counted, wanted, limits)
    );
  }

  periodOf(nowMs: number): number {
    return Math.floor(nowMs / this.#periodMs);
  }

  /** Those that wait for seats are first. Those that wait for their neighbours keep only their own flow waiting. */
  #waitsBehind(pool: SeatPool, { kind }: WantedSeats, flow: Flow | undefined, nowMs: number): boolean {
    if (pool.exempt.length > 0 || (flow?.user.queues[kind].length ?? 0) > 0) return true;
    return this.#next(kind, nowMs) !== undefined;
  }

  #mayBegin(flow: Flow | undefined, turn: Turn, nowMs: number): boolean {
    if (!flow) return true;
    const { cluster, user } = flow;
    const { kind, seats, max, least } = turn;
    const limits = { max, least, nowMs };
    if (!cluster.users.mayBegin(user, kind, seats, limits)) return false;
    if (this.#clusters.mayBegin(cluster, kind, seats, limits)) return true;
    // What other users of its cluster have under way does not take a user's minimum. What other clusters are promised stays free.
    const promised = Math.min(Math.floor(max / 2), least * (this.#clusters.members.size - 1));
    return user.under < least && (max === 0 || this.#pools[kind].held.sum + seats <= max - promised);
  }

  #note({ cluster, user }: Flow, seats: number, nowMs: number): void {
    const period = Math.floor(nowMs / this.#periodMs);
    for (const sharer of [cluster, user]) for (const held of [sharer.held.reads, sharer.held.writes]) held.turnTo(period);
    this.#clusters.note(cluster, cluster.under + cluster.queued + seats, nowMs);
    cluster.users.note(user, user.under + user.queued + seats, nowMs);
  }

  /** Gives the seats, and moves virtual time. */
  #start(place: FairSeats, seats: number): void {
    place.take(seats);
    if (!place.flow) return;
    const { cluster, user } = place.flow;
    this.#time = Math.max(this.#time, cluster.tag);
    cluster.tag = this.#time + seats;
    cluster.time = Math.max(cluster.time, user.tag);
    user.tag = cluster.time + seats;
  }

  #queue(waiter: Waiter, wanted: WantedSeats): Promise<HeldSeats | undefined> | undefined {
    const pool = this.#pools[waiter.kind];
    if (wanted.waitMs <= 0) return this.#refuse(pool, "concurrency-limit");
    // What only its neighbours keep waiting is not much, as long as it would all find seats.
    const isMuch = pool.held.sum + pool.queued >= waiter.max;
    if (pool.queued >= QUEUED_MAX || (isMuch && this.#queueOf(waiter).length >= QUEUE_MAX)) return this.#refuse(pool, "queue-full");
    if (wanted.signal?.aborted) return this.#refuse(pool, "cancelled");
    return this.#wait(waiter, wanted);
  }

  async #wait(waiter: Waiter, { waitMs, signal }: WantedSeats): Promise<HeldSeats | undefined> {
    const leave = (why: RefusedBecause) => () => {
      if (!this.#take(waiter)) return;
      waiter.answer(this.#refuse(this.#pools[waiter.kind], why));
      // It may have been the one that let no other past.
      this.ended();
    };
    const turn = new EndableWait<HeldSeats | undefined>(this.#clock, waitMs, leave("time-out"));
    waiter.answer = turn.end;
    this.#put(waiter);
    const left = leave("cancelled");
    signal?.addEventListener("abort", left);
    // Its neighbours may be more generous than at the last look.
    this.#drain(waiter.kind);
    const given = await turn.over();
    signal?.removeEventListener("abort", left);
    return given;
  }

  #queueOf({ place: { flow }, kind }: Waiter): Waiter[] {
    return flow ? flow.user.queues[kind] : this.#pools[kind].exempt;
  }

  #put(waiter: Waiter): void {
    const { kind, seats, place } = waiter;
    const pool = this.#pools[kind];
    this.#queueOf(waiter).push(waiter);
    pool.queued++;
    if (!place.flow) return;
    const { cluster, user } = place.flow;
    cluster.waiting[kind].add(user);
    pool.waiting.add(cluster);
    cluster.queued += seats;
    user.queued += seats;
  }

  #refuse(pool: SeatPool, why: RefusedBecause): undefined {
    pool.refused[why]++;
    pool.pressure.refuse(this.#clock.now());
  }

  /** Takes a waiter out of its queue. False: it waits no more. */
  #take(waiter: Waiter): boolean {
    const { kind, seats, place } = waiter;
    const pool = this.#pools[kind];
    const own = this.#queueOf(waiter);
    const at = own.indexOf(waiter);
    if (at < 0) return false;
    own.splice(at, 1);
    pool.queued--;
    if (!place.flow) return true;
    const { cluster, user } = place.flow;
    cluster.queued -= seats;
    user.queued -= seats;
    if (own.length > 0) return true;
    cluster.waiting[kind].delete(user);
    if (cluster.waiting[kind].size === 0) pool.waiting.delete(cluster);
    return true;
  }

  /** Begins those whose turn it is, as long as there are seats. */
  #drain(kind: Kind): void {
    const pool = this.#pools[kind];
    const nowMs = this.#clock.now();
    const period = pool.held.turnTo(this.periodOf(nowMs));
    while (pool.queued > 0) {
      const next = this.#next(kind, nowMs);
      if (!next || !pool.hasRoom(next.seats, next.max)) return;
      assert(this.#take(next), "the next one waits");
      next.place.period = period;
      this.#start(next.place, next.seats);
      pool.pressure.serve(nowMs);
      pool.waits.observe(Math.max(0, nowMs - next.beganMs) / 1000);
      next.answer(next.place);
    }
  }

  /** Of those that their neighbours allow: the one with the earliest virtual time. */
  #next(kind: Kind, nowMs: number): Waiter | undefined {
    const pool = this.#pools[kind];
    const [exempt] = pool.exempt;
    if (exempt) return exempt;
    let first: Waiter | undefined;
    let firstTag = Infinity;
    for (const cluster of pool.waiting) {
      if (cluster.tag >= firstTag) continue;
      const waiter = this.#nextOf(cluster, kind, nowMs);
      if (!waiter) continue;
      first = waiter;
      firstTag = cluster.tag;
    }
    return first;
  }

  #nextOf(cluster: ClusterQueues, kind: Kind, nowMs: number): Waiter | undefined {
    let first: Waiter | undefined;
    let firstTag = Infinity;
    for (const user of cluster.waiting[kind]) {
      const [waiter] = user.queues[kind];
      if (!waiter || user.tag >= firstTag || !this.#mayBegin(waiter.place.flow, waiter, nowMs)) continue;
      first = waiter;
      firstTag = user.tag;
    }
    return first;
  }

  #flowOf({ cluster: clusterName, user: userName }: WantedSeats, nowMs: number): Flow {
    const known = this.#clusters.members.get(clusterName);
    const knownUser = known?.users.members.get(userName);
    if (known && knownUser) return { cluster: known, user: knownUser };
    if (nowMs - this.#sweptMs >= NEIGHBOUR_MS || this.#flows >= FLOWS_MAX) this.#sweep(nowMs);
    const isFull = this.#flows >= FLOWS_MAX;
    const cluster = member(this.#clusters.members, isFull && !known ? REST : clusterName, () => new ClusterQueues());
    const before = cluster.users.members.size;
    const user = member(cluster.users.members, isFull ? REST : userName, () => new UserQueues());
    this.#flows += cluster.users.members.size - before;
    return { cluster, user };
  }

  /** Forgets flows that nothing is known of any more. At most once a second: it walks over all. */
  #sweep(nowMs: number): void {
    if (Math.abs(nowMs - this.#sweptMs) < SWEEP_MS_MIN) return;
    this.#sweptMs = nowMs;
    const period = this.periodOf(nowMs);
    const isIdle = (sharer: Sharer): boolean => {
      sharer.held.reads.turnTo(period);
      sharer.held.writes.turnTo(period);
      return sharer.under === 0 && sharer.queued === 0 && nowMs - sharer.activeMs > NEIGHBOUR_MS;
    };
    for (const [name, cluster] of this.#clusters.members) {
      for (const [userName, user] of cluster.users.members) if (isIdle(user) && cluster.users.members.delete(userName)) this.#flows--;
      if (cluster.users.members.size === 0) this.#clusters.members.delete(name);
    }
  }
}

/** Stands for all flows beyond those that are remembered. No cluster and no user has such a name. */
const REST = "\0";
const SWEEP_MS_MIN = 1_000;

function member<S>(members: Map<string, S>, name: string, make: () => S): S {
  let found = members.get(name);
  if (found === undefined) members.set(name, (found = make()));
  return found;
}

class FairSeats implements HeldSeats {
  #held = 0;
  #isResting = false;
  #hasEnded = false;

  constructor(
    private readonly queue: FairQueue,
    private readonly pool: SeatPool,
    private readonly turn: Omit<Turn, "seats">,
    readonly flow: Flow | undefined,
    /** in which its seats count */
    public period: number,
  ) {}

  take(seats: number): void {
    this.#held = seats;
    this.#count(seats);
  }

  rest(nowMs: number): boolean {
    if (this.#hasEnded || this.#isResting) return true;
    const resting = this.flow?.user.resting;
    resting?.turnTo(this.queue.periodOf(nowMs));
    if (resting && resting.sum >= RESTING_MAX) return false;
    this.#count(-1);
    this.#held -= 1;
    this.#setResting(true);
    this.queue.ended();
    return true;
  }

  grow(seats: number, nowMs: number): boolean {
    if (this.#hasEnded) return false;
    const { held } = this.pool;
    const period = held.turnTo(this.queue.periodOf(nowMs));
    const counted = held.counted(this.period, this.#held);
    const others = held.sum - counted;
    const wanted = Math.max(this.#held + (this.#isResting ? 1 : 0), seats);
    const { max } = this.turn;
    if (max > 0 && others > 0 && others + wanted > max) return false;
    if (this.flow && !this.queue.mayGrow(this.flow, this.turn, { counted, wanted, nowMs })) return false;
    this.#setResting(false);
    // A request that grows is alive: it counts with the newest period.
    this.#count(-this.#held);
    this.period = period;
    this.#held = wanted;
    this.#count(this.#held);
    return true;
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#setResting(false);
    this.#count(-this.#held);
    this.queue.ended();
  }

  #setResting(isResting: boolean): void {
    if (this.#isResting === isResting) return;
    this.#isResting = isResting;
    this.flow?.user.resting.add(this.period, isResting ? 1 : -1);
  }

  #count(seats: number): void {
    const {
      period,
      turn: { kind },
      flow,
    } = this;
    this.pool.held.add(period, seats);
    flow?.cluster.held[kind].add(period, seats);
    flow?.user.held[kind].add(period, seats);
  }
}
