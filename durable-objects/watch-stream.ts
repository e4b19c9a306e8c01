/** A watch as an HTTP body: one JSON object per line until the client leaves. */
import { errorFrame } from "../src/api/meta/watch-event";
import type { Status } from "../src/api/meta/status";
import type { CollectionRequest } from "../src/api/rpc/store";
import type { ClusterStore } from "../src/api/store/cluster-store";
import { SOURCE_HEADER } from "../src/api/store/list-source";
import type { WatchSink } from "../src/api/store/watch-hub";
import { statusResponse } from "./page-response";

/** What a watch's stream may hold before `desiredSize` turns negative. */
const WATCH_BUFFER_BYTES = 64 * 1024;

const encoder = new TextEncoder();
/** Sent before the JSON of the next event: readers of lines and of JSON both skip it. */
const PROBE = encoder.encode(" ");

/** No compressor may hold events back, no proxy may change them. */
const STREAM_HEADERS = {
  "Content-Type": "application/json",
  "Content-Encoding": "identity",
  "Cache-Control": "no-cache, private, no-transform",
};

export function watchResponse(
  store: Pick<ClusterStore<never>, "watch" | "source">,
  request: CollectionRequest,
  signal: AbortSignal,
): Response {
  let stop: () => void = () => undefined;
  let refusal: Status | undefined;
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const started = store.watch(
          request,
          sinkOf(controller, () => stop()),
        );
        if (started.ok) stop = started.value.stop;
        else refusal = started.error;
      },
      cancel: () => stop(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: WATCH_BUFFER_BYTES }),
  );
  if (refusal) return refusedWatch(refusal);
  signal.addEventListener("abort", () => stop());
  // A client may leave while the object is still being made ready for it.
  if (signal.aborted) stop();
  return new Response(stream, { headers: { ...STREAM_HEADERS, [SOURCE_HEADER]: store.source } });
}

/** A revision before the history is an ERROR event of a 200 stream, as upstream; any other refusal is an HTTP error. */
function refusedWatch(status: Status): Response {
  if (status.reason !== "Expired") return statusResponse(status);
  return new Response(errorFrame(status), { headers: STREAM_HEADERS });
}

function sinkOf(controller: ReadableStreamDefaultController<Uint8Array>, lost: () => void): WatchSink {
  let open = true;
  const whileOpen = (work: () => void): void => {
    if (!open) return;
    try {
      work();
    } catch {
      // The client went away between two events.
      open = false;
      lost();
    }
  };
  return {
    write: (bytes) => whileOpen(() => controller.enqueue(bytes)),
    backlogBytes: () => (open ? WATCH_BUFFER_BYTES - (controller.desiredSize ?? WATCH_BUFFER_BYTES) : 0),
    end: () =>
      whileOpen(() => {
        open = false;
        controller.close();
      }),
    abort: (reason) =>
      whileOpen(() => {
        open = false;
        controller.error(new Error(reason));
      }),
    probe: () => whileOpen(() => controller.enqueue(PROBE)),
  };
}
