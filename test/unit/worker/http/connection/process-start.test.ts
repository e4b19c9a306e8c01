import { afterEach, expect, it, vi } from "vitest";
import type * as ProcessStart from "../../../../../src/worker/http/connection/process-start";

afterEach(() => void vi.useRealTimers());

/** A module of its own: files that share this runtime have read the clock by the other one. */
const OWN = "../../../../../src/worker/http/connection/process-start?own";

it("start of the process: when the clock was first read, in seconds, also at later scrapes", async () => {
  const { nowNoted, processStartFamily } = (await import(OWN)) as typeof ProcessStart;
  vi.useFakeTimers({ now: 1_800_000_000_500, toFake: ["Date"] });
  expect(nowNoted()).toBe(1_800_000_000_500);
  vi.setSystemTime(1_800_000_060_000);
  expect(nowNoted()).toBe(1_800_000_060_000);
  for (let scrape = 0; scrape < 2; scrape++) expect(processStartFamily().samples).toEqual([{ labels: {}, value: 1_800_000_000.5 }]);
});
