/** Request body -> bytes or text, within its limits of size and time. Source: upstream apiserver endpoints/handlers/rest.go (limitedReadBody). */
import { systemClock } from "../../../../durable-objects/platform/ports";
import { badRequest, overloaded, requestTimedOut, requestTooLarge, type Status } from "../../../api/meta/status";
import { decodeUtf8 } from "../../../api/schema/json/decode-json";
import { err, ok, type Result } from "../../../core/base/result";
import { withTimeout } from "../../../core/base/timeout";
import { arrivalOf, BodyProgress } from "./arriving-body";
import { drain } from "./drain";
import { type HeldSeats, weightOfBody } from "../in-flight";
import { BODY_BYTES_PER_REQUEST, BODY_MAX_BYTES, BODY_TIMEOUT_MS, DRAIN_SILENCE_MS } from "../limits";

/** A request whose body is not read yet, and its place among those under way. */
export interface BodyRequest {
  request: Request;
  place: HeldSeats;
  /** the request's own `timeout` in milliseconds; 0 or absent = none */
  timeoutMs?: number;
}

export function bodyTooLarge(bytesMax: number): Status {
  return requestTooLarge(`Request entity too large: limit is ${bytesMax}`);
}

function tooLarge(): Status {
  return bodyTooLarge(BODY_MAX_BYTES);
}

/**
 * The whole body, within the limit, whatever the client announces. It takes its weight as it comes, and is 429 where there is no room. A body that is
 * late is 504, one that breaks off 400. The place of a refused body is free before its rest is dropped: nothing of it is kept.
 * The runtime reads a small body of known length whole, which is faster and cannot be given up.
 */
export async function readBody({ request, place, timeoutMs }: BodyRequest): Promise<Result<Uint8Array, Status>> {
  const announced = request.headers.get("Content-Length");
  if (announced !== null && Number(announced) > BODY_MAX_BYTES) return err(tooLarge());
  if (announced === null && !request.body) return ok(new Uint8Array(0));
  const isSmall = announced !== null && Number(announced) <= BODY_BYTES_PER_REQUEST;
  const reader = isSmall ? undefined : (request.body as ReadableStream<Uint8Array> | null)?.getReader();
  const progress = new BodyProgress(systemClock, place);
  const whole = reader ? readChunks(reader, progress, Number(announced)) : readWhole(request, progress);
  try {
    const arrival = await arrivalOf(whole, {
      clock: systemClock,
      progress,
      timeoutMs: Math.min(timeoutMs || BODY_TIMEOUT_MS, BODY_TIMEOUT_MS),
    });
    if (arrival.kind === "read") {
      if (arrival.value.ok || !reader) return arrival.value;
      place.end();
      await drain(reader);
      return arrival.value;
    }
    if (reader) place.end();
    await dropLate(whole, reader);
    return arrival.kind === "late" ? err(requestTimedOut()) : arrival.value;
  } catch {
    // The connection broke off, or the framing of the body is wrong: the client's fault.
    return err(badRequest("the body of the request could not be read"));
  }
}

/** What still comes of a late body is read and dropped, for a moment: a client that was only slow keeps its connection. */
async function dropLate(whole: Promise<unknown>, reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<void> {
  const dropped = whole.then(() => reader && drain(reader));
  await withTimeout(systemClock, DRAIN_SILENCE_MS, dropped).catch(() => undefined);
  reader?.cancel().catch(() => undefined);
}

async function readWhole(request: Request, progress: BodyProgress): Promise<Result<Uint8Array, Status>> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.length > BODY_MAX_BYTES) return err(tooLarge());
  return !progress.isResting || progress.came(1) ? ok(bytes) : err(overloaded());
}

/** `announced`: the length that the client announces; 0 = none. After the end of the place it keeps no more of the body. */
async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  progress: BodyProgress,
  announced: number,
): Promise<Result<Uint8Array, Status>> {
  // Copied: a small chunk may be a view of a large buffer.
  let bytes = new Uint8Array(BODY_BYTES_PER_REQUEST);
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const at = size;
    size += read.value.length;
    const problem = size > BODY_MAX_BYTES ? tooLarge() : progress.came(weightOfBody(size)) ? undefined : overloaded();
    if (problem) return err(problem);
    // No larger than the client announces, and no larger for what it only announces.
    const room = Math.max(size, Math.min(2 * bytes.length, announced || BODY_MAX_BYTES));
    if (size > bytes.length) bytes = enlarged(bytes, room);
    bytes.set(read.value, at);
  }
  return ok(bytes.subarray(0, size));
}

function enlarged(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
}

/** Body of a PATCH of any type, as text. */
export async function readText(request: BodyRequest): Promise<Result<string, Status>> {
  const bytes = await readBody(request);
  if (!bytes.ok) return bytes;
  const text = decodeUtf8(bytes.value);
  return text.ok ? text : err(badRequest(`error decoding patch: ${text.error.cause}`));
}
