/** The files of a dump, JSON or YAML, as documents. */
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import type { DumpDocument } from "../../src/tools/import/dump";
import { userPath } from "../folders/user-path";
import { UserError } from "../terminal/user-error";

const STANDARD_INPUT = "-";

/** Throws UserError for a file that cannot be read, before anything is imported. */
export function readFiles(files: readonly string[]): DumpDocument[] {
  return files.flatMap((file) => {
    const source = file === STANDARD_INPUT ? "the standard input" : file;
    return parse(source, textOf(file, source)).map((value) => ({ source, value }));
  });
}

function textOf(file: string, source: string): string {
  try {
    return readFileSync(file === STANDARD_INPUT ? 0 : userPath(file), "utf8");
  } catch (error) {
    throw new UserError(`${source} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parse(source: string, text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch (error) {
    // A part of JSON that is cut short is valid YAML: the error of the JSON reader is more precise.
    if (text.trimStart().startsWith("{")) throw new UserError(`${source} is no JSON: ${error instanceof Error ? error.message : ""}`);
  }
  return [...parseAllDocuments(text)].map((document): unknown => {
    const [fatal] = document.errors;
    if (fatal) throw new UserError(`${source} is neither JSON nor YAML: ${fatal.message.split("\n")[0] ?? ""}`);
    return document.toJS();
  });
}
