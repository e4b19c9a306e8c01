/**
 * How many requests an isolate works on at once. What comes beyond is refused before any object is called, in the time that a refusal takes, so that
 * those under way are answered as fast as ever and hold bounded memory. Upstream: apiserver server/filters/maxinflight.go.
 *
 * Reads and writes are counted apart, and watches not at all: they stay open. What the platform drops without running its end (an isolate's request
 * may be cancelled anywhere) is forgotten with the period in which it began, or last grew.
 */
import type { Config } from "../../core/config/config";
import type { Verb } from "../../api/registry/resource";
import type { MetricFamily } from "../../core/telemetry/metrics";
import { BODY_BYTES_PER_REQUEST, BODY_MAX_BYTES, IN_FLIGHT_PERIOD_MS } from "./limits";

/** What one request that is under way takes of the limit. */
export interface Place {
  /** Makes the request weigh this much from now on; never less than it did. Answers false, and changes nothing, where that leaves no room. */
  grow(weight: number, nowMs: number): boolean;
  /** to be called once when the request has ended */
  end(): void;
}

/** One kind of request. Periods are numbered; only the newest one and the one before it count. */
export class InFlight {
  #period = 0;
  #ofPeriod = 0;
  #ofPeriodBefore = 0;

  /**
   * Counts a request of this weight as begun, if `max` (0 = no limit) leaves room for it; where nothing else is under way there always is. Undefined:
   * too many.
   */
  begin(weight: number, max: number, nowMs: number): Place | undefined {
    this.#turnTo(Math.floor(nowMs / IN_FLIGHT_PERIOD_MS));
    let held = 0;
    let period = this.#period;
    const grow = (wanted: number, atMs: number): boolean => {
      this.#turnTo(Math.floor(atMs / IN_FLIGHT_PERIOD_MS));
      const others = this.#taken - this.#counted(period, held);
      if (max > 0 && others > 0 && others + wanted > max) return false;
      // Whoever grows is known to live: it counts with the newest.
      this.#add(period, -held);
      period = this.#period;
      held = Math.max(held, wanted);
      this.#add(period, held);
      return true;
    };
    return grow(weight, nowMs) ? { grow, end: () => this.#add(period, -held) } : undefined;
  }

  /** The weight of what is under way. */
  taken(nowMs: number): number {
    this.#turnTo(Math.floor(nowMs / IN_FLIGHT_PERIOD_MS));
    return this.#taken;
  }

  get #taken(): number {
    return this.#ofPeriod + this.#ofPeriodBefore;
  }

  /** A clock that was set back stays in the period that it was in. */
  #turnTo(period: number): void {
    if (period <= this.#period) return;
    this.#ofPeriodBefore = period === this.#period + 1 ? this.#ofPeriod : 0;
    this.#ofPeriod = 0;
    this.#period = period;
  }

  /** What of a weight that was taken in this period still counts. */
  #counted(period: number, weight: number): number {
    return period >= this.#period - 1 ? weight : 0;
  }

  #add(period: number, weight: number): void {
    if (period === this.#period) this.#ofPeriod += weight;
    else if (period === this.#period - 1) this.#ofPeriodBefore += weight;
  }
}

const reads = new InFlight();
const writes = new InFlight();

/** The place of what does not count. */
const UNCOUNTED: Place = { grow: () => true, end: () => undefined };

/** As `InFlight.begin`, for one request of the isolate that this code runs in. */
export function beginRequest(
  verb: Verb,
  headers: Headers,
  { maxRequestsInFlight, maxMutatingRequestsInFlight }: Config,
): Place | undefined {
  switch (verb) {
    case "watch":
      return UNCOUNTED;
    case "get":
    case "list":
      return reads.begin(1, maxRequestsInFlight, Date.now());
    default:
      return writes.begin(weightOfBody(announcedBytes(headers)), maxMutatingRequestsInFlight, Date.now());
  }
}

/** Name and label: upstream apiserver endpoints/metrics/metrics.go, whose values are the most of the last second. */
export function inFlightFamily(): MetricFamily {
  const nowMs = Date.now();
  return {
    name: "apiserver_current_inflight_requests",
    type: "gauge",
    help: "Requests under way in the isolate that answers, per request kind, as its limits count them.",
    samples: [
      { labels: { request_kind: "mutating" }, value: writes.taken(nowMs) },
      { labels: { request_kind: "readOnly" }, value: reads.taken(nowMs) },
    ],
  };
}

/** A body of unknown length begins as a small one and grows while it is read; one that is too large is refused after a look at its length. */
function announcedBytes(headers: Headers): number {
  const bytes = Number(headers.get("Content-Length") ?? 0);
  return Number.isFinite(bytes) ? bytes : 0;
}

/** What a request weighs of whose body this much is held: one for each begun piece. */
export function weightOfBody(bytes: number): number {
  return Math.max(1, Math.ceil(Math.min(bytes, BODY_MAX_BYTES) / BODY_BYTES_PER_REQUEST));
}
