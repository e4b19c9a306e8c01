/** The packages of programs for users: those of an installation that serves. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lockedPackages, nameOf } from "../../scripts/dependencies/locked";
import { requirePackage, root } from "../../scripts/root.mjs";
import { buildSync } from "../../scripts/running/compiler.mjs";
import { FOR_DEVELOPMENT } from "../../scripts/running/run-program.mjs";

const { scripts } = requirePackage("./package.json") as { scripts: Record<string, string> };
const programs = Object.values(scripts)
  .flatMap((command) => /scripts\/run\.mjs scripts\/([\w-]+)\.ts/.exec(command)?.[1] ?? [])
  .filter((name) => !FOR_DEVELOPMENT.has(name));

it("programs for users: import packages of an installation that serves, and no others", () => {
  expect(programs).toEqual(expect.arrayContaining(["serve", "check", "backup", "restore", "import", "token", "agent", "dns", "proxy"]));
  const { metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: programs.map((name) => `scripts/${name}.ts`),
    outdir: "nowhere",
    // The answer of the compiler has a limit: what programs share is in it once.
    splitting: true,
    bundle: true,
    metafile: true,
    write: false,
    format: "esm",
    platform: "node",
    mainFields: ["module", "main"],
    external: ["miniflare", "esbuild"],
    logLevel: "silent",
  });
  const files = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const names = new Set(files.filter((path) => path.startsWith("node_modules/")).map(nameOf));
  const installed = new Set(lockedPackages(join(root, "package-lock.json")).map(({ name }) => name));
  expect([...names].filter((name) => !installed.has(name))).toEqual([]);
  expect(names).toContain("yaml");
});

it("programs for development: exist", () => {
  expect(readdirSync(join(root, "scripts"))).toEqual(expect.arrayContaining([...FOR_DEVELOPMENT].map((name) => `${name}.ts`)));
});
