/** The part of a page that is computed from the code, between two marks. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";

const COMPUTED = {
  begin: "<!-- computed by `npm run tidy -- --write`: do not edit below -->",
  end: "<!-- end of the computed part -->",
};

/** The page with its computed part replaced. Throws when the page, named `path`, lacks the marks. */
export function withComputedPart(page: string, part: string, path: string): string {
  return withPart(page, { part, path, marks: COMPUTED });
}

/** The page with what stands between the marks replaced. Throws when the page, named `path`, lacks them. */
export function withPart(
  page: string,
  { part, path, marks }: { part: string; path: string; marks: Readonly<Record<"begin" | "end", string>> },
): string {
  const begin = page.indexOf(marks.begin);
  const end = page.indexOf(marks.end);
  if (begin < 0 || end < begin) throw new Error(`${path} lacks the marks "${marks.begin}" and "${marks.end}"`);
  return `${page.slice(0, begin)}${marks.begin}\n\n${part}\n\n${page.slice(end)}`;
}

/** Writes the part into the page anew, or compares: the finding where the page says something else. `path` is below `root`. */
export async function settleComputedPart(
  { root, write }: { root: string; write: boolean },
  { path, part }: { path: string; part: string },
): Promise<string[]> {
  const page = join(root, path);
  const before = readFileSync(page, "utf8");
  const after = await format(withComputedPart(before, part, path), { ...(await resolveConfig(page)), filepath: page });
  if (write) writeFileSync(page, after);
  return write || after === before ? [] : [`${path} is not what the code says: npm run tidy -- --write writes it anew`];
}
