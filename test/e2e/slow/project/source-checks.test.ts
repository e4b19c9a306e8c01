/** What checks keep between runs never hides a finding: neither in a file that changed, nor one that a change of another file causes. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { factsIn } from "../../../../scripts/dev/sources/facts";
import { keptFacts } from "../../../../scripts/dev/sources/kept-facts";
import { readSources } from "../../../../scripts/dev/sources/read";
import { sourceChecks } from "../../../../scripts/dev/testing/source-checks";
import { deadCode } from "../../../../scripts/dev/tidy/dead-code";
import { checkTypes } from "../../../../scripts/dev/types/run";
import { removeFolder, temporaryFolder } from "../../../support/server/server";

let root: string;
const folders: string[] = [];
beforeEach(() => {
  root = temporaryFolder();
  folders.push(root);
});
afterAll(() => folders.forEach(removeFolder));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

describe("facts of source files", () => {
  it("exports, imports and names of upstream's rows: read from the text", () => {
    const text = [
      'import { a as b } from "./a";',
      'export * from "./b";',
      'export const c = await import("./c"), d = 1;',
      'export type E = import("./e").E;',
      'test(upstreamRow("one"), () => upstreamRow(d));',
    ].join("\n");
    expect(factsIn("x.test.ts", text)).toEqual({
      exports: [
        { name: "c", line: 3, isType: false },
        { name: "d", line: 3, isType: false },
        { name: "E", line: 4, isType: true },
      ],
      imports: [
        { specifier: "./a", names: ["a"] },
        { specifier: "./b", names: ["*"] },
        { specifier: "./c", names: ["*"] },
        { specifier: "./e", names: ["*"] },
      ],
      types: [{ name: "E", line: 4, isExported: true }],
      comments: [],
      upstreamRows: ["one", null],
    });
  });

  const texts = [
    { path: "a.ts", text: "export const a = 1;" },
    { path: "b.ts", text: "export const b = 1;" },
  ];

  /** Paths of the files that were parsed. */
  function parsed(files = texts, parser = "1"): string[] {
    const paths: string[] = [];
    const parse = (path: string, text: string) => {
      paths.push(path);
      return factsIn(path, text);
    };
    const facts = keptFacts(files, { file: join(root, "kept", "facts.json"), parser, parse });
    expect(facts).toEqual(files.map(({ path, text }) => factsIn(path, text)));
    return paths;
  }

  it("kept facts: used for the same text, not for another one and not for another parser", () => {
    expect(parsed()).toEqual(["a.ts", "b.ts"]);
    expect(parsed()).toEqual([]);
    const changed = [{ path: "a.ts", text: "export const z = 1;" }, ...texts.slice(1)];
    expect(parsed(changed)).toEqual(["a.ts"]);
    expect(parsed(changed, "2")).toEqual(["a.ts", "b.ts"]);
  });

  it("text that moves to another file: its facts move with it; declarations are apart", () => {
    parsed();
    const [a = { path: "", text: "" }] = texts;
    expect(parsed([{ ...a, path: "c.ts" }])).toEqual([]);
    expect(parsed([{ ...a, path: "c.d.ts" }])).toEqual(["c.d.ts"]);
  });

  it.each([
    ["empty", () => ""],
    ["cut off", (text: string) => text.slice(0, 100)],
    ["no object", () => "null"],
    ["changed inside", (text: string) => text.replace('"name":"a"', '"name":"x"')],
  ])("kept facts that are damaged (%s): ignored", (_what, damaged) => {
    parsed();
    const file = join(root, "kept", "facts.json");
    writeFileSync(file, damaged(readFileSync(file, "utf8")));
    expect(parsed()).toEqual(["a.ts", "b.ts"]);
    expect(parsed()).toEqual([]);
  });

  it("folder that cannot be made: nothing is kept, nothing fails", () => {
    write("kept", "a file");
    expect(parsed()).toEqual(["a.ts", "b.ts"]);
    expect(parsed()).toEqual(["a.ts", "b.ts"]);
  });

  it("finding in a changed file, and one that a change of another file causes: both found after a run that kept facts", () => {
    write("src/a.ts", "export const a = 1;\n");
    write("test/b.test.ts", 'import { a } from "../src/a";\nprint(a);\n');
    expect(deadCode(readSources(root))).toEqual([]);
    write("src/a.ts", "export const a = 1;\n\nexport const c = 1;\n");
    expect(deadCode(readSources(root))).toEqual(["src/a.ts:3 exports c, which nobody imports"]);
    write("src/a.ts", "export const a = 1;\n");
    expect(deadCode(readSources(root))).toEqual([]);
    write("test/b.test.ts", "print(1);\n");
    expect(deadCode(readSources(root))).toEqual(["src/a.ts is reached by no import"]);
    write("test/b.test.ts", 'import { a } from "../src/a";\nprint(a);\n');
    write("src/a/index.ts", "export const a = 1;\n");
    expect(deadCode(readSources(root))).toEqual(["src/a/index.ts is reached by no import"]);
  });
});

describe("types", () => {
  const types = async () => {
    const { code, output } = await checkTypes(root, ["."]);
    const lines = output.match(/\w+\.ts\(\d+,\d+\): error \w+/g) ?? [];
    expect(code).toBe(lines.length === 0 ? 0 : 1);
    return lines.sort();
  };
  const kept = () => join(root, ".cache", "checks", "types", "worker.tsbuildinfo");
  beforeEach(() => {
    write(
      "tsconfig.json",
      '{ "compilerOptions": { "strict": true, "noEmit": true, "lib": ["es5"], "types": [] }, "files": ["a.ts", "b.ts"] }',
    );
    write("a.ts", "export const a: number = 1;\n");
    write("b.ts", 'import { a } from "./a";\nexport const b: number = a;\n');
  });

  it("finding in a changed file, and one that a change of another file causes: both found after a run that kept its results", async () => {
    expect(await types()).toEqual([]);
    expect(readFileSync(kept(), "utf8")).toContain("a.ts");
    write("a.ts", 'export const a: string = "";\n');
    expect(await types()).toEqual(["b.ts(2,14): error TS2322"]);
    expect(await types()).toEqual(["b.ts(2,14): error TS2322"]);
    write("b.ts", 'import { a } from "./a";\nexport const b: string = c;\n');
    expect(await types()).toEqual(["b.ts(2,26): error TS2304"]);
  });

  it("other options, and results that are damaged: nothing of before is used", async () => {
    expect(await types()).toEqual([]);
    const whole = readFileSync(kept(), "utf8");
    write("tsconfig.json", '{ "compilerOptions": { "noUnusedLocals": true, "noEmit": true, "types": [] }, "files": ["a.ts", "b.ts"] }');
    write("b.ts", "const b = 1;\nexport {};\n");
    expect(await types()).toEqual(["b.ts(1,7): error TS6133"]);
    for (const damaged of ["", whole.slice(0, whole.length / 2), "null"]) {
      writeFileSync(kept(), damaged);
      expect(await types()).toEqual(["b.ts(1,7): error TS6133"]);
    }
  });
});

describe("checks of a test run", () => {
  const printing = (text: string, code: number) => [
    process.execPath,
    "-e",
    `console.error("warning"); console.log(${JSON.stringify(text)}); process.exitCode = ${String(code)}`,
  ];
  const passed = { name: "tidy", passed: true, ms: 1, output: "" };

  it("each check: counted by its name", async () => {
    const checks = [passed, { name: "types", passed: false, ms: 1, output: "a.ts(1,1): error" }];
    expect(await sourceChecks(printing(JSON.stringify(checks), 1))).toEqual([
      { passed: 1, failed: 0, failures: [] },
      { passed: 0, failed: 1, failures: ["types"] },
    ]);
  });

  it.each([
    ["ends without an answer", printing("Error: no", 1), 0],
    ["answers something else", printing("7", 0), 0],
    ["fails after an answer without a finding", printing(JSON.stringify([passed]), 1), 1],
  ])("program that %s: a failure", async (_what, command, count) => {
    const counts = await sourceChecks(command);
    expect(counts.at(-1)).toEqual({ passed: 0, failed: 1, failures: ["checks of the sources"] });
    expect(counts).toHaveLength(count + 1);
  });
});
