import { describe, expect, it } from "vitest";
import { BusyNotes } from "../../../src/tenancy/busy-notes";
import { BUSY_INTERVAL_MS } from "../../../src/tenancy/directory-keys";

function setting(fails = false) {
  const clock = { at: 1_000_000, now: () => clock.at };
  const told: string[] = [];
  const notes = new BusyNotes(clock);
  const note = (id: string, rhythm: "minute" | "hour" = "minute"): void =>
    notes.note(id, rhythm, (rhythms) => {
      told.push(`${id} ${rhythms.join("+")}`);
      return fails ? Promise.reject(new Error("the shard is down")) : Promise.resolve();
    });
  return { clock, told, note };
}

describe("BusyNotes", () => {
  it("two writes within the interval: one call", () => {
    const { told, note } = setting();
    note("a");
    note("a");
    expect(told).toEqual(["a minute+hour"]);
  });

  it("another cluster: a call of its own", () => {
    const { told, note } = setting();
    note("a");
    note("b");
    expect(told).toEqual(["a minute+hour", "b minute+hour"]);
  });

  it("work for the minute's job: is told as work of the hour, too, and not again until its interval is over", () => {
    const { clock, told, note } = setting();
    note("a");
    note("a", "hour");
    clock.at += BUSY_INTERVAL_MS.minute;
    note("a");
    note("a", "hour");
    clock.at += BUSY_INTERVAL_MS.hour;
    note("a", "hour");
    note("a");
    expect(told).toEqual(["a minute+hour", "a minute", "a hour", "a minute"]);
  });

  it.each([
    ["the interval is over", BUSY_INTERVAL_MS.minute],
    ["the clock was set back", -1],
  ])("%s: the next write tells again", (_, passedMs) => {
    const { clock, told, note } = setting();
    note("a");
    clock.at += passedMs;
    note("a");
    expect(told).toHaveLength(2);
  });

  it("lost call: the next write tells again", async () => {
    const { told, note } = setting(true);
    note("a");
    await Promise.resolve();
    note("a");
    expect(told).toHaveLength(2);
  });
});
