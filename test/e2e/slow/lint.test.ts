import { ESLint } from "eslint";
import { beforeAll, describe, expect, it } from "vitest";

/** The bans of eslint.config.js, tried on code that breaks them as if it stood in an existing file. */
let eslint: ESLint;
beforeAll(() => {
  eslint = new ESLint();
});

const pure = "src/core/base/result.ts";
const shell = "durable-objects/ports.ts";

describe("lint", () => {
  it.each([
    ["the clock", pure, "export const t = Date.now();", "Clock port"],
    ["the clock by construction", pure, "export const t = new Date();", "Clock port"],
    ["timers", pure, "setTimeout(() => undefined, 1);", "Clock port"],
    ["ambient randomness", pure, "export const r = Math.random();", "Random port"],
    ["ambient UUIDs", pure, "export const r = crypto.randomUUID();", "Random port"],
    ["console", pure, 'console.log("x");', "Recorder port"],
    ["an import that goes up", pure, 'import "../../api/store/store-engine";', "imports only go down"],
    ["a client of the server in the server", shell, 'import "../src/agent/ports/api-client";', "only scripts import a client"],
    ["an import of tests", pure, 'import "../../../test/support/checks/checkers";', "nothing below imports scripts or tests"],
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
    ["a floating promise", shell, "const f = async () => {}; f();", "Promises must be awaited"],
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
