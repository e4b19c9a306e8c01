import { describe, expect, it } from "vitest";
import { EarliestAlarm } from "../../../../src/core/base/earliest-alarm";

function setting() {
  const clock = { ms: 1_000, now: () => clock.ms };
  const set: number[] = [];
  return { clock, set, alarm: new EarliestAlarm(clock, (atMs) => set.push(atMs)) };
}

describe("EarliestAlarm", () => {
  it("the first time and every earlier one: set", () => {
    const { alarm, set } = setting();
    for (const atMs of [5_000, 6_000, 5_000, 3_000, 4_000]) alarm.by(atMs);
    expect(set).toEqual([5_000, 3_000]);
  });

  it("a time after the last one has passed: set", () => {
    const { alarm, clock, set } = setting();
    alarm.by(3_000);
    clock.ms = 3_000;
    alarm.by(9_000);
    expect(set).toEqual([3_000, 9_000]);
  });

  it("a time after an alarm that rang early by this clock: set", () => {
    const { alarm, clock, set } = setting();
    alarm.by(3_000);
    clock.ms = 2_990;
    alarm.rang();
    alarm.by(3_090);
    expect(set).toEqual([3_000, 3_090]);
  });

  it("a time after one inside a transaction that may roll back: set", () => {
    const { alarm, set } = setting();
    alarm.byWithTransaction(3_000);
    alarm.by(9_000);
    alarm.byWithTransaction(10_000);
    expect(set).toEqual([3_000, 9_000]);
    alarm.by(9_500);
    expect(set).toEqual([3_000, 9_000, 9_500]);
  });
});
