/** The text of a configuration: TOML, or JSON with comments, as wrangler takes both. */
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { type ParseError, parse as parseJson, printParseErrorCode } from "jsonc-parser";
import { parse as parseToml, TomlError } from "smol-toml";
import { isTable, type Table } from "./fields";

/** Throws an error of one line for a file that is no configuration. */
export function readTable(path: string): Table {
  const text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  const value = parsed(text, extname(path));
  if (!isTable(value)) throw new Error("must be a table of fields");
  return value;
}

function parsed(text: string, ending: string): unknown {
  if (ending === ".toml") {
    try {
      return parseToml(text);
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const [reason = ""] = error.message.split("\n", 1);
      throw new Error(`line ${String(error.line)}: ${reason}`, { cause: error });
    }
  }
  if (ending !== ".json" && ending !== ".jsonc") throw new Error("the name must end in .toml, .json or .jsonc");
  const errors: ParseError[] = [];
  const value: unknown = parseJson(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first) throw new Error(`line ${String(text.slice(0, first.offset).split("\n").length)}: ${printParseErrorCode(first.error)}`);
  return value;
}
