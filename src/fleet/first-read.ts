/**
 * Before somebody reads the Clusters for the first time, their controller looks at what is there: clusters of an earlier release have their objects then.
 * Later ones begin with their objects. While the controller does not answer, or cannot read what is there,
 * reads go on without it.
 */
import type { Clock } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";

const ASK_TIMEOUT_MS = 5_000;
/** After a failure, or a pass that has left work, reads go on without another attempt for so long. */
const RETRY_MS = 10_000;

export interface FirstReadPorts {
  clock: Pick<Clock, "now" | "after">;
  /** whether the controller has looked; both are in the store's own storage */
  isDone(): boolean;
  done(): void;
  /** asks the controller for a pass, and resolves behind it: whether that has left nothing */
  ask(): Promise<boolean>;
}

/** What is awaited before each read. It never rejects. */
export function firstRead({ clock, isDone, done, ask }: FirstReadPorts): () => Promise<void> {
  let isReady = isDone();
  let asking: Promise<void> | undefined;
  let pausedUntil = -Infinity;
  const asked = async (): Promise<void> => {
    try {
      isReady = await withTimeout(clock, ASK_TIMEOUT_MS, ask());
    } catch {
      isReady = false;
    }
    if (isReady) done();
    else pausedUntil = clock.now() + RETRY_MS;
  };
  return () => {
    if (isReady || (!asking && clock.now() < pausedUntil)) return Promise.resolve();
    return (asking ??= asked().finally(() => (asking = undefined)));
  };
}
