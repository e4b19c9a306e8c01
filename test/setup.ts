import { afterEach, expect } from "vitest";
import { systemClock } from "../durable-objects/platform/ports";
import { CLUSTER_GONE } from "../src/tenancy/rpc";
import { diskState } from "../src/worker/routing/disk-state";
import { areKept, wiped } from "./support/runtime/wiped";

const DEATHS: readonly string[] = [CLUSTER_GONE, "Application called abortAllDurableObjects()."];

/** Its 279 rows make stubs, and nothing that a stub would reach. */
const WITHOUT_OBJECTS = "/test/object/access/placed-stubs.test.ts";

/** Durable Objects and KV start empty in every test that uses them; others do not pay the 8 ms. */
afterEach(async () => {
  const path = expect.getState().testPath ?? "";
  if (path.includes("/test/object/") && !path.endsWith(WITHOUT_OBJECTS) && !areKept()) await wiped();
});

/** What an isolate knows of its disk is for one test: all files share an isolate. */
afterEach(() => diskState.mended());

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

/**
 * The pool of tests puts one more Proxy around the prototype of a class for each object of it that begins (createProxyPrototypeClass of
 * @cloudflare/vitest-pool-workers). A lookup would take as long as there were objects, and end in an overflow of the stack. One layer is enough.
 */
function oneLayer(): void {
  const shared = globalThis as { servicenetLayers?: WeakSet<object> };
  if (shared.servicenetLayers) return;
  const layers = (shared.servicenetLayers = new WeakSet());
  globalThis.Proxy = new Proxy(Proxy, {
    construct(target, [object, handler]: [object, ProxyHandler<object>]) {
      const isLayer = handler.get?.toString().includes("getUnknownPrototypeKey") === true;
      if (isLayer && layers.has(object)) return object;
      const proxy = new target(object, handler);
      if (isLayer) layers.add(proxy);
      return proxy;
    },
  });
}
oneLayer();

/** On a machine that does other things, too, no call between objects meets its time limit because of that. A limit is shown with a test's own timers. */
const TIME_LIMITS = 10;

/**
 * The pool of tests looks at the stack of whoever sets a timer. That costs more than most calls that the timer is a time limit of. Timers of the
 * product are set past the pool, except where a test has timers of its own.
 */
function plainTimers(): void {
  const shared = globalThis as { servicenetPlainTimers?: true };
  if (shared.servicenetPlainTimers) return;
  shared.servicenetPlainTimers = true;
  const { setTimeout, clearTimeout } = Object.getPrototypeOf(globalThis) as Pick<typeof globalThis, "setTimeout" | "clearTimeout">;
  const { after } = systemClock;
  const ofPool = globalThis.setTimeout;
  systemClock.after = (delayMs, work) => {
    if (globalThis.setTimeout !== ofPool) return after(delayMs, work);
    const timer = setTimeout.call(globalThis, work, work.name === "timeIsUp" ? TIME_LIMITS * delayMs : delayMs);
    return () => clearTimeout.call(globalThis, timer);
  };
}
plainTimers();
