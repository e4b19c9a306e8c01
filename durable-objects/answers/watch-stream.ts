/** A watch of another object as an HTTP body, until that object leaves: only an accepted socket outlives a sleep, and an object accepts none as a client. The rules are in src/api/store/hub/stream-sink. */
import type { Status } from "../../src/api/meta/status";
import type { CollectionRequest, Encoding } from "../../src/api/rpc/store";
import type { ClusterStore } from "../../src/api/store/cluster-store";
import { SOURCE_HEADER } from "../../src/api/store/list/list-source";
import { refusedWatchFrame } from "../../src/api/store/watch/refused-watch";
import { streamSink, WATCH_BUFFER_BYTES, watchStreamHeaders } from "../../src/api/store/hub/stream-sink";
import { refusalResponse } from "./page-response";

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
          streamSink(controller, () => stop(), request.encoding),
        );
        if (started.ok) stop = started.value.stop;
        else refusal = started.error;
      },
      cancel: () => stop(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: WATCH_BUFFER_BYTES }),
  );
  if (refusal) return refusedWatch(refusal, request.encoding);
  signal.addEventListener("abort", () => stop());
  // A client may leave while the object still starts.
  if (signal.aborted) stop();
  return new Response(stream, { headers: { ...watchStreamHeaders(request.encoding), [SOURCE_HEADER]: store.source } });
}

function refusedWatch(status: Status, encoding: Encoding | undefined): Response {
  const frame = refusedWatchFrame(status, encoding);
  return frame === undefined ? refusalResponse(status) : new Response(frame, { headers: watchStreamHeaders(encoding) });
}
