/** What a node's data plane asks of its cluster's view, and how that travels in a header: headers are Latin-1, so it is URI-encoded JSON. */
import type { NodePlace } from "../merge/usable-endpoints";
import type { ViewPlace } from "./page-tag";

export const POLL_HEADER = "x-servicenet-poll";
/** Of a 304 for the Worker: what has changed since the ETag is seen by no node. */
export const UNSEEN_HEADER = "x-servicenet-unseen";

export interface Poll {
  readonly node: NodePlace;
  /** of the page that the data plane has */
  readonly etag?: string;
  /** The view has to be as far as that; absent = it reads both stores after it was asked. */
  readonly reached?: ViewPlace;
  /** Only the release before asks the view to wait, and takes an early 304 for the end of the time. It is told to come again. */
  readonly waitMs?: number;
}

/** Totals since the object started. */
export interface ViewCounters {
  /** pieces of pages that were made; nodes that share one make it once */
  made: number;
  /** times that the stores were read */
  passes: number;
}

export interface ProxyViewRpc {
  /** The page, or what changed since that of the ETag; 304 = nothing did. Every answer has the ETag of now. */
  fetch(request: Request): Promise<Response>;
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
