/** How much JSON one object may be. Upstream: etcd's limit of a request, which its apiserver passes on as 413. */
import { requestTooLarge, type Status } from "../../meta/status";
import { OBJECT_MAX_BYTES, TOO_LARGE } from "../../schema/decode-limits";

const encoder = new TextEncoder();

/** Bytes are counted only when the text could be too long at all. */
export function isTooLarge(text: string): boolean {
  return text.length * 3 > OBJECT_MAX_BYTES && encoder.encode(text).length > OBJECT_MAX_BYTES;
}

export function tooLarge(): Status {
  return requestTooLarge(TOO_LARGE);
}
