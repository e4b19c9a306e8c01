/** A large beginning of a watch over a stream: its client gets a page each time when it has taken most of what it was given. Then come the changes since. */
import { HistoryLost } from "../state/snapshot";
import type { StartingWatch } from "../hub/watch-hub";
import { endForgotten, type MissedChangesStore, type MissingClient, sendMissedChanges, takes } from "./missed-changes";
import type { WatchedStore } from "./watch-plan";
import type { BeginningRest, WatchBeginning } from "./watch-beginning";

/**
 * Sends the objects as of `head`, then every change since, then begins the watch. Ends early when the watch does, and with the ERROR event of 410 when the
 * history forgets what is still to come. Rejects when the storage cannot be read.
 */
export async function sendBeginning(
  store: MissedChangesStore & Pick<WatchedStore, "afterPublication">,
  client: MissingClient,
  watch: StartingWatch,
  { pieces, rest, head }: WatchBeginning & { readonly rest: BeginningRest; readonly head: number },
): Promise<void> {
  const { sink } = client;
  rest.whenLost(() => {
    if (!watch.isOpen()) return;
    watch.stop();
    sink.abort("the watch took too long to begin, and another reader waits");
  });
  try {
    await store.afterPublication(() => {
      if (watch.isOpen()) for (const piece of pieces) sink.write(piece);
    });
    for (;;) {
      await store.clock.nextTurn();
      if (!(await takes(store.clock, sink, watch))) return watch.end();
      const piece = await rest.next();
      if (!piece) break;
      if (watch.isOpen()) sink.write(piece);
    }
  } catch (error) {
    if (error instanceof HistoryLost) return endForgotten(store, client, watch, head);
    throw error;
  } finally {
    rest.end();
  }
  await sendMissedChanges(store, client, watch, head, true);
}
