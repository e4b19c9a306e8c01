/** Every bound of the HTTP edge, with its unit and its reason. */

/** Request bodies: what upstream's apiserver accepts (`--max-request-bytes` default of its generic server). */
export const BODY_MAX_BYTES = 3 * 1024 * 1024;

/** Body of a review: a question with some names. Anybody may ask, with any credential. */
export const REVIEW_MAX_BYTES = 64 * 1024;

/** Body of a request beside the API, as of a token or a cluster: some names, and no objects. */
export const SIDE_BODY_MAX_BYTES = 64 * 1024;

/**
 * How long a body may take to arrive; a request's own `timeout` may shorten it. A client that stalls holds a place among the requests under way.
 * Upstream: `--request-timeout`, one minute for all requests but watches.
 */
export const BODY_TIMEOUT_MS = 60_000;
/** A body of which nothing comes for so long rests: its request holds no seat until it comes again. Noticed after one to two such times. */
export const BODY_REST_MS = 2_000;
/** How much of an unwanted body is read and dropped before the answer, and for how long. A refusal then leaves its connection usable. */
export const DRAINED_MAX_BYTES = 4 * BODY_MAX_BYTES;
export const DRAIN_MS = 5_000;
/** Nothing comes of it for so long: nobody waits any longer. */
export const DRAIN_SILENCE_MS = 1_000;

/** A single answer from a store. Longer than the store's own 20 s deadline for an operation, so that its refusal arrives first. */
export const PEER_TIMEOUT_MS = 30_000;

/** First use of a cluster: the default ServiceCIDR is made and its owner configured. */
export const BOOTSTRAP_TIMEOUT_MS = 30_000;

/** Readiness asks few peers and must answer within a probe's usual patience. */
export const READY_TIMEOUT_MS = 5_000;

/** Clusters whose health an isolate remembers, with some twenty small objects each; beyond it the memory starts over. */
export const HEALTH_CLUSTERS_MAX = 1_000;

/** Bodies are held whole. Each begun piece of this size counts as one request, so that all bodies under way fit an isolate (128 MB). */
export const BODY_BYTES_PER_REQUEST = 64 * 1024;

/**
 * A request that the platform has dropped silently counts for one to two such periods. Longer than an answer takes once its body is read: the
 * first write of a cluster waits for its record, its bootstrap and its store, 30 s each.
 */
export const IN_FLIGHT_PERIOD_MS = 120_000;

/** Attempts at a call that is safe to repeat, the first one included. */
export const PEER_ATTEMPTS = 3;

/** Upper end of the first retry's random delay; doubles per attempt (full jitter). */
export const PEER_RETRY_BASE_MS = 100;

/** Calls of one check in the Worker: the platform allows 10,000 sub-requests to an invocation. */
export const CHECK_CALLS_MAX = 9_000;
/** Objects of one kind that a check in the Worker looks at: some 40 MB of its 128 MB. */
export const CHECK_OBJECTS_MAX = 100_000;
/** Endpoints of Services that a check in the Worker looks at, once in Pods and once in slices: a text of some 100 characters for each. */
export const CHECK_ENDPOINTS_MAX = 100_000;
/** Rows of all owners that a check in the Worker looks at: as many as IPAddresses, since each row belongs to one. */
export const CHECK_ROWS_MAX = 100_000;
/** Checks at once in one isolate: the memory of one leaves no room for another. */
export const CHECKS_MAX = 1;

/** What clients are told to wait after a transport failure or overload. */
export const RETRY_AFTER_SECONDS = 1;

/** Names remembered per isolate; beyond it the set starts over and costs one more call per cluster. */
export const BOOTSTRAPPED_MAX_CLUSTERS = 10_000;

/**
 * Questions of an isolate to an object that all clusters share: about tokens and names that it has not seen. One call takes as many as have come, so that a
 * flood of made-up ones costs few calls and has no valid one refused.
 */
export const ASKED_TOGETHER = { most: 1_000, waitMs: PEER_TIMEOUT_MS };

/** Ids of clusters remembered per isolate; beyond it the memory starts over and costs one more call per cluster. */
export const KNOWN_CLUSTERS_MAX = 10_000;

/**
 * GET /clusters. `most`: clusters of an answer. `page`: those that one call to the list brings. `looks`: those that an answer asks because the list does not
 * know what they are, `together` of them at the same time, each for `lookMs` at most. Behind `looksMs` it asks none any more, and ends.
 */
export const LISTED_CLUSTERS = { most: 10_000, page: 1_000, looks: 500, together: 6, lookMs: 2_000, looksMs: 10_000 };

/** Clusters for which an isolate counts the requests that it ended; beyond it the counters start over. */
export const TERMINATIONS_CLUSTERS_MAX = 1_000;

/** Series of request metrics per isolate, of 0.5 KB each; beyond it the counters start over, as in a new isolate. */
export const REQUEST_SERIES_MAX = 10_000;

/** Parsed Accept headers remembered per isolate; clients send a handful of distinct ones. */
export const ACCEPT_CACHE_MAX_ENTRIES = 64;

/**
 * Larger answers stay compact even when the client asks for pretty printing or YAML, which contains JSON. Rendering keeps the thread: pretty
 * printing as long as two parses of 3 MB of JSON. It holds a list in memory (an isolate has 128 MB).
 */
export const RENDER_MAX_BYTES = { pretty: 4 * 1024 * 1024, yaml: 1024 * 1024 };

/** The same for answers as YAML, in colons, commas and opening brackets: some 20,000 members, which take as long as two such parses at most. */
export const YAML_RENDER_MAX_VALUES = 40_000;

/** How long a proxy's poll waits at most. */
export const POLL_MAX_MS = 300_000;

/** Changes that come together are told together: each may wake the polls of every node. */
export const POLL_SYNC_MS = 100;

/** The polls of an isolate ask the view one after the other, so that the first one's answer may do for the others. */
export const POLL_SPREAD_MS = 100;

/** Polls that a user has waiting for one cluster in an isolate: a service account may be that of all proxies of a large cluster. */
export const POLLS_PER_USER_MAX = 5_000;

/** Watches of polls in an isolate, two for each: a poll takes some KB, and some microseconds at each change. */
export const POLL_WATCHES_MAX = 20_000;

/** How long a poll rests where nobody tells it of changes: its stores or its view are not reached, or of the release before. */
export const POLL_PAUSE_MS = 1_000;

/** Warning headers in total; beyond it each one is cut (upstream: warning recorder). */
export const WARNINGS_MAX_CHARACTERS = 4096;
export const WARNING_CUT_CHARACTERS = 256;

/** A run of backups, in ms: with the other work of its cron it fits the 30 s of CPU of a run. */
export const BACKUP_RUN_MS = 15_000;
/** Lists of a run of backups, each one call: with those of cron's visits they are well below the platform's 10,000 sub-requests. */
export const BACKUP_PAGES_MAX = 2_000;
/** Clusters that a run of backups takes from the directory at once. */
export const BACKUP_CLUSTERS_PAGE = 100;
