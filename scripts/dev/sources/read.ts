/** All source files of the project with their facts, read once for all checks. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { dirname, normalize } from "node:path/posix";
import ts from "typescript";
import { type Comment, type DeclaredType, type Exported, type Facts, factsIn } from "./facts";
import { keptFacts, type Text } from "./kept-facts";

const trees = ["src", "durable-objects", "scripts", "test"];
/** The program that makes facts of a text. */
const reader = join(import.meta.dirname, "facts.ts");

export interface Source extends Text {
  exports: readonly Exported[];
  /** resolved path -> imported names ("*" = all) */
  imports: ReadonlyMap<string, ReadonlySet<string>>;
  types: readonly DeclaredType[];
  comments: readonly Comment[];
  upstreamRows: Facts["upstreamRows"];
}

/** path below the root, with forward slashes -> source */
export type Sources = ReadonlyMap<string, Source>;

export function readSources(root: string): Sources {
  const paths = trees.flatMap((tree) => filesBelow(root, tree));
  const texts = paths.map((path): Text => ({ path, text: readFileSync(join(root, path), "utf8") }));
  const facts = keptFacts(texts, {
    file: join(root, ".cache", "checks", "facts.json"),
    parser: `${ts.version}\n${readFileSync(reader, "utf8")}`,
    parse: factsIn,
  });
  const known = new Set(paths);
  const exists = (path: string): boolean => known.has(path) || (!isInTrees(path) && existsSync(join(root, path)));
  return new Map(
    texts.map(({ path, text }, i) => {
      const { exports = [], imports = [], types = [], comments = [], upstreamRows = [] } = facts[i] ?? {};
      return [path, { path, text, exports, imports: resolved(path, imports, exists), types, comments, upstreamRows }];
    }),
  );
}

function filesBelow(root: string, folder: string): string[] {
  const absolute = join(root, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file.split(sep).join("/")}`);
}

function isInTrees(path: string): boolean {
  return trees.some((tree) => path.startsWith(`${tree}/`));
}

/** The imports of files of the project; packages are left out. */
function resolved(from: string, imports: Facts["imports"], exists: (path: string) => boolean): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { specifier, names } of imports) {
    if (!specifier.startsWith(".")) continue;
    const base = normalize(`${dirname(from)}/${specifier}`);
    const target = [base, `${base}.ts`, `${base}/index.ts`].find((path) => path.endsWith(".ts") && exists(path));
    if (target) found.set(target, new Set([...(found.get(target) ?? []), ...names]));
  }
  return found;
}
