import { describe, expect, it } from "vitest";
import { Feed, type Follower, NO_PLACE, type OpenedSocket } from "../../../../src/api/relay/feed";
import {
  FEED_KEPT_BYTES,
  FEED_PATIENCE_MS,
  FEED_WRITES_PER_TURN,
  FEEDS_KEPT_BYTES,
  ROOM_LOOK_MAX_MS,
  ROOM_LOOK_MS,
} from "../../../../src/api/relay/limits";
import { RELAY_ANSWER_BYTES, RELAY_WINDOW_BYTES, type RelayFrame } from "../../../../src/api/store/watch/relay-frames";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const through = (revision: number, content = `${String(revision)} `): RelayFrame => ({
  kind: "through",
  revision,
  bytes: new TextEncoder().encode(content),
});

class Client implements Follower {
  feed: Feed | undefined;
  text = "";
  writes = 0;
  wakes = 0;
  ends = 0;
  isSlow = false;

  constructor(public place: number) {}

  take(bytes: Uint8Array): void {
    this.text += text(bytes);
    this.writes++;
  }

  end(): void {
    this.ends++;
    this.feed?.leave(this);
  }

  hasRoom(): boolean {
    return !this.isSlow;
  }

  wake(): void {
    this.wakes++;
  }
}

class World {
  readonly scheduler = new SimScheduler();
  readonly sent: string[] = [];
  closes = 0;
  ends = 0;
  readonly owner = new Client(0);

  readonly kept = { sum: 0 };

  feed(since: number, incarnation = "one", isShared = true): Feed {
    const socket: OpenedSocket = {
      source: "",
      incarnation,
      listen: () => undefined,
      send: (message) => void this.sent.push(message),
      close: () => void this.closes++,
    };
    return new Feed(socket, since, {
      clock: this.scheduler.clock(),
      ...(isShared ? { kept: this.kept } : {}),
      owner: this.owner,
      moved: () => undefined,
      ended: () => void this.ends++,
    });
  }
}

describe("places", () => {
  it("a joiner: at each end of a chunk within what is kept, neither below, above nor inside of one", () => {
    const feed = new World().feed(5);
    for (const revision of [8, 9, 12]) feed.receive(through(revision));
    feed.receive(through(20, ""));
    expect(Array.from({ length: 22 }, (_, place) => place).filter((place) => feed.takes(place))).toEqual([
      5, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19, 20,
    ]);
    expect(feed.takes(NO_PLACE)).toBe(false);
    const clients = [5, 8, 9, 12, 15].map((place) => new Client(place));
    for (const client of clients) feed.follow(client);
    expect(clients.map((client) => [client.text, client.place])).toEqual([
      ["8 9 12 ", 20],
      ["9 12 ", 20],
      ["12 ", 20],
      ["", 20],
      ["", 20],
    ]);
  });

  it("what is kept: is bounded, and who stands below it is not taken", () => {
    const feed = new World().feed(1);
    for (let revision = 2; revision < 10; revision++) feed.receive(through(revision, "x".repeat(FEED_KEPT_BYTES / 4)));
    expect([1, 5, 6, 9].map((place) => feed.takes(place))).toEqual([false, true, true, true]);
  });

  it("what is kept: nothing where nobody can come, and nothing beyond what all feeds may; what is kept counts until the end", () => {
    const world = new World();
    const [alone, shared] = [world.feed(1, "one", false), world.feed(1)];
    for (const feed of [alone, shared]) feed.receive(through(2));
    expect([alone.takes(1), alone.takes(2), shared.takes(1)]).toEqual([false, true, true]);
    expect(world.kept.sum).toBe(2);
    world.kept.sum += FEEDS_KEPT_BYTES;
    shared.receive(through(3));
    expect([shared.takes(1), shared.takes(3), world.kept.sum]).toEqual([false, true, FEEDS_KEPT_BYTES]);
    world.kept.sum = 0;
    shared.receive(through(4));
    expect(world.kept.sum).toBe(2);
    shared.end();
    expect(world.kept.sum).toBe(0);
  });

  it("before the start is complete: nobody joins; its client stands where the store says", () => {
    const feed = new World().feed(NO_PLACE);
    const client = new Client(NO_PLACE);
    feed.follow(client);
    feed.receive({ ...through(7, "objects "), kind: "start" });
    expect([client.text, client.place, feed.takes(7)]).toEqual(["objects ", NO_PLACE, false]);
    feed.receive({ ...through(7, ""), kind: "live" });
    expect([client.place, feed.takes(7), feed.takes(6)]).toEqual([7, true, false]);
  });
});

it("a start that cannot be completed: its client gets the ERROR event, ends there, and goes on nowhere", () => {
  const world = new World();
  const feed = world.feed(NO_PLACE);
  const client = new Client(NO_PLACE);
  feed.follow(client);
  feed.receive({ ...through(7, "objects "), kind: "start" });
  feed.receive({ ...through(7, "ERROR"), kind: "last" });
  feed.end();
  expect([client.text, client.ends, client.place, client.feed, feed.isOpen]).toEqual(["objects ERROR", 1, NO_PLACE, undefined, false]);
});

describe("handing out", () => {
  it("many followers: in turns, between which what comes is joined", async () => {
    const world = new World();
    const feed = world.feed(1);
    const clients = Array.from({ length: 2 * FEED_WRITES_PER_TURN + 1 }, () => new Client(1));
    for (const client of clients) feed.follow(client);
    for (const revision of [2, 3, 4]) feed.receive(through(revision));
    expect(clients.filter((client) => client.writes > 0)).toHaveLength(FEED_WRITES_PER_TURN);
    await world.scheduler.pass(0);
    expect(new Set(clients.map((client) => client.text))).toEqual(new Set(["2 3 4 "]));
    expect([clients[0]?.writes, clients.at(-1)?.writes]).toEqual([2, 1]);
  });

  it("the end in the middle of it: all have the same, and stand at one place", () => {
    const world = new World();
    const feed = world.feed(1);
    const clients = Array.from({ length: 2 * FEED_WRITES_PER_TURN }, () => new Client(1));
    for (const client of clients) feed.follow(client);
    for (const revision of [2, 3]) feed.receive(through(revision));
    feed.end();
    feed.end();
    expect(new Set(clients.map((client) => `${client.text}${String(client.place)} ${String(client.wakes)}`))).toEqual(new Set(["2 3 3 1"]));
    expect([world.ends, world.closes, clients.filter((client) => client.feed)]).toEqual([1, 1, []]);
    feed.receive(through(4));
    expect(clients[0]?.text).toBe("2 3 ");
  });
});

describe("credit", () => {
  it("small events: no answer; then the sum of what was taken", () => {
    const world = new World();
    const feed = world.feed(1);
    feed.follow(new Client(1));
    for (let revision = 2; revision < 6; revision++) feed.receive(through(revision, "x".repeat(RELAY_ANSWER_BYTES / 2)));
    expect(world.sent).toEqual([String(RELAY_ANSWER_BYTES), String(2 * RELAY_ANSWER_BYTES)]);
  });

  it("a slow client alone: no answer until it has room", async () => {
    const world = new World();
    const feed = world.feed(1);
    const client = new Client(1);
    feed.follow(client);
    client.isSlow = true;
    feed.receive(through(2, "x".repeat(RELAY_WINDOW_BYTES)));
    await world.scheduler.pass(10 * FEED_PATIENCE_MS);
    expect([world.sent, client.feed]).toEqual([[], feed]);
    client.isSlow = false;
    await world.scheduler.pass(ROOM_LOOK_MAX_MS);
    expect(world.sent).toEqual([String(RELAY_WINDOW_BYTES)]);
  });

  it("a client that takes at once what it was given: its store hears it after the first look", async () => {
    const world = new World();
    const feed = world.feed(1);
    const client = new Client(1);
    feed.follow(client);
    client.isSlow = true;
    feed.receive(through(2, "x".repeat(RELAY_WINDOW_BYTES)));
    client.isSlow = false;
    await world.scheduler.pass(ROOM_LOOK_MS);
    expect(world.sent).toEqual([String(RELAY_WINDOW_BYTES)]);
  });

  it("a slow client beside others: leaves when their patience is over", async () => {
    const world = new World();
    const feed = world.feed(1);
    const [slow, quick] = [new Client(1), new Client(1)];
    for (const client of [slow, quick]) feed.follow(client);
    slow.isSlow = true;
    feed.receive(through(2, "x".repeat(RELAY_WINDOW_BYTES)));
    await world.scheduler.pass(FEED_PATIENCE_MS - 1);
    expect([world.sent, slow.feed]).toEqual([[], feed]);
    await world.scheduler.pass(1);
    expect([world.sent, slow.feed, slow.wakes, quick.feed]).toEqual([[String(RELAY_WINDOW_BYTES)], undefined, 1, feed]);
  });
});

describe("patience", () => {
  async function crowd(slow: number): Promise<{ world: World; feed: Feed; clients: Client[] }> {
    const world = new World();
    const feed = world.feed(1);
    const clients = [new Client(1), new Client(1), new Client(1)];
    for (const client of clients) feed.follow(client);
    for (const client of clients.slice(0, slow)) client.isSlow = true;
    feed.receive(through(2, "x".repeat(RELAY_WINDOW_BYTES)));
    await world.scheduler.pass(0);
    return { world, feed, clients };
  }

  it("however often the feed is looked at: it ends in time", async () => {
    const { world, feed, clients } = await crowd(1);
    for (let ms = 0; ms < 2 * FEED_PATIENCE_MS; ms += FEED_PATIENCE_MS / 2) {
      feed.tend();
      await world.scheduler.pass(FEED_PATIENCE_MS / 2);
    }
    expect([clients[0]?.feed, clients[1]?.feed, world.sent]).toEqual([undefined, feed, [String(RELAY_WINDOW_BYTES)]]);
  });

  it("one who has gone meanwhile, to another feed: stays there", async () => {
    const { world, feed, clients } = await crowd(1);
    const other = world.feed(2);
    const [slow] = clients;
    if (!slow) throw new Error("nobody");
    feed.leave(slow);
    other.follow(slow);
    await world.scheduler.pass(2 * FEED_PATIENCE_MS);
    expect(slow.feed).toBe(other);
  });

  it("all are slow: all go on from their places, and the socket goes", async () => {
    const { world, feed, clients } = await crowd(3);
    await world.scheduler.pass(FEED_PATIENCE_MS);
    expect([clients.map((client) => client.feed), feed.isOpen]).toEqual([[undefined, undefined, undefined], false]);
    expect(world.owner.wakes).toBeGreaterThan(0);
    feed.tend();
    expect([world.closes, world.ends, world.sent]).toEqual([1, 1, []]);
  });
});

describe("a fault while it hands out", () => {
  it("ends the feed: who had nothing goes on from where he stood", () => {
    const world = new World();
    const feed = world.feed(1);
    const [bad, other] = [new Client(1), new Client(1)];
    for (const client of [bad, other]) feed.follow(client);
    bad.take = () => {
      throw new Error("no memory");
    };
    feed.receive(through(2));
    expect([feed.isOpen, bad.feed, other.feed, other.place, other.text]).toEqual([false, undefined, undefined, 1, ""]);
    expect([world.closes, world.ends]).toEqual([1, 1]);
  });
});

describe("two feeds", () => {
  it("at one place: the followers of one go over; the other's socket is closed by its own request", () => {
    const world = new World();
    const [small, large] = [world.feed(5), world.feed(3)];
    const client = new Client(5);
    small.follow(client);
    expect(small.moveTo(large)).toBe(false);
    large.receive(through(5));
    large.receive(through(6));
    expect(small.moveTo(large)).toBe(true);
    expect([client.feed, client.text, client.place, world.closes]).toEqual([large, "6 ", 6, 0]);
    small.tend();
    expect([world.closes, world.ends]).toEqual([1, 1]);
  });

  it("of other incarnations, or with a client without room: stay apart", () => {
    const world = new World();
    const [one, other, same] = [world.feed(5), world.feed(5, "two"), world.feed(5)];
    const client = new Client(5);
    one.follow(client);
    expect(one.moveTo(other)).toBe(false);
    client.isSlow = true;
    expect(one.moveTo(same)).toBe(false);
    client.isSlow = false;
    expect(one.moveTo(same)).toBe(true);
  });

  it("without followers: is taken by nobody, and its socket goes", () => {
    const world = new World();
    const feed = world.feed(5);
    const client = new Client(5);
    feed.follow(client);
    feed.leave(client);
    expect([feed.takes(5), feed.isOpen, world.owner.wakes]).toEqual([false, false, 1]);
    feed.tend();
    expect(world.closes).toBe(1);
  });
});
