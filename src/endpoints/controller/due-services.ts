/**
 * The Services that wait for a look, each with its time and what has become of earlier looks. They are rows, so that neither a crash nor sleep forgets
 * one. A reason to look sooner counts; one to look later does not (upstream's delaying queue). Half of a round goes to the latest changes, so that they
 * do not wait behind a crowd: that of a first sync, or of a deployment of everything. Memory has the keys and the times alone.
 */
import { type DueService, mergeDue } from "../sources/service-members";
import { type FactRowsByKey, FactsInRows } from "../../controllers/followed/facts-in-rows";

const KIND = "due";
/** The wait after the first look that did not end well. Each further one doubles it (upstream's per-item rate limiter). */
const RETRY_BASE_MS = 1_000;
const RETRY_MAX_MS = 1_000_000;
/**
 * The longest wait after a refused write, such as a quota's. Nobody tells when the reason for the refusal has gone, and changes meanwhile wait, too.
 * So it is shorter than upstream's.
 */
const REFUSED_MAX_MS = 300_000;

/** in place of a time: only a change asks for a look */
const PARKED = Infinity;

interface Waiting {
  readonly due: DueService;
  /** when the look is due, in milliseconds since the epoch */
  readonly at: number;
  /** Nothing has changed since a look that need not be repeated: there is none before a change. The release before looks at `at`. */
  readonly isParked?: boolean;
  /** looks that did not end well */
  readonly attempts: number;
  /** A write was refused: whatever changes, no look before this time. */
  readonly notBefore?: number;
}

export class DueServices {
  readonly #waiting: FactsInRows<Waiting>;
  /** When each look is due, PARKED = never, by the number of the Service; in the order in which they began to wait. */
  readonly #times = new Map<number, number>();
  /** The numbers of those that have changed in this life, in the order of their last changes. */
  readonly #changed = new Set<number>();

  /** To be made before the rows are loaded. */
  constructor(rows: FactRowsByKey) {
    this.#waiting = new FactsInRows(rows, KIND, {
      clear: () => this.#times.clear(),
      entered: (number, _, { at, isParked }) => void this.#times.set(number, isParked ? PARKED : at),
      left: () => undefined,
    });
  }

  /**
   * A new Service does not wait for what befell another one of its name.
   *
   * @param at in milliseconds since the epoch
   */
  add(due: DueService, at: number): void {
    const before = this.#waiting.get(due.key);
    const soonest = before && !before.isParked ? Math.min(before.at, at) : at;
    if (!before || due.isNew) this.#set({ due, at: soonest, attempts: 0 });
    else this.#set({ ...before, due: mergeDue(before.due, due), at: Math.max(soonest, before.notBefore ?? 0), isParked: false });
    const number = this.#waiting.numberOf(due.key);
    if (number === undefined) return;
    this.#changed.delete(number);
    this.#changed.add(number);
  }

  /**
   * At most `limit` Services whose look is due: half of them, rounded up, are those that have waited longest, and half are those that changed last.
   * They wait on until `done` or `failed`.
   */
  dueBy(nowMs: number, limit: number): DueService[] {
    const found = new Map<string, DueService>();
    this.#find(this.#times.keys(), Math.ceil(limit / 2), nowMs, found);
    if (found.size === Math.ceil(limit / 2)) this.#find([...this.#changed].reverse(), limit, nowMs, found);
    if (found.size < limit) this.#find(this.#times.keys(), limit, nowMs, found);
    return [...found.values()];
  }

  /** Adds Services that are due, in the order of `numbers`, until `found` has `limit`. */
  #find(numbers: Iterable<number>, limit: number, nowMs: number, found: Map<string, DueService>): void {
    for (const number of numbers) {
      if (found.size >= limit) return;
      const at = this.#times.get(number) ?? PARKED;
      // Nothing waits longer than the longest retry, unless the clock was set back.
      if (at === PARKED || (at > nowMs && at <= nowMs + RETRY_MAX_MS)) continue;
      const waiting = this.#waiting.get(this.#waiting.keyOf(number));
      if (waiting) found.set(waiting.due.key, waiting.due);
      // Its row is lost.
      else this.#times.delete(number);
    }
  }

  /** the number of Services that wait */
  get size(): number {
    return this.#times.size;
  }

  has(key: string): boolean {
    return this.#waiting.has(key);
  }

  done(key: string): void {
    const number = this.#waiting.numberOf(key);
    if (number === undefined) return;
    this.#waiting.delete(key);
    this.#times.delete(number);
    this.#changed.delete(number);
  }

  /** The Service is looked at again later: what changed stays known. A change meanwhile asks for an earlier look. */
  failed(key: string, nowMs: number): void {
    const before = this.#waiting.get(key);
    if (!before) return;
    const { due, attempts } = before;
    this.#set({ due, at: nowMs + Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** attempts), attempts: attempts + 1 });
  }

  /** A write was refused. The Service is looked at again later, but not earlier, whatever changes; `isForGood`: only if something changes. */
  refused(key: string, nowMs: number, isForGood = false): void {
    const before = this.#waiting.get(key);
    if (!before) return;
    const { due, attempts } = before;
    const notBefore = nowMs + Math.min(REFUSED_MAX_MS, RETRY_BASE_MS * 2 ** attempts);
    this.#set({ due, at: notBefore, attempts: attempts + 1, notBefore, isParked: isForGood });
  }

  /** When the next look is due; undefined = nothing waits. */
  get earliest(): number | undefined {
    let earliest = Infinity;
    for (const at of this.#times.values()) earliest = Math.min(earliest, at);
    return earliest === Infinity ? undefined : earliest;
  }

  #set(waiting: Waiting): void {
    this.#waiting.put(waiting.due.key, waiting);
  }
}
