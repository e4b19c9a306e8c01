/**
 * One step of a field path, in the spelling that FieldsV1 gives it:
 * `f:name` a member, `k:{"port":80,"protocol":"TCP"}` an item of a keyed list (keys sorted), `v:"x"` an item of a set, `i:0` an index.
 * Two steps are the same exactly when their texts are. Format: structured-merge-diff fieldpath.
 */
import type { JsonValue } from "../meta/patch/json-value";

export type PathElement = string;

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

export function valueElement(value: JsonValue): PathElement {
  return `v:${JSON.stringify(value)}`;
}

/** What a key of FieldsV1 that this server does not know reads as: such keys are skipped. */
export const UNKNOWN_ELEMENT: PathElement = "";

/** The one spelling of a key of FieldsV1, UNKNOWN_ELEMENT for a kind of step nobody knows, undefined when it is malformed. */
export function canonicalElement(text: string): PathElement | undefined {
  if (text.length < 2 || text.charCodeAt(1) !== 0x3a) return undefined;
  const rest = text.slice(2);
  switch (text.charAt(0)) {
    case "f":
      return text;
    case "i":
      return /^[-+]?\d+$/.test(rest) ? `i:${Number(rest)}` : undefined;
    case "v": {
      const value = parseJson(rest);
      return value === undefined ? undefined : valueElement(value);
    }
    case "k": {
      const keys = parseJson(rest);
      if (typeof keys !== "object" || keys === null || Array.isArray(keys)) return undefined;
      const members = Object.entries(keys).sort(byName);
      return `k:{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;
    }
    default:
      return UNKNOWN_ELEMENT;
  }
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function byName(a: readonly [string, JsonValue], b: readonly [string, JsonValue]): number {
  return compareTexts(a[0], b[0]);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const KINDS = "fkvi";

/** Order of steps in FieldsV1 and in lists of conflicts: members by name, items by their keys, values, indexes. */
export function compareElements(a: PathElement, b: PathElement): number {
  const kind = a.charCodeAt(0);
  if (kind !== b.charCodeAt(0)) return KINDS.indexOf(a.charAt(0)) - KINDS.indexOf(b.charAt(0));
  if (kind === 0x66) return compareTexts(a, b);
  const left = JSON.parse(a.slice(2)) as JsonValue;
  const right = JSON.parse(b.slice(2)) as JsonValue;
  return kind === 0x6b ? compareKeys(left, right) : compareValues(left, right);
}

function compareKeys(a: JsonValue, b: JsonValue): number {
  const left = Object.entries(a as Record<string, JsonValue>);
  const right = Object.entries(b as Record<string, JsonValue>);
  for (const [i, [name, value]] of left.entries()) {
    const other = right[i];
    if (other === undefined) return 1;
    const order = compareTexts(name, other[0]) || compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Numbers before strings before booleans before everything else, which is ordered by its text. */
function compareValues(a: JsonValue, b: JsonValue): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  return compareTexts(JSON.stringify(a), JSON.stringify(b));
}

function rankOf(value: JsonValue): number {
  return ["number", "string", "boolean", "object"].indexOf(typeof value);
}

/** How a step reads in conflicts and errors: `.name`, `[port=80,protocol="TCP"]`, `[="x"]`, `[0]`. */
export function elementText(element: PathElement): string {
  const rest = element.slice(2);
  switch (element.charAt(0)) {
    case "f":
      return `.${rest}`;
    case "k": {
      const keys = Object.entries(JSON.parse(rest) as Record<string, JsonValue>);
      return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(",")}]`;
    }
    case "v":
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}

/** `.spec.ports[port=80,protocol="TCP"].targetPort` */
export function pathText(path: readonly PathElement[]): string {
  return path.map(elementText).join("");
}
