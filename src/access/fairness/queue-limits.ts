/** Bounds of fairness, with their units and reasons. */

/** Requests of one kind that wait in one flow's queue. Upstream: a hand of six queues, 50 long each (apis/flowcontrol/bootstrap). */
export const QUEUE_MAX = 300;
/** Requests of one kind that wait in all queues of an isolate: each keeps its connection and its headers, no body. */
export const QUEUED_MAX = 2_000;

/** Of this length is the window in which a flow counts as active, and the one before it counts, too. */
export const ACTIVE_SLOT_MS = 1_000;
/** How often the least demand of a group is looked for anew: a walk over all of its flows. */
export const LEAST_DEMAND_MS = 100;
/** As long as another flow was active within this time, a flow leaves half of all seats free. As long as a body that stops coming keeps its seats. */
export const NEIGHBOUR_MS = 60_000;

/** Requests of one flow whose bodies have stopped coming. They hold no seat, and at most BODY_BYTES_PER_REQUEST for nothing. */
export const RESTING_MAX = 16;

/** Flows that an isolate remembers, of about 1 KB each; beyond it new ones share one. */
export const FLOWS_MAX = 10_000;

/** What refused clients are told to wait. Source: upstream apiserver server/filters (maxRetryAfter). */
export const RETRY_AFTER_MAX_SECONDS = 32;
