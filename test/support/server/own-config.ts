/** Configurations of servers under test, made from wrangler.toml. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { root } from "../../../scripts/running/root.mjs";
import { removeFolder, temporaryFolder } from "./server";

/** A server whose crons repair nothing during a test. */
export function configWithoutCrons(): string {
  return ownConfig(/^crons = .*$/m, "crons = []");
}

/** A server with variables that wrangler.toml does not have, as secrets of a deployment. */
export function configWith(vars: Readonly<Record<string, string>>): string {
  const lines = Object.entries(vars).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return ownConfig(/^\[vars\]$/m, ["[vars]", ...lines].join("\n"));
}

/** Writes wrangler.toml with `text` in place of what matches, for as long as the tests run, and returns its path. */
function ownConfig(pattern: RegExp, text: string): string {
  const folder = temporaryFolder();
  afterAll(() => removeFolder(folder));
  let whole = readFileSync(join(root, "wrangler.toml"), "utf8");
  for (const [replaced, by] of [
    [pattern, () => text],
    [/^main = "(.*)"$/m, (_: string, main: string) => `main = "${root}/${main}"`],
  ] as const) {
    if (!replaced.test(whole)) throw new Error(`wrangler.toml has nothing like ${String(replaced)}`);
    whole = whole.replace(replaced, by);
  }
  const path = join(folder, "wrangler.toml");
  writeFileSync(path, whole);
  return path;
}
