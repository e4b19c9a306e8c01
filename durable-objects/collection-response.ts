/** The HTTP side of lists and watches: bodies that the Worker hands on untouched. */
import type { ResourceDefinition } from "../src/api/registry/resource";
import type { CollectionRequest } from "../src/api/rpc/store";
import { type ListBody, listPage, startWatch } from "../src/api/store/collection";
import { COMPRESSIBLE_CHARS, COMPRESSIBLE_HEADER } from "../src/api/store/collection-header";
import { ownerSource, SOURCE_HEADER } from "../src/api/store/list-source";
import type { WatchSink } from "../src/api/store/watch-hub";
import { errorFrame } from "../src/api/meta/watch-event";
import type { Status } from "../src/api/meta/status";

/** Rows encoded at once; pieces of some hundred KiB keep a large list from being held twice. */
const LIST_PIECE_CHARS = 256 * 1024;
/** Above it a list is sent in pieces; a page below it is one body, which crosses the objects faster than a stream. */
const STREAMED_CHARS = 1024 * 1024;
/** What a watch's stream may hold before `desiredSize` turns negative. */
const WATCH_BUFFER_BYTES = 64 * 1024;

const encoder = new TextEncoder();
/** Before the next event's JSON, where neither readers of lines nor readers of JSON see it. */
const PROBE = encoder.encode(" ");

type AnyStore = Parameters<typeof listPage>[0];

/** No compressor may hold events back, no proxy may change them. */
const STREAM_HEADERS = {
  "Content-Type": "application/json",
  "Content-Encoding": "identity",
  "Cache-Control": "no-cache, private, no-transform",
};

/** The Status as the body of its own HTTP status. */
export function statusResponse(status: Status): Response {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (status.details?.retryAfterSeconds) headers["Retry-After"] = String(status.details.retryAfterSeconds);
  return new Response(JSON.stringify(status), { status: status.code, headers });
}

export function listResponse(store: AnyStore, request: CollectionRequest, definition: ResourceDefinition): Response {
  const body = listPage(store, request, definition);
  return body.ok ? pageResponse(body.value, ownerSource(store)) : statusResponse(body.error);
}

/** `source` says where the rows come from (list-source.ts). */
export function pageResponse(body: ListBody, source: string): Response {
  const chars = body.rows.reduce((sum, { length }) => sum + length, 0);
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "Cache-Control": "no-cache, private",
    [SOURCE_HEADER]: source,
  };
  if (chars > COMPRESSIBLE_CHARS) headers[COMPRESSIBLE_HEADER] = "1";
  return new Response(chars > STREAMED_CHARS ? listStream(body) : body.envelope.head + body.rows.join(",") + body.envelope.tail, {
    headers,
  });
}

/** The rows are of one turn's snapshot; they are encoded piece by piece as the client takes them. */
function listStream({ envelope, rows }: ListBody): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      let text = next === 0 ? envelope.head : "";
      while (next < rows.length && text.length < LIST_PIECE_CHARS) {
        text += next === 0 ? (rows[next] ?? "") : `,${rows[next] ?? ""}`;
        rows[next] = "";
        next++;
      }
      const last = next >= rows.length;
      if (last) text += envelope.tail;
      controller.enqueue(encoder.encode(text));
      if (last) controller.close();
    },
  });
}

export function watchResponse(store: AnyStore, request: CollectionRequest, definition: ResourceDefinition, signal: AbortSignal): Response {
  let stop: () => void = () => undefined;
  let refusal: Status | undefined;
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const started = startWatch(
          store,
          request,
          definition,
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
  return new Response(stream, { headers: { ...STREAM_HEADERS, [SOURCE_HEADER]: ownerSource(store) } });
}

/** History that is gone is told inside a 200 stream, as upstream does; everything else is an HTTP error. */
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
