import { describe, expect, it } from "vitest";
import { PendingIndex } from "../../../../src/addresses/ledger/pending-index";
import type { Topology } from "../../../../src/addresses/rpc/topology";
import { aTopology } from "../../../support/worlds/ledger-world";

const ROWS = [
  { token: "a", address: "10.0.0.5" },
  { token: "b", address: "10.0.0.5" },
  { token: "c", address: "10.9.0.5" },
  { token: "d", address: "fd00::5" },
];
const TOPOLOGY = aTopology(1, { v4: "10.0.0.0/24" });

describe("an index of pending releases", () => {
  it("rows of an address: known by their tokens until they are deleted", () => {
    const index = new PendingIndex(ROWS);
    expect([index.size, index.tokensOf("10.0.0.5")]).toEqual([4, ["a", "b"]]);
    index.delete("a");
    index.delete("a");
    expect([index.size, index.tokensOf("10.0.0.5")]).toEqual([3, ["b"]]);
    index.delete("b");
    expect([index.size, index.tokensOf("10.0.0.5")]).toEqual([2, []]);
  });

  it("a row that is added twice: counts once", () => {
    const index = new PendingIndex(ROWS);
    expect(index.hasGivenOut(TOPOLOGY, "IPv4")).toBe(true);
    index.add({ token: "a", address: "10.0.0.5" });
    expect(index.size).toBe(4);
    index.delete("a");
    index.delete("b");
    expect(index.hasGivenOut(TOPOLOGY, "IPv4")).toBe(false);
  });

  it("an address that a range gives out: by family, as rows come and go", () => {
    const index = new PendingIndex(ROWS);
    expect([index.hasGivenOut(TOPOLOGY, "IPv4"), index.hasGivenOut(TOPOLOGY, "IPv6")]).toEqual([true, false]);
    index.delete("a");
    index.delete("b");
    expect(index.hasGivenOut(TOPOLOGY, "IPv4")).toBe(false);
    index.add({ token: "e", address: "10.0.0.9" });
    expect(index.hasGivenOut(TOPOLOGY, "IPv4")).toBe(true);
  });

  it("another topology: other addresses are given out", () => {
    const index = new PendingIndex(ROWS);
    expect(index.hasGivenOut(TOPOLOGY, "IPv6")).toBe(false);
    expect(index.hasGivenOut(aTopology(2, { v6: "fd00::/112" }), "IPv6")).toBe(true);
    expect(index.hasGivenOut(aTopology(3, { other: "10.9.0.0/24" }), "IPv4")).toBe(true);
    expect(index.hasGivenOut(aTopology(4, { none: "10.8.0.0/24" }), "IPv4")).toBe(false);
  });

  it("a thousand questions about ten thousand rows: look at each row once", () => {
    let looks = 0;
    const isGivenOut = (_: Topology, address: string): boolean => (looks++, address === "10.0.39.15");
    const rows = Array.from({ length: 10_000 }, (_, i) => ({ token: `t-${i}`, address: `10.0.${i >> 8}.${i & 255}` }));
    const index = new PendingIndex(rows, isGivenOut);
    for (let i = 0; i < 1_000; i++) expect(index.hasGivenOut(TOPOLOGY, "IPv4")).toBe(true);
    expect(looks).toBe(10_000);
    index.delete("t-9999");
    expect([index.hasGivenOut(TOPOLOGY, "IPv4"), looks]).toEqual([false, 10_001]);
  });
});
