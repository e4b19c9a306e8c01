/** What the endpoint controllers need: stores to follow and to write to, and rows of their own. */
import type { Clock, Recorder } from "../../core/base/ports";
import type { EventReport } from "../../api/events/event-recorder";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { StoreCursor } from "../../api/rpc/object-links";
import type { StoreRpc } from "../../api/rpc/store";

/** Rows of a controller's object. Every method is synchronous. */
export interface RowStorage {
  transaction(work: () => void): void;
  cursors(): Iterable<[store: string, cursor: StoreCursor]>;
  cursorPut(store: string, cursor: StoreCursor): void;
  /** the rows of a kind, in any order */
  rows(kind: string): Iterable<[key: string, text: string]>;
  rowPut(kind: string, key: string, text: string): void;
  rowDelete(kind: string, key: string): void;
  /** drops every row and every cursor */
  clear(): void;
}

/** A store that is written to as well; each call may fail. */
export type WrittenStore = ObjectFeed & Pick<StoreRpc, "write">;

export interface ControllerPorts {
  clock: Clock;
  recorder: Recorder;
  storage: RowStorage;
  events: { report(event: EventReport): void; flush(): Promise<void> };
  /** how long a change of a Pod, or of an object that the controller writes, waits for others, in milliseconds */
  batchMs: number;
}
