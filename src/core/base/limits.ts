/** Every bound of the system, with its unit in the name and the reason for its size. */

// Owner of addresses (alloc/owner): the server's own stores make the calls, so a call beyond a limit is a bug of a store.

/** Items of one allocate, release or seed call: a store's batch is far smaller, and a drain of this size still takes well under 100 ms. */
export const OWNER_CALL_ITEMS_MAX = 2_000;
/** Items that wait for one drain. Beyond it the object is overrun: it refuses whole calls and applies nothing of them. */
export const OWNER_QUEUE_ITEMS_MAX = 20_000;
/** Rows of one `rowsSince` answer: about 4 MB of the 32 MiB that one RPC may carry. */
export const OWNER_ROWS_PER_ANSWER_MAX = 10_000;
/** Prefixes of each list of one configuration. The lists share one row of at most 2 MB; a prefix has at most 46 characters. */
export const OWNER_PREFIXES_MAX = 40_000;
/** Segments that a new ServiceCIDR may get between those that lie inside it. Cuts by later hand-offs need the rest of OWNER_PREFIXES_MAX. */
export const SERVICE_CIDR_SEGMENTS_MAX = 10_000;
/** Intervals of one `countTaken` call: the parts of its claims that only one ServiceCIDR covers. */
export const OWNER_INTERVALS_MAX = 20_000;
/**
 * Rows of one chunk of a hand-off: about 1 MB, and 5 MB with the longest names, of the 32 MiB that one RPC may carry. Storing a chunk
 * takes the object's thread some tens of milliseconds.
 */
export const COPY_ROWS_MAX = 4_000;
/** Addresses that a hand-off freezes at once: one chunk, so that none of them waits longer than about a fifth of a second. */
export const HANDOFF_ROWS_MAX = 4_000;
/** A hand-off that is not committed after this time is given up, and its segments give out addresses again (rule 12). */
export const HANDOFF_TIMEOUT_MS = 60_000;
/** Characters of a token; callers use UUIDs (36). */
export const OWNER_TOKEN_CHARS_MAX = 64;
/** Characters of each field of a holder; Kubernetes names end at 253. */
export const OWNER_HOLDER_CHARS_MAX = 256;
/** A released token is refused for this long, so that a delayed allocate call leaves no row behind (rule 2). */
export const RELEASED_TOKEN_LIFETIME_MS = 15 * 60_000;
/**
 * Released tokens that are kept, the oldest is forgotten first: 15 minutes at 250 releases/s. In a busier cluster, a call that is delayed
 * for minutes may leave an unused row, which repair collects. It can never give an address to two holders.
 */
export const RELEASED_TOKENS_MAX = 225_000;

// Stores (store/, clusterip/).

/** Objects that one `claimPrefixes` reads: its answer stays below 2 MB of the 32 MiB that one RPC may carry, and its turn stays short. */
export const SEED_PAGE_OBJECTS = 5_000;

/** Stored JSON of one object; a row may hold 2 MB. Upstream's etcd refuses beyond the same size. */
export const OBJECT_MAX_BYTES = 1_572_864;
/** Writes that wait for one drain. Beyond it the answer is 429, so that the wait of the others stays bounded. */
export const STORE_QUEUE_MAX = 2_000;
/**
 * Writes begun and not yet answered; most of them wait for peers: some seconds of full load. Beyond it 429, so that a peer that hangs
 * costs bounded memory (rule 19).
 */
export const STORE_OPERATIONS_MAX = 5_000;
/** Past it an operation may only release (rule 7). */
export const OPERATION_DEADLINE_MS = 20_000;
/** One call between objects. Shorter than the operation's deadline, so that there is time to ask again after a lost answer. */
export const RPC_TIMEOUT_MS = 5_000;
/** History kept at most: a client that was away for 60 s at 200 writes/s (12,000 changes) resumes with room to spare. */
export const HISTORY_ENTRIES_MAX = 50_000;
/**
 * Characters of history, with the objects that each change replaced: the 12,000 changes above and one trim, at 2 KB before and 2 KB
 * after. A watch that resumes at the floor holds half of that while it is sent; an object has 128 MB.
 */
export const HISTORY_SIZE_MAX = 68 * 1024 * 1024;
/** Entries trimmed at once when a bound is crossed, so that the cost is spread. */
export const HISTORY_TRIM_ENTRIES = 5_000;
/** Entries of history read at once. */
export const HISTORY_PAGE_ENTRIES = 500;
/** Items per call to an owner or to the ipaddresses store: well below the 32 MiB of one RPC. */
export const SUPPLY_BATCH_MAX = 500;
/** Calls under way to one owner; later requests wait and go out together. Two, so that one lost answer does not stop all others. */
export const SUPPLY_CALLS_IN_FLIGHT_MAX = 2;
/** Pending releases. Beyond it changes that would add more are refused with 429 (rule 19). */
export const PENDING_RELEASES_MAX = 100_000;
/**
 * Committed Services whose IPAddress objects are not known to be stored. Beyond it Services that need addresses are refused with 429
 * (rule 19). Well below the retained history, from which a restart finds these Services.
 */
export const UNPAIRED_CHANGES_MAX = 10_000;
/** How long an answer waits for its own releases (rule 17). */
export const RELEASE_WAIT_MS = 2_000;
/** Unsent bytes after which a slow watcher is cut off. */
export const WATCH_BACKLOG_MAX_BYTES = 1024 * 1024;
/** Idle watchers get a bookmark with the newest revision this often (upstream: about once a minute). */
export const WATCH_BOOKMARK_INTERVAL_MS = 60_000;
/** How often timeouts and bookmarks are checked while there is a watcher. */
export const WATCH_TICK_MS = 1_000;
/** A watch without timeoutSeconds ends after this time plus up to as much again (upstream: 30 to 60 minutes). */
export const WATCH_TIMEOUT_MIN_MS = 30 * 60_000;

// Published copies (store/list-copy, store/publisher).

/** Greatest age of a copy that answers a list at resourceVersion 0, and of a store's statement about itself. */
export const LIST_COPY_AGE_MAX_MS = 60_000;
/** Characters of one copy; a larger store is not published. In UTF-8 at most 24 MiB; a KV value may have 25. */
export const LIST_COPY_CHARS_MAX = 8 * 1024 * 1024;
/** KV keeps a copy for this long, which is longer than its use, so that a deleted cluster leaves none behind. */
export const LIST_COPY_LIFETIME_SECONDS = 120;
/** Time between two publications of one store. */
export const PUBLISH_INTERVAL_MS = 60_000;
/** A put into KV that takes longer counts as failed. */
export const PUBLISH_TIMEOUT_MS = 10_000;
/** Characters of all copies in a Worker's memory (128 MB for the isolate, shared with objects): the largest copy and many small ones. */
export const EDGE_COPIES_CHARS_MAX = 24 * 1024 * 1024;
/** Stores that a Worker remembers. Beyond it the memory starts empty, and each store is asked once more. */
export const EDGE_STORES_MAX = 10_000;
/** After a read of KV without a usable copy, the store answers for this long without another read. */
export const EDGE_READ_INTERVAL_MS = 1_000;
/** A read of KV that is slower than this is given up. */
export const EDGE_READ_TIMEOUT_MS = 1_000;
