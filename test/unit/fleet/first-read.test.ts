import { expect, it } from "vitest";
import { firstRead } from "../../../src/fleet/first-read";
import { SimScheduler } from "../../support/sim/platform/scheduler";

it("reads before the controller has looked at everything: ask it once together, go on without it, and ask again later", async () => {
  const scheduler = new SimScheduler();
  let isDone = false;
  let asked = 0;
  let answers = false;
  let isLeft = true;
  const make = () =>
    firstRead({
      clock: scheduler.clock(() => true),
      isDone: () => isDone,
      done: () => (isDone = true),
      ask: () => (asked++, answers ? Promise.resolve(!isLeft) : new Promise(() => undefined)),
    });
  const ready = make();
  let read = 0;
  for (let i = 0; i < 3; i++) void ready().then(() => read++);
  await scheduler.pass(6_000);
  expect([asked, read, isDone]).toEqual([1, 3, false]);
  await ready();
  expect(asked).toBe(1);
  answers = true;
  await scheduler.pass(10_000);
  await ready();
  await ready();
  expect([asked, isDone]).toEqual([2, false]);
  isLeft = false;
  await scheduler.pass(10_000);
  await ready();
  expect([asked, isDone]).toEqual([3, true]);
  await ready();
  await make()();
  expect(asked).toBe(3);
});
