/** The end of an object whose cluster is deleted: what is left is a table without rows that refuses every call, however late it comes. */
import { CLUSTER_GONE } from "../src/tenancy/rpc";
import { TOMBSTONE } from "./sql/migrate";

/**
 * Removes all rows and the alarm, leaves the tombstone, and ends the object: every call that is under way fails with CLUSTER_GONE, this one
 * too. A crash before the tombstone is durable leaves the object as it was, or empty, and the caller repeats.
 */
export async function wipe(ctx: DurableObjectState): Promise<never> {
  const { storage } = ctx;
  const emptied = storage.deleteAll();
  storage.sql.exec(`CREATE TABLE ${TOMBSTONE} (id INTEGER PRIMARY KEY) STRICT`);
  await emptied;
  // Work that was under way may have asked for an alarm once more.
  await storage.deleteAlarm();
  await storage.sync();
  ctx.abort(CLUSTER_GONE);
  throw new Error(CLUSTER_GONE);
}
