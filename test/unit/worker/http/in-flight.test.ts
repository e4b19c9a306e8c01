import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../../src/core/config/config";
import type { Verb } from "../../../../src/api/registry/resource";
import {
  beginRequest,
  type BeginningRequest,
  inFlightFamilies,
  type HeldSeats,
  refusalOf,
  weightOfBody,
} from "../../../../src/worker/http/in-flight";

describe("beginRequest", () => {
  const config = parseConfig({
    MAX_REQUESTS_INFLIGHT: "2",
    MAX_MUTATING_REQUESTS_INFLIGHT: "48",
    REQUEST_QUEUE_SECONDS: "0",
    FAIR_REQUESTS_MIN: "0",
  });
  if (!config.ok) throw new Error(config.error.join("\n"));
  const request = (verb: Verb): BeginningRequest => ({
    verb,
    config: config.value,
    cluster: "default",
    user: "",
  });
  const begin = (verb: Verb): HeldSeats | undefined => {
    const place = beginRequest(request(verb));
    if (place instanceof Promise) throw new Error("it waits");
    return place;
  };

  it("reads and writes: counted apart; watches: not counted", () => {
    const ends = [begin("get"), begin("list")];
    for (const verb of ["get", "list"] as const) expect(begin(verb)).toBeUndefined();
    for (let i = 0; i < 100; i++) expect(begin("watch")).toBeDefined();
    const watch = begin("watch");
    expect([watch?.grow(1_000, Date.now()), watch?.rest(Date.now())]).toEqual([true, true]);
    watch?.end();
    for (const verb of ["create", "update", "patch", "delete", "deletecollection"] as const) ends.push(begin(verb));
    for (const end of ends) end?.end();
    const place = begin("get");
    expect(place).toBeDefined();
    place?.end();
  });

  it.each([
    [0, 1],
    [1, 1],
    [65_536, 1],
    [65_537, 2],
    [1_000_000, 16],
    [99_999_999_999, 48],
  ])("a body of which %s bytes have come: counts as %d requests", (bytes, requests) => {
    const ends = [begin("create")];
    expect(ends[0]?.grow(weightOfBody(bytes), Date.now())).toBe(true);
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
