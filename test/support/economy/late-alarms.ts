/** Alarms that a measurement does not wait for: they do not ring, however slow the machine is. */
import { env, runInDurableObject } from "cloudflare:test";
import type { Env } from "../../../durable-objects/platform/env";
import { SOON_MS } from "../objects/work-due";

/** Later than any test ends. */
const NEVER_MS = 24 * 3_600_000;
const now = Date.now;

/** From now on an alarm that is not due soon is kept, and answered by getAlarm, but does not ring. The result ends that. */
export async function holdLateAlarms(): Promise<() => void> {
  const { CLUSTER_RECORD } = env as unknown as Env;
  const storages = await runInDurableObject(
    CLUSTER_RECORD.getByName("counted-calls/record"),
    (_, { storage }) => Object.getPrototypeOf(storage) as DurableObjectStorage,
  );
  const { setAlarm, getAlarm } = storages;
  storages.setAlarm = function (this: DurableObjectStorage, at, options) {
    const isLate = Number(at) > now() + SOON_MS;
    return setAlarm.call(this, isLate ? Number(at) + NEVER_MS : at, options);
  };
  storages.getAlarm = async function (this: DurableObjectStorage, options) {
    const at = await getAlarm.call(this, options);
    return at !== null && at > now() + NEVER_MS / 2 ? at - NEVER_MS : at;
  };
  return () => void Object.assign(storages, { setAlarm, getAlarm });
}
