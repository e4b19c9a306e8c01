/**
 * What comments and pages cite has to exist. That is rules and hazards in docs/internals/protocol.md, invariants in the README, links of pages with
 * their anchors, and the paths of files that pages name.
 */

/** One file that may cite something. */
export interface Citing {
  /** below the project's root, with forward slashes */
  path: string;
  text: string;
}

/** The targets of citations. */
export interface Citable {
  rules: ReadonlySet<number>;
  hazards: ReadonlySet<number>;
  invariants: ReadonlySet<number>;
}

/** One finding for each citation without a target, as `path:line problem`. */
export function citationFindings(files: readonly Citing[], citable: Citable): string[] {
  return files.flatMap((file) => [...numbered(file, citable), ...invariants(file, citable)]);
}

/**
 * The rules and hazards of docs/internals/protocol.md: hazards and some rules have a heading each (`### Hazard 7: …`, `### Rule 32: …`), the other
 * rules are list items (`17. …`) under the heading of their group (`### Rules 17–20: …`).
 */
export function protocolEntries(text: string): Pick<Citable, "rules" | "hazards"> {
  const rules = new Set<number>();
  const hazards = new Set<number>();
  let [first, last] = [1, 0];
  for (const line of text.split("\n")) {
    const hazard = /^### Hazard (\d+): /.exec(line);
    if (hazard) hazards.add(Number(hazard[1]));
    const rule = /^### Rule (\d+): /.exec(line);
    if (rule) rules.add(Number(rule[1]));
    const group = /^### Rules (\d+)–(\d+): /.exec(line);
    if (group) [first, last] = [Number(group[1]), Number(group[2])];
    else if (line.startsWith("#")) [first, last] = [1, 0];
    const item = Number(/^(\d+)\. /.exec(line)?.[1] ?? Number.NaN);
    if (item >= first && item <= last) rules.add(item);
  }
  return { rules, hazards };
}

/** The invariants of the README: list items `- **I1 unique.** …`. */
export function invariantsOf(readme: string): Set<number> {
  return new Set([...readme.matchAll(/^- \*\*I(\d+) /gm)].map((match) => Number(match[1])));
}

/** Sections of pages that the project does not have; sections of an RFC are public. */
export function outsideCitations({ path, text }: Citing): string[] {
  const cited = /(?<!\bRFC \d{1,5},? )§ ?[\d.]*\d|\b(?:PROTOCOL|DESIGN)(?= (?:rules?|hazards?)\b|[).,;]| §)|\bof PROTOCOL\b/g;
  return [...unwrapped(text).matchAll(cited)].map(
    (match) =>
      `${at(path, text, match.index)} cites "${match[0]}", a page that the project does not have: name a heading of docs/, a KEP or upstream's file`,
  );
}

/** For each hazard the files of its sentence "Shown by `a`, `b`." that have no test of its name (`hazard 7: …`). */
export function untestedHazards(protocol: string, textOf: (path: string) => string | undefined): string[] {
  const sections = protocol.split(/^### Hazard (?=\d+: )/m).slice(1);
  return sections.flatMap((section) => {
    const number = /^\d+/.exec(section)?.[0] ?? "";
    const shown = /Shown by ([^.]*(?:\.test\.ts[^.]*)*)\./.exec(section)?.[1] ?? "";
    return [...shown.matchAll(/`([^`]+)`/g)]
      .map(([, path = ""]) => path)
      .filter((path) => !new RegExp(`\\bhazard ${number}:`).test(textOf(path) ?? ""))
      .map(
        (path) => `docs/internals/protocol.md says that ${path} shows hazard ${number}, and no test there is named "hazard ${number}: …"`,
      );
  });
}

/**
 * Links of a page to files of the project, and paths that it names in backquotes.
 *
 * @param textOf the text of a file of the project, undefined when there is none; a folder has the text ""
 */
export function linkFindings({ path, text }: Citing, textOf: (path: string) => string | undefined): string[] {
  const findings: string[] = [];
  const prose = withoutCode(text);
  for (const match of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
    const [target = "", anchor] = (match[1] ?? "").split("#");
    if (/^[a-z]+:/.test(target)) continue;
    const file = target === "" ? path : joined(path, target);
    const there = file === path ? text : textOf(file);
    if (there === undefined) findings.push(`${at(path, text, match.index)} links to ${file}, which does not exist`);
    else if (anchor !== undefined && !anchorsOf(there).has(anchor)) {
      findings.push(`${at(path, text, match.index)} links to ${file}#${anchor}, and no heading there has this anchor`);
    }
  }
  for (const match of prose.matchAll(/`((?:src|durable-objects|scripts|test|docs)\/[\w./{},*-]+)`/g)) {
    const missing = alternatives(match[1] ?? "").find((name) => !name.includes("*") && textOf(name.replace(/\/$/, "")) === undefined);
    if (missing !== undefined) findings.push(`${at(path, text, match.index)} names ${missing}, which does not exist`);
  }
  return findings;
}

/** Pages that a comment names and that do not exist. `textOf` as for `linkFindings`. */
export function pageFindings({ path, text }: Citing, textOf: (path: string) => string | undefined): string[] {
  return [...text.matchAll(/(?:\bdocs\/(?:[\w-]+\/)*[\w-]+|(?<![\w/])(?:CONTRIBUTING|SECURITY))\.md\b/g)]
    .filter(([page]) => textOf(page) === undefined)
    .map((match) => `${at(path, text, match.index)} names ${match[0]}, which does not exist`);
}

/** Anchors of a page's headings, as the usual hosts make them. */
function anchorsOf(text: string): Set<string> {
  const headings = withoutCode(text).matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replace(/\s/g, "-"),
    ),
  );
}

/** `a.{b,c}.d` names two files. */
export function alternatives(name: string): string[] {
  const braces = /^(.*?)\{([^}]*)\}(.*)$/.exec(name);
  if (!braces) return [name];
  const [, before = "", inside = "", after = ""] = braces;
  return inside.split(",").flatMap((part) => alternatives(before + part + after));
}

/** Fenced blocks become blank lines, so that line numbers stay. */
function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, " "));
}

function joined(from: string, target: string): string {
  const parts = from.split("/").slice(0, -1);
  for (const part of target.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

function numbered({ path, text }: Citing, citable: Citable): string[] {
  return [...unwrapped(text).matchAll(/\b(rule|hazard)s? +(\d+(?:(?: *[–-] *|, +|,? +(?:and|or|to) +)\d+)*)/gi)].flatMap((match) => {
    const kind = (match[1] ?? "").toLowerCase();
    const known = kind === "rule" ? citable.rules : citable.hazards;
    return numbersIn(match[2] ?? "")
      .filter((number) => !known.has(number))
      .map((number) => `${at(path, text, match.index)} cites ${kind} ${String(number)}, which docs/internals/protocol.md does not have`);
  });
}

function invariants({ path, text }: Citing, citable: Citable): string[] {
  return [...text.matchAll(/(?<![\w.$-])I(\d)(?![\w(.])/g)]
    .filter((match) => !citable.invariants.has(Number(match[1])))
    .map((match) => `${at(path, text, match.index)} cites I${match[1] ?? ""}, which README.md does not have`);
}

/** "1–3, 13" → 1, 2, 3, 13 */
function numbersIn(list: string): number[] {
  return [...list.matchAll(/(\d+)(?: *(?:[–-]|to) *(\d+))?/g)].flatMap(([, first, last]) => {
    const from = Number(first);
    return Array.from({ length: Math.max(1, Number(last ?? from) - from + 1) }, (_, i) => from + i);
  });
}

/** A comment or paragraph in one line, each character at its place: a citation may be wrapped. */
function unwrapped(text: string): string {
  return text.replace(/\n[ \t]*(?:\*(?!\/)|\/\/)?[ \t]*/g, (gap) => " ".repeat(gap.length));
}

function at(path: string, text: string, index: number): string {
  return `${path}:${String(text.slice(0, index).split("\n").length)}`;
}
