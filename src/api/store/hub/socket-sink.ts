/**
 * The sink of a watch over WebSocket: each event is one message. JSON events are text messages. Protobuf events are binary messages without the
 * length that stands before a frame.
 *
 * A socket does not tell what its client has taken, so a stalled client does not show. The bytes sent are bounded instead. After its start
 * a watch is sent SOCKET_ALLOWANCE_BYTES and the hub's backlog at most; then it is closed properly, and its client watches again from its
 * last revision. A stalled client holds no more memory than that, and none once its connection is gone.
 */
import type { Encoding } from "../../rpc/store";
import { FRAME_LENGTH_BYTES } from "../../schema/protobuf/encode-protobuf";
import type { WatchSink } from "./watch-hub";

/** Sent without being counted as backlog: with the hub's own MiB 4 MiB, some thousand events between two reconnects of a healthy client. */
export const SOCKET_ALLOWANCE_BYTES = 3 * 1024 * 1024;
export const NORMAL_CLOSURE = 1000;

const decoder = new TextDecoder();

/** The server's end of a socket. Each call throws when the client is gone. */
export interface EventSocket {
  send(message: string | Uint8Array): void;
  close(code: number, reason?: string): void;
}

/** Sends whole events, one message each. */
export function sendEvents(socket: EventSocket, bytes: Uint8Array, encoding: Encoding): void {
  if (encoding === "json") sendLines(socket, decoder.decode(bytes));
  else sendFrames(socket, bytes);
}

function sendLines(socket: EventSocket, text: string): void {
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\n", at) + 1;
    socket.send(text.slice(at, end));
    at = end;
  }
}

function sendFrames(socket: EventSocket, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length;) {
    const start = at + FRAME_LENGTH_BYTES;
    at = start + view.getUint32(at);
    socket.send(bytes.slice(start, at));
  }
}

/** Pieces end with the end of an event. `lost`: called once when a message shows that the client is gone. */
export function socketSink(socket: EventSocket, lost: () => void, encoding: Encoding = "json"): WatchSink {
  let open = true;
  let sentBytes = 0;
  const close = (reason: string): void => {
    if (!open) return;
    open = false;
    try {
      socket.close(NORMAL_CLOSURE, reason);
    } catch {
      // The client was faster.
    }
  };
  return {
    write(bytes) {
      if (!open) return;
      sentBytes += bytes.length;
      try {
        sendEvents(socket, bytes, encoding);
      } catch {
        // The client went away between two events.
        open = false;
        lost();
      }
    },
    backlogBytes: () => (open ? Math.max(0, sentBytes - SOCKET_ALLOWANCE_BYTES) : 0),
    end: () => close("the watch is over"),
    abort: close,
    // The runtime itself reports a client that is gone.
    probe: () => undefined,
    isBlind: true,
  };
}
