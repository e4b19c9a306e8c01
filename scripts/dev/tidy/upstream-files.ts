/**
 * The files of upstream that comments cite, and the table of them: which file each citation means, and the digits of its content. So no citation leads
 * nowhere, and for a newer Kubernetes the table's diff names the rules to read again.
 */
import { alternatives, type Citing } from "./citations";

/** The table, below the project's root. */
export const CITED_FILES = "test/fixtures/upstream/cited-1.36.tsv";

/** A path with at least one folder; braces name several files. A file's name alone says too little. */
const CITATION = /(?<![\w./-])(?:[\w.-]+|\{[\w,-]+\})(?:\/(?:[\w.-]+|\{[\w,.-]+\}))+\.go\b/g;
/** Files of other projects, which no module of Kubernetes has. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  // Go
  "time/format.go",
  // CoreDNS, plugin kubernetes
  "object/service.go",
  "object/endpoint.go",
]);

/** A module of upstream; its files by their paths. */
export interface UpstreamModule {
  name: string;
  version: string;
  files: readonly string[];
  /** the first digits of the SHA-256 of a file */
  digest(file: string): string;
}

/** The paths that a file cites, and where. */
function citedFiles({ text }: Citing): { cited: string; line: number }[] {
  return [...text.matchAll(CITATION)].flatMap(({ 0: path, index }) => {
    const line = text.slice(0, index).split("\n").length;
    return alternatives(path).flatMap((cited) => (ELSEWHERE.has(cited) ? [] : [{ cited, line }]));
  });
}

/** One finding for each citation that the table does not have, and for each row that nothing cites. */
export function upstreamFindings(files: readonly Citing[], table: string): string[] {
  const known = new Set(table.split("\n").flatMap((line) => (line === "" || line.startsWith("#") ? [] : [line.split("\t")[0] ?? ""])));
  const used = new Set<string>();
  const missing = files.flatMap((file) =>
    citedFiles(file).flatMap(({ cited, line }) => {
      used.add(cited);
      return known.has(cited)
        ? []
        : [`${file.path}:${String(line)} cites ${cited}, which ${CITED_FILES} does not have: npm run tidy -- --cited`];
    }),
  );
  const unused = [...known].filter((cited) => !used.has(cited));
  return [...missing, ...unused.map((cited) => `${CITED_FILES} has ${cited}, which nothing cites: npm run tidy -- --cited`)];
}

/** The table of what the files cite; a citation that no file of the modules ends with gets no row. Of several such files the shortest path is meant. */
export function citedTable(files: readonly Citing[], modules: readonly UpstreamModule[]): string {
  const all = modules
    .flatMap((module) => module.files.map((file) => ({ module, file, path: `${module.name}/${file}` })))
    .sort((a, b) => a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  const rows = [...new Set(files.flatMap(citedFiles).map(({ cited }) => cited))].sort().flatMap((cited) => {
    const end = `/${cited.replace(/^staging\/src\//, "")}`;
    const meant = all.find(({ path }) => `/${path}`.endsWith(end));
    return meant ? [[cited, meant.path, meant.module.digest(meant.file)].join("\t")] : [];
  });
  const versions = modules.map(({ name, version }) => `#   ${name} ${version}`);
  return [
    "# The files of upstream that comments cite, written by `npm run tidy -- --cited`. Do not edit it.",
    "# A citation, the file that it means, the first digits of the file's SHA-256. The modules:",
    ...versions,
    ...rows,
    "",
  ].join("\n");
}
