/** What a shard of the directory keeps. */
import type { ControllerFacts } from "./rpc";

/** When a write of each rhythm was noted last, in milliseconds since the epoch; 0 = none counts. Between two rows it may be some minutes younger. */
export interface BusyTimes {
  minute: number;
  hour: number;
  /** visits that failed, one behind the other, and until when the cluster has a rest from them; absent = the last one did not fail */
  failures?: number;
  pausesUntil?: number;
}

/** Every method is one synchronous step, durable with the answer of the turn. */
export interface ShardStorage {
  /** of all clusters of the shard, or so many of them, in their order */
  ids(limit?: number): readonly string[];
  has(id: string): boolean;
  /** enters the cluster, or replaces its facts */
  put(id: string, facts: ControllerFacts | null): void;
  factsOf(id: string): ControllerFacts | null;
  /** with its times */
  remove(id: string): void;
  /** clusters with a time */
  busy(): ReadonlyMap<string, BusyTimes>;
  /** null = none counts any more */
  busyPut(id: string, times: BusyTimes | null): void;
  /** undefined = nothing was kept under the name */
  mark(name: string): string | undefined;
  /** null = nothing is kept any more */
  markPut(name: string, value: string | null): void;
}
