/** The configuration of a server whose crons repair nothing during a test. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { removeFolder, temporaryFolder } from "./server";

const root = join(import.meta.dirname, "..", "..", "..");

/** Writes wrangler.toml without its crons, for as long as the tests run, and returns its path. */
export function configWithoutCrons(): string {
  const folder = temporaryFolder();
  afterAll(() => removeFolder(folder));
  const text = readFileSync(join(root, "wrangler.toml"), "utf8");
  const withoutCrons = text.replace(/^crons = .*$/m, "crons = []").replace(/^main = "(.*)"$/m, `main = "${root}/$1"`);
  if (withoutCrons.split(/^crons = \[\]$|^main = "\//m).length !== 3) throw new Error("wrangler.toml has no crons or no main");
  const path = join(folder, "wrangler.toml");
  writeFileSync(path, withoutCrons);
  return path;
}
