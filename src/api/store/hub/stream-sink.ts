/** The sink of a watch whose client reads a stream of bytes until it leaves: one JSON object per line, or protobuf frames. */
import type { Encoding } from "../../rpc/store";
import type { WatchSink } from "./watch-hub";

/** What a watch's stream may hold before `desiredSize` turns negative. */
export const WATCH_BUFFER_BYTES = 64 * 1024;

/** No compressor may hold events back, no proxy may change them. */
export function watchStreamHeaders(encoding: Encoding | undefined): Record<string, string> {
  return {
    "Content-Type": encoding === "protobuf" ? "application/vnd.kubernetes.protobuf;stream=watch" : "application/json",
    "Content-Encoding": "identity",
    "Cache-Control": "no-cache, private, no-transform",
  };
}

/** Sent before the JSON of the next event: readers of lines and of JSON both skip it. Between protobuf frames nothing can be skipped. */
const PROBE = new TextEncoder().encode(" ");

/** The writing end of a stream whose buffer holds WATCH_BUFFER_BYTES. Each call throws when the reader is gone. */
export interface ByteStream {
  /** bytes that still fit; negative when more were written; null when the stream has failed */
  readonly desiredSize: number | null;
  enqueue(bytes: Uint8Array): void;
  close(): void;
  error(reason: Error): void;
}

/** `lost`: called once when a write shows that the client is gone. */
export function streamSink(stream: ByteStream, lost: () => void, encoding: Encoding = "json"): WatchSink {
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
    write: (bytes) => whileOpen(() => stream.enqueue(bytes)),
    backlogBytes: () => (open ? WATCH_BUFFER_BYTES - (stream.desiredSize ?? WATCH_BUFFER_BYTES) : 0),
    end: () =>
      whileOpen(() => {
        open = false;
        stream.close();
      }),
    abort: (reason) =>
      whileOpen(() => {
        open = false;
        stream.error(new Error(reason));
      }),
    probe: () => {
      if (encoding === "json") whileOpen(() => stream.enqueue(PROBE));
    },
  };
}
