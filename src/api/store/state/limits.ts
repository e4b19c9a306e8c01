/** Every bound of stores, watches and published copies, with its unit in the name and the reason for its size. */

/** Writes that wait for one drain. Beyond it the answer is 429, so that the wait of the others stays bounded. */
export const STORE_QUEUE_MAX = 2_000;

/**
 * Writes begun and not yet answered; most of them wait for peers: some seconds of full load. Beyond it 429, so that a peer that hangs
 * costs bounded memory (rule 19).
 */
export const STORE_OPERATIONS_MAX = 5_000;

/** History kept at most: a client that was away for 60 s at 200 writes/s (12,000 changes) resumes with room to spare. */
export const HISTORY_ENTRIES_MAX = 50_000;

/**
 * Characters of history, with the objects that each change replaced: the 12,000 changes above and one trim, at 2 KB before and 2 KB
 * after. Younger changes stay beyond it. A list that goes on at an earlier revision reads no more than this.
 */
export const HISTORY_SIZE_MAX = 68 * 1024 * 1024;

/** So old, a change leaves a history that is too large (upstream: storage/cacher watch_cache.go, eventFreshDuration). */
export const HISTORY_FRESH_MS = 75_000;

/**
 * Characters of history at most, however young it is: 20,000 changes in a minute of slices with 100 endpoints, 26 KB before and 26 KB after. It is on the
 * disk, where an object has 10 GB.
 */
export const HISTORY_FRESH_SIZE_MAX = 1024 * 1024 * 1024;

/** Characters that leave a history in one turn, unless it is beyond the bound above: some 100 ms of its thread. */
export const HISTORY_FREED_TOGETHER_CHARS = 16 * 1024 * 1024;

/** So long, an hourly compaction frees such parts, one in each turn. */
export const HISTORY_COMPACTION_MS = 5_000;

/** Entries trimmed at once when a bound is crossed, so that the cost is spread. */
export const HISTORY_TRIM_ENTRIES = 5_000;

/**
 * Revisions that a store says it may have given out, beyond the newest one. So often its state is saved. A start counts as many entries of history anew,
 * at a few microseconds each.
 */
export const REVISIONS_RESERVED = 256;

/** Characters of history written since the state was saved: a start reads no more than these and one turn. */
export const HISTORY_UNSAVED_MAX_CHARS = 4 * 1024 * 1024;

/** Renewals in memory alone: those of 500 in a second for 20 s, so that a client finds its place again that was away for a moment. */
export const HISTORY_UNWRITTEN_ENTRIES_MAX = 10_000;

/** Characters of them. A Lease has some 600, before and after. */
export const HISTORY_UNWRITTEN_MAX_CHARS = 16 * 1024 * 1024;

/**
 * Who has listed, or lost a watch with its object, may come to watch for so long. It is a minute, in which copies of lists answer, too, and some seconds
 * for the watch to arrive.
 */
export const LISTED_LATELY_MS = 75_000;

/** Changes of one turn in one row of history: who wants one of them reads all. */
export const HISTORY_ROW_ENTRIES_MAX = 64;

/** Characters of both texts of each of them. A row may hold 2 MB, and a character takes up to three bytes. */
export const HISTORY_ROW_MAX_CHARS = 256 * 1024;

/** Rows of history read at once, however many entries are wanted: they have up to 2 MB of text, unless one has a row of its own. */
export const HISTORY_ROWS_TOGETHER = 8;

/** Entries of history read at once. */
export const HISTORY_PAGE_ENTRIES = 500;

/** The same by a reader that stops at a number of characters. The largest entries have 3 MB each, with what was before. */
export const LARGE_ENTRIES_TOGETHER = 4;

/**
 * Characters of the objects that one call of a controller is answered with, however few they are. A call between objects holds 32 MiB, and a text takes
 * up to two bytes for each character. 500 slices of 1,000 endpoints have 75 MB.
 */
export const FEED_PAGE_MAX_CHARS = 4 * 1024 * 1024;

/** Keys of an old store that are counted in one turn: about 10 ms of its thread. */
export const OBJECTS_COUNTED_TOGETHER = 5_000;

/** Characters of history that a watch is sent from in the turn of its start. A client that has missed more gets them in steps. */
export const MISSED_CHANGES_MAX_CHARS = 1024 * 1024;

/** Unsent bytes of missed changes with which a client gets no more of them: a thousand proxies may come back together. */
export const MISSED_CHANGES_BACKLOG_BYTES = 128 * 1024;

/** The pause before a client is looked at again that has not taken its missed changes. Each further pause is twice as long. */
export const MISSED_CHANGES_PAUSE_MS = 20;

/** The longest such pause. */
export const MISSED_CHANGES_PAUSE_MAX_MS = 1_000;

/** After so long without taking any of its missed changes, a client loses its watch. */
export const MISSED_CHANGES_STALLED_MS = 30_000;

/** Unsent bytes after which a slow watcher is cut off. */
export const WATCH_BACKLOG_MAX_BYTES = 1024 * 1024;

/** Unsent bytes that all slow watchers of one store may hold together. Bytes that several watchers share count once. */
export const WATCH_HELD_MAX_BYTES = 32 * 1024 * 1024;

/** Text that one flush hands out, far below a watcher's backlog: a healthy watcher is never cut off for the size of a flush. */
export const WATCH_FLUSH_MAX_CHARS = 256 * 1024;

/** The same while very much text waits, such as all slices of a large Service at each change of its Pods. Still below a watcher's backlog. */
export const WATCH_CROWDED_FLUSH_MAX_CHARS = 768 * 1024;

/** Distinct bytes of one flush. Beyond them they are dropped, and slow watchers are counted before the flush ends: cohorts may be very many. */
export const WATCH_FLUSH_HELD_MAX_BYTES = 8 * 1024 * 1024;

/** Text of published changes that wait for their flush. Beyond it every watch ends, and its client goes on from the history. */
export const WATCH_QUEUE_MAX_CHARS = 32 * 1024 * 1024;

/** Writes of a flush, about 2 ms of work, after which other work of the object gets its turn. */
export const WATCH_STEPS_PER_TURN = 64;

/** Watchers get a bookmark with their place this often (upstream: about once a minute). */
export const WATCH_BOOKMARK_INTERVAL_MS = 60_000;

/** A read of a revision that the store has not reached waits so long for it (upstream: storage/cacher watch_cache.go, blockTimeout). */
export const AWAITED_REVISION_MS = 3_000;

/** Reads that wait so, per store. Further ones are refused at once. */
export const AWAITED_REVISIONS_MAX = 1_000;

/** A Worker's watch hears of changes that concern nobody there after so long, all at once. Its bookmarks are as old at most. */
export const WATCH_PROGRESS_MS = 5_000;

/** The same where it has heard of none for that long: the timer keeps a store awake that would sleep again. */
export const WATCH_PROGRESS_FIRST_MS = 1_000;

/** How often timeouts and bookmarks are checked while there is a watcher that the store tends itself. */
export const WATCH_TICK_MS = 1_000;

/** A watch without timeoutSeconds ends after this time plus up to as much again (upstream: 30 to 60 minutes). */
export const WATCH_TIMEOUT_MIN_MS = 30 * 60_000;

/** What a user is told to wait who has as many watches open as he may have: they last for half an hour and more. */
export const WATCHES_RETRY_SECONDS = 10;

/** Sockets of Workers that a store has. The platform accepts 32,768 in an object, and throws at the next; some close without its knowledge. */
export const STORE_SOCKETS_MAX = 32_000;

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

/** What a store keeps of objects in protobuf for further lists: some 11,000 Services, and a sixteenth of the memory that objects share on the platform (128 MB). */
export const LIST_ITEMS_KEPT_BYTES = 8 * 1024 * 1024;

/** Lists in protobuf say first how long they are: so much of what all large ones of a store have encoded is held, the rest is encoded again. */
export const LISTS_ENCODED_AHEAD_BYTES = 16 * 1024 * 1024;

/** A large list may take so long when others want its place (upstream: `--request-timeout`). */
export const LIST_TIME_MS = 60_000;

/** What a client is told to wait whose list finds no place: as long as it takes to send one. */
export const LISTS_RETRY_SECONDS = 1;

/** Stores that a Worker remembers. Beyond it the memory starts empty, and each store is asked once more. */
export const EDGE_STORES_MAX = 10_000;

/** After a read of KV without a usable copy, the store answers for this long without another read. */
export const EDGE_READ_INTERVAL_MS = 1_000;

/** A read of KV that is slower than this is given up. */
export const EDGE_READ_TIMEOUT_MS = 1_000;
