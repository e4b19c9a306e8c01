/** What the garbage collector needs: stores to ask and write to, and rows of its own. */
import type { Clock, Recorder } from "../../core/base/ports";
import type { EventReport } from "../../api/events/event-recorder";
import type { LinkedStore, StoreCursor } from "../../api/rpc/object-links";
import type { StoreRpc } from "../../api/rpc/store";
import type { GraphNode } from "./graph";

/** One store of the cluster; each call may fail. */
export interface CollectedStore extends LinkedStore, Pick<StoreRpc, "write"> {
  /** `leases.coordination.k8s.io` */
  name: string;
  group: string;
  version: string;
  /** Whether the store was never written to, so that it need not be asked; absent = it may have been. Never rejects. */
  isUnused?(): Promise<boolean>;
}

export interface GraphStorage {
  transaction(work: () => void): void;
  nodes(): Iterable<GraphNode>;
  cursors(): Iterable<[store: string, cursor: StoreCursor]>;
  nodeGet(id: string): GraphNode | undefined;
  nodePut(id: string, node: GraphNode): void;
  nodeDelete(id: string): void;
  cursorPut(store: string, cursor: StoreCursor): void;
}

export interface GarbageCollectionPorts {
  clock: Pick<Clock, "now" | "after">;
  storage: GraphStorage;
  stores: readonly CollectedStore[];
  recorder: Recorder;
  /** changed nodes that are saved before the end of their round; the default is that of stored-graph.ts */
  savedTogether?: number;
  events: { report(event: EventReport): void; flush(): Promise<void> };
}
