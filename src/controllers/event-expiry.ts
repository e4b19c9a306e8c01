/** Events are kept for an hour after they were last seen (upstream's `--event-ttl`). */
import { greatestOf } from "../core/base/extremes";
import type { CoreEvent } from "../api/meta/kubernetes";
import { parseTime } from "../api/meta/time";
import type { ExpiryRule } from "./object-expiry";

export const EVENT_LIFETIME_MS = 60 * 60_000;

/** When the event was last seen, in milliseconds since the epoch: its newest time of any kind. */
export function lastSeenMs(event: CoreEvent): number {
  const times = [
    event.series?.lastObservedTime,
    event.lastTimestamp,
    event.eventTime,
    event.firstTimestamp,
    event.metadata?.creationTimestamp,
  ];
  return greatestOf([0, ...times.map((time) => parseTime(time) ?? 0)]);
}

/** Whether the event has outlived its hour. */
export function isExpired(event: CoreEvent, nowMs: number): boolean {
  return lastSeenMs(event) + EVENT_LIFETIME_MS <= nowMs;
}

export const EVENT_EXPIRY: ExpiryRule = { namespace: "", isOver: (event, nowMs) => isExpired(event as CoreEvent, nowMs) };
