/**
 * `Connection: close` on the local runner. The runtime does not know the header, and keeps a connection for 5 s after an answer. The runtime closes a
 * connection at once where the body of an answer breaks. So the body breaks behind its last byte, with an error that the runner leaves out of its
 * log.
 */
import { queryBool } from "../read/query";
import { urlOf } from "../read/request-url";

/** Text of that error. */
export const CLOSING = "the connection closes, as its client asked";

/** A longer answer is streamed, and its connection is kept. */
const CLOSING_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Whether the connection is to close after the answer: the client says so, or speaks HTTP/1.0. The runtime does not tell the version, but from 1.1 on
 * every request has a Host. A watch is not waited for.
 */
export function wantsClose(request: Request): boolean {
  const { headers } = request;
  const connection = headers.get("Connection")?.toLowerCase();
  const tokens = connection?.split(",").map((token) => token.trim()) ?? [];
  const isOld = connection === undefined && !headers.has("Host");
  if (!isOld && !tokens.includes("close")) return false;
  const { path, query } = urlOf(request);
  return !queryBool(query, "watch") && !path.includes("/watch/");
}

/**
 * The answer in a form after which the connection closes; the answer itself where that needs more than a body of moderate length. It is not compressed:
 * the runtime ends a compressed body in its own way. A body that breaks on its way breaks here, too, behind what came.
 */
export async function closing(answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer;
  if (response.body === null) return response;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const { chunks, length, end } = await firstOf(reader);
  const isWhole = end?.isWhole === true;
  const body = new ReadableStream<Uint8Array>({
    ...(isWhole ? { expectedLength: length } : {}),
    async pull(controller) {
      const next = chunks.shift() ?? (end ? undefined : (await reader.read()).value);
      if (next) controller.enqueue(next);
      else if (end) controller.error(end.error);
      else controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const closed = new Response(body, response);
  if (isWhole) closed.headers.delete("Content-Encoding");
  return closed;
}

interface First {
  chunks: Uint8Array[];
  /** of all chunks, in bytes */
  length: number;
  /** what comes behind them, where nothing more is to be read */
  end?: { isWhole: boolean; error: unknown };
}

/** Reads to the end, to an error, or beyond CLOSING_BYTES_MAX. */
async function firstOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<First> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    while (length <= CLOSING_BYTES_MAX) {
      const { done, value } = await reader.read();
      if (done) return { chunks, length, end: { isWhole: true, error: new Error(CLOSING) } };
      chunks.push(value);
      length += value.length;
    }
    return { chunks, length };
  } catch (error) {
    return { chunks, length, end: { isWhole: false, error } };
  }
}
