import { describe, expect, it } from "vitest";
import { EVENT_LIFETIME_MS, isExpired, lastSeenMs } from "../../../src/controllers/event-expiry";
import type { CoreEvent } from "../../../src/api/meta/kubernetes";

const at = (minutes: number): string => new Date(minutes * 60_000).toISOString().replace(".000Z", "Z");
const micro = (minutes: number): string => at(minutes).replace("Z", ".000000Z");
const event = (fields: Partial<CoreEvent>): CoreEvent => ({ involvedObject: {}, metadata: {}, ...fields }) as CoreEvent;

describe("lastSeenMs", () => {
  it.each<[string, Partial<CoreEvent>, number]>([
    ["birth alone", { metadata: { creationTimestamp: at(5) } }, 5],
    ["first and last", { firstTimestamp: at(1), lastTimestamp: at(9) }, 9],
    ["the time of a new-style event", { eventTime: micro(7), metadata: { creationTimestamp: at(5) } }, 7],
    ["a series", { eventTime: micro(7), series: { count: 2, lastObservedTime: micro(30) } }, 30],
    ["no time at all", {}, 0],
  ])("%s: the latest time counts", (_, fields, minutes) => {
    expect(lastSeenMs(event(fields))).toBe(minutes * 60_000);
  });
});

describe("isExpired", () => {
  it("event: expired an hour after it was last seen, not before", () => {
    const seen = event({ firstTimestamp: at(0), lastTimestamp: at(100) });
    const due = 100 * 60_000 + EVENT_LIFETIME_MS;
    expect([isExpired(seen, due - 1), isExpired(seen, due)]).toEqual([false, true]);
  });
});
