import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startCrons } from "../../../scripts/serve/crons";
import { root } from "../../../scripts/running/root.mjs";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Full minutes at which an expression fires, from a moment on, for so many minutes. */
async function minutesOf(expression: string, from: string, minutes: number): Promise<string[]> {
  vi.setSystemTime(new Date(from));
  const fired: string[] = [];
  const crons = startCrons([expression], (cron, scheduledTime) => {
    expect(cron).toBe(expression);
    fired.push(new Date(scheduledTime).toISOString());
  });
  await vi.advanceTimersByTimeAsync(minutes * 60_000);
  crons.stop();
  return fired;
}

describe("startCrons", () => {
  it.each([
    ["* * * * *", "2026-11-20T10:00:30Z", 3, ["2026-11-20T10:01:00.000Z", "2026-11-20T10:02:00.000Z", "2026-11-20T10:03:00.000Z"]],
    ["*/5 * * * *", "2026-11-20T10:01:00Z", 10, ["2026-11-20T10:05:00.000Z", "2026-11-20T10:10:00.000Z"]],
    ["0 * * * *", "2026-11-20T10:30:00Z", 100, ["2026-11-20T11:00:00.000Z", "2026-11-20T12:00:00.000Z"]],
    // 2026-11-22 is a Sunday: weekday 1 on Cloudflare.
    ["0 0 * * 1", "2026-11-21T23:00:00Z", 120, ["2026-11-22T00:00:00.000Z"]],
  ])("%s: rings at its minutes", async (expression, from, minutes, want) => {
    expect(await minutesOf(expression, from, minutes)).toEqual(want);
  });

  it("the expressions of wrangler.toml: all accepted", () => {
    const text = readFileSync(join(root, "wrangler.toml"), "utf8");
    const expressions = [...(/crons = \[(.*)\]/.exec(text)?.[1] ?? "").matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(expressions.length).toBeGreaterThan(0);
    expect(() => startCrons(expressions, () => undefined).stop()).not.toThrow();
  });
});
