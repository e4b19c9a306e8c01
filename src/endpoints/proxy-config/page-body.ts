/** A page as the bytes of one JSON object. */
import type { ProxyConfigPage } from "./proxy-configs";

const encoder = new TextEncoder();
const COMMA = encoder.encode(",");
const BETWEEN = encoder.encode('],"removed":[');
const END = encoder.encode("]}");

/** In pieces, of which pages share those of Services. */
export function* pageBody({ isFull, services, removed }: ProxyConfigPage): Generator<Uint8Array> {
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
