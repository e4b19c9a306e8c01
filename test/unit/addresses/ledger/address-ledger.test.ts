import { describe, expect, it } from "vitest";
import { AddressLedger } from "../../../../src/addresses/ledger/address-ledger";
import type { TakenAddress } from "../../../../src/addresses/ledger/wanted-address";
import type { AddressRow, HolderKind } from "../../../../src/addresses/rpc/service-cidr";
import { aHolder } from "../../../support/worlds/owner-world";
import { aTopology, LedgerWorld } from "../../../support/worlds/ledger-world";

/** A ledger over one scripted owner that keeps its rows. */
class AuditWorld extends LedgerWorld {
  readonly rows: AddressRow[] = [];
  ledger = new AddressLedger("service", this.ports);
  #counter = 0;

  constructor() {
    super();
    this.allocate = (_, { token, address }) => {
      const known = this.rows.find((row) => row.token === token);
      const row = known ?? this.row(address || `10.0.0.${this.#counter + 1}`, token);
      return { ok: true, address: row.address, gen: row.gen, scope: "dynamic" };
    };
    this.release = (_, { token }) => {
      const at = this.rows.findIndex((row) => row.token === token);
      if (at >= 0) this.rows.splice(at, 1);
      return "released";
    };
    this.rowsSince = (_, after, limit) =>
      Promise.resolve({ epoch: 1, rows: this.rows.filter(({ position }) => position > after).slice(0, limit) });
  }

  /** A row that the owner gave to somebody. */
  row(address: string, token: string, kind: HolderKind = "service"): AddressRow {
    const position = ++this.#counter;
    const row = { address, token, gen: { epoch: 1, counter: position }, holder: aHolder({ kind }), position };
    this.rows.push(row);
    return row;
  }

  async take(): Promise<TakenAddress> {
    const wanted = { family: "IPv4", address: "", holder: aHolder() } as const;
    const { taken } = await this.scheduler.run(this.ledger.take([wanted], this.scheduler.now + 20_000));
    const first = taken[0];
    if (!first) throw new Error("nothing taken");
    return first;
  }

  commit(key: string, taken: TakenAddress): void {
    this.storage.transaction(() => {
      this.ledger.hold(key, taken);
      this.ledger.sealReleases();
    });
    this.ledger.turnCommitted();
    this.ledger.ended([taken]);
  }

  async audit(): Promise<void> {
    await this.scheduler.run(this.ledger.audit());
    await this.scheduler.pass(10);
  }

  get held(): string[] {
    return this.rows.map(({ token }) => token);
  }
}

describe("audit", () => {
  it("lost rows: released; committed rows, pending rows, rows of operations and of other kinds: kept", async () => {
    const world = new AuditWorld();
    const committed = await world.take();
    world.commit("default/a", committed);
    world.row("10.0.0.100", "lost-1");
    world.row("10.0.0.101", "other-store", "ipaddress");
    const pending = world.row("10.0.0.102", "pending");
    world.storage.releaseAdd({ ...pending, attempts: 9, dueAt: world.scheduler.now + 60_000 });
    world.ledger.releases.reload();
    world.row(committed.address.replace("10.0.0.", "10.0.0.11"), "lost-2");
    await world.audit();
    expect(world.held.sort()).toEqual([committed.token, "other-store", "pending"].sort());
    expect(world.logged).toEqual(["warn released addresses that a crash left behind"]);
  });

  it("a second audit: a page of old rows has the new ones, too; a late row is released", async () => {
    const world = new AuditWorld();
    world.commit("default/a", await world.take());
    await world.audit();
    await world.audit();
    expect(world.calls.filter((call) => call.startsWith("rowsSince"))).toEqual(["rowsSince a 0", "rowsSince a 0"]);
    world.row("10.0.0.77", "late");
    await world.audit();
    expect(world.held).not.toContain("late");
  });

  it("an old row without an allocation (a store that came back from a copy): released", async () => {
    const world = new AuditWorld();
    const taken = await world.take();
    world.commit("default/a", taken);
    await world.audit();
    world.storage.allocationDelete(taken.address);
    await world.audit();
    expect([world.held, world.storage.numberGet("swept/a")]).toEqual([[], 0]);
  });

  it("a finding that was lost with its transaction: the next audit releases the row, once", async () => {
    const world = new AuditWorld();
    world.row("10.0.0.50", "lost");
    const { storage } = world;
    const transaction = storage.transaction.bind(storage);
    storage.transaction = (work) =>
      transaction(() => {
        work();
        throw new Error("the disk is full");
      });
    await world.audit();
    storage.transaction = transaction;
    await world.audit();
    expect([world.calls.filter((call) => call.startsWith("release")), world.ledger.releases.count]).toEqual([["release a lost"], 0]);
  });

  describe("a row that the store knows", () => {
    it("its object went without a release: the row is released, new or old, and the rows of others stay", async () => {
      for (const seen of [false, true]) {
        const world = new AuditWorld();
        const [lost, kept] = [await world.take(), await world.take()];
        world.commit("default/lost", lost);
        world.commit("default/kept", kept);
        if (seen) await world.audit();
        world.holds = (key) => key !== "default/lost";
        await world.audit();
        expect(world.held).toEqual([kept.token]);
        expect([world.ledger.tokenOf(lost.address), world.ledger.tokenOf(kept.address)]).toEqual([undefined, kept.token]);
        expect(world.calls.filter((call) => call.startsWith("deleteMany"))).toEqual([`deleteMany ${lost.token}`]);
        expect(world.logged).toEqual(["warn released addresses whose objects went without a release"]);
      }
    });

    it("each such row: the store is asked for its object and its address", async () => {
      const world = new AuditWorld();
      const taken = await world.take();
      world.commit("default/a", taken);
      const asked: string[] = [];
      world.holds = (key, address) => asked.push(`${key} ${address}`) > 0;
      await world.audit();
      expect(asked).toEqual([`default/a ${taken.address}`]);
    });

    it("a hundred rows: one read of the allocation and one of the object for each, no call and no transaction besides", async () => {
      const world = new AuditWorld();
      for (let i = 0; i < 100; i++) world.commit(`default/s${i}`, await world.take());
      await world.audit();
      world.calls.length = 0;
      let [reads, objects, transactions] = [0, 0, 0];
      const { allocationGet, transaction } = world.storage;
      world.storage.allocationGet = (address) => (reads++, allocationGet.call(world.storage, address));
      world.storage.transaction = (work) => (transactions++, transaction.call(world.storage, work) as never);
      world.holds = () => ++objects > 0;
      await world.scheduler.run(world.ledger.auditAll());
      expect([reads, objects, transactions]).toEqual([100, 100, 0]);
      expect(world.calls).toEqual(["topology", "rowsSince a 0"]);
    });

    it("the row of an operation under way: kept; after the answer the stored object decides", async () => {
      const world = new AuditWorld();
      const under = await world.take();
      world.storage.transaction(() => world.ledger.hold("default/a", under));
      world.holds = () => false;
      await world.audit();
      await world.scheduler.run(world.ledger.auditAll());
      expect([world.held, world.ledger.tokenOf(under.address)]).toEqual([[under.token], under.token]);
      const { rowsSince } = world;
      world.rowsSince = async (...args) => {
        const answer = await rowsSince(...args);
        world.ledger.ended([under]);
        world.holds = () => true;
        return answer;
      };
      await world.audit();
      expect(world.held).toEqual([under.token]);
    });

    it("a transaction that fails: row and outbox stay as they were, and the next audit releases the row", async () => {
      const world = new AuditWorld();
      const taken = await world.take();
      world.commit("default/a", taken);
      world.holds = () => false;
      const { storage } = world;
      const transaction = storage.transaction.bind(storage);
      storage.transaction = (work) =>
        transaction(() => {
          work();
          throw new Error("the disk is full");
        });
      await world.audit();
      expect([world.held, world.ledger.tokenOf(taken.address), storage.releases.size]).toEqual([[taken.token], taken.token, 0]);
      storage.transaction = transaction;
      await world.audit();
      expect([world.held, world.ledger.tokenOf(taken.address), world.ledger.releases.count]).toEqual([[], undefined, 0]);
    });

    it("a row under another token, of an object that seeding has listed: stays with the object, released without it", async () => {
      const world = new AuditWorld();
      const row = world.row("10.0.0.50", "of a repair that was not committed");
      world.storage.allocationAdd({ address: row.address, key: "listed", token: row.holder.uid, gen: { epoch: 0, counter: 0 } });
      await world.audit();
      expect(world.held).toEqual([row.token]);
      world.holds = () => false;
      await world.scheduler.run(world.ledger.auditAll());
      await world.scheduler.pass(10);
      expect([world.held, world.ledger.tokenOf(row.address), world.ledger.releases.count]).toEqual([[], undefined, 0]);
    });
  });

  it("a row of an operation under way: the mark stays below, and the next audit reads that row again", async () => {
    const world = new AuditWorld();
    world.row("10.0.0.50", "lost-before");
    const under = await world.take();
    world.row("10.0.0.51", "lost-after");
    await world.audit();
    expect(world.held).toEqual([under.token, "lost-after"]);
    expect(world.storage.numberGet("audited/a")).toBe(1);
    world.ledger.ended([under]);
    await world.audit();
    expect(world.held).toEqual([]);
  });

  it("a commit while the owner's answer is on its way: the row stays (hazard 2)", async () => {
    const world = new AuditWorld();
    const under = await world.take();
    const { rowsSince } = world;
    world.rowsSince = async (...args) => {
      const answer = await rowsSince(...args);
      world.commit("default/a", under);
      return answer;
    };
    await world.audit();
    expect(world.held).toEqual([under.token]);
  });

  it("more rows than one answer holds: all are read, in several calls", async () => {
    const world = new AuditWorld();
    for (let i = 0; i < 2_345; i++) world.row(`10.0.${i >> 8}.${i & 255}`, `lost-${i}`);
    await world.audit();
    expect(world.countOf("rowsSince")).toBe(10);
    expect(world.storage.numberGet("audited/a")).toBe(2_345);
  });

  it("fast owners: the audit rests between any two calls, at least four times as long as the call took", async () => {
    const world = new AuditWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24", c: "10.0.2.0/24", slow: "10.0.3.0/24" });
    for (let i = 0; i < 600; i++) world.row(`10.0.0.${i}`, `lost-${i}`, "ipaddress");
    const calls: { begun: number; ended: number }[] = [];
    const { rowsSince } = world;
    world.rowsSince = async (owner, after, limit) => {
      const call = { begun: world.scheduler.now, ended: 0 };
      calls.push(call);
      if (owner === "slow") await world.clock.sleep(7);
      call.ended = world.scheduler.now;
      return rowsSince(owner, after, limit);
    };
    await world.audit();
    const rests = calls.slice(1).map(({ begun }, i) => begun - (calls[i]?.ended ?? 0));
    const worked = calls.map(({ begun, ended }) => ended - begun);
    expect(calls.length).toBeGreaterThan(8);
    for (const [i, rest] of rests.entries()) expect(rest).toBeGreaterThanOrEqual(Math.max(1, 4 * (worked[i] ?? 0)));
  });

  it("slow owners: the caller waits ten seconds at most, and the audit ends after that", async () => {
    const world = new AuditWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });
    world.row("10.0.0.50", "lost");
    const { rowsSince } = world;
    world.rowsSince = async (...args) => {
      await world.clock.sleep(4_000);
      return rowsSince(...args);
    };
    const startedAt = world.scheduler.now;
    await world.audit();
    expect(world.scheduler.now - startedAt).toBeLessThan(11_000);
    await world.scheduler.pass(60_000);
    expect(world.calls.filter((call) => call.startsWith("rowsSince"))).toEqual(["rowsSince a 0", "rowsSince b 0"]);
    expect(world.held).toEqual([]);
  });

  it("many old rows: a thousand each time, page by page, and from the beginning again after the last", async () => {
    const world = new AuditWorld();
    for (let i = 0; i < 1_300; i++) world.row(`10.0.${i >> 8}.${i & 255}`, `kept-${i}`, "ipaddress");
    await world.audit();
    const swept = [];
    for (let i = 0; i < 3; i++) {
      world.calls.length = 0;
      await world.audit();
      swept.push(
        world.calls.filter((call) => call.startsWith("rowsSince") && call !== "rowsSince a 1300").map((call) => call.split(" ")[2]),
      );
    }
    const whole = ["0", "250", "500", "750"];
    expect(swept).toEqual([whole, ["1000", "1250"], whole]);
  });

  describe("a hundred owners", () => {
    const claims = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`o${String(i).padStart(2, "0")}`, `10.1.${i}.0/24`]));

    /** A world whose owners have been audited once, what later audits ask, and who was asked for an address. */
    async function audited(): Promise<{ world: AuditWorld; asked: () => string[]; allocating: () => string | undefined }> {
      const world = new AuditWorld();
      world.topology = aTopology(1, claims);
      const asked = (): string[] => {
        const owners = world.calls.filter((call) => call.startsWith("rowsSince")).map((call) => call.split(" ")[1] ?? "");
        world.calls.length = 0;
        return [...new Set(owners)];
      };
      await world.audit();
      expect(asked()).toHaveLength(100);
      return { world, asked, allocating: () => world.calls.find((call) => call.startsWith("allocate"))?.split(" ")[1] };
    }

    it("owners that answered: twenty in turn each time; a new configuration: all at once", async () => {
      const { world, asked } = await audited();
      world.commit("default/a", await world.take());
      asked();
      const rounds = [];
      for (let i = 0; i < 5; i++) {
        await world.audit();
        rounds.push(asked());
      }
      expect(rounds.map(({ length }) => length)).toEqual([20, 20, 20, 20, 20]);
      expect(new Set(rounds.flat()).size).toBe(100);
      // A configuration that is new may have brought rows (a hand-off): that owner is looked at at once.
      world.topology = aTopology(2, claims);
      await world.audit();
      expect(asked()).toHaveLength(100);
    });

    it("an owner that failed or did not answer an allocate: asked each time for ten minutes", async () => {
      for (const answer of [() => Promise.reject(new Error("connection lost")), () => new Promise<never>(() => undefined)]) {
        const { world, asked, allocating } = await audited();
        const { allocate } = world;
        world.allocate = answer;
        const taking = world.ledger.take([{ family: "IPv4", address: "", holder: aHolder() }], world.scheduler.now + 20_000);
        await world.scheduler.pass(6_000);
        const owner = allocating();
        world.allocate = allocate;
        world.ledger.ended((await world.scheduler.run(taking)).taken);
        asked();
        for (let i = 0; i < 5; i++) {
          await world.audit();
          expect(asked()).toContain(owner);
        }
        await world.scheduler.pass(10 * 60_000);
      }
    });

    it("an owner that owes an answer: asked each time, also after it left the topology and other answers came late", async () => {
      const { world, asked } = await audited();
      const owing: (() => void)[] = [];
      world.allocate = () => new Promise((_, reject) => owing.push(() => reject(new Error("too late"))));
      const request = (): void => {
        const wanted = { family: "IPv4", address: "10.1.50.1", holder: aHolder() } as const;
        void world.ledger.take([wanted], world.scheduler.now + 1_000);
      };
      for (let i = 0; i < 2; i++) {
        request();
        await world.scheduler.pass(100);
      }
      expect(owing).toHaveLength(2);
      const { topology } = world;
      world.topology = aTopology(2, { o00: "10.1.0.0/24" });
      await world.audit();
      await world.scheduler.pass(6_000);
      for (const answer of owing.splice(0)) answer();
      await world.scheduler.pass(20 * 60_000);
      world.topology = { ...topology, epoch: 3 };
      await world.audit();
      request();
      await world.scheduler.pass(100);
      expect(owing).toHaveLength(1);
      for (let i = 0; i < 5; i++) {
        asked();
        await world.audit();
        expect(asked()).toContain("o50");
      }
    });

    it("a transaction lost during an audit: all owners that were asked before are asked again", async () => {
      const { world, asked } = await audited();
      world.topology = aTopology(2, claims);
      const { rowsSince } = world;
      world.rowsSince = async (owner, ...rest) => {
        const answer = await rowsSince(owner, ...rest);
        if (owner === "o70") world.ledger.turnLost();
        return answer;
      };
      await world.audit();
      expect(asked()).toHaveLength(100);
      world.rowsSince = rowsSince;
      await world.audit();
      const before = Object.keys(claims).filter((uid) => uid <= "o70");
      expect(asked()).toEqual(expect.arrayContaining(before));
    });

    it("a transaction lost between audits: all owners are asked again", async () => {
      const { world, asked } = await audited();
      world.ledger.turnLost();
      await world.audit();
      expect(asked()).toHaveLength(100);
    });
  });

  it("a silent owner: the rows of others are released, and the next audit asks again", async () => {
    const world = new AuditWorld();
    world.topology = aTopology(1, { silent: "10.0.9.0/24", a: "10.0.0.0/24" });
    world.row("10.0.0.50", "lost");
    const { rowsSince } = world;
    world.rowsSince = (owner, ...rest) => (owner === "silent" ? new Promise(() => undefined) : rowsSince(owner, ...rest));
    await world.audit();
    expect(world.held).toEqual([]);
    await world.audit();
    expect(world.countOf("rowsSince silent")).toBe(2);
  });

  it("a silent Coordinator: the next audit with a topology releases the rows", async () => {
    const world = new AuditWorld();
    world.row("10.0.0.50", "lost");
    world.coordinator = () => new Promise(() => undefined);
    await world.audit();
    world.coordinator = () => Promise.resolve(world.topology);
    await world.audit();
    expect(world.held).toEqual([]);
  });
});

describe("the ledger in a turn", () => {
  it("a change that failed alone: its releases are not sent, those of the kept change are", async () => {
    const world = new AuditWorld();
    const [kept, undone] = [await world.take(), await world.take()];
    world.commit("default/kept", kept);
    world.commit("default/undone", undone);
    world.storage.transaction(() => {
      world.ledger.drop("default/kept", kept.address);
      try {
        world.storage.transaction(() => {
          world.ledger.drop("default/undone", undone.address);
          throw new Error("this change only");
        });
      } catch {
        // as the store does it: the change is refused, the turn goes on
      }
      world.ledger.sealReleases();
    });
    world.ledger.turnCommitted();
    await world.scheduler.pass(10);
    expect(world.held).toEqual([undone.token]);
    expect(world.ledger.tokenOf(undone.address)).toBe(undone.token);
    expect(world.ledger.releases.count).toBe(0);
  });

  it("a change that failed alone after another of its turn gave the address back: the address goes back, once", async () => {
    const world = new AuditWorld();
    const taken = await world.take();
    world.storage.transaction(() => {
      world.ledger.giveBack([taken]);
      world.ledger.giveBack([taken]);
      world.ledger.sealReleases();
    });
    expect(world.storage.releases.values().map(({ token }) => token)).toEqual([taken.token]);
    expect(world.ledger.isReleasing(taken.token)).toBe(false);
    world.ledger.turnCommitted();
    expect(world.ledger.isReleasing(taken.token)).toBe(true);
    await world.scheduler.pass(10);
    expect([world.held, world.ledger.isReleasing(taken.token)]).toEqual([[], false]);
  });

  it("a release that the turn under way has only begun: is known, and one that waits for its owner is not written again", async () => {
    const world = new AuditWorld();
    const taken = await world.take();
    world.release = () => new Promise(() => undefined);
    for (let turn = 0; turn < 2; turn++) {
      world.storage.transaction(() => {
        world.ledger.giveBack([taken]);
        expect(world.ledger.isReleasing(taken.token)).toBe(true);
        world.ledger.sealReleases();
      });
      world.ledger.turnCommitted();
    }
    expect([world.storage.releases.size, world.storage.lists.size, world.ledger.releases.count]).toEqual([1, 0, 1]);
  });

  it("a turn that nobody sealed: is a fault that shows", async () => {
    const world = new AuditWorld();
    const taken = await world.take();
    world.ledger.giveBack([taken]);
    expect(() => world.ledger.turnCommitted()).toThrow("in its transaction");
  });

  it("a lost turn: nothing is sent, and its answers go out", async () => {
    const world = new AuditWorld();
    const taken = await world.take();
    world.commit("default/a", taken);
    let waits: Promise<void> = Promise.resolve();
    expect(() =>
      world.storage.transaction(() => {
        world.ledger.drop("default/a", taken.address);
        waits = world.ledger.releasesOfThisTurn();
        throw new Error("disk");
      }),
    ).toThrow("disk");
    world.ledger.turnLost();
    await world.scheduler.run(waits, 100);
    world.ledger.turnCommitted();
    await world.scheduler.pass(10);
    expect([world.held, world.ledger.releases.count]).toEqual([[taken.token], 0]);
  });

  it("drop by another object than the holder: changes nothing", async () => {
    const world = new AuditWorld();
    const taken = await world.take();
    world.commit("default/a", taken);
    world.storage.transaction(() => {
      world.ledger.drop("default/b", taken.address);
      world.ledger.sealReleases();
    });
    world.ledger.turnCommitted();
    await world.scheduler.pass(10);
    expect(world.held).toEqual([taken.token]);
  });

  it("a second holder of an address: UNIQUE error", async () => {
    const world = new AuditWorld();
    const taken = await world.take();
    world.commit("default/a", taken);
    expect(() => world.ledger.hold("default/b", taken)).toThrow(/UNIQUE/);
  });

  it.each(["default/gone", "default/again"])(
    "an address with a leftover row of %s, which went without a release: held for the new Service, the old token is released",
    async (key) => {
      const world = new AuditWorld();
      const before = await world.take();
      world.commit(key, before);
      world.holds = (held) => held !== "default/gone";
      // Its owner has lost the row, too, and gives the address out again.
      world.rows.length = 0;
      const { address, gen } = world.row(before.address, "again");
      world.commit("default/again", { family: "IPv4", address, token: "again", gen });
      await world.scheduler.pass(10);
      expect(world.storage.allocationGet(address)).toMatchObject({ key: "default/again", token: "again" });
      expect([world.held, world.calls.filter((call) => call.startsWith("release"))]).toEqual([["again"], [`release a ${before.token}`]]);
    },
  );

  it("releases without an answer: the change is answered after two seconds", async () => {
    const world = new AuditWorld();
    const taken = await world.take();
    world.commit("default/a", taken);
    world.release = () => new Promise(() => undefined);
    let waits: Promise<void> = Promise.resolve();
    world.storage.transaction(() => {
      world.ledger.drop("default/a", taken.address);
      waits = world.ledger.releasesOfThisTurn();
      world.ledger.sealReleases();
    });
    world.ledger.turnCommitted();
    const start = world.scheduler.now;
    await world.scheduler.run(waits);
    expect(world.scheduler.now - start).toBe(2_000);
    expect(world.storage.releases.size).toBe(1);
  });
});

describe("take", () => {
  it("two addresses, one of them used: one is taken, and the results stand in the order asked", async () => {
    const world = new AuditWorld();
    const { allocate } = world;
    world.allocate = (owner, item) => (item.address === "10.0.0.9" ? { ok: false, reason: "taken" } : allocate(owner, item));
    const wanted = ["10.0.0.8", "10.0.0.9"].map((address) => ({ family: "IPv4", address, holder: aHolder() }) as const);
    const { taken, results } = await world.scheduler.run(world.ledger.take(wanted, world.scheduler.now + 20_000));
    expect(taken.map(({ address }) => address)).toEqual(["10.0.0.8"]);
    expect(results.map((result) => result.ok || result.reason)).toEqual([true, "taken"]);
  });

  it("token without an answer: left to the audit when the operation gives up", async () => {
    const world = new AuditWorld();
    const { allocate } = world;
    world.allocate = async (owner, item) => {
      await allocate(owner, item);
      throw new Error("the answer was lost");
    };
    const wanted = { family: "IPv4", address: "", holder: aHolder() } as const;
    const { taken } = await world.scheduler.run(world.ledger.take([wanted], world.scheduler.now + 20_000));
    expect([taken, world.held.length]).toEqual([[], 1]);
    await world.audit();
    expect(world.held).toEqual([]);
  });
});

describe("questions about pending releases", () => {
  /** A ledger that has one release of 10.0.0.5 pending, and has heard of no topology. */
  function pendingLedger(): { world: LedgerWorld; ledger: AddressLedger } {
    const world = new LedgerWorld();
    world.storage.releaseAdd({ address: "10.0.0.5", token: "t", gen: { epoch: 1, counter: 1 }, attempts: 9, dueAt: 60_000 });
    return { world, ledger: new AddressLedger("ipaddress", world.ports) };
  }

  it("of addresses: answered without the Coordinator", async () => {
    const { world, ledger } = pendingLedger();
    world.coordinator = () => new Promise(() => undefined);
    const startedAt = world.scheduler.now;
    const asked = ["10.0.0.5", "10.0.0.6"].map((address) => ({ family: "IPv4", address }) as const);
    expect(await world.scheduler.run(ledger.pendingReleases(asked))).toEqual([true, false]);
    expect(world.scheduler.now).toBe(startedAt);
  });

  it("of any address: answered by the newest topology, rejected where there is none", async () => {
    const { world, ledger } = pendingLedger();
    const asked = [
      { family: "IPv4", address: "" },
      { family: "IPv6", address: "" },
    ] as const;
    expect(await world.scheduler.run(ledger.pendingReleases(asked))).toEqual([true, false]);
    const { ledger: alone, world: silent } = pendingLedger();
    silent.coordinator = () => new Promise(() => undefined);
    await expect(silent.scheduler.run(alone.pendingReleases(asked))).rejects.toThrow();
  });
});

describe("audit of all owners", () => {
  /** Rows that were in order when they were seen, and have lost their objects since. */
  function forgotten(count: number): AuditWorld {
    const world = new AuditWorld();
    world.topology = aTopology(1, { a: "10.0.0.0/16" });
    for (let i = 0; i < count; i++) {
      const { address, token, gen } = world.row(`10.0.${i >> 8}.${i & 255}`, `old-${i}`);
      world.storage.allocationAdd({ address, key: "default/a", token, gen });
    }
    return world;
  }

  it("2,599 lost rows that were seen long ago: all are released", async () => {
    const world = forgotten(2_600);
    await world.audit();
    for (let i = 0; i < 2_600; i++) if (i !== 7) world.storage.allocationDelete(`10.0.${i >> 8}.${i & 255}`);
    await world.scheduler.run(world.ledger.auditAll());
    await world.scheduler.pass(60_000);
    expect(world.held).toEqual(["old-7"]);
  });

  it("two more requests during an audit: one more audit follows, which releases what was lost meanwhile", async () => {
    const world = forgotten(10);
    const { rowsSince } = world;
    let late: Promise<void>[] = [];
    let seen = 0;
    world.rowsSince = async (owner, after, limit) => {
      const answer = await rowsSince(owner, after, limit);
      if (++seen === 1) late = [1, 2].map(() => world.ledger.auditAll());
      return answer;
    };
    await world.scheduler.run(world.ledger.auditAll());
    world.storage.allocationDelete("10.0.0.4");
    expect(late[0]).toBe(late[1]);
    await world.scheduler.run(Promise.all(late));
    await world.scheduler.pass(10);
    expect([seen, world.held.length, world.held.includes("old-4")]).toEqual([2, 9, false]);
    await world.scheduler.run(world.ledger.auditAll());
    expect(seen).toBe(3);
  });

  it("an audit in turn meanwhile: both marks stay apart, and all lost rows are released", async () => {
    const world = forgotten(2_600);
    await world.audit();
    for (let i = 0; i < 2_600; i++) world.storage.allocationDelete(`10.0.${i >> 8}.${i & 255}`);
    const { rowsSince } = world;
    let inTurn: Promise<void> | undefined;
    world.rowsSince = (owner, after, limit) => {
      // It begins anew at the first row, in the middle of the sweep.
      if (after === 1_000) inTurn ??= world.ledger.audit();
      return rowsSince(owner, after, limit);
    };
    world.storage.numberSet("swept/a", 750);
    await world.scheduler.run(world.ledger.auditAll());
    await world.scheduler.run(inTurn ?? Promise.reject(new Error("no audit in turn")));
    await world.scheduler.pass(60_000);
    expect(world.held).toEqual([]);
  });

  it("a row of an operation under way: kept", async () => {
    const world = forgotten(2);
    await world.take();
    world.row("10.0.0.77", "lost");
    await world.scheduler.run(world.ledger.auditAll());
    await world.scheduler.pass(10);
    expect([world.held.length, world.held.includes("lost")]).toEqual([3, false]);
  });

  it("an owner that does not answer: the rows of others are released, and the failure is logged", async () => {
    const world = forgotten(3);
    world.topology = aTopology(1, { silent: "10.1.0.0/16", a: "10.0.0.0/16" });
    const { rowsSince } = world;
    world.rowsSince = (owner, ...rest) => (owner === "silent" ? Promise.reject(new Error("no answer")) : rowsSince(owner, ...rest));
    await world.audit();
    world.storage.allocationDelete("10.0.0.1");
    await world.scheduler.run(world.ledger.auditAll());
    await world.scheduler.pass(10);
    expect(world.held).toEqual(["old-0", "old-2"]);
    expect(world.logged.filter((line) => line === "warn audit of an owner failed").length).toBeGreaterThan(0);
  });
});
