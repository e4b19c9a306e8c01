/**
 * The first document of a YAML text, by the yaml library, whose work is bounded here. The library composes nested values recursively, makes an error
 * for each fault, and reads a key again and again. So a hostile text could exhaust stack or time.
 */
import { Composer, type CST, type Document, Lexer, type LineCounter, Parser, type SchemaOptions } from "yaml";
import { TOO_MANY_STEPS, YAML_DEPTH_MAX, YAML_DIRECTIVE_MAX_CHARS, YAML_STEPS_MAX } from "../decode-limits";
import { invalidMapKey } from "./yaml-scalars";

/** Scalars stay text: what they are to Go says yaml-scalars. */
const SCHEMA: SchemaOptions = { schema: "failsafe", resolveKnownTags: false };

/** What is wrong in a text, and where. */
export class YamlSyntaxError extends Error {
  constructor(
    message: string,
    /** in characters */
    readonly at: number,
  ) {
    super(message);
  }
}

/** V8's own member. */
const stacks = Error as { stackTraceLimit?: number | undefined };

/**
 * The document, empty when the text has none. Throws at the first thing that is wrong: a RangeError for what is too deep, else an Error with its text,
 * a YamlSyntaxError where the place is known. Nothing behind the document is read, as upstream.
 */
export function firstDocument(text: string, lines: LineCounter): Document.Parsed | undefined {
  const stackTraceLimit = stacks.stackTraceLimit;
  stacks.stackTraceLimit = 0;
  try {
    for (const document of failingComposer().compose(firstDocumentTokens(text, lines), true, text.length))
      return document as Document.Parsed;
    return undefined;
  } finally {
    stacks.stackTraceLimit = stackTraceLimit;
  }
}

/** A composer that throws its first error. The library's own collects all, which costs more than the documents. */
export function failingComposer(): Composer {
  const composer = new Composer({ ...SCHEMA, uniqueKeys: false, prettyErrors: false, logLevel: "silent" });
  let first: YamlSyntaxError | undefined;
  const onError = (source: ErrorSource, _code: string, message: string, isWarning?: boolean): void => {
    if (isWarning) return;
    // Collections catch what is thrown in them, and tell it as an error of their own.
    throw (first ??= new YamlSyntaxError(message, typeof source === "number" ? source : Array.isArray(source) ? source[0] : source.offset));
  };
  return Object.assign(composer, { onError });
}

/** A place in the text, as the library gives it. */
type ErrorSource = number | [number, ...number[]] | { offset: number };

/** The work of Parser.parse until the document ends, with bounds on depth and steps. */
function* firstDocumentTokens(text: string, lines: LineCounter): Generator<CST.Token, void> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const steps = new Steps();
  let isRead = false;
  for (const lexeme of new Lexer().lex(text)) {
    steps.take(lexeme);
    for (const token of parser.next(lexeme)) {
      yield judged(token);
      isRead ||= token.type === "document";
    }
    if (isRead && parser.stack.length > 0) return;
    if (parser.stack.length > YAML_DEPTH_MAX) throw new RangeError();
  }
  for (const token of parser.end()) yield judged(token);
}

/** The token of a whole document or of what stands around one. Throws where the composer would only begin to work. */
function judged(token: CST.Token): CST.Token {
  if (token.type === "error") throw new YamlSyntaxError(token.message, token.offset);
  if (token.type === "directive" && token.source.length > YAML_DIRECTIVE_MAX_CHARS)
    throw new YamlSyntaxError(`the directive is too long: limit is ${YAML_DIRECTIVE_MAX_CHARS} characters`, token.offset);
  if (token.type === "document" && token.value) judgeKeys(token.value);
  return token;
}

/** JSON has no names for keys that are maps or lists. */
function judgeKeys(token: CST.Token): void {
  if (token.type !== "block-map" && token.type !== "block-seq" && token.type !== "flow-collection") return;
  for (const { key, value } of token.items) {
    if (key?.type === "block-map" || key?.type === "block-seq" || key?.type === "flow-collection") throw invalidMapKey(isMapToken(key));
    if (value) judgeKeys(value);
  }
}

function isMapToken(token: CST.BlockMap | CST.BlockSequence | CST.FlowCollection): boolean {
  return token.type === "block-map" || (token.type === "flow-collection" && token.start.source === "{");
}

const LINE_FEED = "\n";
/** The marks that the library sets before documents and plain words: each belongs to something that is counted. */
const MARKS: readonly string[] = ["\x02", "\x1f"];
const BLANKS = /^[ \t]+$/;
const TAB = "\t";
/** For each comment the parser looks through the empty lines before the first one of a row. So many cost a step. */
const EMPTY_PER_STEP = 64;

/** What was read of a text. A word or sign is a step, and so is each line in a word. */
class Steps {
  #steps = 0;
  /** lines and blanks since the last word, sign or comment */
  #empty = 0;
  #isComment = false;

  /** Throws beyond the limit. */
  take(lexeme: string): void {
    this.#steps += this.#stepsOf(lexeme);
    if (this.#steps > YAML_STEPS_MAX) throw new Error(TOO_MANY_STEPS);
  }

  #stepsOf(lexeme: string): number {
    if (MARKS.includes(lexeme)) return 0;
    if (lexeme.startsWith("#")) {
      this.#isComment = true;
      return 1 + Math.floor(this.#empty / EMPTY_PER_STEP);
    }
    if (lexeme === LINE_FEED || lexeme === "\r\n" || BLANKS.test(lexeme)) {
      if (!this.#isComment) this.#empty++;
      return lexeme.startsWith(" ") && !lexeme.includes(TAB) ? 0 : 1;
    }
    this.#empty = 0;
    this.#isComment = false;
    let steps = 1;
    for (let at = lexeme.indexOf(LINE_FEED); at >= 0; at = lexeme.indexOf(LINE_FEED, at + 1)) steps++;
    return steps;
  }
}
