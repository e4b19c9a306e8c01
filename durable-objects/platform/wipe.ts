/** How an object ends: for good when its cluster is deleted, or to start anew. */
import { withTimeout } from "../../src/core/base/timeout";
import { CLUSTER_GONE } from "../../src/tenancy/rpc";
import { systemClock } from "./ports";
import { TOMBSTONE } from "../sql/migrate";

/**
 * Removes all rows and the alarm, leaves the tombstone, and ends the object. The tombstone is an empty table, which makes the object refuse every
 * call, however late. Every call under way fails with CLUSTER_GONE, this one included. A crash before the tombstone is durable leaves the object
 * unchanged or empty, and the caller repeats.
 *
 * Nothing else runs in the object meanwhile: neither a call, nor a timer, nor what waits for an answer would find its tables.
 */
export function wipe(ctx: DurableObjectState): Promise<never> {
  const { storage } = ctx;
  return ctx.blockConcurrencyWhile(async () => {
    // What has begun comes to the next call that it makes.
    await storage.sync();
    const emptied = storage.deleteAll();
    storage.sql.exec(`CREATE TABLE ${TOMBSTONE} (id INTEGER PRIMARY KEY) STRICT`);
    await emptied;
    // Work under way may have set an alarm again.
    await storage.deleteAlarm();
    await storage.sync();
    ctx.abort(CLUSTER_GONE);
    throw new Error(CLUSTER_GONE);
  });
}

/** How long a restart waits for the object's writes to be durable. */
export const SYNC_WAIT_MS = 4_000;

/** Ends the object once its writes are durable, or after SYNC_WAIT_MS. Its next call or alarm starts it again. Never rejects. */
export async function restart(ctx: DurableObjectState, reason: string): Promise<void> {
  await withTimeout(systemClock, SYNC_WAIT_MS, ctx.storage.sync()).catch(() => undefined);
  ctx.abort(reason);
}
