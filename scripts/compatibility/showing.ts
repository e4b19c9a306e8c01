/** Which test files carry which rows of test/conformance/upstream-rows.ts, found without running them. */
import { readFileSync, readdirSync } from "node:fs";
import { join, sep } from "node:path";
import ts from "typescript";

/** name of a row -> paths of the files whose tests carry it, sorted; names that are no row are in here, too */
export function findShowing(root: string): Map<string, string[]> {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .map((file) => `test/${file.split(sep).join("/")}`)
    .filter((file) => file.endsWith(".test.ts"))
    .sort();
  const found = new Map<string, string[]>();
  for (const path of files) {
    const text = readFileSync(join(root, path), "utf8");
    if (!text.includes("upstreamRow(")) continue;
    for (const name of rowsIn(ts.createSourceFile(path, text, ts.ScriptTarget.ES2024))) {
      const paths = found.get(name) ?? [];
      if (!paths.includes(path)) found.set(name, [...paths, path]);
    }
  }
  return found;
}

/** First arguments of `upstreamRow(…)`, which have to be plain texts. */
function rowsIn(file: ts.SourceFile): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "upstreamRow") {
      const [name] = node.arguments;
      if (!name || !ts.isStringLiteralLike(name)) throw new Error(`${file.fileName}: upstreamRow needs the name of a row as a plain text`);
      names.push(name.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return names;
}
