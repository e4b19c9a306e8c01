/** What the store of Services keeps of addresses of pools, in the database of its objects. A Service without one has no row. */
import type { TakenRow } from "../../api/rpc/load-balancers";

/** The addresses that a Service has. */
export interface HeldByService {
  /** of the Service */
  readonly uid: string;
  readonly rows: readonly TakenRow[];
}

/** A Service that lacks an address. */
export interface WaitingService {
  readonly uid: string;
  /** milliseconds since the epoch */
  readonly since: number;
  /** keys of pools in which room would help, as the book said last */
  readonly pools: readonly string[];
  /** addresses that it asks for and lacks */
  readonly asked: readonly string[];
  /** addresses in its status that it has from another controller, or from before a restore: they are taken over as soon as a pool has them */
  readonly shown?: readonly string[];
  /** It may get an address that others have. */
  readonly shares?: true;
  /** what was told of it last; absent = nothing */
  readonly told?: string;
}

/**
 * `session`: of the lives of the store that spoke to the book; 0 = none did. `pools`: 1 = there are pools for load balancers. `default`: 1 = Services
 * without a class are ours, as of the last start.
 */
export type BalancerNumber = "session" | "pools" | "default";

/** By `namespace/name` of the Service. */
export interface ServiceRows {
  held(key: string): HeldByService | undefined;
  allHeld(): Iterable<[string, HeldByService]>;
  /** undefined = it has none any more */
  saveHeld(key: string, held: HeldByService | undefined): void;
  waiting(): Iterable<[string, WaitingService]>;
  saveWaiting(key: string, waiting: WaitingService | undefined): void;
  /** 0 = never saved */
  number(name: BalancerNumber): number;
  saveNumber(name: BalancerNumber, value: number): void;
}
