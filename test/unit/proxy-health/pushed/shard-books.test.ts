/** What shards lack, by what was noted, told and lost. */
import { describe, expect, it } from "vitest";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { ShardBooks } from "../../../../src/proxy-health/pushed/shard-books";
import type { Cursor } from "../../../../src/proxy-health/pushed/shard-change";
import { shardOf } from "../../../../src/tenancy/cluster-objects";
import { MemoryRowStorage } from "../../../support/memory/row-storage";

const [N1, N2] = [shardOf("n1"), shardOf("n2")];
/** a shard without a Node */
const OTHER = [0, 1, 2].find((shard) => shard !== N1 && shard !== N2) ?? 0;

/** Books on rows that outlive them. */
class World {
  now = 1_000;
  readonly storage = new MemoryRowStorage();
  #rows = new KeptRows(this.storage);
  books = this.#opened();

  constructor() {
    this.books.open();
    this.books.note(["n1", "n2"], true);
    this.#rows.save();
  }

  #opened(): ShardBooks {
    this.#rows = new KeptRows(this.storage);
    this.#rows.load();
    const books = new ShardBooks(this.#rows, () => this.now);
    books.load();
    return books;
  }

  note(names: readonly string[], areChecksOther = false): void {
    this.books.note(names, areChecksOther);
    this.#rows.save();
  }

  /** All shards take everything. */
  deliver(...shards: number[]): void {
    const { books } = this;
    for (const shard of shards.length > 0 ? shards : books.lacking) {
      books.take(shard);
      expect(books.delivered(shard, this.cursor, this.cursor)).toBe(true);
    }
    this.#rows.save();
  }

  restart(afterMs = 1): void {
    this.now += afterMs;
    this.books = this.#opened();
  }

  get cursor(): Cursor {
    return this.books.cursor ?? { epoch: 0, sequence: 0 };
  }

  /** `n1 n2 whole checks` of the shard */
  lackOf(shard: number): string {
    const lack = this.books.take(shard);
    if (!lack) return "";
    this.books.putBack(shard, lack);
    return [...lack.nodes, ...(lack.isWhole ? ["whole"] : []), ...(lack.checks ? ["checks"] : [])].join(" ");
  }
}

describe("what shards lack", () => {
  it.each<[what: string, work: (world: World) => void, n1: string, n2: string]>([
    ["nothing told yet: their Nodes and checks", () => undefined, "n1 checks", "n2 checks"],
    ["all told: nothing", (world) => world.deliver(), "", ""],
    ["a Node changed: its shard lacks it", (world) => (world.deliver(), world.note(["n1"])), "n1", ""],
    ["the checks changed: all shards with Nodes lack them", (world) => (world.deliver(), world.note([], true)), "checks", "checks"],
    ["nothing changed: nothing", (world) => (world.deliver(), world.note([])), "", ""],
    ["a start with everything told: nothing", (world) => (world.deliver(), world.restart()), "", ""],
    ["a start with one shard not told: everything", (world) => (world.deliver(N2), world.restart()), "whole", ""],
    [
      "a start after a change that was not told: everything",
      (world) => (world.deliver(), world.note(["n2"]), world.restart()),
      "",
      "whole",
    ],
  ])("%s", (_, work, n1, n2) => {
    const world = new World();
    work(world);
    expect([world.lackOf(N1), world.lackOf(N2), world.lackOf(OTHER)]).toEqual([n1, n2, ""]);
  });

  it("what changes while a push is under way: is lacked behind it, and a push that fails adds to it", () => {
    const world = new World();
    world.deliver();
    world.note(["n1"], true);
    const to = world.cursor;
    const lack = world.books.take(N1);
    world.note(["n1"]);
    expect(world.books.delivered(N1, to, to)).toBe(true);
    expect(world.lackOf(N1)).toBe("n1");
    if (lack) world.books.putBack(N1, lack);
    expect(world.lackOf(N1)).toBe("n1 checks");
    world.restart();
    expect(world.lackOf(N1), "the later change was not delivered").toBe("whole");
  });
});

describe("what an answer says", () => {
  it.each<[what: string, has: (to: Cursor) => Cursor, isDelivered: boolean]>([
    ["as much as was told", (to) => to, true],
    ["more, from an answer to its own question", ({ epoch, sequence }) => ({ epoch, sequence: sequence + 1 }), true],
    ["less", ({ epoch, sequence }) => ({ epoch, sequence: sequence - 1 }), false],
    ["more than was ever told", ({ epoch, sequence }) => ({ epoch, sequence: sequence + 9 }), false],
    ["as much of another epoch", ({ epoch, sequence }) => ({ epoch: epoch + 1, sequence }), false],
  ])("%s: is delivered or not", (_, has, isDelivered) => {
    const world = new World();
    const to = world.cursor;
    world.note(["n2"]);
    expect(world.books.delivered(N1, to, has(to))).toBe(isDelivered);
  });

  it("a cursor that is later than all: the next one is later still, also with a clock that was set back, and a shard that had what it was told goes on", () => {
    const world = new World();
    world.deliver(N1);
    const before = world.cursor;
    world.now = 0;
    world.books.beginAfter({ epoch: 5_000, sequence: 1 });
    expect(world.cursor).toEqual({ epoch: 5_001, sequence: 2 });
    expect([world.books.startOf(N1), world.books.isCurrent(N1, before)]).toEqual([before, true]);
  });
});

describe("epochs", () => {
  it("a start: its first change begins a later epoch, also with a clock that was set back; without a change there is none", () => {
    const world = new World();
    const first = world.cursor;
    world.restart(-500);
    expect(world.cursor).toEqual(first);
    world.note(["n1"]);
    world.note(["n1"]);
    expect(world.cursor).toEqual({ epoch: first.epoch + 1, sequence: first.sequence + 2 });
    world.restart(5_000);
    world.note(["n1"]);
    expect(world.cursor).toEqual({ epoch: 5_500, sequence: first.sequence + 3 });
  });

  it("rows of an earlier time: no later change has the cursor of a lost one, and who knows lost ones is not current", () => {
    const world = new World();
    world.deliver();
    const back = world.storage.remembered();
    world.note(["n1"]);
    world.deliver();
    const lost = world.cursor;
    back();
    world.restart();
    expect(world.books.isCurrent(N1, lost)).toBe(false);
    for (let i = 0; i < 3; i++) {
      world.note(["n2"]);
      expect(world.cursor).not.toEqual(lost);
      expect(world.books.isCurrent(N1, lost)).toBe(false);
    }
  });
});

describe("who is current", () => {
  const told = (world: World): Cursor => (world.deliver(), world.cursor);

  it.each<[what: string, shard: number, work: (world: World) => Cursor, isCurrent: boolean]>([
    ["a shard that was told everything", N1, told, true],
    ["one with less", N1, (world) => ({ ...told(world), sequence: 0 }), false],
    ["one with more than there is", N1, (world) => ({ ...told(world), sequence: 99 }), false],
    ["after a change for another shard", N1, (world) => [told(world), world.note(["n2"])][0] as Cursor, true],
    ["after a change for it", N1, (world) => [told(world), world.note(["n1"])][0] as Cursor, false],
    ["after a start, and a change for another shard", N1, (world) => [told(world), world.restart(), world.note(["n2"])][0] as Cursor, true],
    ["a shard without a Node that asked", OTHER, told, true],
    ["the same after a change of a Node", OTHER, (world) => [told(world), world.note(["n1"])][0] as Cursor, true],
    ["the same after a change of the checks", OTHER, (world) => [told(world), world.note([], true)][0] as Cursor, false],
    [
      "the same after a start with a change: it may have lost changes",
      OTHER,
      (world) => [told(world), world.restart(), world.note(["n1"])][0] as Cursor,
      false,
    ],
  ])("%s: is current or not", (_, shard, work, isCurrent) => {
    const world = new World();
    const known = work(world);
    expect(world.books.isCurrent(shard, known)).toBe(isCurrent);
  });
});
