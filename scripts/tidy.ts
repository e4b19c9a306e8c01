/** `npm run tidy`: checks that a linter does not make, one line for each finding. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { format, resolveConfig } from "prettier";
import ts from "typescript";
import { placeOf, storeys } from "./layers";
import { parseCommandLine, runProgram } from "./terminal/command-line";
import {
  citationFindings,
  type Citing,
  invariantsOf,
  linkFindings,
  outsideCitations,
  pageFindings,
  protocolEntries,
  untestedHazards,
} from "./tidy/citations";
import { besidesShells, houseTables, longShells, shellsIn, withComputedPart } from "./tidy/house";
import { arrows, circles, layerFindings } from "./tidy/imports";
import { termFindings } from "./tidy/terms";

const root = join(import.meta.dirname, "..");
const trees = ["src", "durable-objects", "scripts", "test"];
/** Files that a tool or a command starts, so that no import needs to reach them. */
const entries =
  /^(src\/worker\/index|src\/globals\.d|scripts\/(serve|import|check|backup|restore|dns|proxy|agent|token|test|slow|tidy|compatibility|bench|simulate|fuzz|layers|sbom|demo-drain)|scripts\/testing\/runtimes|scripts\/(bench\/load-processes|simulate)\/[\w-]+-process|test\/setup|test\/support\/server\/shared-servers|test\/support\/examples\/[\w-]+|test\/support\/objects\/[\w-]+-worker)\.ts$|\.test\.ts$|\.d\.ts$/;

interface Source {
  path: string;
  text: string;
  /** name -> 1-based line; types apart, because a type may be exported for the sake of a signature */
  exports: Map<string, { line: number; isType: boolean }>;
  /** resolved path -> imported names ("*" = all) */
  imports: Map<string, Set<string>>;
}

const usage = `Usage: npm run tidy

Prints one line for each of these:
  - a mark of unfinished work, a test that is switched off or on alone
  - an export that nobody imports, a file that nobody reaches
  - a unit test that does not stand at the path of the file that it tests
  - files that import each other in a circle, or against the table of layers, type-only imports included
  - a citation of a rule, hazard or invariant, a link or a path of a page that leads nowhere
  - a section of a page that the project does not have
  - a page that README.md does not list
  - a word that a page sets in italics as a term, and that docs/glossary.md does not have
  - a shell that is too long; arrows between wings or lengths of shells that docs/architecture.md does not have

  --write             writes the computed part of docs/architecture.md anew
  --help              this text

Exit code: 0 nothing is found, 1 something is, 2 wrong options.`;

const findings: string[] = [];
const sources = new Map<string, Source>();

await runProgram({
  name: "tidy",
  usage,
  parse: (args) => parseCommandLine("npm run tidy", { args, options: { write: { type: "boolean", default: false } } }),
  main: async ({ values: { write } }) => {
    for (const path of trees.flatMap(filesBelow)) sources.set(path, read(path));
    for (const source of sources.values()) {
      unfinished(source);
      misplacedTest(source);
    }
    deadExports();
    citations();
    importCircles();
    findings.push(...layerFindings(importsOfFiles()));
    await house(write);
    for (const line of findings) console.log(line);
    const sum = findings.length === 0 ? `${String(sources.size)} files, nothing to mend` : `${String(findings.length)} findings`;
    console.log(`tidy: ${sum}`);
    return findings.length === 0 ? 0 : 1;
  },
});

function filesBelow(folder: string): string[] {
  const absolute = join(root, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file.split(sep).join("/")}`);
}

function read(path: string): Source {
  const text = readFileSync(join(root, path), "utf8");
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2024, true);
  const source: Source = { path, text, exports: new Map(), imports: new Map() };
  const lineOf = (node: ts.Node) => file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  const importNames = (specifier: string, names: string[]) => {
    const target = resolve(path, specifier);
    if (target) addTo(source.imports, target, names);
  };
  const visit = (node: ts.Node): void => {
    if (
      (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) &&
      node.moduleSpecifier &&
      ts.isStringLiteral(node.moduleSpecifier)
    ) {
      importNames(node.moduleSpecifier.text, namesOf(node));
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      if (argument && ts.isStringLiteral(argument)) importNames(argument.text, ["*"]);
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      importNames(node.argument.literal.text, ["*"]);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  for (const statement of file.statements) {
    if (!ts.canHaveModifiers(statement) || !ts.getModifiers(statement)?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword)) continue;
    const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
    const names = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.map((d) => d.name.getText())
      : [nameOf(statement)];
    for (const name of names) if (name) source.exports.set(name, { line: lineOf(statement), isType });
  }
  return source;
}

/** The lengths of the shells; the computed part of docs/architecture.md, written anew or compared. */
async function house(write: boolean): Promise<void> {
  const page = join(root, "docs", "architecture.md");
  const files = new Map([...sources].filter(([path]) => path.startsWith("durable-objects/")).map(([path, { text }]) => [path, text]));
  const shells = shellsIn(textOf("wrangler.toml") ?? "", files);
  const tables = houseTables({
    wings: storeys.flatMap((wings) => wings.map(({ path }) => path)),
    arrows: arrows(importsOfFiles(), (path) => placeOf(path)?.wing),
    shells,
    besides: besidesShells(shells, files),
  });
  const before = readFileSync(page, "utf8");
  const after = await format(withComputedPart(before, tables), { ...(await resolveConfig(page)), filepath: page });
  if (write) writeFileSync(page, after);
  else if (after !== before) findings.push("docs/architecture.md is not what the code says: npm run tidy -- --write writes it anew");
  findings.push(...longShells(shells));
}

function importCircles(): void {
  for (const circle of circles(importsOfFiles())) findings.push(`${circle.join(", ")} import each other`);
}

function importsOfFiles(): Map<string, Iterable<string>> {
  return new Map([...sources].map(([path, { imports }]) => [path, imports.keys()]));
}

function citations(): void {
  const names = ["README.md", "SECURITY.md", "CHANGELOG.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)];
  const pages: Citing[] = names.filter((path) => path.endsWith(".md")).map((path) => ({ path, text: textOf(path) ?? "" }));
  const protocol = textOf("docs/protocol.md") ?? "";
  const citable = { ...protocolEntries(protocol), invariants: invariantsOf(textOf("README.md") ?? "") };
  // The tests of this check cite numbers that do not exist.
  const code = [...sources.values()].filter(({ path }) => !/^(scripts\/tidy\/|test\/e2e\/tidy\.test\.ts$)/.test(path));
  findings.push(...citationFindings([...pages, ...code], citable));
  for (const file of [...pages, ...code]) findings.push(...outsideCitations(file), ...pageFindings(file, textOf));
  findings.push(...untestedHazards(protocol, textOf));
  for (const page of pages) findings.push(...linkFindings(page, textOf));
  findings.push(
    ...termFindings(
      textOf("docs/glossary.md") ?? "",
      pages.filter(({ path }) => path.startsWith("docs/")),
    ),
  );
  const readme = textOf("README.md") ?? "";
  for (const { path } of pages) {
    if (path !== "README.md" && !readme.includes(`](${path})`)) findings.push(`README.md does not link to ${path}`);
  }
}

/** The text of a file below the root, "" for a folder, undefined when there is neither. */
function textOf(path: string): string | undefined {
  const entry = statSync(join(root, path), { throwIfNoEntry: false });
  if (!entry) return undefined;
  return entry.isDirectory() ? "" : readFileSync(join(root, path), "utf8");
}

function addTo(map: Map<string, Set<string>>, key: string, names: Iterable<string>): void {
  const set = map.get(key) ?? new Set<string>();
  for (const name of names) set.add(name);
  map.set(key, set);
}

function nameOf(statement: ts.Statement): string | undefined {
  const name = (statement as ts.Statement & { name?: ts.Node }).name;
  return name?.getText();
}

function namesOf(node: ts.ImportDeclaration | ts.ExportDeclaration): string[] {
  const clause = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
  if (ts.isExportDeclaration(node) && !clause) return ["*"];
  if (!clause) return [];
  if (ts.isNamespaceImport(clause) || ts.isNamespaceExport(clause)) return ["*"];
  return clause.elements.map((element) => (element.propertyName ?? element.name).text);
}

function resolve(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const base = relative(root, join(root, dirname(from), specifier))
    .split(sep)
    .join("/");
  return [base, `${base}.ts`, `${base}/index.ts`].find((path) => path.endsWith(".ts") && existsSync(join(root, path)));
}

function unfinished(source: Source): void {
  if (source.path === "scripts/tidy.ts") return;
  source.text.split("\n").forEach((line, index) => {
    if (/\b(TODO|FIXME|XXX|HACK)\b/.test(line)) findings.push(`${source.path}:${String(index + 1)} marks unfinished work`);
    if (/\b(it|test|describe)\.(skip|skipIf|runIf|only|todo)\b/.test(line))
      findings.push(`${source.path}:${String(index + 1)} switches tests off`);
  });
}

/** test/unit/<path>.test.ts tests src/<path>.ts; a long one is split by behaviour: <path>-<behaviour>.test.ts. */
function misplacedTest({ path }: Source): void {
  const match = /^test\/unit\/(.*\/)?([^/]+)\.test\.ts$/.exec(path);
  if (!match) return;
  const [, folder = "", name = ""] = match;
  const words = name.split(/[-.]/);
  const subjects = words.map((_, i) => words.slice(0, i + 1).join("-"));
  if (!subjects.some((subject) => existsSync(join(root, "src", folder, `${subject}.ts`)))) {
    findings.push(`${path} tests no file: there is no src/${folder}${name}.ts`);
  }
}

function deadExports(): void {
  const used = new Map<string, Set<string>>();
  for (const source of sources.values()) {
    for (const [target, names] of source.imports) addTo(used, target, names);
  }
  for (const source of sources.values()) {
    if (entries.test(source.path)) continue;
    const names = used.get(source.path);
    if (!names) {
      findings.push(`${source.path} is reached by no import`);
      continue;
    }
    if (names.has("*")) continue;
    for (const [name, { line, isType }] of source.exports) {
      if (names.has(name)) continue;
      const usedHere = source.text.split(new RegExp(`\\b${name}\\b`)).length > 2;
      if (!isType || !usedHere) findings.push(`${source.path}:${String(line)} exports ${name}, which nobody imports`);
    }
  }
}
