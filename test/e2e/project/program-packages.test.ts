/** The packages of programs for users: those of an installation that serves. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lockedPackages, nameOf } from "../../../scripts/dependencies/locked";
import { requirePackage, root } from "../../../scripts/running/root.mjs";
import { buildSync } from "../../../scripts/running/compiler.mjs";
import { isForDevelopment } from "../../../scripts/running/run-program.mjs";

const { scripts } = requirePackage("./package.json") as { scripts: Record<string, string> };
const programs = Object.values(scripts)
  .flatMap((command) => /scripts\/run\.mjs (scripts\/[\w-]+\/[\w-]+\.ts)/.exec(command)?.[1] ?? [])
  .filter((path) => !isForDevelopment(join(root, path)));

it("programs for users: import packages of an installation that serves, and no others", () => {
  const users = ["serve", "check", "backup", "restore", "import", "token", "agent", "dns", "proxy"].map(
    (name) => `scripts/commands/${name}.ts`,
  );
  expect(programs).toEqual(expect.arrayContaining(users));
  const { metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: programs,
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

it("each npm script names a program that there is; those of builders and deploy need the packages for development", () => {
  const paths = Object.values(scripts).flatMap((command) => /scripts\/run\.mjs (\S+\.ts)/.exec(command)?.[1] ?? []);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(["dev/bench", "commands/deploy", "commands/serve"].map((name) => isForDevelopment(join(root, "scripts", `${name}.ts`)))).toEqual([
    true,
    true,
    false,
  ]);
});
