/** What an owner accepts as a call: bounded, with addresses in canonical text. Anything else is a fault of the caller. */
import { assert } from "../../core/base/assert";
import { parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import { OWNER_CALL_ITEMS_MAX, OWNER_HOLDER_CHARS_MAX, OWNER_INTERVALS_MAX, OWNER_TOKEN_CHARS_MAX } from "../rpc/limits";
import type { AddressInterval, Holder } from "../rpc/service-cidr";
import { type AddressKey, addressKey } from "./owner-key";

/** A call that names tokens and addresses is within its bounds. */
export function assertCall(items: readonly { token: string; address: string }[]): void {
  assert(items.length <= OWNER_CALL_ITEMS_MAX, "the items of one call are bounded");
  for (const { token, address } of items) {
    assert(token.length > 0 && token.length <= OWNER_TOKEN_CHARS_MAX, "a token is not empty and bounded");
    assert(address === "" || familyOf(address) !== undefined, "an address is canonical text or empty");
  }
}

/** The family of a canonical text; undefined = it is none. */
export function familyOf(address: string): Family | undefined {
  const parsed = parseAddress(address);
  return parsed.ok && parsed.value.canonical === address ? parsed.value.family : undefined;
}

export function assertHolder(holder: Holder): void {
  for (const field of [holder.kind, holder.namespace, holder.name, holder.uid]) {
    assert(field.length <= OWNER_HOLDER_CHARS_MAX, "the fields of a holder are bounded");
  }
}

/** The key of an address in canonical text. */
export function keyOf(text: string): AddressKey {
  const parsed = parseAddress(text);
  assert(parsed.ok, "an interval's bounds are canonical text");
  return addressKey(parsed.value.family, parsed.value.value);
}

export function assertIntervals(intervals: readonly AddressInterval[]): void {
  assert(intervals.length <= OWNER_INTERVALS_MAX, "the intervals of one call are bounded");
}
