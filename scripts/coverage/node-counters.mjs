/**
 * Loaded by every Node process and thread of a coverage run before its program (NODE_OPTIONS): writes the counters to the folder that SERVICENET_COVERAGE
 * names. A process that a signal kills has written all but its last moment.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
import { takeCounters } from "./counters.mjs";

const WRITE_EVERY_MS = 200;

const folder = process.env["SERVICENET_COVERAGE"];

/** @param {string} path */
function write(path) {
  const counters = takeCounters();
  if (counters) appendFileSync(path, `${JSON.stringify(counters)}\n`);
}

if (folder) {
  const path = join(folder, `${String(process.pid)}-${String(threadId)}.jsonl`);
  setInterval(write, WRITE_EVERY_MS, path).unref();
  process.on("exit", () => write(path));
}
