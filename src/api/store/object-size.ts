/** How much JSON one object may be. Upstream: etcd's limit of a request, which its apiserver passes on as 413. */
import { OBJECT_MAX_BYTES } from "./limits";
import { requestTooLarge, type Status } from "../meta/status";

const encoder = new TextEncoder();

/** Bytes are counted only when the text could be too long at all. */
export function isTooLarge(text: string): boolean {
  return text.length * 3 > OBJECT_MAX_BYTES && encoder.encode(text).length > OBJECT_MAX_BYTES;
}

export function tooLarge(): Status {
  return requestTooLarge(`Request entity too large: limit is ${OBJECT_MAX_BYTES}`);
}
