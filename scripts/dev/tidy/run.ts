/** All findings of `npm run tidy`. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { parse } from "smol-toml";
import { placeOf, storeys } from "../layers";
import { EDGE_PAGE } from "../model/page";
import { boundTables } from "../model/tables";
import type { Sources } from "../sources/read";
import {
  citationFindings,
  type Citing,
  invariantsOf,
  linkFindings,
  outsideCitations,
  pageFindings,
  protocolEntries,
  untestedHazards,
} from "./citations";
import { settleComputedPart } from "./computed-part";
import { deadCode } from "./dead-code";
import { heaps } from "./heaps";
import { besidesShells, houseTables, longShells, shellsIn } from "./house";
import { arrows, circles, type Imports, layerFindings } from "./imports";
import { longCommentSentences, longSentences, withoutReader } from "./pages";
import { termFindings } from "./terms";
import { misplacedTest, unfinished } from "./test-files";
import { repeatedTypeNames } from "./type-names";
import { CITED_FILES, citedTable, upstreamFindings } from "./upstream-files";
import { upstreamModules } from "./upstream-modules";
import { configuredFindings, VARIABLE_ROWS, variableTable } from "./variables";

/** Pages at the root: hosts look for them there. */
const ROOT_PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];

/** Files whose comments no check reads. */
const WITHOUT_COMMENTS = /^test\//;

interface Tidying {
  root: string;
  sources: Sources;
  /** writes the computed parts of pages instead of comparing them */
  write: boolean;
  /** writes the table of upstream's files that comments cite */
  cited: boolean;
}

/** One line for each finding. */
export async function tidyFindings({ root, sources, write, cited }: Tidying): Promise<string[]> {
  if (cited) writeFileSync(join(root, CITED_FILES), citedTable(codeOf(sources), upstreamModules(root)));
  const imports: Imports = new Map([...sources].map(([path, source]) => [path, [...source.imports.keys()]]));
  return [
    ...[...sources.values()].flatMap((source) => [...unfinished(source), ...misplacedTest(root, source)]),
    ...deadCode(sources),
    ...citations(root, sources),
    ...circles(imports).map((circle) => `${circle.join(", ")} import each other`),
    ...layerFindings(imports),
    ...heaps(sources.keys()),
    ...repeatedTypeNames(sources.values()),
    ...[...sources.values()].flatMap(({ path, comments }) => (WITHOUT_COMMENTS.test(path) ? [] : longCommentSentences(path, comments))),
    ...(await house({ root, sources, write }, imports)),
    ...(await variables({ root, sources, write })),
    ...(await settleComputedPart({ root, write }, { path: EDGE_PAGE, part: boundTables() })),
  ];
}

/** The lengths of the shells; the computed part of docs/internals/architecture.md, written anew or compared. */
async function house({ root, sources, write }: Omit<Tidying, "cited">, imports: Imports): Promise<string[]> {
  const files = new Map([...sources].filter(([path]) => path.startsWith("durable-objects/")).map(([path, { text }]) => [path, text]));
  const shells = shellsIn(textBelow(root)("wrangler.toml") ?? "", files);
  const tables = houseTables({
    wings: storeys.flatMap((wings) => wings.map(({ path }) => path)),
    arrows: arrows(imports, (path) => placeOf(path)?.wing),
    shells,
    besides: besidesShells(shells, files),
  });
  const part = { path: "docs/internals/architecture.md", part: tables };
  return [...(await settleComputedPart({ root, write }, part)), ...longShells(shells)];
}

/** The variables of a deployment, in wrangler.toml and on the page. */
async function variables({ root, write }: Omit<Tidying, "cited">): Promise<string[]> {
  const configuration = parse(readFileSync(join(root, "wrangler.toml"), "utf8"));
  return [
    ...configuredFindings(VARIABLE_ROWS, configuration["vars"] as Record<string, unknown>),
    ...(await settleComputedPart({ root, write }, { path: "docs/deploy.md", part: variableTable(VARIABLE_ROWS) })),
  ];
}

function citations(root: string, sources: Sources): string[] {
  const textOf = textBelow(root);
  const pages: Citing[] = [...ROOT_PAGES, ...pagesBelow(root)].map((path) => ({ path, text: textOf(path) ?? "" }));
  const protocol = textOf("docs/internals/protocol.md") ?? "";
  const readme = textOf("README.md") ?? "";
  const citable = { ...protocolEntries(protocol), invariants: invariantsOf(readme) };
  const code = codeOf(sources);
  const unlisted = pages.filter(({ path }) => path !== "README.md" && !readme.includes(`](${path})`));
  return [
    ...citationFindings([...pages, ...code], citable),
    ...[...pages, ...code].flatMap((file) => [...outsideCitations(file), ...pageFindings(file, textOf)]),
    ...upstreamFindings(code, textOf(CITED_FILES) ?? ""),
    ...untestedHazards(protocol, textOf),
    ...pages.flatMap((page) => linkFindings(page, textOf)),
    ...termFindings(
      textOf("docs/internals/glossary.md") ?? "",
      pages.filter(({ path }) => path.startsWith("docs/") || path === "CONTRIBUTING.md"),
    ),
    ...pages.filter(({ path }) => path.startsWith("docs/")).flatMap((page) => [...longSentences(page), ...withoutReader(page)]),
    ...unlisted.map(({ path }) => `README.md does not link to ${path}`),
  ];
}

/** The pages of docs/ and of its folders, below the root. */
function pagesBelow(root: string): string[] {
  return readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name.split(sep).join("/")}`)
    .sort();
}

/** What may cite something. The tests of this check cite what does not exist. */
function codeOf(sources: Sources): Citing[] {
  return [...sources.values()].filter(({ path }) => !/^(scripts\/dev\/tidy\/|test\/e2e\/project\/tidy\.test\.ts$)/.test(path));
}

/** The text of a file below the root, "" for a folder, undefined when there is neither. A file is read once. */
function textBelow(root: string): (path: string) => string | undefined {
  const read = (path: string): string | undefined => {
    const entry = statSync(join(root, path), { throwIfNoEntry: false });
    if (!entry) return undefined;
    return entry.isDirectory() ? "" : readFileSync(join(root, path), "utf8");
  };
  const known = new Map<string, string | undefined>();
  return (path) => {
    if (!known.has(path)) known.set(path, read(path));
    return known.get(path);
  };
}
