/** JSON values, and access to their own members only. */

/** A bigint is an integer beyond 2^53 (core/encoding/exact-json). */
export type JsonValue = string | number | bigint | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

/** An object whose members nobody has looked at yet. */
export type UncheckedObject = Record<string, unknown>;

/** undefined = the member is not there */
export type OptionalValue = JsonValue | undefined;

/** How Go's decoding errors name a JSON value. */
export function goKind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "bigint" ? "number" : typeof value;
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets an own member whatever its name: plain assignment of `__proto__` would change the prototype. */
export function setMember(object: JsonObject, key: string, value: JsonValue): void {
  if (key === "__proto__") Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/** An own member, undefined when absent. */
export function getMember(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Number of members of all objects in `value`; undefined = nested deeper than `depthMax`. */
export function membersIn(value: JsonValue, depthMax: number): number | undefined {
  if (typeof value !== "object" || value === null) return 0;
  if (depthMax === 0) return undefined;
  let members = 0;
  const add = (item: JsonValue): boolean => {
    const below = membersIn(item, depthMax - 1);
    members += below ?? 0;
    return below !== undefined;
  };
  if (Array.isArray(value)) return value.every(add) ? members : undefined;
  // Values of JSON inherit no members. Lists of all names and values would cost as much as the parse.
  for (const name in value) {
    members++;
    if (!add(value[name] ?? null)) return undefined;
  }
  return members;
}
