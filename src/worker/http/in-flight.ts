/**
 * How many requests an isolate works on at once. Further requests are refused before any object is called. So those under way stay fast and hold
 * bounded memory. Upstream: apiserver server/filters/maxinflight.go.
 *
 * Reads and writes are counted apart. Watches stay open and are not counted. The platform may cancel a request anywhere, without running its end:
 * such a request is forgotten with the period in which it began, or last grew.
 */
import type { Config } from "../../core/config/config";
import type { Verb } from "../../api/registry/resource";
import type { MetricFamily } from "../../core/telemetry/metrics";
import { BODY_BYTES_PER_REQUEST, BODY_MAX_BYTES, IN_FLIGHT_PERIOD_MS } from "./limits";

/** The share of the limit that one request under way takes. */
export interface Place {
  /** Raises the weight of the request to `weight`; never lowers it. Answers false, and changes nothing, where there is no room, or after the end. */
  grow(weight: number, nowMs: number): boolean;
  /** Gives the place back: the request has ended, or keeps nothing of its body any more. A second call changes nothing. */
  end(): void;
}

/** One kind of request. Periods are numbered; only the newest one and the one before it count. */
export class InFlight {
  #period = 0;
  #ofPeriod = 0;
  #ofPeriodBefore = 0;

  /**
   * Begins a request of this weight if `max` (0 = no limit) leaves room. A request that is alone always has room. Undefined: too many requests.
   */
  begin(weight: number, max: number, nowMs: number): Place | undefined {
    this.#turnTo(Math.floor(nowMs / IN_FLIGHT_PERIOD_MS));
    let held = 0;
    let period = this.#period;
    let hasEnded = false;
    const grow = (wanted: number, atMs: number): boolean => {
      if (hasEnded) return false;
      this.#turnTo(Math.floor(atMs / IN_FLIGHT_PERIOD_MS));
      const others = this.#taken - this.#counted(period, held);
      if (max > 0 && others > 0 && others + wanted > max) return false;
      // A request that grows is alive: it counts with the newest period.
      this.#add(period, -held);
      period = this.#period;
      held = Math.max(held, wanted);
      this.#add(period, held);
      return true;
    };
    const end = (): void => {
      if (!hasEnded) this.#add(period, -held);
      hasEnded = true;
    };
    return grow(weight, nowMs) ? { grow, end } : undefined;
  }

  /** The weight of all requests under way. */
  taken(nowMs: number): number {
    this.#turnTo(Math.floor(nowMs / IN_FLIGHT_PERIOD_MS));
    return this.#taken;
  }

  get #taken(): number {
    return this.#ofPeriod + this.#ofPeriodBefore;
  }

  /** A clock that was set back does not change the period. */
  #turnTo(period: number): void {
    if (period <= this.#period) return;
    this.#ofPeriodBefore = period === this.#period + 1 ? this.#ofPeriod : 0;
    this.#ofPeriod = 0;
    this.#period = period;
  }

  /** The part of a weight taken in this period that still counts. */
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

/** The place of a request that is not counted. */
export const UNCOUNTED: Place = { grow: () => true, end: () => undefined };

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

/** Name and label: upstream apiserver endpoints/metrics/metrics.go. Upstream's value is the maximum of the last second. */
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

/** A body of unknown length begins small and grows while it is read. A body that is too large is refused by its length. */
function announcedBytes(headers: Headers): number {
  const bytes = Number(headers.get("Content-Length") ?? 0);
  return Number.isFinite(bytes) ? bytes : 0;
}

/** The weight of a request that holds so many bytes of its body: one for each begun piece. */
export function weightOfBody(bytes: number): number {
  return Math.max(1, Math.ceil(Math.min(bytes, BODY_MAX_BYTES) / BODY_BYTES_PER_REQUEST));
}
