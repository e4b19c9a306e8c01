/** How large an object becomes by the fields that a write adds, judged while they are counted: each stands in the object and in its managedFields. */
import { OBJECT_MAX_BYTES } from "../schema/decode-limits";
import type { PathElement } from "./path-element";

/** The object would be larger than one may be. Thrown from deep inside a walk, and caught where the write is prepared. */
export class FieldsTooLarge extends Error {}

/** `"":{},` in managedFields */
const FIELD_CHARACTERS = 6;
/** Of a member, beside its name: `"":1,`. */
const MEMBER_CHARACTERS = 5;
/** An item says as little as `{},`: its keys may be implied. */
const ITEM_CHARACTERS = 3;
const KIND_CHARACTERS = "f:".length;

export class FieldsSize {
  #characters = 0;

  /** Counts a member of a map or an item of a list that the write adds. Throws FieldsTooLarge when the stored JSON is certain to be too large. */
  add(element: PathElement): void {
    const inObject = element.startsWith("f:") ? element.length - KIND_CHARACTERS + MEMBER_CHARACTERS : ITEM_CHARACTERS;
    this.#characters += element.length + FIELD_CHARACTERS + inObject;
    if (this.#characters > OBJECT_MAX_BYTES) throw new FieldsTooLarge();
  }
}
