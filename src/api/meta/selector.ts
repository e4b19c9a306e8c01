/**
 * Label selectors: the whole grammar of `labelSelector=` (upstream apimachinery pkg/labels/selector.go).
 *
 *   a=b  a==b  a!=b  a in (b,c)  a notin (b,c)  a  !a  a>1  a<1, joined by commas (AND)
 *
 * The words `in` and `notin` are operators only where an operator may stand, so they are legal keys and values.
 */
import { err, ok } from "../../core/base/result";
import type { Result } from "../../core/base/result";
import { invalidValue } from "./field-errors";
import type { FieldError } from "./field-errors";
import { validateLabelKey, validateLabelValue } from "./names";

export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

export interface LabelRequirement {
  key: string;
  operator: LabelOperator;
  /** sorted, without repeats; empty for exists and ! */
  values: readonly string[];
}

export interface ParsedSelector {
  requirements: readonly LabelRequirement[];
  /** true = matches everything */
  empty: boolean;
  matches(labels: Record<string, string> | undefined): boolean;
}

type TokenKind = "end" | "error" | "identifier" | "in" | "notin" | "," | "(" | ")" | "!" | "=" | "==" | "!=" | ">" | "<";

interface Token {
  kind: TokenKind;
  text: string;
}

const SYMBOLS: ReadonlySet<string> = new Set([",", "(", ")", "!", "=", "==", "!=", ">", "<"]);
const SYMBOL_CHARACTERS = ",()!=><";
const SPACES = " \t\r\n";
const BINARY_OPERATORS = "in, notin, =, ==, !=, gt, lt";

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (SPACES.includes(character)) {
      at++;
    } else if (SYMBOL_CHARACTERS.includes(character)) {
      const two = text.slice(at, at + 2);
      const symbol = SYMBOLS.has(two) ? two : character;
      tokens.push({ kind: symbol as TokenKind, text: symbol });
      at += symbol.length;
    } else {
      const start = at;
      while (at < text.length && !SPACES.includes(text.charAt(at)) && !SYMBOL_CHARACTERS.includes(text.charAt(at))) at++;
      const word = text.slice(start, at);
      tokens.push({ kind: word === "in" || word === "notin" ? word : "identifier", text: word });
    }
  }
  return tokens;
}

const END: Token = { kind: "end", text: "" };

/** Thrown and caught in this file; the message is the text after `unable to parse requirement: `. */
class SyntaxRefusal extends Error {}

class Parser {
  private at = 0;
  constructor(private readonly tokens: readonly Token[]) {}

  /** the next token where a key or value may stand: operator words are plain words there */
  peek(): Token {
    const token = this.tokens[this.at] ?? END;
    return token.kind === "in" || token.kind === "notin" ? { kind: "identifier", text: token.text } : token;
  }

  next(): Token {
    const token = this.peek();
    this.at++;
    return token;
  }

  private nextOperator(): Token {
    const token = this.tokens[this.at] ?? END;
    this.at++;
    return token;
  }

  requirement(): LabelRequirement {
    let negated = false;
    let token = this.next();
    if (token.kind === "!") {
      negated = true;
      token = this.next();
    }
    if (token.kind !== "identifier") throw new SyntaxRefusal(`found '${token.text}', expected: identifier`);
    const key = token.text;
    refuseErrors(keyErrors("<nil>", key));
    if (negated) return { key, operator: "!", values: [] };
    const following = this.peek().kind;
    if (following === "end" || following === ",") return { key, operator: "exists", values: [] };
    const operator = this.operator();
    const values = operator === "in" || operator === "notin" ? this.valueList() : [this.exactValue()];
    return checked({ key, operator, values: [...new Set(values)].sort() });
  }

  private operator(): LabelOperator {
    const token = this.nextOperator();
    switch (token.kind) {
      case "in":
      case "notin":
      case "=":
      case "==":
      case "!=":
        return token.kind;
      case ">":
        return "gt";
      case "<":
        return "lt";
      default:
        throw new SyntaxRefusal(`found '${token.text}', expected: ${BINARY_OPERATORS}`);
    }
  }

  private exactValue(): string {
    const following = this.peek().kind;
    if (following === "end" || following === ",") return "";
    const token = this.next();
    if (token.kind !== "identifier") throw new SyntaxRefusal(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  /** `(a,b)`; a missing item is the empty value, and `()` has one */
  private valueList(): string[] {
    const open = this.next();
    if (open.kind !== "(") throw new SyntaxRefusal(`found '${open.text}' expected: '('`);
    const first = this.peek();
    if (first.kind === ")") {
      this.next();
      return [""];
    }
    if (first.kind !== "identifier" && first.kind !== ",") {
      throw new SyntaxRefusal(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values: string[] = [];
    for (;;) {
      let item = "";
      if (this.peek().kind === "identifier") item = this.next().text;
      else if (this.peek().kind !== "," && this.peek().kind !== ")") {
        throw new SyntaxRefusal(`found '${this.peek().text}', expected: ',', or identifier`);
      }
      values.push(item);
      const separator = this.next();
      if (separator.kind === ")") return values;
      if (separator.kind !== ",") throw new SyntaxRefusal(`found '${separator.text}', expected: ',' or ')'`);
    }
  }
}

function keyErrors(field: string, key: string): FieldError[] {
  const messages = validateLabelKey(key);
  return messages.length === 0 ? [] : [invalidValue(field, key, messages.join("; "))];
}

function refuseErrors(errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  const texts = errors.map((error) => `${error.field}: ${error.body}`);
  throw new SyntaxRefusal(texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`);
}

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** A decimal 64-bit integer, or undefined (Go's strconv.ParseInt). */
function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.startsWith("+") ? text.slice(1) : text);
  return value < INT64_MIN || value > INT64_MAX ? undefined : value;
}

function checked(requirement: LabelRequirement): LabelRequirement {
  const { key, operator, values } = requirement;
  const errors: FieldError[] = [];
  values.forEach((value, i) => {
    if ((operator === "gt" || operator === "lt") && parseInt64(value) === undefined) {
      errors.push(invalidValue(`values[${i}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer"));
    }
  });
  values.forEach((value, i) => {
    const messages = validateLabelValue(value);
    if (messages.length > 0) errors.push(invalidValue(`values[${i}][${key}]`, value, messages.join("; ")));
  });
  refuseErrors(errors);
  return requirement;
}

function meets(requirement: LabelRequirement, labels: Record<string, string> | undefined): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.operator) {
    case "=":
    case "==":
    case "in":
      return value !== undefined && requirement.values.includes(value);
    case "!=":
    case "notin":
      return value === undefined || !requirement.values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "gt":
    case "lt": {
      const have = value === undefined ? undefined : parseInt64(value);
      const wanted = parseInt64(requirement.values[0] ?? "");
      if (have === undefined || wanted === undefined) return false;
      return requirement.operator === "gt" ? have > wanted : have < wanted;
    }
  }
}

function selectorOf(requirements: readonly LabelRequirement[]): ParsedSelector {
  return {
    requirements,
    empty: requirements.length === 0,
    matches: (labels) => requirements.every((requirement) => meets(requirement, labels)),
  };
}

function parseRequirements(text: string): LabelRequirement[] {
  const parser = new Parser(tokenize(text));
  const requirements: LabelRequirement[] = [];
  if (parser.peek().kind === "end") return requirements;
  for (;;) {
    const start = parser.peek();
    if (start.kind !== "identifier" && start.kind !== "!") {
      const expected = requirements.length === 0 ? "!, identifier, or 'end of string'" : "identifier after ','";
      throw new SyntaxRefusal(`found '${start.text}', expected: ${expected}`);
    }
    let requirement: LabelRequirement;
    try {
      requirement = parser.requirement();
    } catch (refusal) {
      if (refusal instanceof SyntaxRefusal) refusal.message = `unable to parse requirement: ${refusal.message}`;
      throw refusal;
    }
    requirements.push(requirement);
    const separator = parser.next();
    if (separator.kind === "end") return requirements;
    if (separator.kind !== ",") throw new SyntaxRefusal(`found '${separator.text}', expected: ',' or 'end of string'`);
  }
}

/** The selector of a `labelSelector` parameter; the error is the whole text of the 400. "" selects everything. */
export function parseLabelSelector(text: string): Result<ParsedSelector, string> {
  try {
    return ok(selectorOf(parseRequirements(text)));
  } catch (refusal) {
    if (refusal instanceof SyntaxRefusal) return err(refusal.message);
    throw refusal;
  }
}
