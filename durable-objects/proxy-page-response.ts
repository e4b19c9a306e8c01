/** Pages for proxies over HTTP. */
import { pageBody, pageSize } from "../src/endpoints/proxy-config/page-body";
import type { ProxyConfigPage } from "../src/endpoints/proxy-config/proxy-configs";
import { COMPRESSIBLE_CHARS, COMPRESSIBLE_HEADER } from "../src/api/store/collection-header";
import { FrameBuffer } from "../src/api/store/frame-buffer";

/** A page of more bytes is sent in chunks of this size, so that no page is held whole beside the bytes that pages share. */
const CHUNK_BYTES = 256 * 1024;

/** The same URL and ETag stand for a whole page and for changes. So no cache may keep an answer. */
function headersOf(etag: string): Record<string, string> {
  return { ETag: etag, "Cache-Control": "no-store" };
}

export function unchangedResponse(etag: string): Response {
  return new Response(null, { status: 304, headers: headersOf(etag) });
}

export function proxyPageResponse(page: ProxyConfigPage): Response {
  const headers = { ...headersOf(page.etag), "Content-Type": "application/json" };
  const size = pageSize(page);
  return new Response(bodyOf(page), { headers: size > COMPRESSIBLE_CHARS ? { ...headers, [COMPRESSIBLE_HEADER]: "1" } : headers });
}

function bodyOf(page: ProxyConfigPage): ReadableStream<Uint8Array> {
  const pieces = pageBody(page);
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = new FrameBuffer();
      let next = pieces.next();
      for (; !next.done; next = pieces.next()) {
        chunk.add(next.value);
        if (chunk.size >= CHUNK_BYTES) break;
      }
      controller.enqueue(chunk.take());
      if (next.done) controller.close();
    },
  });
}
