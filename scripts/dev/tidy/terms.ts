/**
 * Words that pages use with a meaning of their own have to be in docs/internals/glossary.md. Checkable is a word that a page sets in italics, which is how a
 * page marks a term, and the words that comments of the code use everywhere.
 */
import type { Citing } from "./citations";

/** Words that comments use without an explanation. */
const NEEDED = ["row", "claim", "segment", "band", "epoch", "fence", "cover", "usable", "taken", "pending release"];
const NEEDED_OF_WORK = ["audit", "sweep", "mark", "turn", "draw", "hand-off", "token", "owner", "poke", "pass"];

/** The words of the glossary: first cells of its tables, several separated by commas, and what its meanings set in italics. */
export function glossaryTerms(glossary: string): Map<string, number> {
  const terms = new Map<string, number>();
  const add = (term: string): void => void terms.set(term, (terms.get(term) ?? 0) + 1);
  for (const [, cell = ""] of glossary.matchAll(/^\| ([^|]+) \|/gm)) {
    if (/^(word *|-+)$/.test(cell)) continue;
    for (const word of cell.split(",")) add(word.trim());
  }
  for (const { term } of italics(glossary)) if (!terms.has(term)) add(term);
  return terms;
}

/** One finding for each needed word that the glossary lacks, each word that it has twice, and each word in italics of a page that it lacks. */
export function termFindings(glossary: string, pages: readonly Citing[]): string[] {
  const terms = glossaryTerms(glossary);
  const missing = [...NEEDED, ...NEEDED_OF_WORK].filter((term) => !terms.has(term));
  const twice = [...terms].flatMap(([term, times]) => (times > 1 ? [term] : []));
  const has = (term: string): boolean => terms.has(term) || terms.has(term.replace(/s$/, ""));
  return [
    ...missing.map((term) => `docs/internals/glossary.md lacks the word "${term}"`),
    ...twice.map((term) => `docs/internals/glossary.md has the word "${term}" more than once`),
    ...pages.flatMap(({ path, text }) =>
      italics(text).flatMap(({ term, line }) =>
        has(term) ? [] : [`${path}:${String(line)} sets "${term}" in italics as a term, and docs/internals/glossary.md does not have it`],
      ),
    ),
  ];
}

/** The words that a page sets in italics, without code. */
function italics(page: string): { term: string; line: number }[] {
  const blank = (code: string): string => code.replace(/[^\n]/g, " ");
  const prose = page.replace(/^```[\s\S]*?^```/gm, blank).replace(/`[^`\n]*`/g, blank);
  return [...prose.matchAll(/(?<![\w/*])_([^_\n]+)_(?!\w)/g)].map(({ 1: term = "", index }) => ({
    term: term.toLowerCase(),
    line: prose.slice(0, index).split("\n").length,
  }));
}
