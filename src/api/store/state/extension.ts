/**
 * What a store with more to do than keeping objects plugs into the generic write path: the services store (addresses), the ipaddresses
 * store (rows at owners), the Coordinator (claims). Everything here is synchronous; only `Admission.wait` leaves the turn.
 */
import type { KubeObject } from "../../meta/kubernetes";
import type { Status } from "../../meta/status";
import type { WriteRequest } from "../../rpc/store";
import type { ChangeType } from "../../meta/watch-event";

/** One client write on its way through the store; it may pass through several turns. */
export interface Operation<Supply> {
  readonly request: WriteRequest;
  /** milliseconds since the epoch; past it the operation may only release */
  readonly deadline: number;
  /** what `Admission.wait` brought; given back by `abandon` when the write is refused in the end */
  supply: Supply | undefined;
}

/** A change before it is written; `after` absent = removal, `before` absent = creation. `after` may be completed by the extension. */
export interface ProposedChange {
  after?: KubeObject;
  before?: KubeObject;
  dryRun: boolean;
}

export interface CommittedChange {
  type: ChangeType;
  key: string;
  uid: string;
  revision: number;
  after?: KubeObject;
  before?: KubeObject;
}

export type Admission =
  /** `completed`: the extension may have filled in what the client left out. So `after` is compared with what is stored once more. */
  | { kind: "go"; completed?: boolean }
  | { kind: "refuse"; status: Status }
  /** Leaves the turn: `supply` asks peers and stores what they gave in the operation; a Status refuses the write. Then the turn is taken again. */
  | { kind: "wait"; supply(): Promise<Status | undefined> };

export interface StoreExtension<Supply> {
  /** Called in the turn that would commit, after every other check. */
  admit?(change: ProposedChange, operation: Operation<Supply>): Admission;
  /** Inside the transaction, once per change: rows that must be durable with it. */
  committed?(change: CommittedChange, operation: Operation<Supply> | undefined): void;
  /** Inside the transaction that decides to refuse a supplied operation: pending releases of what it holds. */
  abandon?(operation: Operation<Supply>): void;
  /** Inside the transaction, at its end, when anything was written. */
  sealTurn?(): void;
  /** The last thing in the transaction of every turn, whether anything was written or not. */
  turnEnding?(): void;
  /** After the transaction, in the same turn. */
  turnCommitted?(): void;
  /** One write of the turn was undone; the turn goes on. Memory that follows the rows must be read anew. */
  writeUndone?(): void;
  /** The transaction was lost: memory must be rebuilt from storage. */
  turnLost?(): void;
  /** The answer waits for this besides durability; asked after the turn that decided. Must not reject. */
  settled?(operation: Operation<Supply>): Promise<void>;
  /** The operation has been answered, or lost with its turn. */
  ended?(operation: Operation<Supply>): void;
}
