/** What a node's data plane asks of its cluster's view, and how that travels in a header: headers are Latin-1, so it is URI-encoded JSON. */
import type { NodePlace } from "../merge/usable-endpoints";

export const POLL_HEADER = "x-servicenet-poll";

export interface Poll {
  readonly node: NodePlace;
  /** of the page that the data plane has */
  readonly etag?: string;
  /** how long the answer may wait for a change since that page */
  readonly waitMs: number;
}

/** Totals since the object started. */
export interface ViewCounters {
  /** polls that wait now */
  waiting: number;
  /** pieces of pages that were made; nodes that share one make it once */
  made: number;
  /** The view is kept up to date: somebody has asked lately. */
  isFollowing: boolean;
}

export interface ProxyViewRpc {
  fetch(request: Request): Promise<Response>;
  /** ends every wait as if its time were over, drops the view, and refuses later polls */
  endPolls(): Promise<void>;
  counters(): Promise<ViewCounters>;
}

/** The header's value for a poll. */
export function encodePoll(poll: Poll): string {
  return encodeURIComponent(JSON.stringify(poll));
}

/** The poll that `encodePoll` made. */
export function decodePoll(header: string): Poll {
  return JSON.parse(decodeURIComponent(header)) as Poll;
}
