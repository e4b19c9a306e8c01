/** Equality of JSON values. */

/** A member of a map that had some. The engine lists all members of a map before it shows the first one, and large maps are compared again and again. */
const aMemberOf = new WeakMap<object, string>();

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== "object") return false;
  if (Array.isArray(value)) return value.length === 0;
  const known = aMemberOf.get(value);
  if (known !== undefined && Object.hasOwn(value, known)) return false;
  for (const member in value) {
    aMemberOf.set(value, member);
    return false;
  }
  return true;
}

/**
 * Deep equality in which absent, null, empty list and empty map are the same: storage does not keep the difference
 * (upstream apimachinery equality.Semantic). The order of keys does not count, the order of lists does.
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return isNothing(a) && isNothing(b);
  if (Array.isArray(a) !== Array.isArray(b)) return isNothing(a) && isNothing(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!semanticEqual(a[i], b[i])) return false;
    return true;
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key of Object.keys(left)) if (!semanticEqual(left[key], Object.hasOwn(right, key) ? right[key] : undefined)) return false;
  for (const key of Object.keys(right)) if (!Object.hasOwn(left, key) && !isNothing(right[key])) return false;
  return true;
}

/** The same text for all values that `semanticEqual` takes for one: among many values one is found by it. */
export function semanticText(value: unknown): string {
  return JSON.stringify(canonical(value));
}

/** Without what stands for nothing, which is null where it has a place in a list, and with the keys in order. */
function canonical(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(canonical);
  const members = Object.entries(value)
    .map(([key, member]): [string, unknown] => [key, canonical(member)])
    .filter(([, member]) => member !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return members.length === 0 ? null : Object.fromEntries(members);
}
