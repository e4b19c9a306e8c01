/**
 * The allocate, release and seed calls that share a transaction: rows, changed pages and released tokens are written together, because a commit costs
 * more than everything else here.
 */
import type { AllocateAnswer, AllocateItem, AllocateResult, ReleaseItem, ReleaseResult } from "../rpc/service-cidr";
import { OwnerDrain, type SeedItem } from "./owner-drain";
import { type OwnerMemory, savePages, reservePositions } from "./owner-memory";
import type { OwnerStorage } from "./owner-storage";

export type OwnerOperation =
  | { kind: "allocate"; items: readonly AllocateItem[] }
  | { kind: "release"; items: readonly ReleaseItem[] }
  | { kind: "seed"; epoch: number; items: readonly SeedItem[] };

export type OwnerOutcome =
  | { kind: "allocate"; results: AllocateResult[]; epoch: number; free: AllocateAnswer["free"] }
  | { kind: "release"; results: ReleaseResult[] }
  | { kind: "seed"; result: "ok" | "stale" };

const NOTHING_FREE: AllocateAnswer["free"] = { IPv4: { dynamic: 0, static: 0 }, IPv6: { dynamic: 0, static: 0 } };

/** One outcome for each operation, in order. When it throws, nothing is stored, and memory is to be read from storage again. */
export function applyBatch(
  storage: OwnerStorage,
  memory: OwnerMemory,
  nowMs: number,
  operations: readonly OwnerOperation[],
): OwnerOutcome[] {
  return storage.transaction(() => {
    const drain = new OwnerDrain(storage, memory, nowMs);
    const outcomes = operations.map((operation) => applyOperation(drain, memory, operation));
    savePages(storage, memory.pool);
    memory.released.save(nowMs);
    reservePositions(storage, memory);
    const free = operations.some(({ kind }) => kind === "allocate") ? freeOf(memory) : NOTHING_FREE;
    for (const outcome of outcomes) if (outcome.kind === "allocate") outcome.free = free;
    return outcomes;
  });
}

function applyOperation(drain: OwnerDrain, memory: OwnerMemory, operation: OwnerOperation): OwnerOutcome {
  switch (operation.kind) {
    case "allocate": {
      const results = operation.items.map((item) => drain.allocate(item));
      return { kind: "allocate", results, epoch: memory.config.epoch, free: NOTHING_FREE };
    }
    case "release":
      return { kind: "release", results: operation.items.map((item) => drain.release(item)) };
    case "seed":
      if (!drain.maySeed(operation.epoch, operation.items)) return { kind: "seed", result: "stale" };
      for (const item of operation.items) drain.seed(item);
      return { kind: "seed", result: "ok" };
  }
}

/** Free allocatable addresses; frozen segments give none. */
export function freeOf({ pool }: OwnerMemory): AllocateAnswer["free"] {
  return { IPv4: pool.free("IPv4"), IPv6: pool.free("IPv6") };
}
