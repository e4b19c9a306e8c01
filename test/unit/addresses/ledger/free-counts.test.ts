import { describe, expect, it } from "vitest";
import { FreeCounts } from "../../../../src/addresses/ledger/free-counts";
import type { Topology } from "../../../../src/addresses/rpc/topology";
import { sizesOf } from "../../../../src/addresses/topology/route";
import { MemoryFreeCountStorage } from "../../../support/memory/ledger-storage";
import { aTopology } from "../../../support/worlds/ledger-world";

const NONE = { dynamic: 0, static: 0 };

function answer(dynamic: number, low: number, epoch = 1) {
  return { epoch, free: { IPv4: { dynamic, static: low }, IPv6: NONE } };
}

function free(counts: FreeCounts, topology: Topology, uid = "a") {
  return counts.freeOf(uid, "IPv4", sizesOf(topology, uid, "IPv4"));
}

describe("FreeCounts", () => {
  const topology = aTopology(1, { a: "10.0.0.0/24", b: "10.0.1.0/24" });

  it("owner without an answer: counts by its size; with answers: by the last one", () => {
    const counts = new FreeCounts();
    expect(free(counts, topology)).toEqual({ dynamic: 238, static: 16 });
    counts.note(topology, "a", answer(10, 3));
    counts.note(topology, "a", answer(9, 3));
    expect([free(counts, topology), free(counts, topology, "b")]).toEqual([
      { dynamic: 9, static: 3 },
      { dynamic: 238, static: 16 },
    ]);
  });

  it("answer under another configuration than the topology's: ignored", () => {
    const counts = new FreeCounts();
    counts.note(topology, "a", answer(0, 0, 2));
    counts.note(topology, "gone", answer(0, 0));
    expect(free(counts, topology)).toEqual({ dynamic: 238, static: 16 });
  });

  it("range that grows or goes: counts change at once", () => {
    const counts = new FreeCounts();
    counts.note(topology, "a", answer(0, 0));
    // The /23 takes .255 and .0 between its halves in, and has a static band of 32.
    const grown: Topology = {
      ...aTopology(2, { a: "10.0.0.0/23" }),
      ranges: ["10.0.0.0/24", "10.0.0.0/23"].map((prefix) => ({ prefix, name: prefix })),
    };
    const { dynamic, static: low } = free(counts, grown);
    expect(dynamic + low).toBe(510 - 254);
    expect(free(counts, { ...topology, ranges: [] })).toEqual(NONE);
  });

  it("release: counts in the band of its address, up to the size of the band", () => {
    const counts = new FreeCounts();
    counts.note(topology, "a", answer(0, 0));
    for (const address of ["10.0.0.200", "10.0.0.3", "10.0.0.0", "nonsense"]) counts.released(topology, "a", address);
    counts.released(topology, "b", "10.0.1.200");
    expect(free(counts, topology)).toEqual({ dynamic: 1, static: 1 });
    for (let i = 0; i < 500; i++) counts.released(topology, "a", "10.0.0.200");
    expect(free(counts, topology)).toEqual({ dynamic: 238, static: 1 });
  });

  it("counts that come with a topology: fill gaps; counts that were asked for: replace older ones", () => {
    const counts = new FreeCounts();
    counts.note(topology, "a", answer(10, 3));
    const hints = ["a", "b"].map((ownerUid) => ({ ownerUid, IPv4: { dynamic: 100, static: 9 }, IPv6: NONE }));
    counts.adopt({ ...topology, free: hints });
    expect([free(counts, topology), free(counts, topology, "b")]).toEqual([
      { dynamic: 10, static: 3 },
      { dynamic: 100, static: 9 },
    ]);
    const since = counts.now;
    counts.note(topology, "b", answer(50, 5));
    counts.replace({ ...topology, free: hints }, since);
    expect([free(counts, topology), free(counts, topology, "b")]).toEqual([
      { dynamic: 100, static: 9 },
      { dynamic: 50, static: 5 },
    ]);
  });

  it("restart: continues with the saved counts; owners that are gone are deleted from storage", () => {
    const storage = new MemoryFreeCountStorage();
    const counts = new FreeCounts(storage);
    counts.note(topology, "a", answer(10, 3));
    counts.note(topology, "b", answer(20, 2));
    counts.save();
    counts.note(topology, "a", answer(1, 1));
    const restarted = new FreeCounts(storage);
    expect([free(restarted, topology), free(restarted, topology, "b")]).toEqual([
      { dynamic: 10, static: 3 },
      { dynamic: 20, static: 2 },
    ]);
    restarted.adopt(aTopology(2, { a: "10.0.0.0/24" }));
    restarted.save();
    expect(storage.takenCountsLoad().map(({ ownerUid }) => ownerUid)).toEqual(["a"]);
  });

  it("save: writes an owner whose counts on disk differ by more than an eighth of what is free", () => {
    const storage = new MemoryFreeCountStorage();
    const counts = new FreeCounts(storage);
    const written: (number | undefined)[] = [];
    // 238 dynamic addresses, taken one after the other, and given back.
    const many = Array.from({ length: 238 }, (_, i) => 237 - i);
    for (const dynamic of [...many, ...many.toReversed(), 238]) {
      counts.note(topology, "a", answer(dynamic, 16));
      counts.save();
      const kept = free(new FreeCounts(storage), topology).dynamic;
      expect(Math.abs(kept - dynamic) * 8, `${String(dynamic)} are free`).toBeLessThanOrEqual(dynamic);
      if (written.at(-1) !== kept) written.push(kept);
    }
    expect(written, "the last one is known").toContain(0);
    expect(written.length).toBeLessThan(80);
    counts.released(topology, "a", "10.0.0.3");
    counts.save();
    expect(storage.takenCountsLoad()).toHaveLength(1);
  });

  it("lost transaction: the next save repeats its writes, and no later one does", () => {
    const storage = new MemoryFreeCountStorage();
    const counts = new FreeCounts(storage);
    counts.note(topology, "a", answer(10, 3));
    counts.save();
    storage.takenCountsDelete("a");
    counts.lost();
    counts.save();
    expect(free(new FreeCounts(storage), topology)).toEqual({ dynamic: 10, static: 3 });
    storage.takenCountsDelete("a");
    counts.save();
    expect(storage.takenCountsLoad()).toEqual([]);
  });

  it("sizes beyond 2^53: the free counts of a /64 and a /48 keep their proportion", () => {
    const large = aTopology(1, { a: "fd00::/64", b: "fd01::/48" });
    const counts = new FreeCounts(new MemoryFreeCountStorage());
    counts.note(large, "a", { epoch: 1, free: { IPv4: NONE, IPv6: { dynamic: 2 ** 64 - 1_000, static: 256 } } });
    const [a, b] = ["a", "b"].map((uid) => counts.freeOf(uid, "IPv6", sizesOf(large, uid, "IPv6")).dynamic);
    expect((b ?? 0) / (a ?? 1)).toBeCloseTo(2 ** 16, 3);
  });
});
