/** The libraries of the package: the programs of the pages that import them, compiled with the types of the tarball, and run. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import packageJson from "../../../../package.json" with { type: "json" };
import { root } from "../../../../scripts/running/root.mjs";
import { installedPackage, type InstalledPackage, NODES, TSX } from "../../../support/package/installed-package";
import { startCommand } from "../../../support/server/program";
import { getJson, removeFolder, temporaryFolder } from "../../../support/server/server";
import { serverForTests } from "../../../support/server/server-for-tests";

const LIBRARIES = Object.keys(packageJson.exports).filter((name) => name !== "./package.json");
const folder = temporaryFolder();
let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installedPackage(folder);
  // What a reader may have beside the package.
  for (const name of ["@types/node", "undici-types", "@kubernetes/client-node", "vitest"]) {
    const path = join(installed.project, "node_modules", name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(root, "node_modules", name), path);
  }
}, 600_000);
afterAll(() => removeFolder(folder));

/** Name -> text of the programs of a page. */
function programsOn(page: string): [string, string][] {
  const text = readFileSync(join(root, "docs", page), "utf8");
  const found = text.matchAll(/as `([\w.-]+\.ts)`(?:(?!```)[\s\S])*```ts\n([\s\S]*?)```/g);
  return [...found].map(([, name = "", code = ""]): [string, string] => [name, code]);
}

/** What the compiler says of these programs. */
function compiled(name: string, programs: readonly [string, string][], options: object): string {
  const program = join(installed.project, name);
  mkdirSync(program);
  for (const [file, code] of programs) writeFileSync(join(program, file), code);
  const compilerOptions = { target: "es2023", lib: ["es2023"], types: ["node"], strict: true, noEmit: true, ...options };
  writeFileSync(join(program, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const compiler = join(root, "node_modules", "typescript-native", "bin", "tsc");
  return spawnSync(process.execPath, [compiler, "-p", program], { encoding: "utf8" }).stdout;
}

const PAGES = ["allocator.md", "ranges.md", "leader-election.md", "proxies.md", "install.md", "testing.md"];

it("programs of the pages: import each library, and compile with the types of the tarball", () => {
  const programs = PAGES.flatMap(programsOn);
  for (const library of LIBRARIES) expect(programs.map(([, code]) => code).join("")).toContain(`from "servicenet${library.slice(1)}"`);
  expect(compiled("pages", programs, { module: "esnext", moduleResolution: "bundler", skipLibCheck: true })).toBe("");
});

it("types of the tarball: whole by themselves, as Node's own modules resolve them", () => {
  const imports = LIBRARIES.map((name, i) => `import * as l${String(i)} from "servicenet${name.slice(1)}";\nexport { l${String(i)} };\n`);
  expect(
    compiled("all", [["all.ts", imports.join("")]], { module: "nodenext", skipLibCheck: false, exactOptionalPropertyTypes: true }),
  ).toBe("");
});

it("a wrong use: the compiler says so, where the types are those of the tarball", () => {
  const wrong = `import { MetaAllocator } from "servicenet/allocator";\nnew MetaAllocator("IPv5", { random: { next: () => 0 }, clock: { now: () => 0 } });\n`;
  expect(compiled("wrong", [["wrong.ts", wrong]], { module: "nodenext" })).toMatch(/'"IPv5"' is not assignable to .*Family/);
});

it("JavaScript of the libraries: imports nothing but its own parts", () => {
  const lib = join(installed.folder, "dist", "lib");
  const texts = readdirSync(lib)
    .filter((name) => name.endsWith(".js"))
    .map((name) => readFileSync(join(lib, name), "utf8"));
  const imported = texts.flatMap((text) => [...text.matchAll(/^(?:import|export)\b[^"';]*["']([^"']+)["']|\brequire\(["']([^"']+)/gm)]);
  expect(imported.map(([, from, required]) => from ?? required).filter((name) => !name?.startsWith("./"))).toEqual([]);
});

it.each(NODES)("JavaScript of the libraries on %s: loads without a compiler, and gives out an address", (node) => {
  const program = `
    import { MetaAllocator } from "servicenet/allocator";
    ${LIBRARIES.map((name) => `await import("servicenet${name.slice(1)}");`).join("\n")}
    const allocator = new MetaAllocator("IPv4", { random: { next: Math.random, below: () => 0n }, clock: { now: Date.now } });
    allocator.setRanges([{ cidr: "10.0.0.0/28", ready: true }]);
    console.log(allocator.allocate("10.0.0.5").value.address);`;
  writeFileSync(join(installed.project, "all.mjs"), program);
  const { stdout, stderr } = spawnSync(node, ["all.mjs"], { cwd: installed.project, encoding: "utf8" });
  expect([stdout, stderr]).toEqual(["10.0.0.5\n", ""]);
});

describe("docs/install.md", () => {
  const server = serverForTests();

  it("program of the page: the one that the compiler checks", () => {
    expect(programsOn("install.md")).toEqual([["machine.ts", readFileSync(join(root, "test/support/examples/machine.ts"), "utf8")]]);
  });

  it("command of the page: makes a node, which Ctrl-C takes away", async () => {
    for (const [name, code] of programsOn("install.md")) writeFileSync(join(installed.project, name), code);
    const [, command = "", prints = ""] =
      /```sh\nnpx tsx (machine.*)\n```\n\n```text\n([\s\S]*?)```/.exec(readFileSync(join(root, "docs/install.md"), "utf8")) ?? [];
    const words = command.split(" ").map((word) => word.replace("http://127.0.0.1:8787", server.url));
    expect(words).toContain(server.url);
    const machine = await startCommand(process.execPath, [TSX, ...words], /is a node\n/, installed.project);
    expect(machine.output()).toBe(prints);
    const node = `${server.url}/api/v1/nodes/machine-1`;
    expect(await getJson(node)).toMatchObject({
      status: { addresses: expect.arrayContaining([{ type: "InternalIP", address: "192.0.2.1" }]) },
    });
    expect(await machine.stop()).toBe(0);
    expect((await fetch(node)).status).toBe(404);
  });
});
