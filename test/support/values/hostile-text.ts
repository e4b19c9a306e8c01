/** Inputs that nobody should send: mutated bodies and patches, drawn from a seeded generator. */
import type { Random } from "../../../src/core/base/ports";
import type { JsonObject, JsonValue } from "../../../src/api/schema/json/json-value";

/** Member names and values that have broken servers before. */
const KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "",
  "a/b",
  "a~b",
  "\u0000",
  "ünïcödé",
  "$patch",
  "$retainKeys",
  "metadata",
];
const NAMES_OF_DIRECTIVES = [
  "$patch",
  "$retainKeys",
  "$setElementOrder/ports",
  "$deleteFromPrimitiveList/finalizers",
  "$setElementOrder/x",
];
const VALUES: readonly JsonValue[] = [
  null,
  true,
  0,
  -1,
  1e308,
  2 ** 53,
  1.5,
  "",
  "\u0000",
  "replace",
  "delete",
  "x".repeat(300),
  [],
  {},
  [null],
  [[]],
  [{}],
  { polluted: "yes" },
  { "": "" },
];
const SNIPPETS = [
  '{"__proto__":{"polluted":"yes"}}',
  '"constructor":{"prototype":{"polluted":"yes"}},',
  "\u0000",
  "\\u0000",
  "\\ud800",
  "[".repeat(64),
  '{"a":'.repeat(64),
  "1e999",
  "-",
  "&a [*a]",
  "!!js/function x",
  "---\n",
  "\t",
  "\ufeff",
];

export class HostileText {
  constructor(private readonly random: Random) {}

  /** Some bytes of a text flipped, cut, doubled or replaced by a snippet; now and then not UTF-8 any more. */
  mutated(bytes: Uint8Array): Uint8Array {
    let out = Array.from(bytes);
    for (let times = 1 + this.random.below(3); times > 0; times--) {
      const at = this.random.below(out.length + 1);
      const length = this.random.below(12);
      switch (this.random.below(5)) {
        case 0:
          if (at < out.length) out[at] = (out[at] ?? 0) ^ (1 << this.random.below(8));
          break;
        case 1:
          out.splice(at, length);
          break;
        case 2:
          out.splice(at, 0, ...out.slice(at, at + length));
          break;
        case 3:
          out.splice(at, 0, ...new TextEncoder().encode(this.pick(SNIPPETS)));
          break;
        default:
          out = out.slice(0, at);
      }
    }
    return Uint8Array.from(out);
  }

  /** The object with some members changed, removed, added or given another type, at any depth. */
  mutatedObject(object: JsonObject): JsonObject {
    const copy = JSON.parse(JSON.stringify(object)) as JsonObject;
    for (let times = 1 + this.random.below(3); times > 0; times--) {
      const place = this.#place(copy);
      const key = Array.isArray(place) ? String(this.random.below(place.length + 1)) : this.#key(place);
      // A member named __proto__ can only be made like this; it reaches the server as text.
      Object.defineProperty(place, key, { value: this.#value(), enumerable: true, configurable: true, writable: true });
    }
    return copy;
  }

  /** A JSON patch whose paths mostly exist. */
  jsonPatch(object: JsonObject): JsonValue[] {
    return Array.from({ length: 1 + this.random.below(4) }, () => ({
      op: this.pick(["add", "remove", "replace", "move", "copy", "test", "spam"]),
      path: this.#path(object),
      from: this.#path(object),
      value: this.#value(),
    }));
  }

  /** A strategic merge patch with directives where they belong and where they do not. */
  strategicPatch(object: JsonObject): JsonObject {
    const patch = this.mutatedObject(object);
    for (let times = this.random.below(3); times > 0; times--) {
      const place = this.#place(patch);
      if (!Array.isArray(place)) place[this.pick(NAMES_OF_DIRECTIVES)] = this.#value();
    }
    return patch;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.random.below(from.length)] as T;
  }

  #value(): JsonValue {
    if (this.random.below(12) > 0) return structuredClone(this.pick(VALUES));
    let deep: JsonValue = "deep";
    for (let depth = this.random.below(200); depth > 0; depth--) deep = depth % 2 === 0 ? [deep] : { a: deep };
    return deep;
  }

  #key(place: JsonObject): string {
    const own = Object.keys(place);
    return own.length > 0 && this.random.below(3) > 0 ? this.pick(own) : this.pick(KEYS);
  }

  #place(root: JsonObject): JsonObject | JsonValue[] {
    let place: JsonObject | JsonValue[] = root;
    for (let depth = this.random.below(4); depth > 0; depth--) {
      const inner: JsonValue[] = Object.values(place).filter((value) => typeof value === "object" && value !== null);
      if (inner.length === 0) break;
      place = this.pick(inner) as JsonObject | JsonValue[];
    }
    return place;
  }

  #path(object: JsonObject): string {
    let path = "";
    let place: JsonValue | undefined = object;
    for (let depth = 1 + this.random.below(4); depth > 0; depth--) {
      const key: string =
        typeof place === "object" && place !== null && !Array.isArray(place) ? this.#key(place) : this.pick(["0", "-", "7", "01", "x"]);
      path += `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      place = typeof place === "object" && place !== null ? Object.entries(place).find(([name]) => name === key)?.[1] : undefined;
    }
    return this.random.below(20) === 0 ? path.slice(1) : path;
  }
}
