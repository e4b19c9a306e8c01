/** Lists and refusals over HTTP: bodies that the Worker hands on untouched. */
import type { Status } from "../../src/api/meta/status";
import type { ListBody } from "../../src/api/store/list/list-page";
import { listAnswer, type ListPieces } from "../../src/api/store/list/list-pieces";
import { systemClock } from "../platform/ports";

/** The Status as the body of its own HTTP status. */
export function refusalResponse(status: Status): Response {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (status.details?.retryAfterSeconds) headers["Retry-After"] = String(status.details.retryAfterSeconds);
  return new Response(JSON.stringify(status), { status: status.code, headers });
}

/** `source` says where the rows come from (list-source.ts). `signal`: of the request; newer runtimes tell by it alone that the client has left. */
export function pageResponse(list: ListBody, source: string, signal: AbortSignal): Response {
  const { headers, body } = listAnswer(list, source, systemClock);
  const isWhole = typeof body === "string" || body instanceof Uint8Array;
  return new Response(isWhole ? body : streamOf(body, signal), { headers });
}

/** Nothing is read before the client takes it. What breaks off has no proper end: the client sees that it has not the whole list. */
function streamOf(pieces: ListPieces, signal: AbortSignal): ReadableStream<Uint8Array> {
  let isGone = false;
  const leave = (): void => {
    isGone = true;
    pieces.end();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        pieces.whenLost((reason) => controller.error(new Error(reason)));
        if (signal.aborted) leave();
        else signal.addEventListener("abort", leave, { once: true });
      },
      async pull(controller) {
        const next = await pieces.next();
        if (isGone) return;
        if (next) controller.enqueue(next);
        else controller.close();
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
}
