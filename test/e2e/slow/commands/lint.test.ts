/** The bans of eslint.config.js and .oxlintrc.json; what the tools keep between runs hides no finding. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ESLint } from "eslint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeFolder, temporaryFolder } from "../../../support/server/server";
import { root } from "../../../../scripts/running/root.mjs";

const bin = (name: string) => join(root, "node_modules", ".bin", name);

/** Bans of eslint.config.js are tried on code that breaks them as if it stood in an existing file. */
let eslint: ESLint;
beforeAll(() => {
  eslint = new ESLint();
});

const pure = "src/core/base/result.ts";
const shell = "durable-objects/platform/ports.ts";

describe("lint", () => {
  it.each([
    ["the clock", pure, "export const t = Date.now();", "Clock port"],
    ["the clock by construction", pure, "export const t = new Date();", "Clock port"],
    ["timers", pure, "setTimeout(() => undefined, 1);", "Clock port"],
    ["ambient randomness", pure, "export const r = Math.random();", "Random port"],
    ["ambient UUIDs", pure, "export const r = crypto.randomUUID();", "Random port"],
    ["console", pure, 'console.log("x");', "Recorder port"],
    ["an import that goes up", pure, 'import "../../api/store/store-engine";', "imports only go down"],
    ["a client of the server in the server", shell, 'import "../../src/clients/agent/ports/api-client";', "only scripts import a client"],
    ["an import of tests", pure, 'import "../../../support/checks/checkers";', "nothing below imports scripts or tests"],
    ["the platform in pure code", pure, 'import "cloudflare:workers";', "pure code knows no platform"],
    ["loose address parsing outside src/core/net", pure, 'import ipaddr from "ipaddr.js"; export const x = ipaddr;', "one strict parser"],
    ["a package outside the table", shell, 'import "left-pad";', "not in the table of packages"],
    ["unconfirmed writes", shell, "export const o = { allowUnconfirmed: true };", "survive a crash"],
    ["unconfirmed writes by quoted name", shell, 'export const o = { "allowUnconfirmed": true };', "survive a crash"],
    ["an open input gate", shell, "export const o = { allowConcurrency: true };", "survive a crash"],
    [
      "an async transaction",
      shell,
      "export const f = (s: DurableObjectStorage) => s.transactionSync(async () => { await Promise.resolve(); });",
      "takes synchronous code only",
    ],
    ["any", shell, "export const x: any = 1;", "Unexpected any"],
  ])("%s: refused", async (_name, filePath, code, message) => {
    const [result] = await eslint.lintText(`${code}\n`, { filePath });
    expect(result?.messages.map((m) => m.message).join("\n")).toContain(message);
  });

  it("explicit times and imports of lower layers: accepted", async () => {
    const [result] = await eslint.lintText('import { ok } from "../base/result";\nexport const t = ok(new Date(0));\n', {
      filePath: "src/core/net/family.ts",
    });
    expect(result?.messages).toEqual([]);
  });
});

const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

describe("lint with types", () => {
  const head = 'import { f } from "./f";\n';

  function lint(code: string, f = "export async function f(): Promise<number> {\n  return Promise.resolve(1);\n}\n"): string {
    write("types/tsconfig.json", '{ "compilerOptions": { "strict": true, "lib": ["es2024"], "types": [] }, "include": ["*.ts"] }');
    write("types/f.ts", f);
    write("types/a.ts", head + code);
    const args = ["--type-aware", "--deny-warnings", "-c", join(root, ".oxlintrc.json"), "--format", "unix", "a.ts"];
    const { status, stdout } = spawnSync(bin("oxlint"), args, {
      cwd: join(folder, "types"),
      encoding: "utf8",
      env: { ...process.env, OXLINT_TSGOLINT_PATH: bin("tsgolint") },
    });
    expect(status).toBe(stdout.includes("a.ts:") ? 1 : 0);
    return stdout;
  }

  it.each([
    ["a floating promise", "f();", "Promises must be awaited"],
    ["a promise as a condition", "export const x = f() ? 1 : 2;", "no-misused-promises"],
    ["a promise where nothing is awaited", "[1].forEach(async () => { await f(); });", "no-misused-promises"],
    ["an await of a value", "export const x = async () => { await 1; return f; };", "await-thenable"],
    ["a text that is thrown", 'export const x = () => { if (f) throw "x"; };', "only-throw-error"],
    [
      "a switch without one of the cases",
      'export const x = (k: "a" | "b") => { switch (k) { case "a": return f; } return 1; };',
      "switch-exhaustiveness-check",
    ],
  ])("%s: refused", (_name, code, message) => {
    expect(lint(`${code}\n`)).toContain(message);
  });

  it("change of another file that makes a call float: found", () => {
    expect(lint("f();\n", "export function f(): number {\n  return 1;\n}\n")).toBe("");
    expect(lint("f();\n")).toContain("Promises must be awaited");
  });
});

describe("results that ESLint keeps", () => {
  it("changed file, changed table of layers, damaged results: nothing is hidden", async () => {
    const kept = join(folder, "kept");
    const table = (name: string) => ({
      files: ["**/*.js"],
      plugins: { own: { meta: { name: "own", version: name }, rules: { ban: banOf(name) } } },
      rules: { "own/ban": "error" as const },
    });
    const banOf = (name: string) => ({
      create: (context: { report(finding: { node: never; message: string }): void }) => ({
        Identifier: (node: { name: string }) => {
          if (node.name === name) context.report({ node: node as never, message: `banned: ${name}` });
        },
      }),
    });
    const findings = async (name: string) => {
      const options = {
        cwd: folder,
        cache: true,
        cacheStrategy: "content" as const,
        cacheLocation: kept,
        overrideConfigFile: true as const,
      };
      const results = await new ESLint({ ...options, overrideConfig: [table(name) as never] }).lintFiles(["a.js"]);
      return results.flatMap(({ messages }) => messages.map(({ message }) => message));
    };
    write("a.js", "one();\n");
    expect(await findings("two")).toEqual([]);
    expect(await findings("one")).toEqual(["banned: one"]);
    expect(await findings("two")).toEqual([]);
    write("a.js", "two();\n");
    expect(await findings("two")).toEqual(["banned: two"]);
    for (const damaged of ["", "{", "null"]) {
      writeFileSync(kept, damaged);
      expect(await findings("two")).toEqual(["banned: two"]);
    }
  });

  it("plugin of the layers: its version follows from the table and the rules", async () => {
    const config = (await new ESLint({ cwd: root }).calculateConfigForFile(pure)) as {
      plugins: Record<string, { meta?: { version?: string } }>;
    };
    expect(config.plugins["servicenet"]?.meta?.version).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("results that prettier keeps", () => {
  it("changed file, changed options, damaged results: nothing is hidden", () => {
    const kept = join(folder, "format");
    const format = () => {
      const args = ["--check", "--cache", "--cache-strategy", "content", "--cache-location", kept, "formatted.js"];
      return spawnSync(bin("prettier"), args, { cwd: folder, encoding: "utf8" }).status;
    };
    write("formatted.js", "one(1, 2);\n");
    expect([format(), format()]).toEqual([0, 0]);
    write("formatted.js", "one(1,  2);\n");
    expect([format(), format()]).toEqual([1, 1]);
    write("formatted.js", "one(1, 2);\n");
    expect(format()).toBe(0);
    write(".prettierrc.json", '{ "semi": false }\n');
    expect(format()).toBe(1);
    for (const damaged of ["", "{", "null"]) {
      writeFileSync(kept, damaged);
      expect(format()).not.toBe(0);
    }
  });
});
