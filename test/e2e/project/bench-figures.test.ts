/** What the benchmarks compute beside what they measure. */
import { describe, expect, it } from "vitest";
import { CHANGES, decimalBytes, estimate, LARGE, SMALL, WAYS } from "../../../scripts/dev/bench/kep-0752";
import { probedDuring } from "../../../scripts/dev/bench/probed";
import { EventCount } from "../../../scripts/dev/bench/watchers-of";
import { quantile } from "../../../scripts/dev/bench/figures";

/** As the KEP prints them: writes, events at all watchers, bytes to all watchers. */
const TABLES = [
  [LARGE, "creation", ["1 5,000 10 GB", "200 1,000,000 10 GB", "20,000 100,000,000 10 GB"]],
  [LARGE, "update", ["1 5,000 10 GB", "1 5,000 50 MB", "1 5,000 5 MB"]],
  [LARGE, "rolling", ["20,000 100,000,000 200 TB", "20,000 100,000,000 1 TB", "20,000 100,000,000 100 GB"]],
  [SMALL, "creation", ["1 10 10 KB", "1 10 10 KB", "20 200 200 KB"]],
  [SMALL, "update", ["1 10 10 KB", "1 10 10 KB", "1 10 10 KB"]],
  [SMALL, "rolling", ["20 200 200 KB", "20 200 200 KB", "20 200 200 KB"]],
] as const;

describe("the estimate of KEP-0752", () => {
  it.each(TABLES)("%o, %s: the figures of the KEP's table", (sizes, change, want) => {
    const shown = WAYS.map((way) => {
      const { writes, events, bytes } = estimate(sizes, way, change);
      return `${writes.toLocaleString("en-US")} ${events.toLocaleString("en-US")} ${decimalBytes(bytes)}`;
    });
    expect(shown).toEqual(want);
  });

  it("its tables: six, each of three ways", () => {
    expect(TABLES).toHaveLength(2 * CHANGES.length);
    expect(WAYS).toEqual(["Endpoints", "B=100", "B=1"]);
  });
});

describe("decimalBytes: three digits, powers of 1,000", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [25_546, "25.5 KB"],
    [1e6, "1 MB"],
    [2e14, "200 TB"],
    [5e16, "50,000 TB"],
  ])("%d: %s", (bytes, want) => expect(decimalBytes(bytes)).toBe(want));
});

describe("quantile of sorted figures", () => {
  it.each([
    [0.5, 50],
    [0.99, 99],
    [1, 100],
  ])("%d of 1 to 100: %d", (q, want) => {
    const figures = Array.from({ length: 100 }, (_, i) => i + 1);
    expect(quantile(figures, q)).toBe(want);
  });

  it("nothing: NaN", () => expect(quantile([], 0.5)).toBeNaN());
});

describe("events of a watch, counted by the ends of their lines", () => {
  const body = Buffer.from('1a\r\n{"a":{}}\n{"b":{}}\n\r\n0b\r\n{"c":"}"}\n\r\n');

  it.each([1, 2, 3, 5, 8, 100])("pieces of %d bytes: each event once", (size) => {
    const count = new EventCount();
    let events = 0;
    for (let at = 0; at < body.length; at += size) events += count.take(body.subarray(at, at + size));
    expect(events).toBe(3);
  });
});

describe("a work that is probed", () => {
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it.each<[string, workFails: boolean, probeFails: boolean, end: string]>([
    ["ends", false, false, "ended"],
    ["fails", true, false, "Error: work"],
    ["goes on when a probe fails", false, true, "Error: probe"],
  ])("%s: no probe follows, and a failure is passed on", async (_, workFails, probeFails, end) => {
    let probes = 0;
    const work = (async () => {
      for (let turns = 0; turns < 100 && (probes < 5 || probeFails); turns++) await turn();
      if (workFails) throw new Error("work");
    })();
    const probe = async (): Promise<void> => {
      await turn();
      if (++probes === 10 && probeFails) throw new Error("probe");
    };
    expect(await probedDuring(work, probe).then(() => "ended", String)).toBe(end);
    const counted = probes;
    for (let i = 0; i < 10; i++) await turn();
    expect(probes).toBe(counted);
  });
});
