/** Every bound of the HTTP edge, with its unit and its reason. */

/** Request bodies: what upstream's apiserver accepts (`--max-request-bytes` default of its generic server). */
export const BODY_MAX_BYTES = 3 * 1024 * 1024;

/** A single answer from a store. Longer than the store's own 20 s deadline for an operation, so that its refusal arrives first. */
export const PEER_TIMEOUT_MS = 30_000;

/** First use of a cluster: the default ServiceCIDR is made and its owner configured. */
export const BOOTSTRAP_TIMEOUT_MS = 30_000;

/** Readiness asks one peer and must answer within a probe's usual patience. */
export const READY_TIMEOUT_MS = 5_000;

/** Attempts at a call that is safe to repeat, the first one included. */
export const PEER_ATTEMPTS = 3;

/** Upper end of the first retry's random delay; doubles per attempt (full jitter). */
export const PEER_RETRY_BASE_MS = 100;

/** What clients are told to wait after a transport failure or overload. */
export const RETRY_AFTER_SECONDS = 1;

/** Names remembered per isolate; beyond it the set starts over and costs one more call per cluster. */
export const BOOTSTRAPPED_MAX_CLUSTERS = 10_000;

/** Parsed Accept headers remembered per isolate; clients send a handful of distinct ones. */
export const ACCEPT_CACHE_MAX_ENTRIES = 64;

/** Lists longer than this are handed on compact even when pretty printing or YAML was asked for: re-rendering holds them in memory. */
export const RENDER_MAX_CHARACTERS = 16 * 1024 * 1024;

/** Clusters that one cron invocation visits; a cursor carries on in the next one. */
export const CRON_CLUSTERS_MAX = 50;

/** Clusters worked on at the same time by a cron job. */
export const CRON_CONCURRENCY = 6;

/** Stores with watches remembered per isolate, for a stop; beyond it the memory starts over and a stop breaks the watches of the rest. */
export const WATCHED_STORES_MAX = 10_000;

/** `fieldManager` (upstream: apimachinery FieldManagerMaxLength). */
export const FIELD_MANAGER_MAX_BYTES = 128;

/** Warning headers in total; beyond it each one is cut (upstream: warning recorder). */
export const WARNINGS_MAX_CHARACTERS = 4096;
export const WARNING_CUT_CHARACTERS = 256;
