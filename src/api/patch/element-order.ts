/**
 * The order of a merged list (upstream strategicpatch: elements that the patch names stand in the patch's order, the others keep
 * their relative place in the stored list).
 *
 *   stored a b c d, the patch orders d b   ->   a c d b
 *
 * Elements that the patch does not name go in front of the first named one that follows them in the stored list.
 */
import type { JsonValue } from "../schema/json/json-value";

/** The identity of an element: the value of its merge key, or the primitive itself. */
export type ElementIdentity = (element: JsonValue) => JsonValue | undefined;

/** Index of each identity in a list; the first counts. */
export function firstPlaces(list: readonly JsonValue[], identity: ElementIdentity): Map<JsonValue | undefined, number> {
  const index = new Map<JsonValue | undefined, number>();
  list.forEach((element, i) => {
    const key = identity(element);
    if (!index.has(key)) index.set(key, i);
  });
  return index;
}

/**
 * `merged` reordered. `wanted` names identities in their order; `stored` is the list before the patch.
 */
export function orderElements(
  merged: readonly JsonValue[],
  wanted: readonly (JsonValue | undefined)[],
  stored: readonly JsonValue[],
  identity: ElementIdentity,
): JsonValue[] {
  const wantedAt = firstPlaces(wanted as readonly JsonValue[], (key) => key);
  const storedAt = firstPlaces(stored, identity);
  const at = (index: Map<JsonValue | undefined, number>, element: JsonValue): number => index.get(identity(element)) ?? merged.length;
  const named = merged.filter((element) => wantedAt.has(identity(element))).sort((a, b) => at(wantedAt, a) - at(wantedAt, b));
  const others = merged.filter((element) => !wantedAt.has(identity(element))).sort((a, b) => at(storedAt, a) - at(storedAt, b));
  const out: JsonValue[] = [];
  let next = 0;
  for (const element of named) {
    const place = storedAt.get(identity(element));
    if (place !== undefined) {
      for (let other = others[next]; other !== undefined; other = others[next]) {
        const otherPlace = storedAt.get(identity(other));
        if (otherPlace === undefined || otherPlace >= place) break;
        out.push(other);
        next++;
      }
    }
    out.push(element);
  }
  return out.concat(others.slice(next));
}
