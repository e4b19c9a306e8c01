/** Object keys and key ranges. `/` sorts right before `0`, which bounds the keys of one namespace. */
import { keyOf } from "../../meta/object-key";
import type { ObjectKey } from "../../rpc/store";

export function storageKey(key: ObjectKey): string {
  return keyOf({ metadata: key });
}

/** The object that is stored at a key: what `storageKey` was given. */
export function objectKey(key: string): ObjectKey {
  const slash = key.indexOf("/");
  return slash < 0 ? { namespace: "", name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

export interface KeyRange {
  /** first key inside */
  from: string;
  /** first key beyond; "" = no end */
  to: string;
}

/** All objects of a namespace; "" = all objects. */
export function namespaceRange(namespace: string): KeyRange {
  return namespace ? { from: `${namespace}/`, to: `${namespace}0` } : { from: "", to: "" };
}

export function inRange(key: string, range: KeyRange): boolean {
  return key >= range.from && (range.to === "" || key < range.to);
}

/** The part of the range behind the key `after` ("" = all of it); a key out of a token may lie anywhere. */
export function rangeBehind(range: KeyRange, after: string): KeyRange {
  const from = `${after}\0`;
  return after === "" || from <= range.from ? range : { from, to: range.to };
}
