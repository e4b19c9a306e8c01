/**
 * YAML as upstream reads it: by way of JSON (sigs.k8s.io/yaml). The yaml library composes nested values recursively and compares every key
 * of a map with every other. A hostile text could exhaust stack or time, so the limits here stop it first.
 */
import { Composer, type CST, type Document, Lexer, LineCounter, Parser, type SchemaOptions } from "yaml";
import { parseJson } from "../../core/base/exact-json";
import { err, ok, type Result } from "../../core/base/result";
import { YAML_MAX_CHARS, YAML_STEPS_MAX } from "./decode-limits";
import type { JsonValue } from "./json-value";
import { NotAKeyError } from "./yaml-scalars";
import { yamlValue } from "./yaml-value";

export interface ParsedYaml {
  /** a key that stands twice has its last value */
  value: JsonValue;
  /** `line 4: key "a" already set in map`, in the order of the text, at most REPEATED_MAX */
  repeated: string[];
}

/** Deeper values are refused; no API object comes near. */
const DEPTH_MAX = 250;
const TOO_DEEP = "exceeded max depth";
const NOT_CONVERTED = "error converting YAML to JSON: ";

/** V8's own member. */
const stacks = Error as { stackTraceLimit?: number | undefined };

/** Scalars stay text: what they are to Go says yaml-scalars. */
const SCHEMA: SchemaOptions = { schema: "failsafe", resolveKnownTags: false };

/** The first document of `text`, null when there is none. The error is Go's text as far as the library says the same. */
export function parseYamlText(text: string): Result<ParsedYaml, string> {
  if (text.length > YAML_MAX_CHARS) return err(`${NOT_CONVERTED}yaml: the document is too large: limit is ${YAML_MAX_CHARS} characters`);
  const lines = new LineCounter();
  // The library makes an error for each thing that is wrong, and a stack for each error; only the first error is told.
  const stackTraceLimit = stacks.stackTraceLimit;
  stacks.stackTraceLimit = 0;
  try {
    const composer = new Composer({ ...SCHEMA, uniqueKeys: false, prettyErrors: false, logLevel: "silent" });
    for (const document of composer.compose(tokensOf(text, lines), true, text.length)) return read(document, lines);
    return ok({ value: null, repeated: [] });
  } catch (error) {
    if (error instanceof RangeError) return err(TOO_DEEP);
    if (error instanceof NotAKeyError) return err(NOT_CONVERTED + error.message);
    return err(`${NOT_CONVERTED}yaml: ${error instanceof Error ? error.message : "cannot be read"}`);
  } finally {
    stacks.stackTraceLimit = stackTraceLimit;
  }
}

function read(document: Document.Parsed, lines: LineCounter): Result<ParsedYaml, string> {
  const [fatal] = document.errors;
  if (fatal) return err(`${NOT_CONVERTED}yaml: line ${lines.linePos(fatal.pos[0]).line}: ${fatal.message}`);
  const { value, repeated } = yamlValue(document, lines);
  const unsayable: number[] = [];
  // by way of JSON: a value of an alias becomes several
  const json = JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === "number" && !Number.isFinite(each)) unsayable.push(each);
    return each;
  });
  if (unsayable[0] !== undefined) return err(`${NOT_CONVERTED}json: unsupported value: ${goFloat(unsayable[0])}`);
  return ok({ value: parseJson(json) as JsonValue, repeated });
}

function goFloat(value: number): string {
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

/** The work of Parser.parse with a bound on the depth. */
function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token, void> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let steps = 0;
  for (const lexeme of new Lexer().lex(text)) {
    steps += stepsIn(lexeme);
    if (steps > YAML_STEPS_MAX) throw new Error(`the document is too large: limit is ${YAML_STEPS_MAX} words, signs and lines`);
    yield* parser.next(lexeme);
    if (parser.stack.length > DEPTH_MAX) throw new RangeError(TOO_DEEP);
  }
  yield* parser.end();
}

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
