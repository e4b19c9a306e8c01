import { describe, expect, it } from "vitest";
import { PENDING_RELEASES_MAX, SUPPLY_BATCH_MAX } from "../../../../src/addresses/rpc/limits";
import { PendingReleases } from "../../../../src/addresses/ledger/pending-releases";
import { unsupported } from "../../../../src/api/rpc/protocol";
import type { PendingRelease } from "../../../../src/addresses/ledger/release-storage";
import { aTopology, LedgerWorld } from "../../../support/worlds/ledger-world";

class ReleaseWorld extends LedgerWorld {
  releases = new PendingReleases(this.ports);

  /** As the commit of a change does it. */
  drop(...addresses: string[]): Promise<void> {
    return this.releases.send(this.commit(...addresses));
  }

  commit(...addresses: string[]): PendingRelease[] {
    const made = this.made(...addresses);
    this.storage.transaction(() => this.releases.write(made));
    return made;
  }

  made(...addresses: string[]): PendingRelease[] {
    return addresses.map((address) => this.releases.made({ address, token: `t-${address}`, gen: { epoch: 1, counter: 1 } }));
  }

  /** For a Service that wants this address; "" = any. */
  hurry(address: string, before?: number): Promise<void> {
    return this.releases.hurry({ family: "IPv4", address }, before);
  }

  restart(): void {
    this.releases = new PendingReleases(this.ports);
  }

  get left(): string[] {
    const { lists, releases } = this.storage;
    const listed = lists.values().flatMap((list) => list.releases);
    return [...releases.values(), ...listed.filter(({ token }) => this.releases.has(token))].map(({ address }) => address);
  }
}

describe("a release", () => {
  it("order: the IPAddress first, then the owner's row; one call each for all of a turn", async () => {
    const world = new ReleaseWorld();
    await world.scheduler.run(Promise.all([world.drop("10.0.0.5"), world.drop("10.0.0.6", "10.0.0.7")]));
    expect(world.calls).toEqual(["deleteMany t-10.0.0.5,t-10.0.0.6,t-10.0.0.7", "topology", "release a t-10.0.0.5,t-10.0.0.6,t-10.0.0.7"]);
    expect([world.left, world.releases.count]).toEqual([[], 0]);
  });

  it("several of one turn: one value on disk, which goes when the last of them has", async () => {
    const world = new ReleaseWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    let answer = (): void => undefined;
    world.release = (owner) => (owner === "a" ? "released" : new Promise((resolve) => (answer = () => resolve("released"))));
    const dropped = world.drop("10.0.0.5", "10.0.0.6", "10.0.1.5");
    const onDisk = (): number[] => [world.storage.lists.size, world.storage.releases.size];
    expect([onDisk(), world.left.length]).toEqual([[1, 0], 3]);
    await world.scheduler.pass(100);
    expect([onDisk(), world.left]).toEqual([[1, 0], ["10.0.1.5"]]);
    answer();
    await world.scheduler.run(dropped);
    expect([onDisk(), world.releases.count]).toEqual([[0, 0], 0]);
  });

  it("several of one turn, and the object dies: all of them are sent again, by the alarm of the next start", async () => {
    const world = new ReleaseWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    world.release = (owner) => (owner === "a" ? "released" : new Promise(() => undefined));
    void world.drop("10.0.0.5", "10.0.1.5");
    await world.scheduler.pass(100);
    world.restart();
    expect([world.releases.count, world.releases.isPending({ family: "IPv4", address: "10.0.0.5" }, undefined)]).toEqual([2, true]);
    world.releases.rearm();
    expect(world.alarms).toEqual([100]);
    world.release = () => "released";
    await world.scheduler.run(world.releases.drain());
    expect([world.left, world.releases.count, world.storage.lists.size]).toEqual([[], 0, 0]);
  });

  it("one of several that is put off: gets a row of its own, and the value goes with the others", async () => {
    const world = new ReleaseWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    world.release = (owner) => (owner === "a" ? "released" : Promise.reject(new Error("overloaded")));
    await world.scheduler.run(world.drop("10.0.0.5", "10.0.1.5", "10.0.1.6"));
    expect(world.storage.lists.size).toBe(0);
    expect(world.storage.releases.values().map(({ token, attempts }) => [token, attempts])).toEqual([
      ["t-10.0.1.5", 1],
      ["t-10.0.1.6", 1],
    ]);
    world.restart();
    expect(world.left).toEqual(["10.0.1.5", "10.0.1.6"]);
  });

  it("several that a create waits for after a start: sent before their time", async () => {
    const world = new ReleaseWorld();
    world.commit("10.0.0.5", "10.0.0.6");
    world.restart();
    await world.scheduler.run(world.hurry("10.0.0.6"));
    expect(world.left).toEqual(["10.0.0.5"]);
    await world.scheduler.run(world.hurry(""));
    expect([world.left, world.storage.lists.size]).toEqual([[], 0]);
  });

  it("a lost turn: what it wrote is in no list", async () => {
    const world = new ReleaseWorld();
    expect(() =>
      world.storage.transaction(() => {
        world.releases.write(world.made("10.0.0.5", "10.0.0.6"));
        throw new Error("disk");
      }),
    ).toThrow("disk");
    world.releases.reload();
    await world.scheduler.run(world.drop("10.0.0.7", "10.0.0.8"));
    expect([world.countOf("deleteMany t-10.0.0.7,t-10.0.0.8"), world.releases.count, world.storage.lists.size]).toEqual([1, 0, 0]);
  });

  it("delete of the IPAddress that fails: the owner is not called until the delete succeeds", async () => {
    const world = new ReleaseWorld();
    world.deleteAddresses = () => Promise.reject(new Error("no connection"));
    await world.scheduler.run(world.drop("10.0.0.5"));
    expect(world.countOf("release")).toBe(0);
    expect([world.left, world.releases.count]).toEqual([["10.0.0.5"], 1]);
    world.deleteAddresses = () => Promise.resolve();
    await world.scheduler.pass(1_000);
    await world.scheduler.run(world.releases.drain());
    expect(world.left).toEqual([]);
  });

  it("overloaded owner: only its rows stay, and they are tried again with growing delays (hazard 17)", async () => {
    const world = new ReleaseWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    world.release = (owner) => (owner === "a" ? Promise.reject(new Error("overloaded")) : "released");
    await world.scheduler.run(world.drop("10.0.0.5", "10.0.1.5"));
    expect(world.left).toEqual(["10.0.0.5"]);
    const delays: number[] = [];
    for (let i = 0; i < 12; i++) {
      const delay = (world.storage.releaseGet("t-10.0.0.5")?.dueAt ?? 0) - world.scheduler.now;
      delays.push(delay);
      expect(world.alarms.at(-1)).toBeLessThanOrEqual(Math.max(delay, 100));
      await world.scheduler.pass(delay);
      await world.scheduler.run(world.releases.drain());
    }
    expect(delays[0]).toBeLessThanOrEqual(300);
    expect(Math.max(...delays)).toBeLessThanOrEqual(90_000);
    expect(delays[10]).toBeGreaterThanOrEqual(30_000);
    world.release = () => "released";
    await world.scheduler.pass(120_000);
    await world.scheduler.run(world.releases.drain());
    expect([world.left, world.releases.count]).toEqual([[], 0]);
  });

  it.each([
    new TypeError('The RPC receiver does not implement the method "release".'),
    unsupported("release in version 2 of the protocol"),
  ])("an owner of another release, %s: the row stays, and goes once the owner knows the call (hazard 29)", async (refusal) => {
    const world = new ReleaseWorld();
    world.release = () => Promise.reject(refusal);
    await world.scheduler.run(world.drop("10.0.0.5"));
    expect([world.left, world.releases.has("t-10.0.0.5")]).toEqual([["10.0.0.5"], true]);
    // A deployment replaces the owner within five minutes.
    world.release = () => "released";
    await world.scheduler.pass(300_000);
    await world.scheduler.run(world.releases.drain());
    expect([world.left, world.releases.count]).toEqual([[], 0]);
  });

  it("row that waits for its owner's answer: sent in no other round", async () => {
    const world = new ReleaseWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    const answers: (() => void)[] = [];
    world.release = (owner) =>
      owner === "a" ? Promise.reject(new Error("overloaded")) : new Promise((resolve) => answers.push(() => resolve("released")));
    // What puts a's row off is lost with its transaction.
    const dropped = world.drop("10.0.0.5", "10.0.1.5");
    const { releaseAdd } = world.storage;
    world.storage.releaseAdd = ({ token }) => {
      world.storage.releaseAdd = releaseAdd;
      throw new Error(`the disk is full: ${token}`);
    };
    await world.scheduler.pass(1_000);
    void world.releases.drain();
    await world.scheduler.pass(100);
    expect(world.countOf("release b")).toBe(1);
    for (const answer of answers) answer();
    await world.scheduler.run(dropped);
    expect([world.left, world.releases.count]).toEqual([["10.0.0.5"], 1]);
  });

  it("stale after a move: sent to the owner of the newest topology before the change is answered (hazard 17)", async () => {
    const world = new ReleaseWorld();
    world.release = (owner) => (owner === "a" ? "stale" : "released");
    world.topology = aTopology(1, { a: "10.0.0.0/24" });
    const first = world.drop("10.0.0.5");
    world.coordinator = () => {
      const answer = structuredClone(world.topology);
      world.topology = aTopology(2, { b: "10.0.0.0/24" });
      return Promise.resolve(answer);
    };
    await world.scheduler.run(first);
    expect([world.left, world.releases.count]).toEqual([[], 0]);
    expect(world.calls.filter((call) => call.startsWith("release"))).toEqual(["release a t-10.0.0.5", "release b t-10.0.0.5"]);
  });

  it("stale while the segment is frozen: tried again with growing pauses for two seconds, then put off", async () => {
    const world = new ReleaseWorld();
    let thawed = false;
    world.release = () => (thawed ? "released" : "stale");
    const startedAt = world.scheduler.now;
    await world.scheduler.run(world.drop("10.0.0.5"));
    expect(world.scheduler.now - startedAt).toBeGreaterThanOrEqual(2_000);
    expect(world.scheduler.now - startedAt).toBeLessThan(2_500);
    expect(world.countOf("release")).toBeGreaterThan(8);
    expect(world.countOf("release")).toBeLessThan(25);
    expect(world.countOf("topology")).toBe(world.countOf("release") + 1);
    expect(world.left).toEqual(["10.0.0.5"]);
    await world.scheduler.pass(400);
    const dropped = world.scheduler.run(world.releases.drain());
    await world.scheduler.pass(50);
    thawed = true;
    await dropped;
    expect(world.left).toEqual([]);
  });

  it("stale beside a silent owner: sent to the new owner at once", async () => {
    const world = new ReleaseWorld();
    world.topology = aTopology(1, { silent: "10.0.0.0/24", moved: "10.0.1.0/24" });
    await world.scheduler.run(world.source.current());
    world.topology = aTopology(2, { silent: "10.0.0.0/24", heir: "10.0.1.0/24" });
    world.release = (owner) => (owner === "silent" ? new Promise(() => undefined) : owner === "moved" ? "stale" : "released");
    void world.drop("10.0.0.5", "10.0.1.5");
    await world.scheduler.pass(100);
    expect(world.left).toEqual(["10.0.0.5"]);
  });

  it("address in no claim: done at the Coordinator's epoch only, else sent to the owner that it names (hazard 17)", async () => {
    const world = new ReleaseWorld();
    await world.scheduler.run(world.drop("10.9.0.5"));
    expect([world.left, world.countOf("topology"), world.countOf("release")]).toEqual([[], 2, 0]);

    world.topology = aTopology(2, { a: "10.0.0.0/24", b: "10.9.0.0/24" });
    await world.scheduler.run(world.drop("10.9.0.6"));
    expect([world.left, world.calls.at(-1)]).toEqual([[], "release b t-10.9.0.6"]);
  });
});

describe("releases that creates wait for", () => {
  const HOUR_MS = 3_600_000;

  /** An outbox whose row waits for an hour. */
  function waiting(address = "10.0.0.5"): ReleaseWorld {
    const world = new ReleaseWorld();
    const [row] = world.commit(address);
    if (!row) throw new Error("no row");
    world.storage.releaseDefer(row.token, 5, world.scheduler.now + HOUR_MS);
    world.restart();
    return world;
  }

  it("pending: true for its address, and for any address of its family that ranges give out", () => {
    const { releases } = waiting();
    const ask = (family: "IPv4" | "IPv6", address: string, range = "10.0.0.0/24"): boolean =>
      releases.isPending({ family, address }, aTopology(1, { a: range }));
    expect([ask("IPv4", "10.0.0.5"), ask("IPv4", "10.0.0.6")]).toEqual([true, false]);
    expect([ask("IPv4", ""), ask("IPv4", "", "10.1.0.0/24"), ask("IPv6", "")]).toEqual([true, false, false]);
  });

  it.each(["10.0.0.5", ""])("pending (%j): nothing is read from the disk", (address) => {
    const world = waiting();
    world.storage.releaseGet =
      world.storage.releasesAll =
      world.storage.releasesDue =
        () => {
          throw new Error("read");
        };
    expect(world.releases.isPending({ family: "IPv4", address }, world.topology)).toBe(true);
  });

  it.each(["10.0.0.5", ""])("hurried (%j): sent before its time, and gone", async (address) => {
    const world = waiting();
    await world.scheduler.run(world.hurry(address));
    expect([world.left, world.releases.count]).toEqual([[], 0]);
  });

  it("hurried in vain: the row keeps its time and its attempts", async () => {
    const world = waiting();
    const before = world.storage.releaseGet("t-10.0.0.5");
    world.release = () => Promise.reject(new Error("overloaded"));
    await world.scheduler.run(world.hurry("10.0.0.5"));
    expect(world.countOf("release")).toBe(1);
    expect(world.storage.releaseGet("t-10.0.0.5")).toEqual(before);
  });

  it("hurried by many: one call at a time, ten a second at most", async () => {
    const world = waiting();
    world.release = () => Promise.reject(new Error("overloaded"));
    for (const endAt = world.scheduler.now + 1_000; world.scheduler.now < endAt;) {
      await world.scheduler.run(Promise.all(Array.from({ length: 20 }, () => world.hurry(""))));
      await world.scheduler.pass(5);
    }
    expect(world.countOf("release")).toBeGreaterThanOrEqual(9);
    expect(world.countOf("release")).toBeLessThanOrEqual(11);
  });

  it("hurried while a round is under way: resolves with the first row that is gone", async () => {
    const world = new ReleaseWorld();
    world.topology = aTopology(1, { silent: "10.0.0.0/24", b: "10.0.1.0/24" });
    let answer: () => void = () => undefined;
    world.release = (owner) => new Promise((resolve) => owner === "b" && (answer = () => resolve("released")));
    void world.drop("10.0.0.5", "10.0.1.5");
    await world.scheduler.pass(10);
    let isDone = false;
    void world.hurry("10.0.1.5").then(() => (isDone = true));
    await world.scheduler.pass(10);
    expect(isDone).toBe(false);
    answer();
    await world.scheduler.pass(10);
    expect([isDone, world.countOf("release b"), world.left]).toEqual([true, 1, ["10.0.0.5"]]);
  });

  it("hurried, no row of the address is left: resolves at once, whatever else is under way", async () => {
    const world = new ReleaseWorld();
    world.release = () => new Promise(() => undefined);
    void world.drop("10.0.0.5");
    await world.scheduler.pass(10);
    const startedAt = world.scheduler.now;
    await world.scheduler.run(world.hurry("10.0.0.6"));
    expect(world.scheduler.now).toBe(startedAt);
  });

  it.each([
    { what: "one of its family has gone since the draw", gone: "10.0.1.5", waits: false },
    { what: "one of another family has gone since the draw", gone: "fd00::5", waits: true },
  ])("hurried for any address, $what: waits for the others: $waits", async ({ gone, waits }) => {
    const world = new ReleaseWorld();
    world.topology = aTopology(1, { silent: "10.0.0.0/24", b: "10.0.1.0/24", c: "fd00::/112" });
    world.release = (owner) => (owner === "silent" ? new Promise(() => undefined) : "released");
    const before = world.releases.goneOf("IPv4");
    void world.drop("10.0.0.5", gone);
    await world.scheduler.pass(10);
    expect(world.left).toEqual(["10.0.0.5"]);
    let isDone = false;
    void world.hurry("", before).then(() => (isDone = true));
    await world.scheduler.pass(10);
    expect(isDone).toBe(!waits);
  });

  it("hurried, outbox that cannot be read: logged, no rejection", async () => {
    const world = waiting();
    world.storage.releaseGet = () => {
      throw new Error("disk");
    };
    await world.scheduler.run(world.hurry("10.0.0.5"));
    expect(world.logged).toEqual(["error pending releases could not be read"]);
  });
});

describe("the outbox", () => {
  it("restart after a crash: the object sends the rows", async () => {
    const world = new ReleaseWorld();
    world.commit("10.0.0.5", "10.0.0.6");
    world.restart();
    expect(world.releases.count).toBe(2);
    world.releases.rearm();
    expect(world.alarms.at(-1)).toBe(100);
    await world.scheduler.run(world.releases.drain());
    expect([world.left, world.releases.count]).toEqual([[], 0]);
  });

  it("alarm in the turn that added a row: the row is sent and counted once", async () => {
    const world = new ReleaseWorld();
    await world.scheduler.run(world.drop("10.0.0.9"));
    const sent = world.drop("10.0.0.5");
    const drained = world.releases.drain();
    await world.scheduler.run(Promise.all([sent, drained]));
    expect(world.countOf("release a t-10.0.0.5")).toBe(1);
    expect(world.releases.count).toBe(0);
  });

  it("more rows than one call takes wait for an owner that is silent: the rows of others are sent (rule 19)", async () => {
    const world = new ReleaseWorld();
    world.topology = aTopology(1, { silent: "10.0.0.0/16", b: "10.1.0.0/24" });
    world.release = (owner) => (owner === "silent" ? new Promise(() => undefined) : Promise.reject(new Error("overloaded")));
    void world.drop("10.1.0.5");
    await world.scheduler.pass(10);
    void world.drop(...Array.from({ length: SUPPLY_BATCH_MAX + 100 }, (_, i) => `10.0.${i >> 8}.${i & 255}`));
    world.release = (owner) => (owner === "silent" ? new Promise(() => undefined) : "released");
    // The silent rows are due before the one that was put off.
    await world.scheduler.pass(1_000);
    void world.releases.drain();
    await world.scheduler.pass(100);
    expect(world.left).not.toContain("10.1.0.5");
    expect(world.left).toHaveLength(SUPPLY_BATCH_MAX + 100);
  });

  it("alarm while a call is under way: no second call, and no other alarm before the call has ended", async () => {
    const world = new ReleaseWorld();
    world.release = () => new Promise(() => undefined);
    const dropped = world.drop("10.0.0.5");
    await world.scheduler.pass(10);
    await world.scheduler.run(world.releases.drain());
    expect([world.alarms, world.countOf("release")]).toEqual([[], 1]);
    await world.scheduler.run(dropped);
    expect(world.left).toEqual(["10.0.0.5"]);
    expect(world.alarms.length).toBeGreaterThan(0);
  });

  it("alarm while a call is under way: another row has its alarm at its own time", async () => {
    const world = new ReleaseWorld();
    world.topology = aTopology(1, { silent: "10.0.0.0/24", b: "10.0.1.0/24" });
    world.release = (owner) => (owner === "silent" ? new Promise(() => undefined) : Promise.reject(new Error("overloaded")));
    await world.scheduler.run(world.drop("10.0.1.5"));
    const dueAt = world.storage.releaseGet("t-10.0.1.5")?.dueAt ?? 0;
    void world.drop("10.0.0.5");
    await world.scheduler.pass(10);
    world.alarms.length = 0;
    await world.scheduler.run(world.releases.drain());
    expect(world.alarms).toEqual([Math.max(100, dueAt - world.scheduler.now)]);
  });

  it("a row that cannot be put off: has an alarm all the same, 100 ms later", async () => {
    const world = new ReleaseWorld();
    world.release = () => Promise.reject(new Error("overloaded"));
    world.storage.releaseDefer = () => {
      throw new Error("the disk is full");
    };
    await world.scheduler.run(world.drop("10.0.0.5"));
    expect([world.alarms, world.left]).toEqual([[100], ["10.0.0.5"]]);
  });

  it("every row sent: no alarm, and no read of the disk", async () => {
    const world = new ReleaseWorld();
    world.storage.releasesDue = () => {
      throw new Error("read");
    };
    await world.scheduler.run(world.drop("10.0.0.5"));
    expect([world.left, world.alarms, world.logged]).toEqual([[], [], []]);
  });

  it("1,200 rows: sent in three calls", async () => {
    const world = new ReleaseWorld();
    await world.scheduler.run(world.drop(...Array.from({ length: 1_200 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)));
    expect(world.countOf("deleteMany")).toBe(3);
    expect([world.left, world.releases.count]).toEqual([[], 0]);
  });

  it("outbox at its limit: has no room for more rows", () => {
    const world = new ReleaseWorld();
    world.storage.releasesAll = function* () {
      for (let i = 2; i < PENDING_RELEASES_MAX; i++) yield { token: `t-${i}`, address: "10.0.0.5" };
    };
    world.restart();
    expect([world.releases.hasRoom(2), world.releases.hasRoom(3)]).toEqual([true, false]);
  });

  it("outbox that cannot be read: logged, no rejection", async () => {
    const world = new ReleaseWorld();
    world.storage.releasesDue = () => {
      throw new Error("disk");
    };
    await world.scheduler.run(world.releases.drain());
    expect(world.logged).toEqual(["error pending releases could not be read"]);
  });
});
