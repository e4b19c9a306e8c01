/**
 * The platform as pure code sees it. Everything nondeterministic goes through these ports, so that the simulation
 * can replay a history from its seed. Lint forbids the ambient forms in src/ outside src/worker.
 */

import type { LogLevel } from "./log-level";

/** Wall clock and waiting. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after at least `durationMs`. */
  sleep(durationMs: number): Promise<void>;
  /** Calls `work` after at least `delayMs` unless the returned function is called first. */
  after(delayMs: number, work: () => void): () => void;
  /** Resolves in a later turn of the event loop (a macrotask), after all tasks that already wait. */
  nextTurn(): Promise<void>;
}

/** Randomness, seeded in tests. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, bound); `bound` is a safe integer >= 1. */
  below(bound: number): number;
  /** Uniform bigint in [0, bound); bound >= 1n. */
  belowBig(bound: bigint): bigint;
  /** RFC 4122 version 4 UUID. */
  uuid(): string;
}

/** Structured log lines, one for each event. */
export interface Recorder {
  /** `event` is a short phrase, the same each time; what differs stands in `fields`. */
  log(level: LogLevel, event: string, fields?: Record<string, string | number | boolean | object>): void;
}

/** SHA-256 of the bytes, in hexadecimal. */
export type Digest = (bytes: Uint8Array) => Promise<string>;
