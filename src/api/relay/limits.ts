/** Every bound of the Worker's side of watches, with its unit in the name and the reason for its size. */

/**
 * Writes to clients after which other work of the isolate gets its turn: about 2 ms. Other work is the next change, too, so more changes come with one
 * write. With 32, one change of a burst to 1,000 clients costs about two thirds of what it costs with 64.
 */
export const FEED_WRITES_PER_TURN = 32;

/**
 * A client without room is looked at again after this time, then after twice as long, up to the second. A stream that tells of each read would cost a
 * tenth of each write.
 */
export const ROOM_LOOK_MS = 2;
export const ROOM_LOOK_MAX_MS = 100;

/** How long a feed waits for a follower that takes nothing, before it goes on without it. */
export const FEED_PATIENCE_MS = 1_000;

/** What a feed keeps for those that come: a few hundred events. */
export const FEED_KEPT_BYTES = 128 * 1024;

/** What all feeds of an isolate keep, of its 128 MB. Beyond it a feed that goes on keeps nothing: who comes asks the store. */
export const FEEDS_KEPT_BYTES = 16 * 1024 * 1024;

/** Untaken bytes with which a client has no room for more. Of watches that share them they are in memory once. */
export const CLIENT_BACKLOG_BYTES = 128 * 1024;

/** A watch looks around this often, and shows by it that its request runs. */
export const WATCH_TEND_MS = 4_000;

/** A request that shows nothing for so long was dropped by the platform without a word: more than two looks. */
export const WATCH_SILENT_MS = 9_000;

/** How long the store may take to open a socket: three attempts of a call (worker/http/limits.ts). */
export const WATCH_OPENING_MS = 100_000;

/** A watch whose store cannot be reached ends properly after so long: its client comes again. */
export const REOPEN_MAX_MS = 5_000;

/** The pause before the second attempt to reach the store. Each further one is twice as long, up to REOPEN_MAX_MS; a random half of it is left out. */
export const REOPEN_PAUSE_MS = 100;

/** A socket that has lived so long, or has brought something, has served: its end is no reason to wait. */
export const REOPEN_SERVED_MS = 3_000;

/**
 * Writes to clients that one request makes: at 0.2 ms each two thirds of the 30 s of CPU that the platform gives it. Then the socket passes to another
 * watch's request; the last one ends properly.
 */
export const REQUEST_DELIVERIES_MAX = 100_000;
