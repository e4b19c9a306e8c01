/**
 * The Services that wait for a look, each with its time and what has become of earlier looks. They are rows, so that neither a crash nor sleep forgets
 * one. A reason to look sooner counts; one to look later does not (upstream's delaying queue).
 */
import { type DueService, mergeDue } from "../sources/service-members";
import type { KeptRows } from "./kept-rows";

const KIND = "due";
/** The wait after the first look that did not end well. Each further one doubles it (upstream's per-item rate limiter). */
const RETRY_BASE_MS = 1_000;
const RETRY_MAX_MS = 1_000_000;

interface Waiting {
  readonly due: DueService;
  /** when the look is due, in milliseconds since the epoch */
  readonly at: number;
  /** looks that did not end well */
  readonly attempts: number;
}

export class DueServices {
  readonly #waiting = new Map<string, Waiting>();

  constructor(private readonly rows: KeptRows) {}

  load(): void {
    for (const [key, waiting] of this.rows.saved<Waiting>(KIND)) this.#waiting.set(key, waiting);
  }

  /** @param at in milliseconds since the epoch */
  add(due: DueService, at: number): void {
    const before = this.#waiting.get(due.key);
    if (!before) this.#set({ due, at, attempts: 0 });
    else this.#set({ due: mergeDue(before.due, due), at: Math.min(before.at, at), attempts: before.attempts });
  }

  /** At most `limit` Services whose look is due, those first that have waited longest. They wait on until `done` or `failed`. */
  dueBy(nowMs: number, limit: number): DueService[] {
    const found: DueService[] = [];
    for (const { due, at } of this.#waiting.values()) {
      if (found.length === limit) break;
      // Nothing waits longer than the longest retry, unless the clock was set back.
      if (at <= nowMs || at > nowMs + RETRY_MAX_MS) found.push(due);
    }
    return found;
  }

  done(key: string): void {
    this.#waiting.delete(key);
    this.rows.delete(KIND, key);
  }

  /** The Service is looked at again later: what changed stays known. */
  failed(key: string, nowMs: number): void {
    const before = this.#waiting.get(key);
    if (!before) return;
    const waitMs = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** before.attempts);
    this.#set({ ...before, at: nowMs + waitMs, attempts: before.attempts + 1 });
  }

  /** When the next look is due; undefined = nothing waits. */
  get earliest(): number | undefined {
    let earliest = Infinity;
    for (const { at } of this.#waiting.values()) earliest = Math.min(earliest, at);
    return earliest === Infinity ? undefined : earliest;
  }

  #set(waiting: Waiting): void {
    this.#waiting.set(waiting.due.key, waiting);
    this.rows.put(KIND, waiting.due.key, waiting);
  }
}
