import { describe, expect, it } from "vitest";
import { BusyNotes } from "../../../src/tenancy/busy-notes";
import { BUSY_INTERVAL_MS } from "../../../src/tenancy/directory-keys";

function setting(fails = false) {
  const clock = { at: 1_000_000, now: () => clock.at };
  const puts: string[] = [];
  const notes = new BusyNotes(clock);
  const note = (id: string, rhythm: "minute" | "hour" = "minute"): void =>
    notes.note(id, rhythm, (key, seconds) => {
      puts.push(`${key} ${seconds}`);
      return fails ? Promise.reject(new Error("KV is down")) : Promise.resolve();
    });
  return { clock, puts, note };
}

describe("BusyNotes", () => {
  it("two writes within the interval: one put, which expires by itself", () => {
    const { puts, note } = setting();
    note("a");
    note("a");
    expect(puts).toEqual(["busy/minute/a 600"]);
  });

  it("another cluster, another rhythm: a put of its own", () => {
    const { puts, note } = setting();
    note("a");
    note("b");
    note("a", "hour");
    expect(puts).toEqual(["busy/minute/a 600", "busy/minute/b 600", "busy/hour/a 10800"]);
  });

  it.each([
    ["the interval is over", BUSY_INTERVAL_MS.minute],
    ["the clock was set back", -1],
  ])("%s: the next write puts again", (_, passedMs) => {
    const { clock, puts, note } = setting();
    note("a");
    clock.at += passedMs;
    note("a");
    expect(puts).toHaveLength(2);
  });

  it("lost put: the next write puts again", async () => {
    const { puts, note } = setting(true);
    note("a");
    await Promise.resolve();
    note("a");
    expect(puts).toHaveLength(2);
  });
});
