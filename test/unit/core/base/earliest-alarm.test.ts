import { describe, expect, it } from "vitest";
import { EarliestAlarm } from "../../../../src/core/base/earliest-alarm";

function setting() {
  const clock = { ms: 1_000, now: () => clock.ms };
  const set: number[] = [];
  return { clock, set, alarm: new EarliestAlarm(clock, (atMs) => set.push(atMs)) };
}

describe("EarliestAlarm", () => {
  it("sets the first and every earlier wish", () => {
    const { alarm, set } = setting();
    for (const atMs of [5_000, 6_000, 5_000, 3_000, 4_000]) alarm.by(atMs);
    expect(set).toEqual([5_000, 3_000]);
  });

  it("sets the next one once the last has passed", () => {
    const { alarm, clock, set } = setting();
    alarm.by(3_000);
    clock.ms = 3_000;
    alarm.by(9_000);
    expect(set).toEqual([3_000, 9_000]);
  });

  it("sets the next one after an alarm that rang before its time by this clock", () => {
    const { alarm, clock, set } = setting();
    alarm.by(3_000);
    clock.ms = 2_990;
    alarm.rang();
    alarm.by(3_090);
    expect(set).toEqual([3_000, 3_090]);
  });

  it("sets the next one after a wish that may be lost with its transaction", () => {
    const { alarm, set } = setting();
    alarm.byWithTransaction(3_000);
    alarm.by(9_000);
    alarm.byWithTransaction(10_000);
    expect(set).toEqual([3_000, 9_000]);
    alarm.by(9_500);
    expect(set).toEqual([3_000, 9_000, 9_500]);
  });
});
