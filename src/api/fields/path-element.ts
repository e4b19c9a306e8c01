/**
 * One step of a field path, in the spelling that FieldsV1 gives it:
 * `f:name` a member, `k:{"port":80,"protocol":"TCP"}` an item of a keyed list (keys sorted), `v:"x"` an item of a set, `i:0` an index.
 * Two steps are the same exactly when their texts are. Format: structured-merge-diff fieldpath.
 */
import type { JsonValue } from "../schema/json-value";

export type PathElement = string;

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

export function valueElement(value: JsonValue): PathElement {
  return `v:${JSON.stringify(value)}`;
}

/** Stands for a key of FieldsV1 of a kind that this server does not know; such keys are skipped. */
export const UNKNOWN_ELEMENT: PathElement = "";

/** The canonical spelling of a key of FieldsV1; UNKNOWN_ELEMENT for an unknown kind of step; undefined when malformed. */
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

/**
 * Steps in the order of FieldsV1 and of lists of conflicts: members by name, items by their keys, values, indexes. A list may have a
 * hundred thousand items, so each step is parsed once, not in every comparison.
 */
export function sortedElements(elements: Iterable<PathElement>): PathElement[] {
  const texts = [...elements];
  if (texts.length < 2) return texts;
  if (texts.every(isMember)) return texts.sort();
  return texts
    .map(parsedElement)
    .sort(compareParsed)
    .map(({ element }) => element);
}

function isMember(element: PathElement): boolean {
  return element.charCodeAt(0) === 0x66;
}

interface ParsedElement {
  element: PathElement;
  kind: number;
  /** keys of an item of a keyed list; a value or an index stands here without a name */
  keys: [name: string, value: JsonValue][];
}

function parsedElement(element: PathElement): ParsedElement {
  const kind = KINDS.indexOf(element.charAt(0));
  if (isMember(element)) return { element, kind, keys: [] };
  const value = JSON.parse(element.slice(2)) as JsonValue;
  return { element, kind, keys: element.startsWith("k") ? Object.entries(value as Record<string, JsonValue>) : [["", value]] };
}

function compareParsed(a: ParsedElement, b: ParsedElement): number {
  if (a.kind !== b.kind) return a.kind - b.kind;
  return isMember(a.element) ? compareTexts(a.element, b.element) : compareKeys(a.keys, b.keys);
}

function compareKeys(left: ParsedElement["keys"], right: ParsedElement["keys"]): number {
  for (let i = 0; i < left.length; i++) {
    const own = left[i];
    const other = right[i];
    if (own === undefined || other === undefined) return 1;
    const order = compareTexts(own[0], other[0]) || compareValues(own[1], other[1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Numbers before strings before booleans before everything else, which is ordered by its text. */
function compareValues(a: JsonValue, b: JsonValue): number {
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  const rank = RANKS.indexOf(typeof a) - RANKS.indexOf(typeof b);
  return rank !== 0 ? rank : compareTexts(JSON.stringify(a), JSON.stringify(b));
}

const RANKS = ["number", "string", "boolean", "object"];

/** A step as conflicts and errors print it: `.name`, `[port=80,protocol="TCP"]`, `[="x"]`, `[0]`. */
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
