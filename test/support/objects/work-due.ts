/** Timers and alarms of the product that are due soon, of all objects and the Worker: what goes on although nothing is under way. */
import { env, runInDurableObject } from "cloudflare:test";
import { systemClock } from "../../../durable-objects/ports";
import type { Env } from "../../../durable-objects/env";

/** Background work goes on sooner. What is due later is another step's. */
const SOON_MS = 600;
/** Timers of objects that have died do not ring. Others are not later than this thread. */
const LATE_MS = 200;
/** Tests move the clock; timers and alarms ring by the real one. */
const now = Date.now;

/** When each timer is due. */
const timers = new Set<{ at: number }>();
/** When each storage's object wakes. A storage that has died leaves its alarm to the next one. */
const alarms = new Map<object, number>();

/** Whether the product has something to do before long. */
export function workDueSoon(): boolean {
  for (const timer of timers) if (timer.at < now() - LATE_MS) timers.delete(timer);
  for (const [storage, at] of alarms) if (at < now() - LATE_MS) alarms.delete(storage);
  return [...alarms.values(), ...[...timers].map(({ at }) => at)].some((at) => at <= now() + SOON_MS);
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
    const timer = { at: now() + delayMs };
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
    const timer = { at: now() + durationMs };
    timers.add(timer);
    return sleep(durationMs).finally(() => timers.delete(timer));
  };
}

async function watchAlarms(): Promise<void> {
  const storage = await someState(({ storage }) => Object.getPrototypeOf(storage) as DurableObjectStorage);
  const { setAlarm, deleteAlarm } = storage;
  storage.setAlarm = function (this: DurableObjectStorage, at, options) {
    alarms.set(this, Number(at));
    return setAlarm.call(this, at, options);
  };
  storage.deleteAlarm = function (this: DurableObjectStorage, options) {
    alarms.delete(this);
    return deleteAlarm.call(this, options);
  };
}

watchTimers();
await watchAlarms();
