/** Lists and refusals over HTTP: bodies that the Worker hands on untouched. */
import type { Status } from "../../src/api/meta/status";
import type { ListBody } from "../../src/api/store/list/list-page";
import { listAnswer } from "../../src/api/store/list/list-pieces";
import { systemClock } from "../platform/ports";

/** The Status as the body of its own HTTP status. */
export function refusalResponse(status: Status): Response {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (status.details?.retryAfterSeconds) headers["Retry-After"] = String(status.details.retryAfterSeconds);
  return new Response(JSON.stringify(status), { status: status.code, headers });
}

/** `source` says where the rows come from (list-source.ts). */
export function pageResponse(list: ListBody, source: string): Response {
  let isGone = false;
  const { headers, body } = listAnswer(list, source, systemClock, () => isGone);
  if (typeof body === "string" || body instanceof Uint8Array) return new Response(body, { headers });
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await body.next();
      if (isGone) return;
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    cancel() {
      isGone = true;
    },
  });
  return new Response(stream, { headers });
}
