/** The outbox on disk: a row for an address that has to go back to its owner, or a value for several that one turn gives back. */
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

/** Releases of one turn. */
export interface StoredReleaseList {
  /** the token of one of them */
  id: string;
  releases: readonly PendingRelease[];
}

export interface ReleaseStorage {
  /** a token that is there already changes nothing */
  releaseAdd(release: PendingRelease): void;
  releaseGet(token: string): PendingRelease | undefined;
  releaseDelete(token: string): void;
  releaseDefer(token: string, attempts: number, dueAt: number): void;
  /** the earliest first */
  releasesDue(now: number, limit: number): PendingRelease[];
  /** every row, in no order; read as it is asked for */
  releasesAll(): Iterable<Pick<PendingRelease, "token" | "address">>;
  releaseListAdd(list: StoredReleaseList): void;
  releaseListDelete(id: string): void;
  releaseLists(): Iterable<StoredReleaseList>;
  transaction<T>(work: () => T): T;
}
