/**
 * What a store and a Worker say to each other over the socket of a watch. The store sends frames: one byte of kind, a revision as float64 (big-endian),
 * then whole events. The Worker answers with the number of all bytes of events that its clients have taken so far, as text.
 */

/** Both sides name the form of the conversation in this header of the handshake; another release without it gets no frames, and sends none. */
export const RELAY_HEADER = "x-servicenet-relay";
export const RELAY_FORM = "1";

/**
 * What a frame says of its revision:
 *
 * - `start`: the bytes are a part of the objects at this revision.
 * - `through`: with the bytes, everything up to this revision has been handed over.
 * - `live`: the same, and the start is complete; what follows comes as it happens.
 * - `last`: the bytes are the ERROR event with which a start ends that cannot be completed. A Worker of the release before takes it for a broken socket.
 */
export type RelayFrameKind = "start" | "through" | "live" | "last";

export interface RelayFrame {
  kind: RelayFrameKind;
  revision: number;
  /** whole events; may be empty */
  bytes: Uint8Array;
}

const KINDS: readonly RelayFrameKind[] = ["start", "through", "live", "last"];
const HEAD_BYTES = 9;

/**
 * Bytes of events that a store sends without hearing that they were taken; the last frame may go beyond. So much of a watch is in memory between its
 * store and its client.
 */
export const RELAY_WINDOW_BYTES = 256 * 1024;

/** A Worker answers when so many further bytes were taken: small events cost a sleeping store no message. */
export const RELAY_ANSWER_BYTES = RELAY_WINDOW_BYTES / 4;

export function relayFrame({ kind, revision, bytes }: RelayFrame): Uint8Array {
  const frame = new Uint8Array(HEAD_BYTES + bytes.length);
  const head = new DataView(frame.buffer);
  head.setUint8(0, KINDS.indexOf(kind));
  head.setFloat64(1, revision);
  frame.set(bytes, HEAD_BYTES);
  return frame;
}

/** What `relayFrame` made; undefined = it is none. */
export function readRelayFrame(data: unknown): RelayFrame | undefined {
  if (!(data instanceof ArrayBuffer) || data.byteLength < HEAD_BYTES) return undefined;
  const head = new DataView(data);
  const kind = KINDS[head.getUint8(0)];
  return kind && { kind, revision: head.getFloat64(1), bytes: new Uint8Array(data, HEAD_BYTES) };
}

/** A Worker's answer: bytes taken since the socket was opened. */
export function relayAnswer(takenBytes: number): string {
  return String(takenBytes);
}

/** What `relayAnswer` made; undefined = it is none. */
export function readRelayAnswer(data: unknown): number | undefined {
  return typeof data === "string" && /^\d{1,15}$/.test(data) ? Number(data) : undefined;
}
