/**
 * A watch as its client gets it: an HTTP body, or a WebSocket with a message for each event. It lasts until the watch is over or the client leaves.
 *
 * That a client is gone shows first in the request's signal, then in the stream. The request goes on until the watch knows it (`waitUntil`). Otherwise a
 * request whose answer another one writes ends without a word, and takes a socket that others share with it.
 */
import type { Status } from "../../../api/meta/status";
import { queuedSink } from "../../../api/relay/queued-sink";
import type { Relay, RunningWatch } from "../../../api/relay/relay";
import type { ClientSink, RelayedWatch } from "../../../api/relay/relayed-watch";
import type { Encoding } from "../../../api/rpc/store";
import { NORMAL_CLOSURE, sendEvents, socketSink } from "../../../api/store/hub/socket-sink";
import { streamSink, WATCH_BUFFER_BYTES, watchStreamHeaders } from "../../../api/store/hub/stream-sink";
import { SOURCE_HEADER } from "../../../api/store/list/list-source";
import { refusedWatchFrame } from "../../../api/store/watch/refused-watch";
import type { Result } from "../../../core/base/result";

export interface WatchClient {
  /** of the request */
  signal: AbortSignal;
  encoding: Encoding | undefined;
  /** that of a handshake, "" = none; undefined = the client reads a body */
  protocol: string | undefined;
  /** keeps the request running */
  waitUntil(work: Promise<unknown>): void;
}

/** Begins a watch over the sink. */
type Begin = (sink: (watch: RelayedWatch) => ClientSink) => ReturnType<Relay["begin"]>;

/** The answer, or the Status that refuses it. Rejects as `begin` does. */
export function watchAnswer(client: WatchClient, begin: Begin): Promise<Result<Response, Status>> {
  return client.protocol === undefined ? streamAnswer(client, begin) : socketAnswer(client, client.protocol, begin);
}

async function streamAnswer(client: WatchClient, begin: Begin): Promise<Result<Response, Status>> {
  const { encoding } = client;
  let stream: ReadableStream<Uint8Array> | undefined;
  const begun = await begin((watch) => {
    let sink: ClientSink | undefined;
    // Without `pull`: the runtime would call it after each read.
    stream = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          sink = streamSink(controller, () => watch.leave(), encoding);
        },
        cancel: () => watch.leave(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: WATCH_BUFFER_BYTES }),
    );
    if (!sink) throw new Error("a stream starts at once");
    return sink;
  });
  const headers = watchStreamHeaders(encoding);
  if (begun.ok && stream) {
    follow(client, begun.value);
    return { ok: true, value: new Response(stream, { headers: { ...headers, ...sourceOf(begun.value) } }) };
  }
  const frame = begun.ok ? undefined : refusedWatchFrame(begun.error, encoding);
  return frame ? { ok: true, value: new Response(frame, { headers }) } : (begun as { ok: false; error: Status });
}

async function socketAnswer(client: WatchClient, protocol: string, begin: Begin): Promise<Result<Response, Status>> {
  const { encoding } = client;
  const { 0: theirs, 1: own } = new WebSocketPair();
  const begun = await begin((watch) => {
    own.accept();
    for (const event of ["close", "error"] as const) own.addEventListener(event, () => watch.leave());
    return queuedSink(
      socketSink(own, () => watch.leave(), encoding),
      () => watch.wake(),
    );
  });
  if (begun.ok) follow(client, begun.value);
  else {
    const frame = refusedWatchFrame(begun.error, encoding);
    if (!frame) return begun;
    own.accept();
    sendEvents(own, frame, encoding ?? "json");
    own.close(NORMAL_CLOSURE);
  }
  const headers: Record<string, string> = protocol === "" ? {} : { "Sec-WebSocket-Protocol": protocol };
  return { ok: true, value: new Response(null, { status: 101, webSocket: theirs, headers }) };
}

function follow({ signal, waitUntil }: WatchClient, { watch, run }: RunningWatch): void {
  signal.addEventListener("abort", () => watch.leave());
  // A client may leave while its store still answers.
  if (signal.aborted) watch.leave();
  waitUntil(run());
}

function sourceOf({ watch }: RunningWatch): Record<string, string> {
  return watch.source === "" ? {} : { [SOURCE_HEADER]: watch.source };
}
