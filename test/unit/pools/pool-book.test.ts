/** Writes of one pool at once, late calls, and what the book makes of them: no row says less than what is stored. */
import { describe, expect, it } from "vitest";
import type { WriteResult } from "../../../src/api/rpc/store";
import type { PoolAnswer, PoolFacts, PoolQuestion, StoredPool } from "../../../src/api/rpc/pool-book";
import { deferred } from "../../../src/core/base/deferred";
import { PoolsWorld } from "../../support/pools/pools-world";

const SOON = 3_000;
const LATE = 60_000;
const P = "InClusterIPPool/ns/p";
const BASE = 10 * 2 ** 24;

function shown(answer: WriteResult): string {
  return answer.ok ? String(answer.code) : `${answer.status.code} ${answer.status.message}`;
}

/** what a pool of 10.0.0.first to 10.0.0.last gives */
function facts(first: number, last: number): PoolFacts {
  return { family: "IPv4", intervals: [[String(BASE + first), String(BASE + last)]], natDomain: "", keepsOutside: false };
}

async function world19(): Promise<PoolsWorld> {
  const world = new PoolsWorld();
  await world.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] });
  await world.pass(SOON);
  expect(world.rows.get(P)).toEqual({ facts: facts(1, 9) });
  return world;
}

describe("two writers of one pool", () => {
  it("at once: one of them is stored, and what it has brought is kept from others, settled or not", async () => {
    const world = await world19();
    const answers = await world.updatesAtOnce("p", [
      { addresses: ["10.0.0.1-10.0.0.50"] },
      { addresses: ["10.0.0.1-10.0.0.9", "10.0.0.100"] },
    ]);
    expect(answers.map(shown)).toEqual(["200", "503 another write of the pool is under way, try again later"]);
    for (const _ of ["unsettled", "settled"]) {
      expect(shown(await world.pool("q", { addresses: ["10.0.0.10-10.0.0.60"] }))).toContain('overlaps with InClusterIPPool "ns/p"');
      world.restartBook();
      await world.pass(SOON);
    }
    expect(world.rows.get(P)).toEqual({ facts: facts(1, 50) });
  });

  it("one behind the other, before the controller has settled the first: both are accepted", async () => {
    const world = await world19();
    expect(shown(await world.updatePool("p", { addresses: ["10.0.0.1-10.0.0.50"] }))).toBe("200");
    expect(shown(await world.updatePool("p", { addresses: ["10.0.0.1-10.0.0.60"] }))).toBe("200");
    expect(world.rows.get(P)).toMatchObject({ facts: facts(1, 60), before: facts(1, 50) });
  });

  it("one behind the other, while the controller settles the first: the second is accepted", async () => {
    const world = await world19();
    await world.updatePool("p", { addresses: ["10.0.0.1-10.0.0.50"] });
    const read = deferred<StoredPool | undefined>();
    world.poolRead = () => read.promise;
    const answers = [
      world.book.askPools({ does: "settle", pool: P, facts: facts(1, 50), closed: false }),
      world.book.askPools({ does: "claim", pool: P, token: "t", facts: facts(1, 60), before: facts(1, 50), dryRun: false }),
    ];
    read.resolve(world.storedPool(P));
    expect(await Promise.all(answers)).toEqual([{ kind: "done" }, { kind: "done" }]);
  });

  it("two that ask for the pool at once, behind a third that was lost: one goes on", async () => {
    const world = await world19();
    const ask = (token: string, to: number) =>
      world.book.askPools({ does: "claim", pool: P, token, facts: facts(1, to), before: facts(1, 9), dryRun: false });
    expect(await ask("lost", 20)).toEqual({ kind: "done" });
    expect(await ask("x", 30)).toEqual({ kind: "later" });
    world.world.scheduler.now += LATE;
    const read = deferred<StoredPool | undefined>();
    world.poolRead = () => read.promise;
    const answers = [ask("x", 30), ask("y", 40)];
    read.resolve(world.storedPool(P));
    expect(await Promise.all(answers)).toEqual([{ kind: "done" }, { kind: "later" }]);
    expect(world.rows.get(P)).toMatchObject({ facts: facts(1, 30), before: facts(1, 9) });
  });

  it("a claim of a dead writer that comes late: says nothing of what is stored since", async () => {
    const world = await world19();
    await world.updatePool("p", { addresses: ["10.0.0.1-10.0.0.50"] });
    const late = { does: "claim", pool: P, token: "late", facts: facts(1, 20), before: facts(1, 9), dryRun: false } as const;
    expect(await world.book.askPools(late)).toEqual({ kind: "later" });
    await world.pass(LATE);
    expect(await world.book.askPools(late)).toEqual({ kind: "later" });
    expect(await world.book.askPools({ ...late, before: null })).toEqual({ kind: "later" });
    expect(await world.book.askPools({ ...late, does: "close", facts: facts(1, 9), inUse: true })).toEqual({ kind: "later" });
    expect(world.rows.get(P)).toEqual({ facts: facts(1, 50) });
  });

  it("an answer of the book that is lost: what was claimed is abandoned at once", async () => {
    const world = await world19();
    world.answerFault = ({ does }) => (does === "claim" ? new Error("lost") : undefined);
    expect(shown(await world.updatePool("p", { addresses: ["10.0.0.1-10.0.0.50"] }))).toContain("503 ");
    expect(shown(await world.pool("n", { addresses: ["10.0.1.1-10.0.1.9"] }))).toContain("503 ");
    world.answerFault = () => undefined;
    expect([...world.rows]).toEqual([[P, { facts: facts(1, 9) }]]);
  });
});

describe("a row that would be larger than one may be", () => {
  it("a change is refused for good, and the pool can be deleted", async () => {
    const world = await world19();
    world.rowSizeMax = 300;
    const far = Array.from({ length: 9 }, (_, i) => `10.0.0.${50 + 2 * i}`);
    expect(shown(await world.updatePool("p", { addresses: far }))).toContain("422 ");
    expect(world.rows.get(P)).toEqual({ facts: facts(1, 9) });
    expect(shown(await world.remove("pools", "ns/p"))).toBe("200");
  });
});

describe("a pool that is being deleted", () => {
  const SKIP = { annotations: { "ipam.cluster.x-k8s.io/skip-validate-delete-webhook": "" } };

  it("changed, or a change of it comes to nothing: it gives nothing more", async () => {
    const world = await world19();
    await world.claim("a", "p");
    await world.updatePool("p", {}, SKIP);
    await world.pass(SOON);
    await world.remove("pools", "ns/p");
    expect(shown(await world.updatePool("p", { addresses: ["10.0.0.1-10.0.0.50"] }))).toBe("200");
    expect(world.rows.get(P)).toMatchObject({ facts: facts(1, 50), closed: true });
    const { facts: before, closed = false } = world.storedPool(P) ?? { facts: facts(0, 0) };
    const claim = { does: "claim", pool: P, token: "t", facts: facts(1, 60), before, closed, dryRun: false } as const;
    expect(await world.book.askPools(claim)).toEqual({ kind: "done" });
    await world.book.askPools({ does: "abandon", pool: P, token: "t" });
    expect(world.rows.get(P)).toEqual({ facts: facts(1, 50), closed: true });
  });

  it("begun while a change is under way: has what is stored to come back to", async () => {
    const world = await world19();
    await world.book.askPools({ does: "claim", pool: P, token: "t", facts: facts(1, 5), before: facts(1, 9), dryRun: false });
    expect(shown(await world.remove("pools", "ns/p"))).toContain("503 another write of the pool is under way");
    world.world.scheduler.now += LATE;
    await world.book.askPools({ does: "close", pool: P, token: "u", facts: facts(1, 9), inUse: false, dryRun: false });
    expect(world.rows.get(P)).toMatchObject({ facts: facts(1, 9), before: facts(1, 9), closed: true });
    await world.book.askPools({ does: "abandon", pool: P, token: "u" });
    expect(world.rows.get(P)).toEqual({ facts: facts(1, 9) });
  });
});

describe("what the book hears late", () => {
  it("of a pool as it was: the pool is read, and its row is what is stored", async () => {
    const world = await world19();
    await world.updatePool("p", { addresses: ["10.0.0.1-10.0.0.50"] });
    await world.pass(LATE);
    const late = { does: "settle", pool: P, facts: facts(1, 9), closed: false } as const;
    expect(await world.book.askPools(late)).toEqual({ kind: "done" });
    expect(world.rows.get(P)).toEqual({ facts: facts(1, 50) });
    // Nor while a write is under way.
    await world.book.askPools({ does: "claim", pool: P, token: "t", facts: facts(1, 60), before: facts(1, 50), dryRun: false });
    expect(await world.book.askPools(late)).toEqual({ kind: "later" });
  });

  it("of the end of a pool that has come anew: it stays, and so does one that is just being made", async () => {
    const world = await world19();
    expect(await world.book.askPools({ does: "forget", pool: P })).toEqual({ kind: "later" });
    expect(world.rows.get(P)).toEqual({ facts: facts(1, 9) });
    const pool = "InClusterIPPool/ns/n";
    const claim = { does: "claim", pool, token: "t", facts: facts(20, 29), before: null, dryRun: false } as const;
    // It comes to be while the book reads.
    const read = deferred<StoredPool | undefined>();
    world.rows.set(pool, { facts: facts(20, 29) });
    world.restartBook();
    world.poolRead = () => read.promise;
    const [forgotten, claimed] = [world.book.askPools({ does: "forget", pool }), world.book.askPools(claim)];
    read.resolve(undefined);
    expect([await forgotten, await claimed]).toEqual([{ kind: "done" }, { kind: "done" }]);
    expect(await world.book.askPools(claim)).toEqual({ kind: "done" });
    expect(await world.book.askPools({ does: "forget", pool })).toEqual({ kind: "later" });
    expect(world.rows.has(pool)).toBe(true);
  });

  it("while it reads a pool, of a write or of an address: what came meanwhile stays", async () => {
    const world = await world19();
    const claim = { does: "claim", pool: P, facts: facts(1, 50), before: facts(1, 9), dryRun: false } as const;
    const during = async (question: PoolQuestion, stored: StoredPool | undefined, what: () => Promise<unknown>): Promise<PoolAnswer> => {
      const read = deferred<StoredPool | undefined>();
      world.poolRead = () => read.promise;
      const answer = world.book.askPools(question);
      await what();
      read.resolve(stored);
      return answer;
    };
    const settle = { does: "settle", pool: P, facts: facts(1, 8), closed: false } as const;
    expect(await during(settle, world.storedPool(P), () => world.book.askPools({ ...claim, token: "s" }))).toEqual({ kind: "later" });
    expect(world.rows.get(P)).toMatchObject({ facts: facts(1, 50), token: "s" });
    await world.book.askPools({ does: "abandon", pool: P, token: "s" });
    const forget = { does: "forget", pool: P } as const;
    expect(await during(forget, undefined, () => world.book.askPools({ ...claim, token: "f" }))).toEqual({ kind: "later" });
    expect(world.rows.get(P)).toMatchObject({ facts: facts(1, 50), token: "f" });
    await world.book.askPools({ does: "abandon", pool: P, token: "f" });
    expect(await during(forget, undefined, () => world.address("x", "10.0.0.5", "p"))).toEqual({ kind: "used" });
    // Nor does a pool end whose row is lost, while it has addresses.
    world.rows.clear();
    world.restartBook();
    expect(await world.book.askPools(forget)).toEqual({ kind: "used" });
  });

  it("a growth that was lost: whoever wants its addresses has the book read the pool", async () => {
    const world = await world19();
    await world.book.askPools({ does: "claim", pool: P, token: "t", facts: facts(1, 50), before: facts(1, 9), dryRun: false });
    expect(shown(await world.pool("q", { addresses: ["10.0.0.40"] }))).toContain("overlaps with");
    world.world.scheduler.now += LATE;
    expect(shown(await world.pool("q", { addresses: ["10.0.0.40"] }))).toBe("201");
    expect(world.rows.get(P)).toEqual({ facts: facts(1, 9) });
  });
});

describe("what is held", () => {
  it("by a pool that is gone: its row stays, and nobody else comes to cover its addresses", async () => {
    const world = await world19();
    await world.claim("a", "p");
    await world.pass(SOON);
    world.world.stores.pools.storage.objectDelete("ns/p");
    expect(await world.book.askPools({ does: "forget", pool: P })).toEqual({ kind: "used" });
    expect(shown(await world.pool("q", { addresses: ["10.0.0.9"] }))).toContain("overlaps with");
  });

  it("outside of every pool: no other object gets it, unless it is apart", async () => {
    const world = await world19();
    const nat = { namespace: "ns", annotations: { "servicenet.dev/nat-domain": "x" } };
    await world.pool("q", { addresses: ["10.0.1.1-10.0.1.9"] });
    expect(shown(await world.address("one", "10.0.5.5", "p"))).toBe("201");
    expect(shown(await world.address("two", "10.0.5.5", "q"))).toContain('IPAddress "ns/one" has it');
    await world.updatePool("p", {}, nat);
    await world.updatePool("q", {}, { annotations: { "servicenet.dev/nat-domain": "y" } });
    await world.pass(SOON);
    expect(shown(await world.address("two", "10.0.5.5", "q"))).toBe("201");
    const inDomain = (domain: string) => ({ namespace: "ns", annotations: { "servicenet.dev/nat-domain": domain } });
    expect(shown(await world.pool("r", { addresses: ["10.0.5.5"] }, inDomain("x")))).toContain('IPAddress "ns/one"');
    expect(shown(await world.pool("r", { addresses: ["10.0.5.5"] }, inDomain("z")))).toBe("201");
  });

  it("outside of a pool that begins to keep it: the book hears of the annotation alone", async () => {
    const world = await world19();
    await world.updatePool("p", {}, { annotations: { "servicenet.dev/keep-out-of-range": "true" } });
    expect(world.rows.get(P)).toMatchObject({ facts: { ...facts(1, 9), keepsOutside: true } });
  });

  it("is read anew behind a write that was undone, and behind a turn that was lost", async () => {
    const world = await world19();
    const extension = world.book.around<undefined>({});
    const after = {
      metadata: { namespace: "ns", name: "x" },
      spec: {
        claimRef: { name: "x" },
        poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "p" },
        address: "10.0.1.1",
      },
    };
    const write = (): void => extension.committed?.({ type: "ADDED", key: "ns/x", uid: "u", revision: 1, after }, undefined);
    const make = (dryRun: boolean) =>
      world.book.askPools({ does: "claim", pool: "InClusterIPPool/ns/q", token: "t", facts: facts(256, 300), before: null, dryRun });
    for (const undo of [() => extension.writeUndone?.(), () => extension.turnLost?.()]) {
      expect(await make(true)).toEqual({ kind: "done" });
      write();
      expect(await make(true)).toMatchObject({ kind: "held", address: "10.0.1.1" });
      undo();
    }
    expect(await make(false)).toEqual({ kind: "done" });
    // The row was lost with its turn.
    world.rows.delete("InClusterIPPool/ns/q");
    extension.turnLost?.();
    expect(shown(await world.pool("r", { addresses: ["10.0.1.1"] }))).toBe("201");
  });
});
