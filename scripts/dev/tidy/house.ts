/** The part of docs/internals/architecture.md that is computed from the code: which wing imports which, how long the shells are, and what stands beside them. */

/** A shell makes ports and forwards calls; a longer one has rules that belong into src/. */
const SHELL_LINES_MAX = 80;

/** The class of a Durable Object. */
export interface Shell {
  path: string;
  className: string;
  lines: number;
}

/** Another file beside the shells. */
export interface Beside {
  path: string;
  /** the first sentence of its header */
  about: string;
  lines: number;
}

export interface House {
  /** lowest storey first */
  wings: readonly string[];
  arrows: readonly { from: string; to: string }[];
  shells: readonly Shell[];
  besides: readonly Beside[];
}

/** The computed part as Markdown. */
export function houseTables({ wings, arrows, shells, besides }: House): string {
  const targets = (from: string): string => {
    const named = wings.filter((to) => arrows.some((arrow) => arrow.from === from && arrow.to === to));
    return named.length === 0 ? "nothing" : named.map((wing) => `\`${wing}\``).join(", ");
  };
  return [
    `${String(arrows.length)} arrows of imports between ${String(wings.length)} wings (type-only imports count; tests and scripts do not):`,
    "",
    "| wing, lowest first | imports |",
    "| --- | --- |",
    ...wings.map((wing) => `| \`${wing}\` | ${targets(wing)} |`),
    "",
    "| shell | class | lines |",
    "| --- | --- | --- |",
    ...shells.map(({ path, className, lines }) => `| \`${path}\` | ${className} | ${String(lines)} |`),
    "",
    "| beside the shells | what it is | lines |",
    "| --- | --- | --- |",
    ...besides.map(({ path, about, lines }) => `| \`${path}\` | ${about} | ${String(lines)} |`),
  ].join("\n");
}

/**
 * The files of the Durable Object classes, sorted by path.
 *
 * @param configuration wrangler.toml, whose bindings name the classes
 * @param files path -> text
 */
export function shellsIn(configuration: string, files: ReadonlyMap<string, string>): Shell[] {
  const names = [...configuration.matchAll(/^class_name = "(\w+)"$/gm)].map(([, name = ""]) => name);
  return [...files]
    .flatMap(([path, text]) => {
      const className = names.find((name) => new RegExp(`^export class ${name}\\b`, "m").test(text));
      return className === undefined ? [] : [{ path, className, lines: linesOf(text) }];
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The other files of the shells' folder, sorted by path. Those of its folders, which are tables and their statements, are left out. */
export function besidesShells(shells: readonly Shell[], files: ReadonlyMap<string, string>): Beside[] {
  return [...files]
    .filter(([path]) => /^[^/]+\/[^/]+$/.test(path) && !shells.some((shell) => shell.path === path))
    .map(([path, text]) => ({ path, about: firstSentence(text), lines: linesOf(text) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function firstSentence(text: string): string {
  const header = /^\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? "";
  const prose = header.replace(/\n \* ?/g, " ").trim();
  return (/^.*?[.](?=\s|$)/.exec(prose)?.[0] ?? prose).replace(/\.$/, "").replaceAll("|", "\\|");
}

function linesOf(text: string): number {
  return text.trimEnd().split("\n").length;
}

/** One finding for each shell that is too long. */
export function longShells(shells: readonly Shell[]): string[] {
  return shells
    .filter(({ lines }) => lines > SHELL_LINES_MAX)
    .map(({ path, lines }) => `${path} has ${String(lines)} lines; a shell has at most ${String(SHELL_LINES_MAX)}: rules belong into src/`);
}
