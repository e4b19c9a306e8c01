/** A page as the bytes of one JSON object. */
import { FrameBuffer } from "../../api/store/hub/frame-buffer";
import type { ProxyConfigPage } from "./proxy-configs";

/** Smaller pieces are joined to chunks of this size. A larger one goes out as it is: a page that waits for its client holds no copy of it. */
const CHUNK_BYTES = 64 * 1024;

const encoder = new TextEncoder();
const COMMA = encoder.encode(",");
const BETWEEN = encoder.encode('],"removed":[');
const END = encoder.encode("]}");

/** The body in chunks, each made when it is taken. Nobody may change them: pages share the large ones. */
export function* pageChunks(page: ProxyConfigPage): Generator<Uint8Array> {
  const joined = new FrameBuffer();
  for (const piece of pageBody(page)) {
    const isLarge = piece.length >= CHUNK_BYTES;
    if (!isLarge) joined.add(piece);
    if (joined.size >= CHUNK_BYTES || (isLarge && joined.size > 0)) yield joined.take();
    if (isLarge) yield piece;
  }
  if (joined.size > 0) yield joined.take();
}

/** In pieces, of which pages share those of Services. */
function* pageBody({ isFull, services, removed }: ProxyConfigPage): Generator<Uint8Array> {
  yield encoder.encode(`{"isFull":${isFull},"services":[`);
  yield* separated(services);
  yield BETWEEN;
  yield* separated(removed.map((bytes) => [bytes]));
  yield END;
}

/** Bytes of the body. */
export function pageSize(page: ProxyConfigPage): number {
  let size = 0;
  for (const piece of pageBody(page)) size += piece.length;
  return size;
}

function* separated(objects: Iterable<readonly Uint8Array[]>): Generator<Uint8Array> {
  let isFirst = true;
  for (const pieces of objects) {
    if (!isFirst) yield COMMA;
    isFirst = false;
    yield* pieces;
  }
}
