/**
 * Facts of source files, kept between runs in one file. The key of an entry is a hash of everything that the facts follow from: the text, the
 * program that reads it, and the version of the parser. So an entry is right or not found. A damaged file is the same as none.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Facts } from "./facts";

export interface Text {
  path: string;
  text: string;
}

export interface Keeping {
  /** the file that keeps the facts */
  file: string;
  /** what the facts follow from besides the text: the parser and the program that asks it */
  parser: string;
  /** Called for a text whose facts are not kept. */
  parse: (path: string, text: string) => Facts;
}

/** The facts of each text, in the order of the texts. Keeps those of these texts alone. */
export function keptFacts(texts: readonly Text[], { file, parser, parse }: Keeping): Facts[] {
  const before = readKept(file);
  const after: Record<string, Facts> = {};
  let isNew = false;
  const found = texts.map(({ path, text }) => {
    const key = hash(`${parser}\n${path.endsWith(".d.ts") ? "declarations" : "code"}\n${text}`);
    let facts = before.get(key);
    if (!facts) {
      facts = parse(path, text);
      isNew = true;
    }
    after[key] = facts;
    return facts;
  });
  if (isNew) write(file, after);
  return found;
}

function readKept(file: string): Map<string, Facts> {
  try {
    const { sum, facts } = JSON.parse(readFileSync(file, "utf8")) as { sum: string; facts: Record<string, Facts> };
    if (sum === hash(JSON.stringify(facts))) return new Map(Object.entries(facts));
  } catch {
    // There is none, or it is damaged.
  }
  return new Map();
}

/** Whoever reads at the same time sees the whole file of before or of after. A run without room or right to write keeps nothing. */
function write(file: string, facts: Record<string, Facts>): void {
  const own = `${file}.${String(process.pid)}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(own, JSON.stringify({ sum: hash(JSON.stringify(facts)), facts }));
    renameSync(own, file);
  } catch {
    removeIfThere(own);
  }
}

function removeIfThere(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Its folder is none.
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
