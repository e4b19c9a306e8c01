/** Object keys and key ranges. `/` sorts right before `0`, which bounds the keys of one namespace. */
import { keyOf } from "../meta/object-key";
import type { ObjectKey } from "../rpc/store";

export function storageKey(key: ObjectKey): string {
  return keyOf({ metadata: key });
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
