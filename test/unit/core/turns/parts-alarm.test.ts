import { expect, it } from "vitest";
import { PartsAlarm, type WokenPart } from "../../../../src/core/turns/parts-alarm";

it.each<readonly [parts: readonly (number | undefined)[], by: number, at: number, behindRinging: number | undefined]>([
  [[undefined, undefined], 50, 50, undefined],
  [[20, undefined], 50, 20, 20],
  [[undefined, 20], 10, 10, 20],
  [[70, 60], 50, 50, 60],
])("parts with work due at %j, and one that asks for %d: %d, and behind the alarm %s", (times, by, at, behind) => {
  let alarmAt: number | undefined;
  const parts = times.map((dueAt): WokenPart => ({ dueAt }));
  const alarm = new PartsAlarm(
    () => [...parts, undefined],
    (atMs) => (alarmAt = atMs),
  );
  alarm.by(by);
  expect(alarmAt).toBe(at);
  alarmAt = undefined;
  alarm.rang();
  expect(alarmAt).toBe(behind);
});
