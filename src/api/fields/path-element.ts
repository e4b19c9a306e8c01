/**
 * One step of a field path, in the spelling of FieldsV1. `f:name` is a member, `k:{"port":80,"protocol":"TCP"}` an item of a keyed list (keys
 * sorted), `v:"x"` an item of a set, `i:0` an index. Two steps are the same exactly when their texts are. Format: structured-merge-diff fieldpath.
 */
import { cutValue, VALUE_MAX_CHARACTERS } from "../meta/bounded-status";
import { DEPTH_MAX } from "../schema/decode-limits";
import { type JsonValue, membersIn } from "../schema/json/json-value";

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
      return indexElement(rest);
    case "v": {
      const value = parseKey(rest);
      return value === undefined ? undefined : valueElement(value);
    }
    case "k": {
      const keys = parseKey(rest);
      if (typeof keys !== "object" || keys === null || Array.isArray(keys)) return undefined;
      const members = Object.entries(keys).sort(byName);
      return `k:{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;
    }
    default:
      return UNKNOWN_ELEMENT;
  }
}

const INT64_MAX = 2 ** 63;

/** Go reads an index as an integer of 64 bits. */
function indexElement(text: string): PathElement | undefined {
  const index = Number(text);
  return /^[-+]?\d+$/.test(text) && Math.abs(index) <= INT64_MAX ? `i:${BigInt(index)}` : undefined;
}

/** The value in a step: a scalar or a few of them. Deeper ones than any key has cannot be written again, and are malformed. */
function parseKey(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return membersIn(value, DEPTH_MAX) === undefined ? undefined : value;
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
  keys: readonly ParsedKey[];
}

interface ParsedKey {
  name: string;
  rank: number;
  value: string | number;
}

function parsedElement(element: PathElement): ParsedElement {
  const kind = KINDS.indexOf(element.charAt(0));
  if (isMember(element)) return { element, kind, keys: [] };
  const value = JSON.parse(element.slice(2)) as JsonValue;
  const keys = element.startsWith("k") ? Object.entries(value as Record<string, JsonValue>).map(parsedKey) : [parsedKey(["", value])];
  return { element, kind, keys };
}

/** Numbers before strings before booleans before everything else, which is ordered by its text. */
function parsedKey([name, value]: readonly [string, JsonValue]): ParsedKey {
  const rank = RANKS.indexOf(typeof value);
  return { name, rank, value: typeof value === "string" || typeof value === "number" ? value : JSON.stringify(value) };
}

const RANKS = ["number", "string", "boolean", "object"];

function compareParsed(a: ParsedElement, b: ParsedElement): number {
  if (a.kind !== b.kind) return a.kind - b.kind;
  return isMember(a.element) ? compareTexts(a.element, b.element) : compareKeys(a.keys, b.keys);
}

function compareKeys(left: ParsedElement["keys"], right: ParsedElement["keys"]): number {
  for (let i = 0; i < left.length; i++) {
    const own = left[i];
    const other = right[i];
    if (own === undefined || other === undefined) return 1;
    const order = compareTexts(own.name, other.name) || own.rank - other.rank || compareValues(own.value, other.value);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Two of one rank. */
function compareValues(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : compareTexts(String(a), String(b));
}

/**
 * A step as conflicts and errors print it: `.name`, `[port=80,protocol="TCP"]`, `[="x"]`, `[0]`. Of a long one the beginning: a thousand paths may lead
 * through it.
 */
export function elementText(element: PathElement): string {
  const rest = cutValue(element.slice(2, VALUE_MAX_CHARACTERS + 3));
  switch (element.charAt(0)) {
    case "f":
      return `.${rest}`;
    case "k": {
      if (element.length > VALUE_MAX_CHARACTERS + 2) return `[${rest}]`;
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
