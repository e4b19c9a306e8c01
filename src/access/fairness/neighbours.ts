/**
 * How much a flow may have under way beside its neighbours: the clusters of an isolate, or the users of a cluster.
 *
 * Often one thread serves all requests, as under `npm start`: a request waits for those under way, also those of other flows. So while another flow
 * is active, a flow has at most half as much under way as the least active of the others asks for. One that asks for more than twice as much itself has
 * a third. It never has less than a stated minimum. A flow that asks for as much as another one is hardly bounded; one that asks for ten times as much
 * waits in its queue.
 */
import { ACTIVE_SLOT_MS, LEAST_DEMAND_MS, NEIGHBOUR_MS } from "./queue-limits";
import { PeriodCount } from "./period-count";

export type Kind = "reads" | "writes";

/** From so many times the demand of its neighbour on a flow is a noisy one. */
const NOISY = 2;
/** Up to this number, all are looked at each time. */
const FEW_MEMBERS = 8;

export interface Limits {
  /** all seats of the kind; 0 = any number */
  max: number;
  /** what each member may have under way in any case; 0 = there are no bounds */
  least: number;
  nowMs: number;
}

/** Who holds nothing may begin with any number. */
function leavesHalf(held: number, seats: number, { max, least }: Limits): boolean {
  return max === 0 || held <= 0 || held + seats <= Math.max(least, Math.ceil(max / 2));
}

/** A cluster, or a user of one. */
export class Sharer {
  readonly held = { reads: new PeriodCount(), writes: new PeriodCount() };
  /** seats that wait */
  queued = 0;
  /** requests whose bodies have stopped coming: they hold no seat */
  readonly resting = new PeriodCount();
  /** virtual time at which its next request begins */
  tag = 0;
  activeMs = -Infinity;
  #slot = -1;
  #peak = 0;
  #peakBefore = 0;

  get under(): number {
    return this.held.reads.sum + this.held.writes.sum;
  }

  /** Notes that it asks for so much at once. True: for the first time in this slot. */
  demand(seats: number, nowMs: number): boolean {
    const isFirst = this.#turn(nowMs);
    this.activeMs = nowMs;
    if (seats > this.#peak) this.#peak = seats;
    return isFirst;
  }

  /** The most that it asked for at once recently; 0 = it is not active. */
  peak(nowMs: number): number {
    this.#turn(nowMs);
    return Math.max(this.#peak, this.#peakBefore);
  }

  #turn(nowMs: number): boolean {
    const slot = Math.floor(nowMs / ACTIVE_SLOT_MS);
    if (slot === this.#slot) return false;
    this.#peakBefore = slot === this.#slot + 1 ? this.#peak : 0;
    this.#peak = 0;
    this.#slot = slot;
    return true;
  }
}

export class Neighbours<S extends Sharer> {
  readonly members = new Map<string, S>();
  /** the least peaks of active members, and whose the least one is */
  #least = Infinity;
  #leastOf: S | undefined;
  #second = Infinity;
  #lookedMs = -Infinity;
  /** the newest request, and the newest one of another member */
  #newestOf: S | undefined;
  #newestMs = -Infinity;
  #otherMs = -Infinity;

  /** Notes a request of a member that now asks for so much at once. */
  note(member: S, seats: number, nowMs: number): void {
    if (member.demand(seats, nowMs)) this.#compare(member, member.peak(nowMs));
    if (member !== this.#newestOf) {
      this.#otherMs = this.#newestMs;
      this.#newestOf = member;
    }
    this.#newestMs = nowMs;
  }

  /** Whether a member may begin `seats` more of a kind. A neighbour that was active in the last minute finds half of all seats free. */
  mayBegin(member: S, kind: Kind, seats: number, limits: Limits): boolean {
    const under = member.under;
    const { least, nowMs } = limits;
    if (under === 0 || !this.#isBounded(member, limits)) return true;
    if (!leavesHalf(member.held[kind].sum, seats, limits)) return false;
    // A request of many seats begins where one of a single seat would: it would never find room for all beside steady small ones.
    const demand = this.#leastDemandBeside(member, nowMs);
    return under < Math.max(least, Math.ceil(demand / (member.peak(nowMs) > NOISY * demand ? 3 : 2)));
  }

  /** Whether a request of the member may grow to `seats`, beside `others` of the same kind that the member holds. */
  mayGrow(member: S, others: number, seats: number, limits: Limits): boolean {
    return !this.#isBounded(member, limits) || leavesHalf(others, seats, limits);
  }

  /** Another member was active in the last minute. */
  #isBounded(member: S, { least, nowMs }: Limits): boolean {
    if (least === 0 || this.members.size < 2) return false;
    const otherMs = member === this.#newestOf ? this.#otherMs : this.#newestMs;
    return nowMs - otherMs <= NEIGHBOUR_MS;
  }

  /** Infinity: no other member is active. */
  #leastDemandBeside(member: S, nowMs: number): number {
    if (this.members.size <= FEW_MEMBERS || Math.abs(nowMs - this.#lookedMs) >= LEAST_DEMAND_MS) {
      this.#least = this.#second = Infinity;
      this.#leastOf = undefined;
      this.#lookedMs = nowMs;
      for (const one of this.members.values()) {
        const peak = one.peak(nowMs);
        if (peak > 0) this.#compare(one, peak);
      }
    }
    return member === this.#leastOf ? this.#second : this.#least;
  }

  #compare(member: S, peak: number): void {
    if (member === this.#leastOf) return;
    if (peak < this.#least) {
      this.#second = this.#least;
      this.#least = peak;
      this.#leastOf = member;
    } else if (peak < this.#second) this.#second = peak;
  }
}
