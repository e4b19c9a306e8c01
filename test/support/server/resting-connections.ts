/**
 * Connections of tests rest for a second at most. The runtime closes those that rested for five. Node's client means to close them a second before that, but
 * its timer is late on a busy machine, and a request that meets the end of its connection fails. When the machine has let this process stand for long,
 * all its connections may have rested without a timer: the next request begins with new ones.
 */

/** Where Node keeps the client of its `fetch`: undici's own agreement between its copies. */
const CLIENT = Symbol.for("undici.globalDispatcher.1");
const RESTING_MS = 1_000;
const BEAT_MS = 250;
/** With the rest before it still shorter than what the runtime takes. */
const PAUSE_MS_MAX = 2_000;

interface Client {
  constructor: new (options: object) => Client;
  dispatch(options: object, handler: object): boolean;
  close(): Promise<void>;
}

// Node makes the client with the first use.
await fetch("data:,");
const globals = globalThis as unknown as Record<symbol, Client>;
const client = globals[CLIENT];
if (!client) throw new Error("this Node keeps the client of fetch elsewhere");

function made(): Client {
  const { constructor: Made } = client as Client;
  return new Made({ keepAliveTimeout: RESTING_MS, keepAliveMaxTimeout: RESTING_MS, keepAliveTimeoutThreshold: 0 });
}

let beatAt = performance.now();
setInterval(() => (beatAt = performance.now()), BEAT_MS).unref();

let current = made();
const renewed = made();
renewed.dispatch = (options, handler) => {
  if (performance.now() - beatAt > PAUSE_MS_MAX) {
    // To the end of its requests.
    void current.close();
    current = made();
    beatAt = performance.now();
  }
  return current.dispatch(options, handler);
};
globals[CLIENT] = renewed;

export {};
