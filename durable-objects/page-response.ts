/** Lists and refusals over HTTP: bodies that the Worker hands on untouched. */
import type { Status } from "../src/api/meta/status";
import type { ListBody } from "../src/api/store/list-page";
import type { JsonList, ProtobufList } from "../src/api/store/view";
import { COMPRESSIBLE_CHARS, COMPRESSIBLE_HEADER } from "../src/api/store/collection-header";
import { FrameBuffer } from "../src/api/store/frame-buffer";
import { systemClock } from "./ports";
import { SOURCE_HEADER } from "../src/api/store/list-source";

/** Rows encoded at once; pieces of some hundred KiB keep a large list from being held twice. */
const LIST_PIECE_CHARS = 256 * 1024;
/** A longer list is sent in pieces. A shorter one is a single body, which travels between objects faster than a stream. */
const STREAMED_CHARS = 1024 * 1024;
const encoder = new TextEncoder();
/** The Status as the body of its own HTTP status. */
export function refusalResponse(status: Status): Response {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (status.details?.retryAfterSeconds) headers["Retry-After"] = String(status.details.retryAfterSeconds);
  return new Response(JSON.stringify(status), { status: status.code, headers });
}

/** `source` says where the rows come from (list-source.ts). */
export function pageResponse(body: ListBody, source: string): Response {
  const chars = body.rows.reduce((sum, { length }) => sum + length, 0);
  const headers: Record<string, string> = {
    "Content-Type": body.encoding === "protobuf" ? "application/vnd.kubernetes.protobuf" : "application/json",
    "Cache-Control": "no-cache, private",
    [SOURCE_HEADER]: source,
  };
  if (body.encoding === "json") {
    if (chars > COMPRESSIBLE_CHARS) headers[COMPRESSIBLE_HEADER] = String(chars);
    const { envelope, rows } = body;
    return new Response(chars > STREAMED_CHARS ? jsonStream(body) : envelope.head + rows.join(",") + envelope.tail, { headers });
  }
  if (chars > STREAMED_CHARS) return new Response(protobufStream(body), { headers: { ...headers, [COMPRESSIBLE_HEADER]: String(chars) } });
  const items = body.items(body.rows);
  if (items.length > COMPRESSIBLE_CHARS) headers[COMPRESSIBLE_HEADER] = String(items.length);
  const whole = new FrameBuffer();
  for (const piece of [body.head(items.length), items, body.tail()]) whole.add(piece);
  return new Response(whole.take(), { headers });
}

/** The rows are of one turn's snapshot; they are encoded piece by piece as the client takes them. */
function jsonStream({ envelope, rows }: JsonList): ReadableStream<Uint8Array> {
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

/**
 * The first bytes say how long the list is: all rows are encoded before. Other work of the object gets its turn between the pieces, and the text of a
 * row goes as its bytes come.
 */
function protobufStream(list: ProtobufList): ReadableStream<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let cancelled = false;
  const encodeAll = async (): Promise<void> => {
    let bytes = 0;
    for (let from = 0; from < list.rows.length && !cancelled;) {
      let to = from;
      for (let chars = 0; to < list.rows.length && chars < LIST_PIECE_CHARS; to++) chars += list.rows[to]?.length ?? 0;
      const piece = list.items(list.rows.slice(from, to));
      list.rows.fill("", from, to);
      bytes += piece.length;
      pieces.push(piece);
      from = to;
      await systemClock.nextTurn();
    }
    pieces.unshift(list.head(bytes));
    pieces.push(list.tail());
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (pieces.length === 0) await encodeAll();
      const piece = pieces.shift();
      if (piece && !cancelled) controller.enqueue(piece);
      if (pieces.length === 0 && !cancelled) controller.close();
    },
    cancel() {
      cancelled = true;
      pieces.length = 0;
    },
  });
}
