import { describe, expect, it } from "vitest";
import { AllocationMetrics } from "../../../../src/addresses/metrics/allocation-metrics";
import { allocatorErrorText } from "../../../../src/clients/allocator/allocator-error";
import type { AddressRecords, AllocatorPorts } from "../../../../src/clients/allocator/pool-allocator";
import { RangeAllocator } from "../../../../src/clients/allocator/range-allocator";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

function rangeOf(cidr: string, ports: Partial<AllocatorPorts> = {}): RangeAllocator {
  const allocator = RangeAllocator.of(cidr, { random: seededRandom(8101), clock: { now: () => 0 }, ...ports });
  if (!allocator.ok) throw new Error(cidr);
  return allocator.value;
}

function nextOf(allocator: RangeAllocator): string {
  const next = allocator.allocateNext();
  return next.ok ? next.value.address : allocatorErrorText(next.error);
}

function tryTo(allocator: Pick<RangeAllocator, "allocate">, address: string): string {
  const named = allocator.allocate(address);
  return named.ok ? `${named.value.address} ${named.value.scope}` : allocatorErrorText(named.error);
}

const NOT_READY = { ok: false, error: { reason: "notReady" } };

describe("RangeAllocator", () => {
  it("constructor: takes CIDR and family; a text that is no canonical CIDR: refused", () => {
    const allocator = rangeOf("fd00::/112");
    expect([allocator.cidr, allocator.ipFamily, allocator.free, allocator.used]).toEqual([
      "fd00::/112",
      "IPv6",
      { dynamic: 65279, static: 256 },
      0,
    ]);
    const ports = { random: seededRandom(1), clock: { now: () => 0 } };
    for (const cidr of ["10.0.0.1/24", "FD00::/112", "10.0.0.0", "10.0.0.0/33"]) expect(RangeAllocator.of(cidr, ports).ok).toBe(false);
  });

  it.each([
    ["10.0.0.1", "10.0.0.1 static"],
    ["10.0.0.17", "10.0.0.17 dynamic"],
    ["10.0.0.254", "10.0.0.254 dynamic"],
    ["10.0.0.0", "the provided IP (10.0.0.0) is not in the valid range. The range of valid IPs is 10.0.0.0/24"],
    ["10.0.0.255", "the provided IP (10.0.0.255) is not in the valid range. The range of valid IPs is 10.0.0.0/24"],
    ["10.1.0.1", "the provided IP (10.1.0.1) is not in the valid range. The range of valid IPs is 10.0.0.0/24"],
    ["fd00::1", 'failed to parse service IP "fd00::1"'],
    ["nonsense", 'failed to parse service IP "nonsense"'],
  ])("allocate %s: %s", (address, want) => {
    const allocator = rangeOf("10.0.0.0/24");
    expect(tryTo(allocator, address)).toBe(want);
    expect([allocator.has(address), allocator.used]).toEqual(want.startsWith(address) ? [true, 1] : [false, 0]);
    expect(tryTo(allocator.dryRun(), address)).toBe(want);
  });

  it("has, forEach, release: canonical texts, ascending; an address that is not taken: no change", () => {
    const allocator = rangeOf("fd00::/120");
    for (const address of ["fd00::ff", "fd00:0::2", "FD00::10"]) expect(allocator.allocate(address).ok).toBe(true);
    const seen: string[] = [];
    allocator.forEach((address) => {
      seen.push(address);
      allocator.release(address);
    });
    expect(seen).toEqual(["fd00::2", "fd00::10", "fd00::ff"]);
    for (const address of ["fd00::2", "fd01::1", "10.0.0.1", "", "fd00::/120"]) allocator.release(address);
    expect([allocator.used, allocator.has("fd00::2"), allocator.has("nonsense")]).toEqual([0, false, false]);
  });

  it("every length of either family: gives out each of its addresses (up to a thousand), and no other", () => {
    for (const [family, width] of [
      ["10.0.0.0", 32],
      ["fd00::", 128],
    ] as const) {
      for (let length = 8; length <= width; length++) {
        const allocator = rangeOf(`${family}/${length}`);
        const size = allocator.free.dynamic + allocator.free.static;
        const most = Math.min(size, 300);
        const seen = new Set(Array.from({ length: most }, () => nextOf(allocator)));
        expect([length, seen.size, allocator.used]).toEqual([length, most, most]);
        for (const address of seen) if (!allocator.has(address)) throw new Error(`${address} is not taken`);
        if (most === size) expect(nextOf(allocator)).toBe("range is full");
      }
    }
  });

  it("dry run: changes nothing", () => {
    const allocator = rangeOf("10.0.0.0/24");
    allocator.allocate("10.0.0.9");
    const dry = allocator.dryRun();
    expect(dry.allocateNext()).toEqual({ ok: true, value: { address: "10.0.0.0", scope: "dynamic" } });
    expect(tryTo(dry, "10.0.0.9")).toBe("10.0.0.9 static");
    dry.release("10.0.0.9");
    dry.destroy();
    const seen: string[] = [];
    dry.forEach((address) => seen.push(address));
    expect([dry.has("10.0.0.9"), dry.used, dry.free, dry.cidr, dry.ipFamily, seen, dry.dryRun()]).toEqual([
      true,
      1,
      { dynamic: 238, static: 15 },
      "10.0.0.0/24",
      "IPv4",
      ["10.0.0.9"],
      dry,
    ]);
  });

  it("destroyed: not ready, and empty", () => {
    const allocator = rangeOf("10.0.0.0/24");
    allocator.allocate("10.0.0.9");
    const dry = allocator.dryRun();
    allocator.destroy();
    for (const tried of [dry, allocator.dryRun()]) {
      expect([tried.allocateNext(), tried.allocate("10.0.0.10")]).toEqual([NOT_READY, NOT_READY]);
      expect(tryTo(tried, "10.1.0.1")).toBe("allocator not ready");
      expect(tryTo(tried, "nonsense")).toBe('failed to parse service IP "nonsense"');
    }
    expect([nextOf(allocator), tryTo(allocator, "10.0.0.10")]).toEqual(["allocator not ready", "allocator not ready"]);
    expect([allocator.used, allocator.has("10.0.0.9"), allocator.usage()]).toEqual([0, false, []]);
  });

  it("load: takes readable objects of an allocator that lie inside", () => {
    const labels = { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io", "ipaddress.kubernetes.io/ip-family": "IPv4" };
    const allocator = rangeOf("10.0.0.0/24");
    const named = (name: string, has: Record<string, string> = labels) => ({ metadata: { name, labels: has } });
    const loaded = allocator.load([
      named("10.0.0.5"),
      named("10.0.0.5"),
      named("10.0.1.5"),
      named("not-an-ip"),
      named("fd00::5"),
      named("10.0.0.6", {}),
      named("10.0.0.7", { ...labels, "ipaddress.kubernetes.io/managed-by": "someone" }),
      named("10.0.0.8", { ...labels, "ipaddress.kubernetes.io/ip-family": "IPv6" }),
      {},
    ]);
    expect([loaded, allocator.used, allocator.free]).toEqual([1, 1, { dynamic: 238, static: 15 }]);
  });
});

describe("RangeAllocator with records", () => {
  class Records implements AddressRecords {
    readonly stored = new Set<string>();
    readonly asked: string[] = [];
    fault: Error | undefined;

    create(address: string): "created" | "exists" {
      this.asked.push(address);
      if (this.fault) throw this.fault;
      if (this.stored.has(address)) return "exists";
      this.stored.add(address);
      return "created";
    }

    delete(address: string): void {
      this.stored.delete(address);
    }
  }

  it("address that the records have already: passed over, once each", () => {
    const records = new Records();
    for (let i = 1; i <= 5; i++) records.stored.add(`10.0.0.${i}`);
    const allocator = rangeOf("10.0.0.0/29", { records });
    expect([nextOf(allocator), nextOf(allocator)]).toEqual(["10.0.0.6", "range is full"]);
    expect(records.asked.length).toBe(6);
  });

  it("another fault: ends the call at once, is handed on as it is, and takes nothing", () => {
    const records = new Records();
    records.fault = new Error("the server is on fire");
    const allocator = rangeOf("10.0.0.0/24", { records });
    expect(allocator.allocateNext()).toEqual({ ok: false, error: { reason: "records", error: records.fault } });
    expect([records.asked.length, allocator.used, tryTo(allocator, "10.0.0.9")]).toEqual([1, 0, "the server is on fire"]);
    records.fault = undefined;
    expect(tryTo(allocator, "10.0.0.9")).toBe("10.0.0.9 static");
    allocator.release("10.0.0.9");
    expect([records.stored.size, allocator.used]).toEqual([0, 0]);
  });

  it("named address that the records have: allocated already, also when asked again", () => {
    const records = new Records();
    records.stored.add("10.0.0.9");
    const allocator = rangeOf("10.0.0.0/24", { records });
    expect([tryTo(allocator, "10.0.0.9"), tryTo(allocator, "10.0.0.9")]).toEqual(Array(2).fill("provided IP is already allocated"));
  });

  it("metrics: seconds of the clock and errors of both scopes; a dry run or a wrong range: not counted", () => {
    let now = 0;
    const records = new Records();
    const allocator = rangeOf("10.0.0.0/30", { records, clock: { now: () => (now += 20) } });
    const metrics = new AllocationMetrics();
    allocator.enableMetrics(metrics);
    allocator.dryRun().allocateNext();
    allocator.allocate("10.9.9.9");
    expect(metrics.values()).toEqual([]);
    allocator.allocate("10.0.0.1");
    allocator.allocate("10.0.0.1");
    allocator.allocateNext();
    allocator.allocateNext();
    const [values] = metrics.values();
    expect(values).toMatchObject({ cidr: "10.0.0.0/30", total: { static: 1, dynamic: 1 }, errors: { static: 1, dynamic: 1 } });
    expect(values?.durations.sum).toBeCloseTo(0.04, 9);
    expect(values?.durations.counts.slice(0, 4)).toEqual([0, 0, 2, 0]);
    expect(allocator.usage()).toEqual([{ cidr: "10.0.0.0/30", allocated: 2, available: 0 }]);
  });
});
