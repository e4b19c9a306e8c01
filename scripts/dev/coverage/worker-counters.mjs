/**
 * How the counters leave the Worker of a coverage run. All its objects share one isolate, and so one set of counters. After an event they go to the
 * collector. Only the copy that a coverage run instruments has this file in its Worker.
 */
import { addCounters, takeCounters } from "./counters.mjs";

/** One message for the events of this time. */
const SEND_EVERY_MS = 50;
const OF_OBJECTS = ["alarm", "fetch", "webSocketMessage", "webSocketClose"];

let sendAt = 0;

/**
 * Sends the counters to `url` after each event of a Worker, which are the functions of what its first module exports.
 * @param {Record<string, any>} exports
 * @param {string} url
 */
export function sendAfterEvents(exports, url) {
  for (const exported of Object.values(exports)) {
    if (typeof exported === "object" && exported) sendAfterHandlers(exported, url);
    else if (typeof exported === "function") sendAfterMethods(exported.prototype, url);
  }
}

/**
 * @param {Record<string, any>} handlers
 * @param {string} url
 */
function sendAfterHandlers(handlers, url) {
  const { fetch, scheduled } = handlers;
  if (fetch)
    handlers["fetch"] = (/** @type {unknown} */ request, /** @type {unknown} */ env, /** @type {any} */ context) => {
      const answer = fetch(request, env, context);
      context.waitUntil(sendAfter(answer, url));
      return answer;
    };
  if (scheduled)
    handlers["scheduled"] = async (/** @type {unknown[]} */ ...args) => {
      await scheduled(...args);
      // At its end a server tells its Worker so by a cron.
      await send(url);
    };
}

/**
 * @param {Record<string, any>} methods
 * @param {string} url
 */
function sendAfterMethods(methods, url) {
  for (const name of OF_OBJECTS) {
    const method = methods[name];
    if (!method) continue;
    methods[name] = function (/** @type {unknown[]} */ ...args) {
      const result = method.apply(this, args);
      /** @type {any} */ (this).ctx.waitUntil(sendAfter(result, url));
      return result;
    };
  }
}

/**
 * @param {unknown} result
 * @param {string} url
 */
async function sendAfter(result, url) {
  try {
    await result;
  } catch {
    // Whoever called gets the error.
  }
  if (Date.now() < sendAt) return;
  sendAt = Date.now() + SEND_EVERY_MS;
  await new Promise((resolve) => setTimeout(resolve, SEND_EVERY_MS));
  await send(url);
}

/** @param {string} url */
async function send(url) {
  const counters = takeCounters();
  if (!counters) return;
  try {
    const response = await fetch(url, { method: "POST", body: JSON.stringify(counters) });
    await response.text();
  } catch {
    addCounters(counters);
  }
}
