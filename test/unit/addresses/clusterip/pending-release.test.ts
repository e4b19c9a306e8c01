import { describe, expect, it } from "vitest";
import { PENDING_RELEASES_MAX } from "../../../../src/core/base/limits";
import { type PendingRelease, PendingReleases } from "../../../../src/addresses/clusterip/pending-release";
import { aTopology, LedgerWorld } from "../../../support/worlds/ledger-world";

class ReleaseWorld extends LedgerWorld {
  releases = new PendingReleases(this.ports);

  /** As the commit of a change does it. */
  drop(...addresses: string[]): Promise<void> {
    return this.releases.send(this.commit(...addresses));
  }

  commit(...addresses: string[]): PendingRelease[] {
    return this.storage.transaction(() =>
      addresses.map((address) => this.releases.add({ address, token: `t-${address}`, gen: { epoch: 1, counter: 1 } })),
    );
  }

  restart(): void {
    this.releases = new PendingReleases(this.ports);
  }

  get left(): string[] {
    return this.storage.releases.values().map(({ address }) => address);
  }
}

describe("a release", () => {
  it("deletes the IPAddress first, then the owner's row; all of one turn in one call each", async () => {
    const world = new ReleaseWorld();
    await world.scheduler.run(Promise.all([world.drop("10.0.0.5"), world.drop("10.0.0.6", "10.0.0.7")]));
    expect(world.calls).toEqual(["deleteMany t-10.0.0.5,t-10.0.0.6,t-10.0.0.7", "topology", "release a t-10.0.0.5,t-10.0.0.6,t-10.0.0.7"]);
    expect([world.left, world.releases.count]).toEqual([[], 0]);
  });

  it("does not reach the owner before the IPAddress is known to be gone", async () => {
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

  it("rows fail alone: a silent owner keeps its own rows only, and they come back later and later (hazard 17)", async () => {
    const world = new ReleaseWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    world.release = (owner) => (owner === "a" ? Promise.reject(new Error("overloaded")) : "released");
    await world.scheduler.run(world.drop("10.0.0.5", "10.0.1.5"));
    expect(world.left).toEqual(["10.0.0.5"]);
    const delays: number[] = [];
    for (let i = 0; i < 12; i++) {
      const delay = (world.storage.releaseEarliestDue() ?? 0) - world.scheduler.now;
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

  it("a row that waits for its owner is in no other round, whatever becomes of the rows of others", async () => {
    const world = new ReleaseWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    const answers: (() => void)[] = [];
    world.release = (owner) =>
      owner === "a" ? Promise.reject(new Error("overloaded")) : new Promise((resolve) => answers.push(() => resolve("released")));
    // What puts a's row off is lost with its transaction.
    const { releaseDefer } = world.storage;
    world.storage.releaseDefer = (...row) => {
      world.storage.releaseDefer = releaseDefer;
      throw new Error(`the disk is full: ${row[0]}`);
    };
    const dropped = world.drop("10.0.0.5", "10.0.1.5");
    await world.scheduler.pass(1_000);
    void world.releases.drain();
    await world.scheduler.pass(100);
    expect(world.countOf("release b")).toBe(1);
    for (const answer of answers) answer();
    await world.scheduler.run(dropped);
    expect([world.left, world.releases.count]).toEqual([["10.0.0.5"], 1]);
  });

  it("stale: reads the topology again, and the next try goes to the owner it names (hazard 17)", async () => {
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
    expect(world.left).toEqual(["10.0.0.5"]);
    await world.scheduler.pass(1_000);
    await world.scheduler.run(world.releases.drain());
    expect(world.left).toEqual([]);
    expect(world.calls.filter((call) => call.startsWith("release"))).toEqual(["release a t-10.0.0.5", "release b t-10.0.0.5"]);
  });

  it("of an address in no claim is done only when the Coordinator's epoch says so (hazard 17)", async () => {
    const world = new ReleaseWorld();
    await world.scheduler.run(world.drop("10.9.0.5"));
    expect([world.left, world.countOf("topology"), world.countOf("release")]).toEqual([[], 2, 0]);

    world.topology = aTopology(2, { a: "10.0.0.0/24", b: "10.9.0.0/24" });
    await world.scheduler.run(world.drop("10.9.0.6"));
    expect([world.left, world.countOf("release")]).toEqual([["10.9.0.6"], 0]);
    await world.scheduler.pass(1_000);
    await world.scheduler.run(world.releases.drain());
    expect([world.left, world.calls.at(-1)]).toEqual([[], "release b t-10.9.0.6"]);
  });
});

describe("the outbox", () => {
  it("is drained by the object that starts after a crash", async () => {
    const world = new ReleaseWorld();
    world.commit("10.0.0.5", "10.0.0.6");
    world.restart();
    expect(world.releases.count).toBe(2);
    world.releases.rearm();
    expect(world.alarms.at(-1)).toBe(100);
    await world.scheduler.run(world.releases.drain());
    expect([world.left, world.releases.count]).toEqual([[], 0]);
  });

  it("sends and counts a row once when the alarm comes in the turn that added it", async () => {
    const world = new ReleaseWorld();
    await world.scheduler.run(world.drop("10.0.0.9"));
    const sent = world.drop("10.0.0.5");
    const drained = world.releases.drain();
    await world.scheduler.run(Promise.all([sent, drained]));
    expect(world.countOf("release a t-10.0.0.5")).toBe(1);
    expect(world.releases.count).toBe(0);
  });

  it("does not wake the object all the while a call is under way", async () => {
    const world = new ReleaseWorld();
    world.release = () => new Promise(() => undefined);
    void world.drop("10.0.0.5");
    await world.scheduler.pass(10);
    for (let i = 0; i < 5; i++) await world.scheduler.run(world.releases.drain());
    expect(Math.min(...world.alarms)).toBeGreaterThanOrEqual(100);
    expect(world.countOf("release")).toBe(1);
  });

  it("takes its parts by the size of one call", async () => {
    const world = new ReleaseWorld();
    await world.scheduler.run(world.drop(...Array.from({ length: 1_200 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)));
    expect(world.countOf("deleteMany")).toBe(3);
    expect([world.left, world.releases.count]).toEqual([[], 0]);
  });

  it("is bounded", () => {
    const world = new ReleaseWorld();
    world.storage.releaseCount = () => PENDING_RELEASES_MAX - 2;
    world.restart();
    expect([world.releases.hasRoom(2), world.releases.hasRoom(3)]).toEqual([true, false]);
  });

  it("that cannot be read is no reason to reject", async () => {
    const world = new ReleaseWorld();
    world.storage.releasesDue = () => {
      throw new Error("disk");
    };
    await world.scheduler.run(world.releases.drain());
    expect(world.logged).toEqual(["error pending releases could not be read"]);
  });
});
