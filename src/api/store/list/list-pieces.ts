/** A list as the bytes of an answer, in pieces where it is large, and the headers that go with it. */
import type { Clock } from "../../../core/base/ports";
import { COMPRESSIBLE_CHARS, COMPRESSIBLE_HEADER } from "./collection-header";
import { FrameBuffer } from "../hub/frame-buffer";
import type { ListBody } from "./list-page";
import { SOURCE_HEADER } from "./list-source";
import type { JsonList, ProtobufList } from "../hub/view";

/** Rows encoded at once; pieces of some hundred KiB keep a large list from being held twice. */
const PIECE_CHARS = 256 * 1024;
/** A longer list is sent in pieces. A shorter one is a single body, which travels between objects faster than a stream. */
const WHOLE_MAX_CHARS = 1024 * 1024;
const encoder = new TextEncoder();

export interface ListAnswer {
  readonly headers: Readonly<Record<string, string>>;
  /** the whole body, or its pieces: none is made before the client takes it */
  readonly body: string | Uint8Array | AsyncGenerator<Uint8Array, void>;
}

/**
 * The answer of a list; to be sent once, since the texts of rows go as their bytes come.
 * @param source where the rows come from (list-source.ts)
 * @param isGone whether the client has left: then nobody needs the rest
 */
export function listAnswer(list: ListBody, source: string, clock: Pick<Clock, "nextTurn">, isGone: () => boolean): ListAnswer {
  const chars = list.rows.reduce((sum, { length }) => sum + length, 0);
  const isWhole = chars <= WHOLE_MAX_CHARS;
  if (list.encoding === "json") {
    const { envelope, rows } = list;
    return { headers: headersOf(list, source, chars), body: isWhole ? envelope.head + rows.join(",") + envelope.tail : jsonPieces(list) };
  }
  if (!isWhole) return { headers: headersOf(list, source, chars), body: protobufPieces(list, clock, isGone) };
  const items = list.items(list.rows);
  const whole = new FrameBuffer();
  for (const piece of [list.head(items.length), items, list.tail()]) whole.add(piece);
  return { headers: headersOf(list, source, items.length), body: whole.take() };
}

/** @param size characters or bytes of all rows */
function headersOf({ encoding }: ListBody, source: string, size: number): Record<string, string> {
  return {
    "Content-Type": encoding === "protobuf" ? "application/vnd.kubernetes.protobuf" : "application/json",
    "Cache-Control": "no-cache, private",
    [SOURCE_HEADER]: source,
    ...(size > COMPRESSIBLE_CHARS && { [COMPRESSIBLE_HEADER]: String(size) }),
  };
}

/** The rows are of one turn's snapshot. */
async function* jsonPieces({ envelope, rows }: JsonList): AsyncGenerator<Uint8Array, void> {
  let text = envelope.head;
  for (const [i, row] of rows.entries()) {
    text += i === 0 ? row : `,${row}`;
    rows[i] = "";
    if (text.length < PIECE_CHARS) continue;
    yield encoder.encode(text);
    text = "";
  }
  yield encoder.encode(text + envelope.tail);
}

/** The first bytes say how long the list is: all rows are encoded before. Other work of the object gets its turn between the pieces. */
async function* protobufPieces(
  list: ProtobufList,
  clock: Pick<Clock, "nextTurn">,
  isGone: () => boolean,
): AsyncGenerator<Uint8Array, void> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (let from = 0; from < list.rows.length && !isGone();) {
    let to = from;
    for (let chars = 0; to < list.rows.length && chars < PIECE_CHARS; to++) chars += list.rows[to]?.length ?? 0;
    const piece = list.items(list.rows.slice(from, to));
    list.rows.fill("", from, to);
    bytes += piece.length;
    pieces.push(piece);
    from = to;
    await clock.nextTurn();
  }
  yield list.head(bytes);
  // A sent piece is let go.
  for (let next = pieces.shift(); next; next = pieces.shift()) yield next;
  yield list.tail();
}
