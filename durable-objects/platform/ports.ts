/** The ports of src/core/base/ports.ts on the real platform. */
import { env } from "cloudflare:workers";
import { isWritten } from "../../src/core/base/log-level";
import type { Clock, Digest, Random, Recorder } from "../../src/core/base/ports";
import { WordRandom } from "../../src/core/base/word-random";
import type { Env } from "./env";

/** Words fetched at once: one call into the platform costs about as much as filling a page of it. */
const BUFFERED_WORDS = 1024;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (durationMs) => scheduler.wait(durationMs),
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
  nextTurn: () => scheduler.wait(0),
};

/** Cryptographic randomness; nothing is drawn before first use, since the platform has none while modules load. */
export function systemRandom(): Random {
  const words = new Uint32Array(BUFFERED_WORDS);
  let next = words.length;
  return new WordRandom(() => {
    if (next === words.length) {
      crypto.getRandomValues(words);
      next = 0;
    }
    const word = words[next++];
    return word ?? 0;
  });
}

type LogEnv = Pick<Env, "LOG_LEVEL" | "CF_VERSION_METADATA">;

/** Which version of the Worker writes a line, where that is bound: beside a rollout two of them write. */
function versionOf({ CF_VERSION_METADATA: metadata }: LogEnv): { version?: string } {
  return metadata ? { version: metadata.id } : {};
}

/** One JSON line for each event that LOG_LEVEL lets through. `scope` tags it with the object or Worker that logs. */
export function systemRecorder(scope: Record<string, string>): Recorder {
  return {
    log: (level, event, fields) => {
      if (!isWritten(level, (env as LogEnv).LOG_LEVEL)) return;
      const line = JSON.stringify({ time: new Date().toISOString(), level, event, ...versionOf(env as LogEnv), ...scope, ...fields });
      const print = { debug: console.debug, info: console.log, warn: console.warn, error: console.error };
      print[level](line);
    },
  };
}

/**
 * Replaces the object's alarm by one at `atMs` (ms since the epoch), durable with the writes of this turn. Nobody has to hear of a failure: it
 * resets the object, as that of any write does, and whoever starts again asks for its alarm.
 */
export function setAlarm(storage: DurableObjectStorage, atMs: number): void {
  storage.setAlarm(atMs).catch(() => undefined);
}

/** The same, and nothing where that is the alarm already: setting it costs a row, and looking none. Rejects when it cannot be set. */
export async function setAlarmOnce(storage: DurableObjectStorage, atMs: number): Promise<void> {
  if ((await storage.getAlarm()) !== atMs) await storage.setAlarm(atMs);
}

/** Sets the alarm unless there is an earlier one. Rejects when it cannot be set. */
export async function setAlarmBy(storage: DurableObjectStorage, atMs: number): Promise<void> {
  const before = await storage.getAlarm();
  if (before === null || before > atMs) await storage.setAlarm(atMs);
}

export const systemDigest: Digest = async (bytes) => {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
};
