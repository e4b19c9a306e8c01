/**
 * Bodies that no handler wants are read and dropped. The runtime closes a connection when more than 64 KiB of a request's body stay unread: the
 * answer may be lost, and the client's next request fails. A Worker cannot announce the end: the runtime drops its header `Connection`.
 * Upstream: Go's net/http drops bodies for the same reason.
 */
import { isTimeout, withTimeout } from "../../../core/base/timeout";
import { systemClock } from "../../../../durable-objects/platform/ports";
import { DRAIN_MS, DRAIN_SILENCE_MS, DRAINED_MAX_BYTES } from "../limits";

/** Reads what no handler has begun to read of the request's body, within the bounds of `drain`. */
export async function drainUnread({ body, bodyUsed }: Request): Promise<void> {
  if (body && !bodyUsed) await drain(body.getReader());
}

/**
 * Reads on until the body ends, keeps nothing, and gives up after DRAINED_MAX_BYTES, DRAIN_MS or a silence of DRAIN_SILENCE_MS: then the runtime closes
 * the connection after the answer. Never rejects.
 */
export async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const readOn = async (): Promise<void> => {
    let left = DRAINED_MAX_BYTES;
    for (let read = await soon(reader.read()); !read.done && left > 0; read = await soon(reader.read())) left -= read.value.length;
  };
  // A client that never stops, or that has left, does not change the answer.
  await withTimeout(systemClock, DRAIN_MS, readOn()).catch(() => undefined);
  reader.cancel().catch(() => undefined);
}

/** A timer may ring before what has come is read, where the machine was busy with something else. So there are two. */
async function soon<T>(read: Promise<T>): Promise<T> {
  const half = () => withTimeout(systemClock, DRAIN_SILENCE_MS / 2, read);
  return half().catch((error: unknown) => (isTimeout(error) ? half() : Promise.reject(error as Error)));
}
