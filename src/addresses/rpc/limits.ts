/** Every bound of address owners, of the Coordinator and of the supply of addresses, with its unit in the name and the reason for its size. */

// Calls of owners: the server's own stores make them, so a call beyond a limit is a bug of a store.

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
 * Released tokens that are kept, in some 10 MB of memory; the oldest are forgotten first: 15 minutes at 110 releases/s. In a busier cluster, a call that is delayed
 * for minutes may leave an unused row, which repair collects. It can never give an address to two holders.
 */
export const RELEASED_TOKENS_MAX = 100_000;

/** Objects that one `claimPrefixes` reads: its answer stays below 2 MB of the 32 MiB that one RPC may carry, and its turn stays short. */
export const SEED_PAGE_OBJECTS = 5_000;

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
