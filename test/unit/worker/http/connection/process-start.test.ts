import { afterEach, expect, it, vi } from "vitest";

afterEach(() => {
  vi.useRealTimers();
  vi.resetModules();
});

it("start of the process: when the clock was first read, in seconds, also at later scrapes", async () => {
  vi.resetModules();
  const { nowNoted, processStartFamily } = await import("../../../../../src/worker/http/connection/process-start");
  vi.useFakeTimers({ now: 1_800_000_000_500, toFake: ["Date"] });
  expect(nowNoted()).toBe(1_800_000_000_500);
  vi.setSystemTime(1_800_000_060_000);
  expect(nowNoted()).toBe(1_800_000_060_000);
  for (let scrape = 0; scrape < 2; scrape++) expect(processStartFamily().samples).toEqual([{ labels: {}, value: 1_800_000_000.5 }]);
});
