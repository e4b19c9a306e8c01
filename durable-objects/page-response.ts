/** Lists and refusals over HTTP: bodies that the Worker hands on untouched. */
import type { Status } from "../src/api/meta/status";
import type { ListBody } from "../src/api/store/list-page";
import { COMPRESSIBLE_CHARS, COMPRESSIBLE_HEADER } from "../src/api/store/collection-header";
import { SOURCE_HEADER } from "../src/api/store/list-source";

/** Rows encoded at once; pieces of some hundred KiB keep a large list from being held twice. */
const LIST_PIECE_CHARS = 256 * 1024;
/** A longer list is sent in pieces. A shorter one is a single body, which travels between objects faster than a stream. */
const STREAMED_CHARS = 1024 * 1024;
const encoder = new TextEncoder();
/** The Status as the body of its own HTTP status. */
export function statusResponse(status: Status): Response {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (status.details?.retryAfterSeconds) headers["Retry-After"] = String(status.details.retryAfterSeconds);
  return new Response(JSON.stringify(status), { status: status.code, headers });
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
