import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../../src/core/config/config";
import type { Verb } from "../../../../src/api/registry/resource";
import {
  beginRequest,
  type BeginningRequest,
  InFlight,
  inFlightFamilies,
  type Place,
  refusalOf,
} from "../../../../src/worker/http/in-flight";
import { IN_FLIGHT_PERIOD_MS } from "../../../../src/worker/http/limits";

/** Begins as many as it takes; answers how many there were. */
function fill(inFlight: InFlight, max: number, nowMs: number): number {
  let begun = 0;
  while (inFlight.begin(1, max, nowMs)) begun++;
  return begun;
}

describe("InFlight", () => {
  it("requests up to the limit: begin; each end makes room for one more", () => {
    const inFlight = new InFlight();
    const end = inFlight.begin(1, 3, 0);
    expect(fill(inFlight, 3, 0)).toBe(2);
    end?.end();
    expect(fill(inFlight, 3, 0)).toBe(1);
  });

  it("a limit of 0: no limit", () => {
    const inFlight = new InFlight();
    for (let i = 0; i < 100; i++) expect(inFlight.begin(1, 0, 0)).toBeDefined();
    expect(inFlight.begin(1, 100, 0)).toBeUndefined();
  });

  it("a request that has ended: grows no more, and a second end changes nothing", () => {
    const inFlight = new InFlight();
    inFlight.begin(1, 10, 0);
    const place = inFlight.begin(4, 10, 0);
    place?.end();
    expect([place?.grow(6, 0), inFlight.taken(0)]).toEqual([false, 1]);
    place?.end();
    expect(inFlight.taken(0)).toBe(1);
  });

  it("a request heavier than the limit: begins when it is alone", () => {
    const inFlight = new InFlight();
    const end = inFlight.begin(48, 10, 0);
    expect(end).toBeDefined();
    expect(inFlight.begin(1, 10, 0)).toBeUndefined();
    end?.end();
    inFlight.begin(1, 10, 0);
    expect(inFlight.begin(48, 10, 0)).toBeUndefined();
    expect(fill(inFlight, 10, 0)).toBe(9);
    expect(inFlight.taken(0)).toBe(10);
  });

  it("a request that never ends: forgotten after the next period; a late end is counted once", () => {
    const inFlight = new InFlight();
    const [first, second] = [inFlight.begin(1, 3, 0), inFlight.begin(1, 3, IN_FLIGHT_PERIOD_MS - 1)];
    inFlight.begin(1, 3, 0);
    expect(fill(inFlight, 3, 2 * IN_FLIGHT_PERIOD_MS - 1)).toBe(0);
    second?.end();
    expect(fill(inFlight, 3, 2 * IN_FLIGHT_PERIOD_MS - 1)).toBe(1);
    expect(fill(inFlight, 3, 2 * IN_FLIGHT_PERIOD_MS)).toBe(2);
    first?.end();
    expect(fill(inFlight, 3, 2 * IN_FLIGHT_PERIOD_MS)).toBe(0);
    expect(inFlight.taken(10 * IN_FLIGHT_PERIOD_MS)).toBe(0);
    expect(fill(inFlight, 3, 10 * IN_FLIGHT_PERIOD_MS)).toBe(3);
  });

  it("a clock that is set back: counts stay", () => {
    const inFlight = new InFlight();
    const end = inFlight.begin(1, 1, 5 * IN_FLIGHT_PERIOD_MS);
    expect(inFlight.begin(1, 1, 0)).toBeUndefined();
    end?.end();
    expect(fill(inFlight, 1, 0)).toBe(1);
  });
});

describe("a request that grows", () => {
  it("growth within the room: taken, and all given back at the end", () => {
    const inFlight = new InFlight();
    const [growing, other] = [inFlight.begin(1, 10, 0), inFlight.begin(1, 10, 0)];
    expect([growing?.grow(9, 0), growing?.grow(10, 0), growing?.grow(9, 0), other?.grow(2, 0)]).toEqual([true, false, true, false]);
    expect(fill(inFlight, 10, 0)).toBe(0);
    growing?.end();
    expect(fill(inFlight, 10, 0)).toBe(9);
    expect(inFlight.taken(0)).toBe(10);
  });

  it("growth of a request that is alone: unlimited, and no other begins", () => {
    const inFlight = new InFlight();
    const growing = inFlight.begin(1, 10, 0);
    expect(growing?.grow(48, 0)).toBe(true);
    expect(inFlight.begin(1, 10, 0)).toBeUndefined();
  });

  it("growth: counts in the newest period, even of a forgotten request", () => {
    const inFlight = new InFlight();
    const growing = inFlight.begin(3, 10, 0);
    expect(growing?.grow(4, 5 * IN_FLIGHT_PERIOD_MS)).toBe(true);
    expect(fill(inFlight, 10, 6 * IN_FLIGHT_PERIOD_MS)).toBe(6);
    growing?.end();
    expect(fill(inFlight, 10, 6 * IN_FLIGHT_PERIOD_MS)).toBe(4);
  });
});

describe("beginRequest", () => {
  const config = parseConfig({
    MAX_REQUESTS_INFLIGHT: "2",
    MAX_MUTATING_REQUESTS_INFLIGHT: "48",
    REQUEST_QUEUE_SECONDS: "0",
    FAIR_REQUESTS_MIN: "0",
  });
  if (!config.ok) throw new Error(config.error.join("\n"));
  const request = (verb: Verb, length?: string): BeginningRequest => ({
    verb,
    headers: new Headers(length === undefined ? {} : { "Content-Length": length }),
    config: config.value,
    cluster: "default",
    user: "",
  });
  const begin = (verb: Verb, length?: string): Place | undefined => {
    const place = beginRequest(request(verb, length));
    if (place instanceof Promise) throw new Error("it waits");
    return place;
  };

  it("reads and writes: counted apart; watches: not counted", () => {
    const ends = [begin("get"), begin("list")];
    for (const verb of ["get", "list"] as const) expect(begin(verb)).toBeUndefined();
    for (let i = 0; i < 100; i++) expect(begin("watch")).toBeDefined();
    for (const verb of ["create", "update", "patch", "delete", "deletecollection"] as const) ends.push(begin(verb));
    for (const end of ends) end?.end();
    const place = begin("get");
    expect(place).toBeDefined();
    place?.end();
  });

  it.each([
    // grows as it is read
    [undefined, 1],
    ["x", 1],
    ["0", 1],
    ["65536", 1],
    ["65537", 2],
    ["1000000", 16],
    // what is too large is refused after a look at its length
    ["99999999999", 48],
  ])("a body of %s bytes: counts as %d requests", (length, requests) => {
    const ends = [begin("create", length)];
    for (let end = begin("create"); end; end = begin("create")) ends.push(end);
    expect(48 - (ends.length - 1)).toBe(requests);
    for (const end of ends) end?.end();
  });

  it("time to wait: the request begins when another has ended, or is refused after its own timeout", async () => {
    const waiting = { ...config.value, requestQueueSeconds: 15 };
    const ends = [begin("get"), begin("get")];
    const queued = () =>
      inFlightFamilies()
        .find(({ name }) => name === "apiserver_flowcontrol_current_inqueue_requests")
        ?.samples.find(({ labels }) => labels["priority_level"] === "readOnly")?.value;
    const next = beginRequest({ ...request("get"), config: waiting });
    const late = beginRequest({ ...request("get"), config: waiting, timeoutMs: 20 });
    expect(queued()).toBe(2);
    expect(await late).toBeUndefined();
    expect(queued()).toBe(1);
    ends[0]?.end();
    ends.push(await next);
    expect([queued(), ends[2] !== undefined]).toEqual([0, true]);
    for (const end of ends) end?.end();
  });

  it("a list: takes the seats that are said of it", () => {
    const list = beginRequest({ ...request("list"), listSeats: () => 2 });
    expect(begin("get")).toBeUndefined();
    if (list && !(list instanceof Promise)) list.end();
    const place = begin("get");
    expect(place).toBeDefined();
    place?.end();
  });

  it("what refused clients hear: upstream's text, and when to come again", () => {
    const { code, message, details } = refusalOf("create");
    expect([code, message]).toEqual([429, "Too many requests, please try again later."]);
    expect(details?.retryAfterSeconds).toBeGreaterThanOrEqual(1);
  });
});
