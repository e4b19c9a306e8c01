/** Rows of an object that keeps the health of nodes. */
import type { NodeFacts } from "./rules/eligibility";
import type { KeptReport } from "./judgement";
import type { Cursor, LocalCounts, ServiceCheck } from "./pushed/shard-change";

/** Times in ms since the epoch; 0 = none. */
export interface NodeWatch {
  /** when the alarm is to go off */
  readonly alarmAt: number;
  /** when an alarm granted a period, last */
  readonly grantedAt: number;
}

export interface StoredFacts extends NodeFacts {
  /** The Node was found in its store, and the controller has not told of it yet. */
  readonly isUntold?: true;
}

/** Every method is one synchronous step. The writes of a `transaction` are kept or lost together. */
export interface NodeStorage {
  transaction<T>(work: () => T): T;
  reports(): Iterable<readonly [node: string, kept: KeptReport]>;
  reportPut(node: string, kept: KeptReport): void;
  reportDelete(node: string): void;
  facts(): Iterable<readonly [node: string, facts: StoredFacts]>;
  factsPut(node: string, facts: StoredFacts): void;
  counts(): Iterable<readonly [node: string, counts: LocalCounts]>;
  /** `{}` removes the row */
  countsPut(node: string, counts: LocalCounts): void;
  /** removes all rows of the node */
  nodeDelete(node: string): void;
  watchLoad(): NodeWatch | undefined;
  watchPut(watch: NodeWatch): void;
  /** how far the controller's knowledge is stored; undefined = nothing was told */
  cursorLoad(): Cursor | undefined;
  cursorPut(cursor: Cursor): void;
  /** undefined = no list was told */
  checksLoad(): readonly ServiceCheck[] | undefined;
  checksPut(checks: readonly ServiceCheck[]): void;
}
