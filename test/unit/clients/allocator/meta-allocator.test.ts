import { describe, expect, it } from "vitest";
import { AllocationMetrics } from "../../../../src/addresses/metrics/allocation-metrics";
import { allocatorErrorText } from "../../../../src/clients/allocator/allocator-error";
import { MetaAllocator } from "../../../../src/clients/allocator/meta-allocator";
import { formatAddress } from "../../../../src/core/net/address";
import { formatPrefix, prefixAround } from "../../../../src/core/net/prefix";
import { isUsableIn } from "../../../../src/core/net/usable";
import { prefixOf } from "../../../model/prefix-of";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

function metaOf(...cidrs: string[]): MetaAllocator {
  const allocator = new MetaAllocator("IPv4", { random: seededRandom(8201), clock: { now: () => 0 } });
  set(allocator, ...cidrs);
  return allocator;
}

/** `!` before a CIDR: not ready. */
function set(allocator: MetaAllocator, ...cidrs: string[]): void {
  const ranges = cidrs.map((text) => ({ cidr: text.replace("!", ""), ready: !text.startsWith("!") }));
  expect(allocator.setRanges(ranges).ok).toBe(true);
}

function drain(allocator: MetaAllocator): string[] {
  const all: string[] = [];
  for (let next = allocator.allocateNext(); next.ok; next = allocator.allocateNext()) all.push(next.value.address);
  return all;
}

function tryTo(allocator: Pick<MetaAllocator, "allocate">, address: string): string {
  const named = allocator.allocate(address);
  return named.ok ? named.value.scope : allocatorErrorText(named.error);
}

describe("MetaAllocator", () => {
  it("no range, or no ready range: full, and no address can be named", () => {
    for (const allocator of [metaOf(), metaOf("!10.0.0.0/24")]) {
      expect([drain(allocator), tryTo(allocator, "10.0.0.9")]).toEqual([[], "the provided network does not match the current range"]);
      expect([allocator.cidr, allocator.free]).toEqual(["", { dynamic: 0, static: 0 }]);
      expect(allocator.dryRun().allocateNext()).toEqual({ ok: false, error: { reason: "notReady" } });
    }
  });

  it("equal and nested ranges: addresses count once, and an inner network address is usable through the outer range", () => {
    const allocator = metaOf("10.0.0.0/28", "10.0.0.16/28", "10.0.0.0/28");
    expect([drain(allocator).length, tryTo(allocator, "10.0.0.16")]).toEqual([28, "the provided network does not match the current range"]);
    set(allocator, "10.0.0.0/28", "10.0.0.16/28", "10.0.0.0/24");
    expect([allocator.used, tryTo(allocator, "10.0.0.15"), tryTo(allocator, "10.0.0.16")]).toEqual([28, "static", "static"]);
    expect(new Set(drain(allocator)).size).toBe(254 - 30);
    expect(allocator.usage()).toEqual([
      { cidr: "10.0.0.0/28", allocated: 14, available: 0 },
      { cidr: "10.0.0.16/28", allocated: 14, available: 0 },
      { cidr: "10.0.0.0/24", allocated: 254, available: 0 },
    ]);
  });

  it("dry run: answers the band of a named address, by the ranges as they are", () => {
    const allocator = metaOf("10.0.0.0/24");
    const dry = allocator.dryRun();
    expect([tryTo(dry, "10.0.0.5"), tryTo(dry, "10.0.0.200"), dry.allocateNext()]).toEqual([
      "static",
      "dynamic",
      { ok: true, value: { address: "10.0.0.0", scope: "dynamic" } },
    ]);
    set(allocator, "10.1.0.0/24");
    expect(dry.allocateNext()).toEqual({ ok: true, value: { address: "10.1.0.0", scope: "dynamic" } });
    expect(tryTo(dry, "10.0.0.5")).toBe("the provided network does not match the current range");
    allocator.destroy();
    expect([dry.allocateNext(), tryTo(dry, "10.1.0.5")]).toEqual([{ ok: false, error: { reason: "notReady" } }, "allocator not ready"]);
    expect([allocator.used, dry.used]).toEqual([0, 0]);
  });

  it("address that lost its range: taken until it is released, whichever ranges come and go", () => {
    const allocator = metaOf("10.0.0.0/24");
    allocator.allocate("10.0.0.200");
    allocator.allocate("10.0.0.3");
    set(allocator, "10.0.0.0/28");
    expect([allocator.used, allocator.has("10.0.0.200"), tryTo(allocator, "10.0.0.201")]).toEqual([
      2,
      true,
      "the provided network does not match the current range",
    ]);
    set(allocator);
    set(allocator, "!10.0.0.0/16");
    set(allocator, "10.0.0.128/25");
    expect([tryTo(allocator, "10.0.0.200"), allocator.has("10.0.0.3")]).toEqual(["provided IP is already allocated", true]);
    allocator.release("10.0.0.200");
    allocator.release("10.0.0.3");
    expect([tryTo(allocator, "10.0.0.200"), allocator.used]).toEqual(["dynamic", 1]);
  });

  it("refused CIDR: changes nothing; ranges of the other family: ignored", () => {
    const allocator = metaOf("10.0.0.0/28", "fd00::/64");
    expect(
      allocator.setRanges([
        { cidr: "10.1.0.0/16", ready: true },
        { cidr: "10.1.0.1/16", ready: true },
      ]).ok,
    ).toBe(false);
    expect(drain(allocator).length).toBe(14);
  });

  it("metrics: name the innermost range; a full request counts once in each range", () => {
    const allocator = metaOf("10.0.0.0/29", "10.0.0.0/30");
    const metrics = new AllocationMetrics();
    allocator.enableMetrics(metrics);
    drain(allocator);
    const counted = metrics.values().map(({ cidr, total, errors }) => [cidr, total.dynamic, errors.dynamic]);
    expect(counted.sort()).toEqual([
      ["10.0.0.0/29", 4, 1],
      ["10.0.0.0/30", 2, 1],
    ]);
  });

  it("random ranges that come and go: no address twice or outside, static bands last (seed 8301)", () => {
    const random = seededRandom(8301);
    const allocator = metaOf();
    const held = new Set<string>();
    let ready: string[] = [];
    for (let step = 0; step < 600; step++) {
      const dice = random.below(10);
      if (dice === 0) {
        const ranges = Array.from({ length: random.below(6) }, () => {
          const prefix = prefixAround("IPv4", 0x0a000000n + BigInt(random.below(512)), 23 + random.below(10));
          return { cidr: formatPrefix(prefix), ready: random.below(4) > 0 };
        });
        expect(allocator.setRanges(ranges).ok).toBe(true);
        ready = ranges.filter((range) => range.ready).map(({ cidr }) => cidr);
      } else if (dice < 6) {
        const before = allocator.free;
        const next = allocator.allocateNext();
        const want = before.dynamic > 0 ? "dynamic" : before.static > 0 ? "static" : undefined;
        expect(next.ok ? next.value.scope : undefined, `seed 8301, step ${step}`).toBe(want);
        if (!next.ok) continue;
        expect(held.has(next.value.address), `seed 8301, step ${step}: twice`).toBe(false);
        held.add(next.value.address);
      } else if (dice < 8) {
        const value = 0x0a000000n + BigInt(random.below(512));
        const address = formatAddress("IPv4", value);
        const usable = ready.some((cidr) => isUsableIn(prefixOf(cidr), "IPv4", value));
        const named = allocator.allocate(address);
        expect(named.ok, `seed 8301, step ${step}: ${address}`).toBe(usable && !held.has(address));
        if (named.ok) held.add(address);
      } else {
        const [address] = [...held].slice(random.below(Math.max(1, held.size)));
        if (address !== undefined) allocator.release(address);
        if (address !== undefined) held.delete(address);
      }
      expect(allocator.used, `seed 8301, step ${step}`).toBe(held.size);
    }
  });
});
