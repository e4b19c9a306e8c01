/** Timers and alarms of the product that are due soon, of all objects and the Worker: what goes on although nothing is under way. */
import { env, runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import { systemClock } from "../../../durable-objects/platform/ports";
import type { Env } from "../../../durable-objects/platform/env";

/** Rests of background work are shorter, time limits of calls longer. What is due later is another step's. */
export const SOON_MS = 600;
/** Timers of objects that have died do not ring. Others are not later than this thread. */
const LATE_MS = 200;
/** Tests move the clock; timers and alarms ring by the real one. */
const now = Date.now;

interface Due {
  at: number;
  /** Objects of other tests are gone. */
  test: string | undefined;
}

/** Rests that are under way. */
const timers = new Set<Due>();
/** When each storage's object wakes. A storage that has died leaves its alarm to the next one. */
const alarms = new Map<object, Due>();

function currentTest(): string | undefined {
  return expect.getState().currentTestName;
}

/** Whether the product has something to do before long. */
export function workDueSoon(): boolean {
  const isOver = ({ at, test }: Due): boolean => at < now() - LATE_MS || test !== currentTest();
  for (const timer of timers) if (isOver(timer)) timers.delete(timer);
  for (const [storage, alarm] of alarms) if (isOver(alarm)) alarms.delete(storage);
  return timers.size > 0 || [...alarms.values()].some(({ at }) => at <= now() + SOON_MS);
}

/** The state of some object: its prototype is that of all. */
function someState<T>(read: (state: DurableObjectState) => T): Promise<T> {
  const { CLUSTER_RECORD } = env as unknown as Env;
  return runInDurableObject(CLUSTER_RECORD.getByName("counted-calls/record"), (_, state) => read(state));
}

/** The prototype of every object's state. */
export const statePrototype = await someState((state) => Object.getPrototypeOf(state) as DurableObjectState);

function watchTimers(): void {
  const { sleep, after } = systemClock;
  systemClock.after = (delayMs, work) => {
    if (delayMs > SOON_MS) return after(delayMs, work);
    const timer = { at: now() + delayMs, test: currentTest() };
    timers.add(timer);
    const cancel = after(delayMs, () => {
      timers.delete(timer);
      work();
    });
    return () => {
      timers.delete(timer);
      cancel();
    };
  };
  systemClock.sleep = (durationMs) => {
    if (durationMs > SOON_MS) return sleep(durationMs);
    const timer = { at: now() + durationMs, test: currentTest() };
    timers.add(timer);
    return sleep(durationMs).finally(() => timers.delete(timer));
  };
}

async function watchAlarms(): Promise<void> {
  const storage = await someState(({ storage }) => Object.getPrototypeOf(storage) as DurableObjectStorage);
  const { setAlarm, deleteAlarm } = storage;
  storage.setAlarm = function (this: DurableObjectStorage, at, options) {
    alarms.set(this, { at: Number(at), test: currentTest() });
    return setAlarm.call(this, at, options);
  };
  storage.deleteAlarm = function (this: DurableObjectStorage, options) {
    alarms.delete(this);
    return deleteAlarm.call(this, options);
  };
}

watchTimers();
await watchAlarms();
