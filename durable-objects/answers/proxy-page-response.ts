/** Pages for proxies over HTTP. */
import { pageChunks, pageSize } from "../../src/endpoints/proxy-config/page-body";
import { UNSEEN_HEADER } from "../../src/endpoints/proxy-config/poll";
import type { ProxyConfigPage } from "../../src/endpoints/proxy-config/proxy-configs";
import { COMPRESSIBLE_CHARS, COMPRESSIBLE_HEADER } from "../../src/api/store/list/collection-header";

/** The same URL and ETag stand for a whole page and for changes. So no cache may keep an answer. */
function headersOf(etag: string): Record<string, string> {
  return { ETag: etag, "Cache-Control": "no-store" };
}

/** `isUnseen`: for the Worker alone */
export function unchangedResponse(etag: string, isUnseen = false): Response {
  return new Response(null, { status: 304, headers: { ...headersOf(etag), ...(isUnseen ? { [UNSEEN_HEADER]: "1" } : {}) } });
}

export function proxyPageResponse(page: ProxyConfigPage, etag: string): Response {
  const headers = { ...headersOf(etag), "Content-Type": "application/json" };
  const size = pageSize(page);
  return new Response(bodyOf(page), { headers: size > COMPRESSIBLE_CHARS ? { ...headers, [COMPRESSIBLE_HEADER]: "1" } : headers });
}

/** Nothing is made before the client takes it. */
function bodyOf(page: ProxyConfigPage): ReadableStream<Uint8Array> {
  const chunks = pageChunks(page);
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const next = chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
    },
    { highWaterMark: 0 },
  );
}
