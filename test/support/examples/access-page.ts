/** The recipes of docs/access.md, for the tests that run them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const page = readFileSync(join(import.meta.dirname, "..", "..", "..", "docs", "access.md"), "utf8");

/** The one block of this section and language, and with this text in it; `server` is where its commands go. */
export function recipe(section: string, language: string, server: string, having = ""): string {
  const [, text = ""] = new RegExp(`^## ${section}\n([^]*?)(?:^## |(?![^]))`, "m").exec(page) ?? [];
  const blocks = [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].filter(
    ([, own, content]) => own === language && content?.includes(having),
  );
  const [found] = blocks;
  if (found === undefined || blocks.length > 1)
    throw new Error(`docs/access.md: "${section}" has ${String(blocks.length)} blocks "${language}"`);
  return (found[2] ?? "").replaceAll(/https:\/\/(?:127\.0\.0\.1:8787|SERVER)/g, server);
}
