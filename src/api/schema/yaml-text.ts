/**
 * YAML as upstream reads it: by way of JSON (sigs.k8s.io/yaml), plain scalars as in YAML 1.1 (`yes` is true, `010` is 8). The yaml library
 * composes nested values recursively and compares every key of a map with every other. A hostile text could exhaust stack or time, so
 * the limits here stop it first.
 */
import {
  Composer,
  type CST,
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type ParsedNode,
  Parser,
  type SchemaOptions,
  type Tags,
  visit,
} from "yaml";
import { integerOf, parseJson } from "../../core/base/exact-json";
import { err, ok, type Result } from "../../core/base/result";
import { YAML_MAX_CHARS, YAML_STEPS_MAX } from "./decode-limits";
import type { JsonValue } from "./json-value";

export interface ParsedYaml {
  /** a key that stands twice has its last value */
  value: JsonValue;
  /** `line 4: key "a" already set in map`, in the order of the text, at most REPEATED_MAX */
  repeated: string[];
}

/** Deeper values are refused; no API object comes near. */
const DEPTH_MAX = 250;
const REPEATED_MAX = 100;
/** What aliases may repeat, in characters; each alias counts as the whole text, which is the most it can repeat. */
const ALIASED_CHARS_MAX = 8 * 1024 * 1024;
/** Digits of one number: the library reads them in a time that grows with their square. */
const DIGITS_MAX = 4_096;
const TOO_DEEP = "exceeded max depth";

/** Parts of YAML 1.1 that Go leaves out: dates and base-60 numbers are text; there are no collections but maps and lists. */
const NOT_IN_GO = ["timestamp", "binary", "omap", "pairs", "set"].map((name) => `tag:yaml.org,2002:${name}`);

/** Go also reads `0o10` of YAML 1.2. */
function tagsOfGo(tags: Tags): Tags {
  const known = tags.filter((tag) => typeof tag === "string" || (!NOT_IN_GO.includes(tag.tag) && tag.format !== "TIME"));
  return [...known, "intOct"];
}

/** V8's own member. */
const stacks = Error as { stackTraceLimit?: number | undefined };

const SCHEMA: SchemaOptions = { schema: "yaml-1.1", merge: true, customTags: tagsOfGo };

/** The first document of `text`, null when there is none. The error is Go's text as far as the library says the same. */
export function parseYamlText(text: string): Result<ParsedYaml, string> {
  if (text.length > YAML_MAX_CHARS)
    return err(`error converting YAML to JSON: yaml: the document is too large: limit is ${YAML_MAX_CHARS} characters`);
  const lines = new LineCounter();
  // The library makes an error for each thing that is wrong, and a stack for each error; only the first error is told.
  const stackTraceLimit = stacks.stackTraceLimit;
  stacks.stackTraceLimit = 0;
  try {
    const composer = new Composer({ ...SCHEMA, intAsBigInt: true, uniqueKeys: false, prettyErrors: false, logLevel: "silent" });
    for (const document of composer.compose(tokensOf(text, lines), true, text.length)) return read(document, text, lines);
    return ok({ value: null, repeated: [] });
  } catch (error) {
    if (error instanceof RangeError) return err(TOO_DEEP);
    return err(`error converting YAML to JSON: yaml: ${error instanceof Error ? error.message : "cannot be read"}`);
  } finally {
    stacks.stackTraceLimit = stackTraceLimit;
  }
}

function read(document: Document.Parsed, text: string, lines: LineCounter): Result<ParsedYaml, string> {
  const [fatal] = document.errors;
  if (fatal) return err(`error converting YAML to JSON: yaml: line ${lines.linePos(fatal.pos[0]).line}: ${fatal.message}`);
  checkAliases(document, text.length);
  const unsayable: number[] = [];
  // by way of JSON: values that JSON cannot hold become values that it can
  const json = JSON.stringify(document.toJS({ reviver: exactNumber }) ?? null, (_, value: unknown) => {
    if (typeof value === "number" && !Number.isFinite(value)) unsayable.push(value);
    return value;
  });
  if (unsayable[0] !== undefined) return err(`error converting YAML to JSON: json: unsupported value: ${goFloat(unsayable[0])}`);
  const value = parseJson(json) as JsonValue;
  const repeated: string[] = [];
  if (document.contents) findRepeated(document.contents, lines, repeated);
  return ok({ value, repeated });
}

function exactNumber(_: unknown, value: unknown): unknown {
  return typeof value === "bigint" ? integerOf(value) : value;
}

function goFloat(value: number): string {
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

/** Go's texts. The library bounds how often aliases multiply, but not the size of what they repeat, and it follows cycles. */
function checkAliases(document: Document.Parsed, chars: number): void {
  let aliases = 0;
  visit(document, {
    Alias(_, alias, path) {
      if (++aliases * chars > ALIASED_CHARS_MAX) throw new Error("document contains excessive aliasing");
      const around = path.some((node) => isNode(node) && "anchor" in node && node.anchor === alias.source);
      if (around) throw new Error(`anchor '${alias.source}' value contains itself`);
    },
  });
}

/** The work of Parser.parse with a bound on the depth. */
function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token, void> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let steps = 0;
  for (const lexeme of new Lexer().lex(text)) {
    steps += stepsIn(lexeme);
    if (steps > YAML_STEPS_MAX) throw new Error(`the document is too large: limit is ${YAML_STEPS_MAX} words, signs and lines`);
    if (lexeme.length > DIGITS_MAX && NUMBER.test(lexeme)) throw new Error(`a number has more than ${DIGITS_MAX} digits`);
    yield* parser.next(lexeme);
    if (parser.stack.length > DEPTH_MAX) throw new RangeError(TOO_DEEP);
  }
  yield* parser.end();
}

const NUMBER = /^[-+]?[0-9][0-9_]*$/;
const LINE_FEED = "\n";
/** Blanks, and the marks that the library sets before documents and plain words: each belongs to something that is counted. */
const BLANKS = /^ +$/;
const MARKS: readonly string[] = ["\x02", "\x1f"];
const BACKSLASH = "\\";
/** What may follow a backslash in double quotes. */
const ESCAPES = '0abtnvfre "/\\N_LPxuU\t\r\n';

/** A word or sign is one; so is each line in a word, and what would be an error in it. */
function stepsIn(lexeme: string): number {
  if (MARKS.includes(lexeme) || BLANKS.test(lexeme)) return 0;
  if (lexeme.length === 1) return 1;
  let steps = 1;
  for (let at = lexeme.indexOf(LINE_FEED); at >= 0; at = lexeme.indexOf(LINE_FEED, at + 1)) steps++;
  if (!lexeme.startsWith('"')) return steps;
  for (let at = lexeme.indexOf(BACKSLASH); at >= 0; at = lexeme.indexOf(BACKSLASH, at + 2)) {
    if (!ESCAPES.includes(lexeme.charAt(at + 1))) steps++;
  }
  return steps;
}

function findRepeated(node: ParsedNode, lines: LineCounter, repeated: string[]): void {
  if (isSeq(node)) {
    for (const item of node.items) if (isNode(item)) findRepeated(item, lines, repeated);
    return;
  }
  if (!isMap(node)) return;
  const seen = new Set<string>();
  for (const pair of node.items) {
    if (!isPair(pair)) continue;
    const { key, value } = pair;
    if (isScalar(key)) {
      const name = String(key.value);
      if (seen.has(name) && repeated.length < REPEATED_MAX) {
        repeated.push(`line ${lines.linePos(key.range?.[0] ?? 0).line}: key ${JSON.stringify(name)} already set in map`);
      }
      seen.add(name);
    }
    if (isNode(value)) findRepeated(value as ParsedNode, lines, repeated);
  }
}
