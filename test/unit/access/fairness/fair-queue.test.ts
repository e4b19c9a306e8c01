import { describe, expect, it } from "vitest";
import { FairQueue, type HeldSeats, type RefusedBecause, type WantedSeats } from "../../../../src/access/fairness/fair-queue";
import { FLOWS_MAX, NEIGHBOUR_MS, QUEUE_MAX, RESTING_MAX } from "../../../../src/access/fairness/queue-limits";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

const PERIOD_MS = 120_000;
const WAIT_MS = 15_000;

function setting(defaults: Partial<WantedSeats> = {}) {
  const scheduler = new SimScheduler();
  const queue = new FairQueue(scheduler.clock(), PERIOD_MS);
  const wanted = (over: Partial<WantedSeats>): WantedSeats => ({
    kind: "writes",
    cluster: "a",
    user: "",
    seats: 1,
    max: 4,
    least: 0,
    waitMs: WAIT_MS,
    isExempt: false,
    ...defaults,
    ...over,
  });
  const begin = (over: Partial<WantedSeats> = {}) => queue.begin(wanted(over));
  /** Places of requests that begin at once. */
  const take = (count: number, over: Partial<WantedSeats> = {}): HeldSeats[] =>
    Array.from({ length: count }, () => {
      const place = begin(over);
      if (!place || place instanceof Promise) throw new Error("it does not begin at once");
      return place;
    });
  const begun: string[] = [];
  const places: HeldSeats[] = [];
  /** Requests that wait; `begun` has their names in the order in which they begin. */
  const wait = (name: string, over: Partial<WantedSeats> = {}): Promise<HeldSeats | undefined> => {
    const turn = begin(over);
    if (!(turn instanceof Promise)) throw new Error(`${name} does not wait`);
    void turn.then((place) => {
      begun.push(place ? name : `${name} refused`);
      if (place) places.push(place);
    });
    return turn;
  };
  return { scheduler, queue, begin, take, wait, begun, places };
}

describe("FairQueue: seats", () => {
  it("requests up to the maximum: begin at once; each end lets the next one begin", async () => {
    const { scheduler, take, wait, begun, queue } = setting();
    const [first] = take(4);
    void wait("fifth");
    await scheduler.pass(0);
    expect([begun, queue.counts("writes").queued]).toEqual([[], 1]);
    first?.end();
    first?.end();
    await scheduler.pass(0);
    expect([begun, queue.counts("writes").queued, queue.counts("writes").taken]).toEqual([["fifth"], 0, 4]);
  });

  it("reads and writes: seats of their own", () => {
    const { take } = setting();
    take(4);
    take(4, { kind: "reads" });
  });

  it("no maximum: any number", () => {
    setting({ max: 0 }).take(1_000);
  });

  it("a request heavier than all seats: begins when it is alone, and lets no other past meanwhile", async () => {
    const { scheduler, take, wait, begun, places } = setting();
    const [only] = take(1, { cluster: "c" });
    void wait("heavy", { seats: 9 });
    void wait("light", { cluster: "b" });
    await scheduler.pass(10);
    expect(begun).toEqual([]);
    only?.end();
    await scheduler.pass(10);
    expect(begun).toEqual(["heavy"]);
    places[0]?.end();
    await scheduler.pass(10);
    expect(begun).toEqual(["heavy", "light"]);
  });

  it("a request that grows: within the seats that others leave; after its end no more", () => {
    const { scheduler, take, queue } = setting();
    const [one, other] = take(2);
    expect([one?.grow(3, scheduler.now), one?.grow(4, scheduler.now), one?.grow(1, scheduler.now)]).toEqual([true, false, true]);
    expect(queue.counts("writes").taken).toBe(4);
    one?.end();
    expect([one?.grow(1, scheduler.now), queue.counts("writes").taken]).toEqual([false, 1]);
    other?.end();
    expect(queue.counts("writes").taken).toBe(0);
  });

  it("requests that never end: forgotten after the next period", async () => {
    const { scheduler, take, queue } = setting();
    take(4);
    await scheduler.pass(2 * PERIOD_MS);
    expect(queue.counts("writes").taken).toBe(0);
    take(4);
  });
});

describe("FairQueue: bodies that stop coming", () => {
  it("a body that rests: holds no seat, and takes it again when it comes on", async () => {
    const { scheduler, take, wait, begun, queue, places } = setting();
    const [resting] = take(4);
    void wait("fifth");
    expect(resting?.rest(scheduler.now)).toBe(true);
    expect(resting?.rest(scheduler.now)).toBe(true);
    await scheduler.pass(0);
    expect([begun, queue.counts("writes").taken]).toEqual([["fifth"], 4]);
    expect(resting?.grow(1, scheduler.now)).toBe(false);
    places[0]?.end();
    expect([resting?.grow(1, scheduler.now), queue.counts("writes").taken]).toEqual([true, 4]);
    resting?.end();
    expect(queue.counts("writes").taken).toBe(3);
  });

  it("a body of which much has come: keeps the seats of what came but one", () => {
    const { scheduler, take, queue } = setting();
    const [resting] = take(1);
    resting?.grow(3, scheduler.now);
    resting?.rest(scheduler.now);
    expect(queue.counts("writes").taken).toBe(2);
    expect([resting?.grow(3, scheduler.now), queue.counts("writes").taken]).toEqual([true, 3]);
    resting?.rest(scheduler.now);
    resting?.end();
    expect(queue.counts("writes").taken).toBe(0);
  });

  it("a flow: has few such requests; another flow has its own", () => {
    const { scheduler, take } = setting({ max: 100 });
    const rest = (over: Partial<WantedSeats>) => take(1, over)[0]?.rest(scheduler.now);
    for (let i = 0; i < RESTING_MAX; i++) expect(rest({ user: "u" })).toBe(true);
    const [more] = take(1, { user: "u" });
    expect([more?.rest(scheduler.now), rest({ user: "v" })]).toEqual([false, true]);
  });

  it("one that ends or comes on, and one that the platform drops: another may rest in its place", async () => {
    const { scheduler, take } = setting({ max: 100 });
    const held = take(RESTING_MAX);
    for (const place of held) place.rest(scheduler.now);
    const [next, last, late] = take(3);
    held[0]?.end();
    expect([next?.rest(scheduler.now), last?.rest(scheduler.now)]).toEqual([true, false]);
    held[1]?.grow(1, scheduler.now);
    expect([last?.rest(scheduler.now), late?.rest(scheduler.now)]).toEqual([true, false]);
    await scheduler.pass(2 * PERIOD_MS);
    expect(take(1)[0]?.rest(scheduler.now)).toBe(true);
  });
});

describe("FairQueue: the end of a wait", () => {
  it.each<[what: string, over: Partial<WantedSeats>, afterMs: number, reason: RefusedBecause]>([
    ["no time to wait", { waitMs: 0 }, 0, "concurrency-limit"],
    ["too long a wait", {}, WAIT_MS, "time-out"],
    ["too long for its own timeout", { waitMs: 300 }, 300, "time-out"],
  ])("%s: refused, and counted so", async (_, over, afterMs, reason) => {
    const { scheduler, take, begin, queue } = setting();
    take(4);
    const answer = Promise.resolve(begin(over));
    await scheduler.pass(Math.max(0, afterMs - 1));
    expect(queue.counts("writes").queued).toBe(afterMs === 0 ? 0 : 1);
    await scheduler.pass(1);
    expect(await answer).toBeUndefined();
    expect(queue.counts("writes")).toMatchObject({ taken: 4, queued: 0, refused: { [reason]: 1 } });
  });

  it("a client that leaves: its request waits no more, and the next one has its turn", async () => {
    const { scheduler, take, wait, begun, queue } = setting();
    const [first] = take(4);
    const client = new AbortController();
    void wait("left", { signal: client.signal });
    void wait("stays");
    client.abort();
    await scheduler.pass(0);
    first?.end();
    await scheduler.pass(0);
    expect([begun, queue.counts("writes").refused.cancelled, queue.counts("writes").taken]).toEqual([["left refused", "stays"], 1, 4]);
  });

  it("a client that has left before: does not wait", () => {
    const { take, begin } = setting();
    take(4);
    expect(begin({ signal: AbortSignal.abort() })).toBeUndefined();
  });

  it("the heavy one that let nobody past gives up: the others begin", async () => {
    const { scheduler, take, wait, begun } = setting();
    take(1, { cluster: "c" });
    void wait("heavy", { seats: 9, waitMs: 100 });
    void wait("light", { cluster: "b" });
    await scheduler.pass(100);
    expect(begun).toEqual(["heavy refused", "light"]);
  });

  it("a full queue: refuses its own flow, and no other", () => {
    const { take, begin, wait } = setting();
    take(4);
    for (let i = 0; i < QUEUE_MAX; i++) void wait("own");
    expect(begin()).toBeUndefined();
    void wait("other", { cluster: "b" });
  });

  it("seconds to wait: grow while refusals outnumber what is served, and shrink again", async () => {
    const { scheduler, take, begin, queue } = setting({ waitMs: 0 });
    const held = take(4);
    const seconds: number[] = [];
    for (let i = 0; i < 7; i++) {
      seconds.push(queue.retryAfterSeconds("writes"));
      void begin();
      await scheduler.pass(1_000);
    }
    expect(seconds).toEqual([1, 1, 2, 4, 8, 16, 32]);
    for (const place of held) place.end();
    take(2);
    await scheduler.pass(1_000);
    expect([queue.retryAfterSeconds("writes"), queue.retryAfterSeconds("reads")]).toEqual([16, 1]);
    await scheduler.pass(60_000);
    expect(queue.retryAfterSeconds("writes")).toBe(1);
  });
});

describe("FairQueue: turns", () => {
  const alternating = ["a", "b", "a", "b", "a", "b"];

  it.each<[what: string, of: (name: string) => Partial<WantedSeats>]>([
    ["clusters", (name) => ({ cluster: name })],
    ["users of a cluster", (name) => ({ user: name })],
  ])("two %s that wait: in turn, however many of one came first", async (_, of) => {
    const { scheduler, take, wait, begun, places } = setting({ max: 1 });
    take(1, { cluster: "c" })[0]?.end();
    const [held] = take(1, { cluster: "c" });
    for (const name of ["a", "a", "a", "b", "b", "b"]) void wait(name, of(name));
    held?.end();
    for (let i = 0; i < 6; i++) {
      await scheduler.pass(0);
      places[i]?.end();
    }
    expect(begun).toEqual(alternating);
  });

  it("a cluster of two users beside one of one: the clusters have as much each", async () => {
    const { scheduler, take, wait, begun, places } = setting({ max: 1 });
    const [held] = take(1, { cluster: "c" });
    for (const [cluster, user] of ["a1", "a2", "a1", "a2", "b1", "b1"].map((name) => [...name])) {
      void wait(`${cluster}${user}`, { cluster: cluster ?? "", user: user ?? "" });
    }
    held?.end();
    for (let i = 0; i < 6; i++) {
      await scheduler.pass(0);
      places[i]?.end();
    }
    expect(begun).toEqual(["a1", "b1", "a2", "b1", "a1", "a2"]);
  });

  it("a flow of costly requests: has its turn as seldom as they are costly", async () => {
    const { scheduler, take, wait, begun, places } = setting({ max: 3 });
    const [held] = take(1, { cluster: "c", seats: 3 });
    for (let i = 0; i < 2; i++) void wait("costly", { cluster: "a", seats: 3 });
    for (let i = 0; i < 4; i++) void wait("cheap", { cluster: "b" });
    held?.end();
    for (let i = 0; i < 6; i++) {
      await scheduler.pass(0);
      places[i]?.end();
    }
    expect(begun).toEqual(["costly", "cheap", "cheap", "cheap", "costly", "cheap"]);
  });

  it("an exempt request: waits behind no flow, within the same seats", async () => {
    const { scheduler, take, wait, begun, queue } = setting();
    const [first] = take(4);
    void wait("one");
    void wait("exempt", { isExempt: true });
    await scheduler.pass(0);
    expect(begun).toEqual([]);
    first?.end();
    await scheduler.pass(0);
    expect([begun, queue.counts("writes").taken]).toEqual([["exempt"], 4]);
  });
});

describe("FairQueue: neighbours", () => {
  it("a flow without neighbours: has all seats", () => {
    setting({ max: 100, least: 4 }).take(100);
  });

  it("a flow whose neighbour asks for one at once: keeps its least under way, and the rest waits", async () => {
    const { scheduler, take, wait, begun, places } = setting({ max: 100, least: 4 });
    take(1, { cluster: "quiet" })[0]?.end();
    const [first] = take(4);
    void wait("fifth");
    await scheduler.pass(100);
    expect([begun, places]).toEqual([[], []]);
    first?.end();
    await scheduler.pass(0);
    expect(begun).toEqual(["fifth"]);
  });

  it("a flow whose neighbour asks for twenty at once: has ten under way", () => {
    const { take, wait } = setting({ max: 100, least: 4 });
    take(20, { cluster: "quiet" });
    take(10);
    void wait("eleventh");
  });

  it("a flow that asks for more than twice as much as its neighbour: has a third of the neighbour's demand under way", async () => {
    const { scheduler, take, wait, begun } = setting({ max: 100, least: 3 });
    const quiet = take(12, { cluster: "quiet" });
    const held = take(6);
    for (let i = 0; i < 30; i++) void wait("noisy");
    for (const place of held.slice(0, 2)) place.end();
    await scheduler.pass(0);
    // Four under way are a third of twelve.
    expect(begun).toEqual([]);
    held[2]?.end();
    await scheduler.pass(0);
    expect(begun).toEqual(["noisy"]);
    for (const place of quiet) place.end();
  });

  it("the quiet flow itself: begins at once beside one whose requests wait", () => {
    const { take, wait } = setting({ max: 100, least: 4 });
    take(1, { cluster: "quiet" })[0]?.end();
    take(4);
    for (let i = 0; i < 40; i++) void wait("noisy");
    take(8, { cluster: "quiet" });
  });

  it("a neighbour of a moment ago: half of all seats are free for it; after a minute all are taken", async () => {
    const { scheduler, take, wait, begun } = setting({ max: 100, least: 4 });
    take(1, { cluster: "quiet" })[0]?.end();
    await scheduler.pass(3_000);
    const held = take(50);
    void wait("rest");
    await scheduler.pass(1_000);
    expect(begun).toEqual([]);
    for (const place of held) place.end();
    await scheduler.pass(NEIGHBOUR_MS);
    take(99);
  });

  it("users of one cluster: neighbours as clusters are", () => {
    const { take, wait } = setting({ max: 100, least: 4 });
    take(1, { user: "quiet" });
    take(4, { user: "noisy" });
    void wait("fifth", { user: "noisy" });
  });

  it("another user of a cluster that has its minimum under way: begins at once", () => {
    const { take, wait } = setting({ max: 100, least: 4 });
    take(1, { cluster: "b" })[0]?.end();
    take(4, { user: "holds" });
    void wait("fifth", { user: "holds" });
    take(4, { user: "innocent" });
  });

  it("a thousand users of a cluster that each hold a seat: every other active cluster still has its minimum", () => {
    const { begin, take, queue } = setting({ max: 100, least: 4 });
    for (const cluster of ["b", "c", "d"]) take(1, { cluster })[0]?.end();
    for (let i = 0; i < 1_000; i++) void begin({ user: `u${i}` });
    expect(queue.counts("writes").taken).toBe(100 - 3 * 4);
    for (const cluster of ["b", "c", "d"]) take(4, { cluster });
    expect(queue.counts("writes").taken).toBe(100);
  });

  it("a request that grows beside a neighbour: half of all seats stay free, but for a request that is its flow's only one", () => {
    const { scheduler, take } = setting({ max: 100, least: 4 });
    take(1, { cluster: "b" })[0]?.end();
    const [one, other] = take(2);
    expect([one?.grow(49, scheduler.now), one?.grow(50, scheduler.now)]).toEqual([true, false]);
    other?.end();
    expect(one?.grow(90, scheduler.now)).toBe(true);
  });

  it("exempt requests: no neighbours", () => {
    const { take } = setting({ max: 100, least: 4 });
    take(1, { cluster: "quiet", isExempt: true });
    take(99);
  });

  it("more flows than are remembered: served all the same, and forgotten when they are idle", async () => {
    const { scheduler, take, queue } = setting({ max: 0 });
    for (let i = 0; i < FLOWS_MAX + 10; i++) take(1, { cluster: `c${i % 100}`, user: `u${i}` })[0]?.end();
    expect(queue.counts("writes").taken).toBe(0);
    await scheduler.pass(2 * NEIGHBOUR_MS);
    take(2, { cluster: "one" });
    expect(queue.counts("writes").taken).toBe(2);
  });
});
