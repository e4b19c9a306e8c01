/**
 * Loaded by every Node process and thread of a coverage run before its program (NODE_OPTIONS): writes the counters to the folder that SERVICENET_COVERAGE
 * names. A process that a signal kills has written all but its last moment.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
import { STOP, takeCounters } from "./counters.mjs";

const WRITE_EVERY_MS = 200;

const folder = process.env["SERVICENET_COVERAGE"];

/**
 * A process without room on its disk loses its counts, and goes on.
 * @param {string} path
 */
function write(path) {
  const counters = takeCounters();
  if (!counters) return;
  try {
    appendFileSync(path, `${JSON.stringify(counters)}\n`);
  } catch {
    return;
  }
}

if (folder) {
  const path = join(folder, `${String(process.pid)}-${String(threadId)}.jsonl`);
  const timer = setInterval(write, WRITE_EVERY_MS, path).unref();
  process.on("exit", () => write(path));
  // Where Vitest runs tests, its provider takes the counters after each file.
  Object.assign(globalThis, { [STOP]: () => clearInterval(timer) });
}
