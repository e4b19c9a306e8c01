/** The Worker's bundle that a start leaves for the next one. */
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bundle } from "../../../scripts/serve/bundle";
import { readRuntimeConfig } from "../../../scripts/serve/runtime";
import { removeFolder, temporaryFolder } from "../../support/server/server";

let folder: string;
let root: string;
const kept = () => readdirSync(folder);
const write = (path: string, text: string): void => writeFileSync(join(root, path), text);
const bundled = (define = {}, place = folder): string => bundle({ main: join(root, "src", "main.ts"), define }, [place], root).text;

/** A project of the same folders. */
beforeEach(() => {
  folder = temporaryFolder();
  root = temporaryFolder();
  for (const name of ["src", "durable-objects", "elsewhere"]) mkdirSync(join(root, name));
  for (const name of ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.base.json"]) write(name, "{}");
  write("src/main.ts", 'import { answer } from "../durable-objects/answer"; export default answer;');
  write("durable-objects/answer.ts", "export const answer = 42;");
});
afterEach(() => [folder, root].forEach(removeFolder));

it("the same code: taken from the file of the first bundle", () => {
  const text = bundled();
  const [name = ""] = kept();
  utimesSync(join(folder, name), 1, 1);
  expect(bundled()).toBe(text);
  expect(statSync(join(folder, name)).mtimeMs, "never written again").toBe(1000);
});

it("a bundle with other constants: another file, and files of the day before are deleted", () => {
  bundled();
  const [name = ""] = kept();
  bundled({ SOMETHING: "1" });
  expect(kept()).toHaveLength(2);
  expect(kept()).toContain(name);
  for (const old of kept()) utimesSync(join(folder, old), 1, 1);
  bundled({ SOMETHING: "2" });
  expect(kept()).toHaveLength(1);
});

it("a file that was cut short: built again", () => {
  const text = bundled();
  const [name = ""] = kept();
  truncateSync(join(folder, name), 100);
  expect(bundled()).toBe(text);
  expect(readFileSync(join(folder, name), "utf8")).toContain(text);
});

it.each<[what: string, path: string, text: string]>([
  ["an imported file", "durable-objects/answer.ts", "export const answer = 43;"],
  ["the first file", "src/main.ts", "export default 43;"],
])("%s: another bundle, from then on kept", (_, path, text) => {
  expect(bundled()).toContain("42");
  write(path, text);
  const changed = bundled();
  expect(changed).toContain("43");
  expect(kept()).toHaveLength(2);
  expect(bundled()).toBe(changed);
});

it.each(["package-lock.json", "tsconfig.base.json"])("%s: built anew", async (path) => {
  bundled();
  write(path, '{ "compilerOptions": {} }');
  bundled();
  expect(kept()).toHaveLength(2);
});

it("a file of another folder: not kept, so that its change counts", () => {
  write("elsewhere/answer.ts", "export const answer = 42;");
  write("durable-objects/answer.ts", 'export * from "../elsewhere/answer";');
  expect(bundled()).toContain("42");
  expect(kept()).toEqual([]);
  write("elsewhere/answer.ts", "export const answer = 43;");
  expect(bundled()).toContain("43");
});

it("code outside the project: built each time, from what it is now", () => {
  const main = join(folder, "main.js");
  writeFileSync(main, "export const answer = 42;");
  expect(bundle({ main, define: {} }, [folder]).text).toContain("42");
  writeFileSync(main, "export const answer = 43;");
  expect(bundle({ main, define: {} }, [folder]).text).toContain("43");
  expect(kept()).toEqual(["main.js"]);
});

it("a place that takes no files: built", () => {
  expect(bundled({}, join(root, "src", "main.ts"))).toContain("answer");
});

/** The runtime holds the text as long as it runs, and some copies of it: V8 a byte for each character, or two where one does not fit. */
it("text: in ASCII, whatever comments and regular expressions have, and without a source map", () => {
  write("src/main.ts", "export class Main { /** one … two */ get answer() { return /^[…😀]$/u.test('…'); } }");
  const text = bundled();
  expect(text).not.toMatch(/[\u0080-\uffff]/);
  expect(text).not.toContain("sourceMappingURL");
  expect(text).toContain("/^[\\u2026\\ud83d\\ude00]$/u");
});

it("the Worker itself: at most 3 MiB of code", () => {
  const { text } = bundle(readRuntimeConfig(join(process.cwd(), "wrangler.toml"), {}));
  expect(text.length).toBeLessThan(3 * 2 ** 20);
});
