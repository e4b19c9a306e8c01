/**
 * Point-in-time recovery of one object: the one place that asks the platform for it. Cloudflare keeps 30 days of each object and brings its storage back when
 * the object starts anew. The local runtime has none of this, and says so.
 */
import { systemRecorder } from "./ports";
import type { RecoveryAnswer, RecoveryTarget } from "../../src/tenancy/rpc";

/** The answer is out by then. */
const RESTART_MS = 100;
/** What workerd says of the methods that only the platform has. */
const NOT_HERE = /does not implement point-in-time recovery/i;

/**
 * Has the object start anew with the storage that it had then. Everything that is written until then is lost, too. The way back is in the log as well: the
 * answer may be lost. Never rejects.
 */
export async function recoverObject(
  ctx: Pick<DurableObjectState, "id" | "storage" | "abort">,
  target: RecoveryTarget,
): Promise<RecoveryAnswer> {
  const { storage } = ctx;
  try {
    const bookmark = "bookmark" in target ? target.bookmark : await storage.getBookmarkForTime(target.atMs);
    const undo = await storage.onNextSessionRestoreBookmark(bookmark);
    systemRecorder({ object: ctx.id.name ?? ctx.id.toString() }).log("warn", "goes back to an earlier time", { ...target, undo });
    setTimeout(() => ctx.abort("brought back to an earlier time"), RESTART_MS);
    return { ok: true, undo };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, isHere: !NOT_HERE.test(why), why };
  }
}
