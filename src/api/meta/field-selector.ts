/**
 * Field selectors: `field=value`, `==`, `!=`, joined by commas; `\` escapes `\`, `,` and `=` in values
 * (upstream apimachinery pkg/fields/selector.go).
 */
import { err, ok } from "../../core/base/result";
import type { Result } from "../../core/base/result";

export interface FieldTerm {
  field: string;
  operator: "=" | "!=";
  value: string;
}

export interface FieldSelector {
  terms: readonly FieldTerm[];
  /** true = matches everything */
  empty: boolean;
  /** an absent field counts as "" */
  matches(fields: Readonly<Record<string, string>>): boolean;
  /** the value that `field=value` demands, if there is such a term */
  exact(field: string): string | undefined;
}

/** Parts between unescaped commas. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === "\\") i++;
    else if (character === ",") {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

/** The first operator in the term counts; == is tried before =, which is its prefix. */
function splitTerm(term: string): FieldTerm | undefined {
  for (let i = 0; i < term.length; i++) {
    for (const operator of ["!=", "==", "="]) {
      if (!term.startsWith(operator, i)) continue;
      return { field: term.slice(0, i), operator: operator === "!=" ? "!=" : "=", value: term.slice(i + operator.length) };
    }
  }
  return undefined;
}

function unescapeValue(value: string): Result<string, string> {
  let out = "";
  for (let i = 0; i < value.length; i++) {
    const character = value.charAt(i);
    if (character === "\\") {
      const escaped = value.charAt(++i);
      if (escaped === "" || !"\\,=".includes(escaped)) return err(`invalid field selector: invalid escape sequence: \\${escaped}`);
      out += escaped;
    } else if (character === "," || character === "=") {
      return err(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    } else out += character;
  }
  return ok(out);
}

/** The selector of a `fieldSelector` parameter; the error is the whole text of the 400. The caller checks for unknown fields. */
export function parseFieldSelector(text: string): Result<FieldSelector, string> {
  const terms: FieldTerm[] = [];
  if (text !== "") {
    for (const part of splitTerms(text)) {
      if (part === "") continue;
      const term = splitTerm(part);
      if (!term) return err(`invalid selector: '${text}'; can't understand '${part}'`);
      const value = unescapeValue(term.value);
      if (!value.ok) return value;
      terms.push({ ...term, value: value.value });
    }
  }
  return ok(fieldSelectorOf(terms));
}

function fieldSelectorOf(terms: readonly FieldTerm[]): FieldSelector {
  return {
    terms,
    empty: terms.length === 0,
    matches: (fields) => terms.every((term) => ((fields[term.field] ?? "") === term.value) === (term.operator === "=")),
    exact: (field) => terms.find((term) => term.field === field && term.operator === "=")?.value,
  };
}
