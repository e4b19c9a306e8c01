/** What each page has to be: for somebody, which its first line says, and of sentences that are read once. Comments are of such sentences, too. */
import type { Comment } from "../sources/facts";
import type { Citing } from "./citations";

/** A reader loses a longer sentence. Names in backquotes count as one word each, and so do links' addresses as none. */
const SENTENCE_WORDS_MAX = 30;

/** One text of a page that ends by itself: a paragraph, an item of a list, a heading, or a cell of a table. */
interface Piece {
  line: number;
  text: string;
}

/** One finding for each sentence of a page that has too many words. Blocks of code have none. */
export function longSentences({ path, text }: Citing): string[] {
  return longSentencesOf(path, piecesOf(text));
}

/** The same of a file's comments. */
export function longCommentSentences(path: string, comments: readonly Comment[]): string[] {
  return comments.flatMap(({ line, text }) =>
    longSentencesOf(
      path,
      piecesOf(pageOf(text)).map((piece) => ({ ...piece, line: piece.line + line - 1 })),
    ),
  );
}

/** A comment as a page. A tag (`@param`) begins an item; an indented line is a row of a table, or of an example, whose cells two blanks part. */
function pageOf(comment: string): string {
  let isInItem = false;
  const rows = comment.split("\n").map((row) => {
    const tagged = row.replace(/^@/, "- @");
    if (row.trim() === "") isInItem = false;
    else if (/^(?:[-*]|\d+\.) /.test(tagged)) isInItem = true;
    else if (!isInItem && row.startsWith("  ")) return `|${row.trim().split(/ {2,}/).join("|")}|`;
    return tagged;
  });
  return rows.join("\n");
}

function longSentencesOf(path: string, pieces: readonly Piece[]): string[] {
  return pieces.flatMap((piece) =>
    sentencesOf(piece.text)
      .map((sentence) => ({ sentence, words: sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length }))
      .filter(({ words }) => words > SENTENCE_WORDS_MAX)
      .map(
        ({ sentence, words }) =>
          `${path}:${String(piece.line)} has a sentence of ${String(words)} words ("${sentence.slice(0, 60)}…"): at most ${String(SENTENCE_WORDS_MAX)}`,
      ),
  );
}

/** A page of docs/ whose first line below the title does not begin with "For …": it says for whom the page is, and what the reader has at its end. */
export function withoutReader({ path, text }: Citing): string[] {
  const [, first = ""] = /^# .+\n+(.*)/.exec(text) ?? [];
  return /^For \w/.test(first) ? [] : [`${path} does not say in its first line for whom it is ("For …: …")`];
}

function piecesOf(page: string): Piece[] {
  const pieces: Piece[] = [];
  let isOpen = false;
  for (const [index, raw] of withoutCode(page).split("\n").entries()) {
    const row = raw.trim();
    const line = index + 1;
    const item = /^(?:#+|[-*]|\d+\.) +(.*)$/.exec(row);
    if (row === "" || row.startsWith("<!--")) isOpen = false;
    else if (row.startsWith("|")) {
      pieces.push(...row.split(/(?<!\\)\|/).map((cell) => ({ line, text: cell.trim() })));
      isOpen = false;
    } else if (item) {
      pieces.push({ line, text: item[1] ?? "" });
      isOpen = !row.startsWith("#");
    } else if (isOpen) pieces.push({ line: pieces.at(-1)?.line ?? line, text: `${pieces.pop()?.text ?? ""} ${row}` });
    else {
      pieces.push({ line, text: row });
      isOpen = true;
    }
  }
  return pieces;
}

/** Sentences end with a full stop, a question mark or an exclamation mark and a blank. */
function sentencesOf(text: string): string[] {
  return text
    .replace(/`[^`]*`/g, "x")
    .replace(/\]\([^)]*\)/g, "]")
    .split(/(?<=[.!?][)*_"”]*)\s+/);
}

/** Blocks of code, also indented ones, become empty lines, so that line numbers stay. */
function withoutCode(page: string): string {
  return page
    .replace(/^( *)```[\s\S]*?^\1```/gm, (block) => block.replace(/[^\n]/g, ""))
    .replace(/(?<=\n\n)(?: {4}.*\n)+/g, (block) => block.replace(/[^\n]/g, ""));
}
