/** Polls that wait for a change over sleeping stores: real stores, sockets and relay, in virtual time. */
import { describe, expect, it } from "vitest";
import { ChangeWatch, type Waited } from "../../../../src/api/relay/change-watch";
import { REOPEN_MAX_MS, WATCH_SILENT_MS, WATCH_TEND_MS } from "../../../../src/api/relay/limits";
import { RelayWorld, SimClient } from "../../../support/relay/relay-world";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { aLease } from "../../../support/worlds/store-world";

const SOON_MS = 100;
const MINUTE_MS = 60_000;

async function worldOf(...created: string[]): Promise<RelayWorld> {
  const world = new RelayWorld();
  for (const name of created) await world.create(aLease(name));
  return world;
}

/** The watch of one request, and how its waits end. */
class Request {
  readonly client = new SimClient();
  readonly ends: (Waited | number)[] = [];
  readonly leaving = new AbortController();
  changes: ChangeWatch | undefined;

  constructor(readonly world: RelayWorld) {}

  /** Answers the code of a refusal. */
  begin(...since: number[]): Promise<number | undefined> {
    return this.world.scheduler.run(this.beginWithin(MINUTE_MS, since));
  }

  async beginWithin(forMs: number, since: number[]): Promise<number | undefined> {
    const { world } = this;
    const asked = since.map((revision) => world.askedWatch(this.client, { resourceVersion: String(revision), sendInitialEvents: false }));
    const ports = { relay: world.relay, clock: world.scheduler.clock(), waitUntil: (work: Promise<unknown>) => this.#endsWith(work) };
    const within = { untilMs: world.scheduler.now + forMs, signal: this.leaving.signal };
    const begun = await ChangeWatch.begin(ports, asked, within);
    if (!begun.ok) return begun.error.code;
    this.changes = begun.value;
    return undefined;
  }

  /** The request is over when its watches are, and its sockets with it. */
  #endsWith(work: Promise<unknown>): void {
    void work.then(() => {
      for (const socket of this.world.open) if (socket.client === this.client) socket.die();
    });
  }

  async next(forMs: number): Promise<void> {
    this.ends.push((await this.changes?.next(this.world.scheduler.now + forMs)) ?? 0);
  }
}

async function waiting(world: RelayWorld, since: number, forMs = MINUTE_MS): Promise<Request> {
  const request = new Request(world);
  expect(await request.begin(since)).toBeUndefined();
  void request.next(forMs);
  return request;
}

describe("a wait for a change", () => {
  it("a change: ends it, with the revision up to which the collection is known; the next one waits again", async () => {
    const world = await worldOf("a");
    const request = await waiting(world, 2);
    await world.scheduler.pass(SOON_MS);
    expect(request.ends).toEqual([]);
    await world.create(aLease("b"));
    await world.scheduler.pass(SOON_MS);
    expect([request.ends, request.changes?.take()]).toEqual([["changed"], [3]]);
    void request.next(1_000);
    await world.scheduler.pass(1_000);
    expect(request.ends).toEqual(["changed", "over"]);
  });

  it("a change before it began, and one between two waits: are not missed", async () => {
    const world = await worldOf("a", "b");
    const request = await waiting(world, 2);
    await world.scheduler.pass(SOON_MS);
    expect(request.changes?.take()).toEqual([3]);
    await world.create(aLease("c"));
    await world.scheduler.pass(SOON_MS);
    void request.next(MINUTE_MS);
    await world.scheduler.pass(0);
    expect(request.ends).toEqual(["changed", "changed"]);
  });

  it("a change behind the one that ended a wait, before the place is taken: is no news", async () => {
    const world = await worldOf("a");
    const request = await waiting(world, 2);
    for (const name of ["b", "c"]) {
      await world.create(aLease(name));
      await world.scheduler.pass(SOON_MS);
    }
    expect([request.ends, request.changes?.take()]).toEqual([["changed"], [4]]);
    void request.next(1_000);
    await world.scheduler.pass(1_000);
    expect(request.ends).toEqual(["changed", "over"]);
  });

  it("a watch whose sibling does not begin: runs meanwhile, and the end of the poll ends both", async () => {
    const world = await worldOf("a");
    const request = new Request(world);
    const never = new Promise<never>(() => undefined);
    const asked = [{ resourceVersion: "2" }, { resourceVersion: "2", labelSelector: "other" }].map((overrides, i) =>
      world.askedWatch(request.client, { ...overrides, sendInitialEvents: false }, i === 1 ? { open: () => never } : {}),
    );
    const running: Promise<unknown>[] = [];
    const ports = { relay: world.relay, clock: world.scheduler.clock(), waitUntil: (work: Promise<unknown>) => void running.push(work) };
    const within = { untilMs: world.scheduler.now + MINUTE_MS, signal: request.leaving.signal };
    const begin = ChangeWatch.begin(ports, asked, within);
    await world.scheduler.pass(WATCH_SILENT_MS + WATCH_TEND_MS);
    expect(running).toHaveLength(1);
    const begun = await world.scheduler.run(begin, 2 * MINUTE_MS);
    expect(world.scheduler.now).toBeGreaterThanOrEqual(within.untilMs);
    expect(begun.ok && (await begun.value.next(Infinity))).toBe("over");
    await world.scheduler.run(running[0] ?? never);
  });

  it.each([1, 150])("a client that leaves %i ms after its watches began to begin: nobody waits, and they end", async (afterMs) => {
    const world = await worldOf("a");
    world.latencyMs = 100;
    const request = new Request(world);
    const begun = request.beginWithin(MINUTE_MS, [2]);
    await world.scheduler.pass(afterMs);
    request.leaving.abort();
    expect(await world.scheduler.run(begun, 1)).toBeUndefined();
    void request.next(MINUTE_MS);
    await world.scheduler.pass(1_000);
    expect([request.ends, world.open, world.relay.size]).toEqual([["over"], [], 0]);
  });

  it("many of one collection: share a socket, and a store that sleeps wakes them all; the last one that leaves closes it", async () => {
    const world = await worldOf("a");
    const requests = await Promise.all(Array.from({ length: 20 }, () => waiting(world, 2)));
    for (const name of ["b", "c"]) {
      world.sleep();
      await world.scheduler.pass(MINUTE_MS / 4);
      await world.create(aLease(name));
      await world.scheduler.pass(SOON_MS);
      for (const request of requests) {
        expect(request.ends.splice(0)).toEqual(["changed"]);
        request.changes?.take();
        void request.next(MINUTE_MS);
      }
    }
    expect(world.open).toHaveLength(1);
    for (const { changes } of requests) changes?.leave();
    await world.scheduler.pass(SOON_MS);
    expect([world.open.length, world.relay.size, new Set(requests.flatMap(({ ends }) => ends))]).toEqual([0, 0, new Set(["over"])]);
  });

  it("the one that has opened the socket leaves: the others go on over another one", async () => {
    const world = await worldOf("a");
    const requests = [await waiting(world, 2), await waiting(world, 2)] as const;
    requests[0].changes?.leave();
    await world.scheduler.pass(SOON_MS);
    await world.create(aLease("b"));
    await world.scheduler.pass(SOON_MS);
    expect([requests[0].ends, requests[1].ends, world.open.length]).toEqual([["over"], ["changed"], 1]);
  });

  it("a store that dies between a commit and telling it: tells it over the next socket", async () => {
    const world = await worldOf("a");
    const request = await waiting(world, 2);
    world.latencyMs = 50;
    await world.create(aLease("b"));
    world.die();
    await world.scheduler.pass(REOPEN_MAX_MS);
    expect([request.ends, request.changes?.take()]).toEqual([["changed"], [3]]);
  });

  it("a store that is away for longer than a watch waits: ends it", async () => {
    const world = await worldOf("a");
    const request = await waiting(world, 2);
    world.isUnreachable = true;
    world.die();
    await world.scheduler.pass(2 * REOPEN_MAX_MS);
    expect(request.ends).toEqual(["ended"]);
  });

  it("a stop of the isolate: ends it, and one that begins later", async () => {
    const world = await worldOf("a");
    const request = await waiting(world, 2);
    world.relay.stop();
    await world.scheduler.pass(SOON_MS);
    const later = await waiting(world, 2);
    await world.scheduler.pass(SOON_MS);
    expect([request.ends, later.ends]).toEqual([["ended"], ["ended"]]);
  });

  it("history that does not reach back, and a revision to come: are refused, and what was begun beside them ends", async () => {
    const world = new RelayWorld({ historyBounds: { entriesMax: 2, sizeMax: 1e9, trimEntries: 1 } });
    for (const name of ["a", "b", "c", "d", "e", "f"]) await world.create(aLease(name));
    for (const [revision, code] of [
      [2, 410],
      [99, 504],
    ] as const) {
      expect(await new Request(world).begin(7, revision)).toBe(code);
    }
    await world.scheduler.pass(SOON_MS);
    expect([world.open.length, world.relay.size]).toEqual([0, 0]);
  });

  it("a store that cannot be asked: rejects, and leaves nothing", async () => {
    const world = await worldOf("a");
    const broken = { ...world.askedWatch(new SimClient()), open: () => Promise.reject(new Error("gone")) };
    const ports = { relay: world.relay, clock: world.scheduler.clock(), waitUntil: () => undefined };
    const within = { untilMs: Infinity, signal: new AbortController().signal };
    const whole = world.askedWatch(new SimClient(), { resourceVersion: "2" });
    await expect(world.scheduler.run(ChangeWatch.begin(ports, [whole, broken], within))).rejects.toThrow("gone");
    await world.scheduler.pass(SOON_MS);
    expect(world.open).toEqual([]);
  });
});

/** Polls one after the other, each from what the last one knew; a notice says only that there is something. */
class Poller {
  known: number;
  isOver = false;

  constructor(
    private readonly world: RelayWorld,
    private readonly random: ReturnType<typeof seededRandom>,
  ) {
    this.known = world.store.revision;
  }

  async run(): Promise<void> {
    const { world, random } = this;
    const clock = world.scheduler.clock();
    while (!this.isOver) {
      const request = new Request(world);
      const begun = await this.#begin(request);
      if (begun) await request.next(1_000 + random.below(MINUTE_MS));
      request.changes?.leave();
      await clock.sleep(SOON_MS);
      // The view answers what the store has.
      if (!begun || request.ends[0] !== "over") this.known = world.store.revision;
    }
  }

  async #begin(request: Request): Promise<boolean> {
    const { world } = this;
    const asked = [world.askedWatch(request.client, { resourceVersion: String(this.known), sendInitialEvents: false })];
    const waitUntil = (work: Promise<unknown>) =>
      void work.then(() => {
        for (const socket of world.open) if (socket.client === request.client) socket.die();
      });
    const within = { untilMs: Infinity, signal: request.leaving.signal };
    const begun = await ChangeWatch.begin({ relay: world.relay, clock: world.scheduler.clock(), waitUntil }, asked, within);
    if (begun.ok) request.changes = begun.value;
    return begun.ok;
  }
}

/** Until everybody knows, whatever happened: two looks of a request that was dropped, and the pauses of who opens a socket anew. */
const STALE_MAX_MS = 2 * REOPEN_MAX_MS + WATCH_SILENT_MS + 2 * WATCH_TEND_MS;
const HISTORIES = 15;

it(`random histories (${HISTORIES} seeds): every poll knows each change soon, whatever sleeps, dies or gets lost, and ten polls need one socket`, async () => {
  const counts = { sleeps: 0, deaths: 0, lost: 0, told: 0 };
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const random = seededRandom(seed);
    const world = new RelayWorld({ seed, historyBounds: { entriesMax: 14, sizeMax: 1e9, trimEntries: 3 } });
    world.latencyMs = pick(random, [0, 1, 20, 300]);
    await world.create(aLease("first"));
    const pollers = Array.from({ length: 10 }, () => new Poller(world, random));
    const runs = pollers.map((poller) => poller.run());
    for (let act = 0; act < 60; act++) {
      const drawn = random.below(20);
      if (drawn < 8) await world.create(aLease(`l${act}`));
      else if (drawn < 12) {
        counts.sleeps++;
        world.sleep();
      } else if (drawn < 14) {
        counts.deaths++;
        world.die();
      } else if (drawn < 16) {
        counts.lost++;
        world.open[0]?.lose();
      }
      await world.scheduler.pass(random.below(3_000));
      if (random.below(6) > 0) continue;
      await world.scheduler.pass(STALE_MAX_MS);
      const { revision } = world.store;
      expect(
        pollers.map(({ known }) => known),
        `seed ${seed}, act ${act}`,
      ).toEqual(pollers.map(() => revision));
      expect(world.open.length, `seed ${seed}, act ${act}: sockets`).toBeLessThanOrEqual(1);
      counts.told++;
    }
    for (const poller of pollers) poller.isOver = true;
    await world.scheduler.run(Promise.all(runs), 10 * MINUTE_MS);
    expect(world.relay.size, `seed ${seed}: watches at the end`).toBe(0);
  }
  for (const [name, count] of Object.entries(counts)) expect(count, name).toBeGreaterThan(HISTORIES * 2);
}, 60_000);
