/**
 * What JSON.parse does not report: how much a text holds, and which members stand twice.
 */
import { DEPTH_MAX, VALUES_MAX } from "../decode-limits";
import { MAX_PROBLEMS, PATH_MAX_CHARACTERS, problemOf } from "./value-walk";
import type { FieldType, MessageSchema } from "../types";

const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;
const COMMA = 44;
/** Brackets and braces differ in one bit. */
const OPENING = 0x5b;
const CLOSING = 0x5d;
const BRACE_BIT = 0x20;

/** What a text holds before it is parsed. Of a text that is no JSON it says something, and the parser says the rest. */
export interface JsonShape {
  /** members of all objects, repeated names counted each time: the colons outside strings */
  members: number;
  /** signs as VALUES_MAX counts them; beyond it the count stops */
  values: number;
  /** containers nest deeper than DEPTH_MAX */
  isTooDeep: boolean;
}

/** One look at the text. It ends where the text is found too large or too deep. */
export function shapeOf(text: string): JsonShape {
  const length = text.length;
  let members = 0;
  let values = 0;
  let depth = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === COLON) {
      members++;
      values++;
    } else if (code === COMMA) values++;
    else if ((code & ~BRACE_BIT) === OPENING) {
      values++;
      if (++depth > DEPTH_MAX) return { members, values, isTooDeep: true };
    } else if ((code & ~BRACE_BIT) === CLOSING) depth--;
    else continue;
    if (values > VALUES_MAX) break;
  }
  return { members, values, isTooDeep: false };
}

/** Index of the closing quote of the string that opens at `start`; the length of the text when there is none. */
function endOfString(text: string, start: number): number {
  const length = text.length;
  let i = start + 1;
  for (; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i;
    if (code === BACKSLASH) i++;
  }
  return length;
}

/**
 * The strict decoding problems of a valid JSON text in document order, unknown and duplicate fields alike, each text once.
 * Nothing below an unknown or free-form field is reported, as upstream. `schema` is a kind: kind and apiVersion are known at the top.
 */
export function strictProblems(text: string, schema: MessageSchema): string[] {
  const reader = new DuplicateReader(text);
  reader.value({ kind: "message", message: () => schema }, "", true);
  return [...reader.problems];
}

/** The fields that stand twice in a valid JSON text of any form, as `strictProblems`. */
export function repeatedFields(text: string): string[] {
  const reader = new DuplicateReader(text);
  reader.value({ kind: "any" }, "");
  return [...reader.problems];
}

/** The fields of a JSON patch that stand twice, or are none of an operation, as `strictProblems`. */
export function operationProblems(text: string): string[] {
  const reader = new DuplicateReader(text);
  reader.value({ kind: "operations" }, "");
  return [...reader.problems];
}

/** What a text is read as: a value of a schema, a value of any form, or (the elements of) a JSON patch. */
type TextShape = FieldType | { kind: "any" } | { kind: "operations" } | { kind: "operation" };

/** Source: jsonPatchOp in apiserver pkg/endpoints/handlers/patch.go. */
const OPERATION_FIELDS: ReadonlyMap<string, TextShape> = new Map<string, TextShape>([
  ["op", { kind: "string" }],
  ["path", { kind: "string" }],
  ["from", { kind: "string" }],
  ["value", { kind: "any" }],
]);

/** Whether an operation of a JSON patch has a field of this name. */
export function isOperationField(name: string): boolean {
  return OPERATION_FIELDS.has(name);
}

/** A path with one more step. A path that is longer than any problem shows does not grow: each of its problems would read all of it. */
function below(path: string, step: string): string {
  return path.length > PATH_MAX_CHARACTERS ? path : path + step;
}

class DuplicateReader {
  readonly problems = new Set<string>();
  private at = 0;

  constructor(private readonly text: string) {}

  /** Reads one value; `type` undefined = nothing below is reported. The text is known to be valid and of bounded depth. */
  value(type: TextShape | undefined, path: string, isRoot = false): void {
    const first = this.peek();
    if (first === "{") this.object(type, path, isRoot);
    else if (first === "[") this.array(type, path);
    else if (first === '"') this.string();
    else while (this.at < this.text.length && !",]} \t\r\n".includes(this.text.charAt(this.at))) this.at++;
  }

  private object(type: TextShape | undefined, path: string, isRoot: boolean): void {
    const seen = new Map<string, boolean>();
    this.at++;
    while (this.peek() !== "}") {
      const name = this.string();
      this.peek();
      this.at++;
      const memberPath = below(path, path === "" ? name : `.${name}`);
      const member = this.memberType(type, name, isRoot);
      if (member === "unknown") this.report("unknown", memberPath);
      else if (member !== undefined && seen.get(name) === false) this.report("duplicate", memberPath);
      // reported once, however often it stands there
      seen.set(name, seen.has(name));
      this.value(member === "unknown" ? undefined : member, memberPath);
      if (this.peek() === ",") this.at++;
    }
    this.at++;
  }

  private array(type: TextShape | undefined, path: string): void {
    const of = this.elementType(type);
    this.at++;
    for (let index = 0; this.peek() !== "]"; index++) {
      this.value(of, below(path, `[${index}]`));
      if (this.peek() === ",") this.at++;
    }
    this.at++;
  }

  private report(what: "unknown" | "duplicate", path: string): void {
    if (this.problems.size < MAX_PROBLEMS) this.problems.add(problemOf(what, path));
  }

  private elementType(type: TextShape | undefined): TextShape | undefined {
    if (type?.kind === "operations") return { kind: "operation" };
    if (type?.kind === "any") return type;
    return type?.kind === "list" ? type.of : undefined;
  }

  private memberType(type: TextShape | undefined, name: string, isRoot: boolean): TextShape | "unknown" | undefined {
    if (type === undefined || type.kind === "any") return type;
    if (type.kind === "operation") return OPERATION_FIELDS.get(name) ?? "unknown";
    if (isRoot && (name === "kind" || name === "apiVersion")) return { kind: "string" };
    if (type.kind === "map") return type.of;
    if (type.kind !== "message") return undefined;
    return type.message().byName.get(name)?.type ?? "unknown";
  }

  private string(): string {
    this.peek();
    const end = endOfString(this.text, this.at) + 1;
    const raw = this.text.slice(this.at + 1, end - 1);
    this.at = end;
    return raw.includes("\\") ? String(JSON.parse(`"${raw}"`) as unknown) : raw;
  }

  /** The next character that is not white space; "" at the end. */
  private peek(): string {
    while (" \t\r\n".includes(this.text.charAt(this.at)) && this.at < this.text.length) this.at++;
    return this.text.charAt(this.at);
  }
}
