/**
 * Requests that another request wakes, in the real runtime. A promise of theirs that compiled code has made loses its request (src/core/base/deferred.ts).
 * With `new Promise` in place of `deferred` nearly all requests of the later rounds go astray, most times that this is tried.
 */
import { Log, LogLevel, Miniflare } from "miniflare";
import { expect, it } from "vitest";
import { deferred } from "../../../../src/core/base/deferred";

const TOGETHER = 60;
const WAITS = 150;
/** The engine compiles for speed what has run some ten thousand times. */
const ROUNDS = 10;

/** Requests that wait again and again, and use something of their own behind each wait. */
const workerOf = (made: string): string => `
  import { DurableObject } from "cloudflare:workers";
  export class Called extends DurableObject {
    called() {}
  }
  const waiting = [];
  const made = ${made};
  async function pause() {
    const { promise, resolve } = made();
    waiting.push(resolve);
    const timer = setTimeout(resolve, 5_000);
    await promise;
    clearTimeout(timer);
  }
  export default {
    async fetch(request, env) {
      if (new URL(request.url).pathname === "/wake") {
        for (const resolve of waiting.splice(0)) resolve();
        return new Response("woken");
      }
      const { signal } = request;
      try {
        for (let i = 0; i < ${String(WAITS)}; i++) {
          await pause();
          void signal.aborted;
          await env.OBJECTS.getByName("one").called();
        }
        return new Response("ok");
      } catch (error) {
        return new Response(String(error));
      }
    },
  };`;

/** What requests answer that did not stay in their own context. */
async function strays(made: string): Promise<string[]> {
  const runtime = new Miniflare({
    modules: true,
    script: workerOf(made),
    compatibilityDate: "2026-04-26",
    compatibilityFlags: ["enable_request_signal"],
    durableObjects: { OBJECTS: { className: "Called", useSQLite: true } },
    log: new Log(LogLevel.NONE),
  });
  const found: string[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      let open = TOGETHER;
      const requests = Array.from({ length: TOGETHER }, async () => {
        const text = await (await runtime.dispatchFetch("http://worker/wait")).text();
        open--;
        if (text !== "ok") found.push(text);
      });
      while (open > 0) {
        await (await runtime.dispatchFetch("http://worker/wake")).text();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await Promise.all(requests);
    }
  } finally {
    await runtime.dispose();
  }
  return found;
}

it("requests that wait by `deferred`: go on in their own context, however often they were woken", { timeout: 120_000 }, async () => {
  expect([...new Set(await strays(String(deferred)))]).toEqual([]);
});
