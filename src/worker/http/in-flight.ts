/**
 * The limits of requests that an isolate works on at once, in all and for each user. A request beyond the limits waits for its turn
 * (src/access/fairness), or is refused before any object is called. So requests under way stay fast and hold bounded memory. Upstream: apiserver
 * server/filters/priority-and-fairness.go.
 *
 * Reads and writes are counted apart. Watches stay open and are not counted. The platform may cancel a request anywhere, without running its end. A
 * cancelled request stops to count with the period in which it began or last grew.
 */
import { systemClock } from "../../../durable-objects/platform/ports";
import { FairQueue, type HeldSeats } from "../../access/fairness/fair-queue";
import type { Verb } from "../../api/registry/resource";
import { overloaded, type Status } from "../../api/meta/status";
import type { Config } from "../../core/config/config";
import type { MetricFamily } from "../../core/telemetry/metrics";
import { BODY_BYTES_PER_REQUEST, BODY_MAX_BYTES, IN_FLIGHT_PERIOD_MS } from "./limits";

export type { HeldSeats } from "../../access/fairness/fair-queue";

/** One for each isolate. */
const seats = new FairQueue(systemClock, IN_FLIGHT_PERIOD_MS);

/** The place of a request that is not counted. */
export const UNCOUNTED: HeldSeats = { rest: () => true, grow: () => true, end: () => undefined };

export interface BeginningRequest {
  verb: Verb;
  config: Config;
  /** its id */
  cluster: string;
  /** "" = nobody: all such requests into a cluster are one flow */
  user: string;
  /** true: it waits behind no other flow; it is counted all the same */
  isExempt?: boolean;
  /** that a list takes, of so many for reads; absent = 1 */
  listSeats?(max: number): number;
  /** the client's disconnect; read only of a request that waits */
  signal?: AbortSignal;
  /** the request's own `timeout` in milliseconds; 0 or absent = none */
  timeoutMs?: number;
}

/** The place of a request, at once or when its turn has come. Undefined: too many requests, which `refusalOf` tells the client. */
export function beginRequest(asked: BeginningRequest): HeldSeats | undefined | Promise<HeldSeats | undefined> {
  const { verb, config, cluster, user, isExempt = false, timeoutMs } = asked;
  if (verb === "watch") return UNCOUNTED;
  const kind = kindOf(verb);
  const isRead = kind === "reads";
  const queueMs = config.requestQueueSeconds * 1000;
  return seats.begin({
    kind,
    cluster,
    user,
    // A body takes more as it comes: what a client only announces keeps nobody waiting.
    seats: verb === "list" ? (asked.listSeats?.(config.maxRequestsInFlight) ?? 1) : 1,
    max: isRead ? config.maxRequestsInFlight : config.maxMutatingRequestsInFlight,
    least: config.fairRequestsMin,
    waitMs: timeoutMs ? Math.min(timeoutMs, queueMs) : queueMs,
    isExempt,
    get signal() {
      return asked.signal;
    },
  });
}

/** What a client hears whose request found no place. */
export function refusalOf(verb: Verb): Status {
  return overloaded(seats.retryAfterSeconds(kindOf(verb)));
}

function kindOf(verb: Verb): "reads" | "writes" {
  return verb === "get" || verb === "list" || verb === "watch" ? "reads" : "writes";
}

/** Upstream's names of the kinds: apiserver endpoints/metrics/metrics.go. */
const REQUEST_KINDS = [
  { kind: "writes", name: "mutating" },
  { kind: "reads", name: "readOnly" },
] as const;

/**
 * Names and labels: upstream apiserver endpoints/metrics/metrics.go, whose value is the maximum of the last second, and util/flowcontrol/metrics. A
 * priority level is a kind of request here.
 */
export function inFlightFamilies(): MetricFamily[] {
  const counts = REQUEST_KINDS.map(({ kind, name }) => ({ name, ...seats.counts(kind) }));
  const level = (name: string) => ({ priority_level: name, flow_schema: FLOW_SCHEMA });
  return [
    {
      name: "apiserver_current_inflight_requests",
      type: "gauge",
      help: "Requests under way in the isolate that answers, per request kind, as its limits count them.",
      samples: counts.map(({ name, taken }) => ({ labels: { request_kind: name }, value: taken })),
    },
    {
      name: "apiserver_flowcontrol_current_inqueue_requests",
      type: "gauge",
      help: "[BETA] Number of requests currently pending in queues of the API Priority and Fairness subsystem",
      samples: counts.map(({ name, queued }) => ({ labels: level(name), value: queued })),
    },
    {
      name: "apiserver_flowcontrol_rejected_requests_total",
      type: "counter",
      help: "[BETA] Number of requests rejected by API Priority and Fairness subsystem",
      samples: counts.flatMap(({ name, refused }) =>
        Object.entries(refused).map(([reason, value]) => ({ labels: { ...level(name), reason }, value })),
      ),
    },
    {
      name: "apiserver_flowcontrol_request_wait_duration_seconds",
      type: "histogram",
      help: "[BETA] Length of time a request spent waiting in its queue",
      bounds: FairQueue.waitBounds,
      samples: counts.map(({ name, waits }) => ({ labels: { ...level(name), execute: "true" }, value: waits })),
    },
  ];
}

/** All flows are told apart in one way: by cluster and user. */
const FLOW_SCHEMA = "by-cluster-and-user";

/** The weight of a request that holds so many bytes of its body: one for each begun piece. */
export function weightOfBody(bytes: number): number {
  return Math.max(1, Math.ceil(Math.min(bytes, BODY_MAX_BYTES) / BODY_BYTES_PER_REQUEST));
}
