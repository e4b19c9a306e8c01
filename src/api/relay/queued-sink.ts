/**
 * A sink that may be written from any request. The platform lets a client's WebSocket be used in the client's own request alone, but the events of a shared
 * feed come in another one. So what is to be done waits until the own request takes its turn.
 */
import type { WatchSink } from "../store/hub/watch-hub";

export interface QueuedSink extends WatchSink {
  /** Does what waits, in order. In the client's own request. */
  flush(): void;
}

/** `wake`: soon the own request calls `flush`. */
export function queuedSink(sink: WatchSink, wake: () => void): QueuedSink {
  let waiting: (() => void)[] = [];
  let waitingBytes = 0;
  const later = (work: () => void): void => {
    waiting.push(work);
    wake();
  };
  return {
    write(bytes) {
      waitingBytes += bytes.length;
      later(() => sink.write(bytes));
    },
    backlogBytes: () => sink.backlogBytes() + waitingBytes,
    end: () => later(() => sink.end()),
    abort: (reason) => later(() => sink.abort(reason)),
    probe: () => later(() => sink.probe()),
    ...(sink.isBlind ? { isBlind: sink.isBlind } : {}),
    flush() {
      const now = waiting;
      waiting = [];
      waitingBytes = 0;
      for (const work of now) work();
    },
  };
}
