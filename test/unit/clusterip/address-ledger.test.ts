import { describe, expect, it } from "vitest";
import { AddressLedger } from "../../../src/clusterip/address-ledger";
import type { TakenAddress } from "../../../src/clusterip/address-supply";
import type { AddressRow, HolderKind } from "../../../src/rpc/service-cidr";
import { aHolder } from "../../support/owner-world";
import { aTopology, LedgerWorld } from "../../support/sim-ledger-world";

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
    this.storage.transaction(() => this.ledger.hold(key, taken));
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
  it("releases exactly the rows that nobody knows: not the committed, not those of operations, not the pending, not other kinds", async () => {
    const world = new AuditWorld();
    const committed = await world.take();
    world.commit("default/a", committed);
    world.row("10.0.0.100", "lost-1");
    world.row("10.0.0.101", "other-store", "ipaddress");
    const pending = world.row("10.0.0.102", "pending");
    world.storage.releaseAdd({ ...pending, attempts: 9, dueAt: world.scheduler.now + 60_000 });
    world.row(committed.address.replace("10.0.0.", "10.0.0.11"), "lost-2");
    await world.audit();
    expect(world.held.sort()).toEqual([committed.token, "other-store", "pending"].sort());
    expect(world.logged).toEqual(["warn released addresses that a crash left behind"]);
  });

  it("goes on behind what it has seen, where a late allocation is found, and looks at one page of the old rows besides", async () => {
    const world = new AuditWorld();
    world.commit("default/a", await world.take());
    await world.audit();
    await world.audit();
    expect(world.calls.filter((call) => call.startsWith("rowsSince"))).toEqual(["rowsSince a 0", "rowsSince a 1", "rowsSince a 0"]);
    world.row("10.0.0.77", "late");
    await world.audit();
    expect(world.held).not.toContain("late");
  });

  it("gives back an old row whose object is gone without a release (a store that came back from a copy)", async () => {
    const world = new AuditWorld();
    const taken = await world.take();
    world.commit("default/a", taken);
    await world.audit();
    world.storage.allocationDelete(taken.address);
    await world.audit();
    expect([world.held, world.storage.markGet("swept/a")]).toEqual([[], 0]);
  });

  it("sends one release for a row whose first finding was lost with its transaction", async () => {
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

  it("stops its mark below the first row of an operation under way, and looks there again", async () => {
    const world = new AuditWorld();
    world.row("10.0.0.50", "lost-before");
    const under = await world.take();
    world.row("10.0.0.51", "lost-after");
    await world.audit();
    expect(world.held).toEqual([under.token, "lost-after"]);
    expect(world.storage.markGet("audited/a")).toBe(1);
    world.ledger.ended([under]);
    await world.audit();
    expect(world.held).toEqual([]);
  });

  it("decides after the answer, not before: a commit while it was on its way counts (hazard 2)", async () => {
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

  it("goes through more rows than one answer has", async () => {
    const world = new AuditWorld();
    for (let i = 0; i < 2_345; i++) world.row(`10.0.${i >> 8}.${i & 255}`, `lost-${i}`);
    await world.audit();
    expect(world.countOf("rowsSince")).toBe(3);
    expect(world.storage.markGet("audited/a")).toBe(2_345);
  });

  it("of a hundred owners asks those that were asked lately, and the others in turn", async () => {
    const world = new AuditWorld();
    const claims = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`o${String(i).padStart(2, "0")}`, `10.1.${i}.0/24`]));
    world.topology = aTopology(1, claims);
    const asked = (): string[] => {
      const owners = world.calls.filter((call) => call.startsWith("rowsSince")).map((call) => call.split(" ")[1] ?? "");
      world.calls.length = 0;
      return [...new Set(owners)];
    };
    await world.ledger.audit();
    expect(asked()).toHaveLength(100);
    const taken = await world.take();
    const owner = world.calls.find((call) => call.startsWith("allocate"))?.split(" ")[1];
    world.commit("default/a", taken);
    asked();
    const rounds = [];
    for (let i = 0; i < 5; i++) {
      await world.ledger.audit();
      rounds.push(asked());
    }
    for (const round of rounds) expect(round).toContain(owner);
    expect(Math.max(...rounds.map(({ length }) => length))).toBeLessThanOrEqual(21);
    expect(new Set(rounds.flat()).size).toBe(100);
    // A configuration that is new may have brought rows (a hand-off): that owner is looked at at once.
    world.topology = aTopology(2, claims);
    await world.ledger.audit();
    expect(asked()).toHaveLength(100);
  });

  it("an owner that is silent hides nobody else's rows and stops no later audit", async () => {
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

  it("a silent Coordinator stops it for a while only", async () => {
    const world = new AuditWorld();
    world.row("10.0.0.50", "lost");
    world.coordinator = () => new Promise(() => undefined);
    await world.audit();
    world.coordinator = () => Promise.resolve(world.topology);
    await world.audit();
    expect(world.held).toEqual([]);
  });
});

describe("a turn", () => {
  it("sends the releases of a change that was kept, and not those of one that failed alone", async () => {
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
    });
    world.ledger.turnCommitted();
    await world.scheduler.pass(10);
    expect(world.held).toEqual([undone.token]);
    expect(world.ledger.tokenOf(undone.address)).toBe(undone.token);
    expect(world.ledger.releases.count).toBe(0);
  });

  it("that is lost sends nothing, and lets its answers go", async () => {
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

  it("drops an address only for the object that holds it", async () => {
    const world = new AuditWorld();
    const taken = await world.take();
    world.commit("default/a", taken);
    world.storage.transaction(() => world.ledger.drop("default/b", taken.address));
    world.ledger.turnCommitted();
    await world.scheduler.pass(10);
    expect(world.held).toEqual([taken.token]);
  });

  it("holds an address for one object only", async () => {
    const world = new AuditWorld();
    const taken = await world.take();
    world.commit("default/a", taken);
    expect(() => world.ledger.hold("default/b", taken)).toThrow(/UNIQUE/);
  });

  it("an answer waits for its releases no longer than two seconds", async () => {
    const world = new AuditWorld();
    const taken = await world.take();
    world.commit("default/a", taken);
    world.release = () => new Promise(() => undefined);
    let waits: Promise<void> = Promise.resolve();
    world.storage.transaction(() => {
      world.ledger.drop("default/a", taken.address);
      waits = world.ledger.releasesOfThisTurn();
    });
    world.ledger.turnCommitted();
    const start = world.scheduler.now;
    await world.scheduler.run(waits);
    expect(world.scheduler.now - start).toBe(2_000);
    expect(world.storage.releaseCount()).toBe(1);
  });
});

describe("take", () => {
  it("answers what was taken and each result, in the order asked", async () => {
    const world = new AuditWorld();
    const { allocate } = world;
    world.allocate = (owner, item) => (item.address === "10.0.0.9" ? { ok: false, reason: "taken" } : allocate(owner, item));
    const wanted = ["10.0.0.8", "10.0.0.9"].map((address) => ({ family: "IPv4", address, holder: aHolder() }) as const);
    const { taken, results } = await world.scheduler.run(world.ledger.take(wanted, world.scheduler.now + 20_000));
    expect(taken.map(({ address }) => address)).toEqual(["10.0.0.8"]);
    expect(results.map((result) => result.ok || result.reason)).toEqual([true, "taken"]);
  });

  it("what was never known to be taken is the audit's once the operation gives up", async () => {
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
