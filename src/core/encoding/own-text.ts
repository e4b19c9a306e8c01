/**
 * The same text in memory of its own. A part of a long text, as `slice` gives it, keeps the whole of it in memory (V8's sliced strings). Appending makes a
 * new text, and a part of that keeps one character more than it has.
 */
export function ownText(part: string): string {
  return ` ${part}`.slice(1);
}
