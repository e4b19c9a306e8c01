import { reset } from "cloudflare:test";
import { afterEach, expect } from "vitest";
import { CLUSTER_GONE } from "../src/tenancy/rpc";

const DEATHS: readonly string[] = [CLUSTER_GONE, "Application called abortAllDurableObjects()."];

/** Durable Objects and KV start empty in every test that uses them; pure tests do not pay the 8 ms. */
afterEach(async () => {
  if (expect.getState().testPath?.includes("/test/object/")) await reset();
});

/**
 * A rejection that nobody handled fails the test that it came in, or the one after. Vitest would tell of it by a call of its own, made
 * where the rejection was: when that is an object that has died, the answer never comes and the run never ends. What an object was at when
 * it was made to die is rejected with the reason of its death, also where only the runner's wrapper around the object waits for it.
 */
afterEach(() => {
  const { unhandled } = heard();
  if (unhandled.length > 0) throw new AggregateError(unhandled.splice(0), "unhandled rejections");
});

/** One listener for all files: they share an isolate. */
function heard(): { unhandled: unknown[] } {
  const shared = globalThis as { servicenetHeard?: { unhandled: unknown[] } };
  if (!shared.servicenetHeard) {
    const unhandled: unknown[] = [];
    shared.servicenetHeard = { unhandled };
    process.on("unhandledRejection", (reason) => {
      if (reason instanceof Error && DEATHS.includes(reason.message)) return;
      console.error("unhandled rejection", reason);
      unhandled.push(reason);
    });
  }
  return shared.servicenetHeard;
}
heard();
