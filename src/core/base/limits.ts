/** Every bound of the system, with its unit in the name and the reason for its size. */

// Owner of addresses (alloc/owner): calls come from our own stores, so crossing one of these is a bug there, not a client's fault.

/** Items of one allocate, release or seed call: a store's batch is far smaller, and a drain of this size still takes well under 100 ms. */
export const OWNER_CALL_ITEMS_MAX = 2_000;
/** Items that wait for one drain. More means that the object is overrun; the calls beyond are refused as a whole, nothing of them applied. */
export const OWNER_QUEUE_ITEMS_MAX = 20_000;
/** Rows of one `rowsSince` answer: about 4 MB of the 32 MiB that one RPC may carry. */
export const OWNER_ROWS_PER_ANSWER_MAX = 10_000;
/** Prefixes of each list of one configuration; the lists are kept in one row, which may hold 2 MB: 46 characters of each prefix at most. */
export const OWNER_PREFIXES_MAX = 40_000;
/** Segments that a new ServiceCIDR may get between those that lie inside it; what hand-offs cut later needs the rest of OWNER_PREFIXES_MAX. */
export const SERVICE_CIDR_SEGMENTS_MAX = 10_000;
/** Intervals of one `countTaken` call: what only one ServiceCIDR covers within its claims. */
export const OWNER_INTERVALS_MAX = 20_000;
/**
 * Rows of one chunk of a hand-off: about 1 MB, and 5 MB with the longest names, of the 32 MiB that one RPC may carry; taking it in keeps the
 * object's thread for some tens of milliseconds.
 */
export const COPY_ROWS_MAX = 4_000;
/** Addresses that are frozen at once by a hand-off: one chunk, so that none of them waits longer than about a fifth of a second. */
export const HANDOFF_ROWS_MAX = 4_000;
/** A hand-off that is not committed after this time is given up, and its segments give out addresses again (PROTOCOL rule 12). */
export const HANDOFF_TIMEOUT_MS = 60_000;
/** Characters of a token; callers use UUIDs (36). */
export const OWNER_TOKEN_CHARS_MAX = 64;
/** Characters of each field of a holder; Kubernetes names end at 253. */
export const OWNER_HOLDER_CHARS_MAX = 256;
/** How long a released token is refused, so that an allocate call that was delayed on its way leaves nothing behind (PROTOCOL rule 2). */
export const RELEASED_TOKEN_LIFETIME_MS = 15 * 60_000;
/**
 * Released tokens kept at most, oldest forgotten first: 15 minutes at 250 releases/s. A call delayed for minutes in a cluster busier than
 * that may then leave a row that nobody uses, which repair collects; it can never give an address to two holders.
 */
export const RELEASED_TOKENS_MAX = 225_000;

// Stores (store/, clusterip/).

/** Objects that one `claimPrefixes` looks at: its answer stays below 2 MB of the 32 MiB that one RPC may carry, and its turn short. */
export const SEED_PAGE_OBJECTS = 5_000;

/** Stored JSON of one object; a row may hold 2 MB. Upstream's etcd refuses beyond the same size. */
export const OBJECT_MAX_BYTES = 1_572_864;
/** Writes that wait for one drain; a client beyond it is told to come back (429), which keeps the wait of the others bounded. */
export const STORE_QUEUE_MAX = 2_000;
/**
 * Writes begun and not yet answered, most of them waiting for peers: some seconds of full load. Beyond it 429, so that a peer that hangs
 * costs bounded memory (PROTOCOL rule 19).
 */
export const STORE_OPERATIONS_MAX = 5_000;
/** PROTOCOL rule 7: past it an operation may only release. */
export const OPERATION_DEADLINE_MS = 20_000;
/** One call between objects. Shorter than the operation's deadline, so that a lost answer can be asked for again. */
export const RPC_TIMEOUT_MS = 5_000;
/** History kept at most: a client that was away for 60 s at 200 writes/s (12,000 changes) resumes with room to spare. */
export const HISTORY_ENTRIES_MAX = 50_000;
/**
 * Characters of history kept at most, what each change replaced included: the 12,000 changes above and one trim, at 2 KB before and 2 KB
 * after. A watch that resumes at the floor holds what it is sent, which is half of that, and an object has 128 MB.
 */
export const HISTORY_SIZE_MAX = 68 * 1024 * 1024;
/** Entries trimmed at once when a bound is crossed, so that the cost is spread. */
export const HISTORY_TRIM_ENTRIES = 5_000;
/** Entries of history read at once. */
export const HISTORY_PAGE_ENTRIES = 500;
/** Items per call to an owner or to the ipaddresses store: well below the 32 MiB of one RPC. */
export const SUPPLY_BATCH_MAX = 500;
/** Calls under way per owner; what arrives meanwhile goes out together. Two, so that one lost answer does not stop all others. */
export const SUPPLY_CALLS_IN_FLIGHT_MAX = 2;
/** Pending releases kept at most; beyond it changes that would add more are refused with 429 (PROTOCOL rule 19). */
export const PENDING_RELEASES_MAX = 100_000;
/**
 * Committed Services whose IPAddress objects are not known to be stored; beyond it Services that need addresses are refused with 429 (PROTOCOL
 * rule 19). Well below the retained history, from which a restart learns which ones they are.
 */
export const UNPAIRED_CHANGES_MAX = 10_000;
/** How long an answer waits for its own releases (PROTOCOL rule 17). */
export const RELEASE_WAIT_MS = 2_000;
/** Unsent bytes after which a slow watcher is cut off. */
export const WATCH_BACKLOG_MAX_BYTES = 1024 * 1024;
/** Idle watchers hear of the newest revision this often (upstream: about once a minute). */
export const WATCH_BOOKMARK_INTERVAL_MS = 60_000;
/** How often timeouts and bookmarks are looked at while somebody watches. */
export const WATCH_TICK_MS = 1_000;
/** A watch without timeoutSeconds ends after this time plus up to as much again (upstream: 30 to 60 minutes). */
export const WATCH_TIMEOUT_MIN_MS = 30 * 60_000;

// Published copies (store/list-copy, store/publisher).

/** How old what a list at resourceVersion 0 shows may be when it comes from a copy, and how long what the store said of itself holds. */
export const LIST_COPY_AGE_MAX_MS = 60_000;
/** Of one copy; a store with more is not published. In UTF-8 at most 24 MiB, and a KV value may have 25. */
export const LIST_COPY_CHARS_MAX = 8 * 1024 * 1024;
/** KV keeps a copy for this long: nobody may use it any more, and a cluster that is gone leaves none behind. */
export const LIST_COPY_LIFETIME_SECONDS = 120;
/** Between two publications of the same thing. */
export const PUBLISH_INTERVAL_MS = 60_000;
/** A put that takes longer counts as failed. */
export const PUBLISH_TIMEOUT_MS = 10_000;
/** Of a Worker's memory (128 MB for the isolate, shared with objects): the largest copy fits, and a cluster's small ones. */
export const EDGE_COPIES_CHARS_MAX = 24 * 1024 * 1024;
/** Stores that a Worker remembers; beyond it the memory starts over, and each store is asked once more. */
export const EDGE_STORES_MAX = 10_000;
/** After a look into KV that found nothing to use, the store answers for this long without another one. */
export const EDGE_READ_INTERVAL_MS = 1_000;
/** A KV that is slower than this is of no help. */
export const EDGE_READ_TIMEOUT_MS = 1_000;
