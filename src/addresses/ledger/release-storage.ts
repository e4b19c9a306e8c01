/** The outbox on disk: one row for each address that has to go back to its owner. */
import type { Gen } from "../rpc/service-cidr";

export interface PendingRelease {
  token: string;
  /** canonical text */
  address: string;
  gen: Gen;
  attempts: number;
  /** milliseconds since the epoch */
  dueAt: number;
}

export interface ReleaseStorage {
  /** a token that is there already changes nothing */
  releaseAdd(release: PendingRelease): void;
  releaseGet(token: string): PendingRelease | undefined;
  releaseHas(token: string): boolean;
  releaseDelete(token: string): void;
  releaseDefer(token: string, attempts: number, dueAt: number): void;
  /** the earliest first */
  releasesDue(now: number, limit: number): PendingRelease[];
  /** every row, in no order; read as it is asked for */
  releasesAll(): Iterable<Pick<PendingRelease, "token" | "address">>;
  transaction<T>(work: () => T): T;
}
