/**
 * What pure code may ask of the platform. Everything nondeterministic goes through one of these, so that the
 * simulation can replay a history from its seed; lint forbids the ambient forms in src/ outside src/worker.
 */

/** Wall clock and waiting. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after at least `durationMs`. */
  sleep(durationMs: number): Promise<void>;
  /** Calls `work` after at least `delayMs` unless the returned function is called first. */
  after(delayMs: number, work: () => void): () => void;
  /** Resolves in a later turn of the event loop (a macrotask), after everything that already waits for its turn. */
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

/** One structured line per remarkable event, and counters. */
export interface Recorder {
  log(level: "info" | "warn" | "error", event: string, fields?: Record<string, string | number | boolean>): void;
}

/** SHA-256 of the bytes, in hexadecimal. */
export type Digest = (bytes: Uint8Array) => Promise<string>;
