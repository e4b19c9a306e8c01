import { describe, expect, it } from "vitest";
import { factsIn } from "../../../scripts/dev/sources/facts";
import {
  citationFindings,
  invariantsOf,
  linkFindings,
  outsideCitations,
  pageFindings,
  protocolEntries,
  untestedHazards,
} from "../../../scripts/dev/tidy/citations";
import { heaps } from "../../../scripts/dev/tidy/heaps";
import { withComputedPart } from "../../../scripts/dev/tidy/computed-part";
import { besidesShells, houseTables, longShells, shellsIn } from "../../../scripts/dev/tidy/house";
import { arrows, circles, layerFindings } from "../../../scripts/dev/tidy/imports";
import { longCommentSentences, longSentences, withoutReader } from "../../../scripts/dev/tidy/pages";
import { glossaryTerms, termFindings } from "../../../scripts/dev/tidy/terms";
import { configuredFindings, variableTable } from "../../../scripts/dev/tidy/variables";
import { repeatedTypeNames } from "../../../scripts/dev/tidy/type-names";
import { CITED_FILES, citedTable, upstreamFindings, type UpstreamModule } from "../../../scripts/dev/tidy/upstream-files";

const protocol = `# Protocol

### Hazard 1: a repeat

Closed by rule 2. Shown by \`test/sim/a.test.ts\`, \`test/object/b.test.ts\`.

### Hazard 2: a late call

Closed by rule 1. Shown by \`test/sim/a.test.ts\`.

### Rules 1–2: tokens

1. One.
2. Two.

### Steps

3. No rule: the list of another heading.

### Rule 20: alone

21. No rule either.
`;
const citable = { ...protocolEntries(protocol), invariants: invariantsOf("- **I1 unique.** …\n- **I2 paired.** …\n") };

describe("citations", () => {
  it("rules and hazards: read from the headings of the protocol's page", () => {
    expect([[...citable.rules], [...citable.hazards], [...citable.invariants]]).toEqual([
      [1, 2, 20],
      [1, 2],
      [1, 2],
    ]);
  });

  it.each([
    ["a rule", "// as rule 7 says", ["a.ts:1 cites rule 7, which docs/internals/protocol.md does not have"]],
    ["a hazard", "\n/** Hazard 3. */", ["a.ts:2 cites hazard 3, which docs/internals/protocol.md does not have"]],
    [
      "rules of a range, one of a list",
      "(rules 1–3, 9)",
      [3, 9].map((n) => `a.ts:1 cites rule ${String(n)}, which docs/internals/protocol.md does not have`),
    ],
    ["rules joined by a word", "rules 2 and 4", ["a.ts:1 cites rule 4, which docs/internals/protocol.md does not have"]],
    [
      "a number on the next line of a comment",
      "/*\n * as rule\n * 15 says */",
      ["a.ts:2 cites rule 15, which docs/internals/protocol.md does not have"],
    ],
    ["an invariant", "// holds I3", ["a.ts:1 cites I3, which README.md does not have"]],
    ["what exists", "// rules 1 and 2, hazard 1, I2", []],
    ["numbers without a kind", "a rule of 17 words; I3(); row I7.x", []],
  ])("citation of %s: found when nothing has the number", (_what, text, findings) => {
    expect(citationFindings([{ path: "a.ts", text }], citable)).toEqual(findings);
  });

  it.each([
    ["a section of a page", "/** As upstream (pages §3.4). */", ["§3.4"]],
    ["a section alone", "// see § 2", ["§ 2"]],
    ["a page by its name", "/* (DESIGN §4, PROTOCOL rule 4) */", ["DESIGN", "§4", "PROTOCOL"]],
    ["a section of an RFC, rules, names in capitals", "RFC 1035 §3.5, rule 1; SQLITE_PROTOCOL, PROTOCOLS, |PROTOCOL|", []],
  ])("citation of %s: found when the page is outside of the project", (_what, text, cited) => {
    const words = outsideCitations({ path: "a.ts", text }).map((finding) => /cites "([^"]+)"/.exec(finding)?.[1]);
    expect(words).toEqual(cited);
  });

  it("hazard without a test of its name: found for each file that should have one", () => {
    const tests: Record<string, string> = {
      "test/sim/a.test.ts": '"hazard 1: x" "hazard 2: y"',
      "test/object/b.test.ts": '"hazard 11: z"',
    };
    expect(untestedHazards(protocol, (path) => tests[path])).toEqual([
      'docs/internals/protocol.md says that test/object/b.test.ts shows hazard 1, and no test there is named "hazard 1: …"',
    ]);
  });
});

describe("citations of upstream's files", () => {
  const moduleOf = (name: string, ...files: string[]): UpstreamModule => ({
    name,
    version: "v1",
    files,
    digest: (file) => `digest of ${file}`,
  });
  const modules = [
    moduleOf("k8s.io/server", "pkg/rest/get.go", "pkg/rest/put.go", "deep/pkg/rest/get.go", "target.go"),
    moduleOf("k8s.io/slices", "get.go", "util/set.go"),
  ];
  const rowsOf = (text: string): string[] =>
    citedTable([{ path: "a.ts", text }], modules)
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((row) => row.replaceAll("\t", " | "));

  it.each([
    ["a path from some folder on", "(server rest/get.go)", ["rest/get.go | k8s.io/server/pkg/rest/get.go | digest of pkg/rest/get.go"]],
    [
      "several files in braces",
      "rest/{get,put}.go",
      ["get", "put"].map((name) => `rest/${name}.go | k8s.io/server/pkg/rest/${name}.go | digest of pkg/rest/${name}.go`),
    ],
    ["a module's name and folder", "slices/util/set.go:12", ["slices/util/set.go | k8s.io/slices/util/set.go | digest of util/set.go"]],
    [
      "the staging folder",
      "staging/src/k8s.io/slices/get.go",
      ["staging/src/k8s.io/slices/get.go | k8s.io/slices/get.go | digest of get.go"],
    ],
    ["the end of a folder's name", "est/get.go", []],
    ["a file that is not there, one of another project, a name alone", "rest/post.go, Go's time/format.go, get.go", []],
  ])("citation of %s: the table has the file that it means", (_what, text, rows) => {
    expect(rowsOf(text)).toEqual(rows);
  });

  it("the table has what is cited, and its versions: nothing is found", () => {
    const files = [{ path: "a.ts", text: "rest/{get,put}.go, Go's time/format.go" }];
    const table = citedTable(files, modules);
    expect(table).toContain("#   k8s.io/server v1\n");
    expect(upstreamFindings(files, table)).toEqual([]);
  });

  it("a citation without a row, a row without a citation: found", () => {
    const table = "# about\nrest/get.go\tk8s.io/server/pkg/rest/get.go\t1\n";
    expect(upstreamFindings([{ path: "a.ts", text: "\n// rest/post.go" }], table)).toEqual([
      `a.ts:2 cites rest/post.go, which ${CITED_FILES} does not have: npm run tidy -- --cited`,
      `${CITED_FILES} has rest/get.go, which nothing cites: npm run tidy -- --cited`,
    ]);
  });
});

describe("links of pages", () => {
  const files: Record<string, string> = { "docs/b.md": "# A `code` heading, 1–2\n", "src/a.ts": "", "src/folder": "" };
  const textOf = (path: string): string | undefined => files[path];
  it.each([
    ["a page that is not there", "[x](c.md)", ["docs/a.md:1 links to docs/c.md, which does not exist"]],
    ["a heading that is not there", "\n[x](b.md#other)", ["docs/a.md:2 links to docs/b.md#other, and no heading there has this anchor"]],
    [
      "a heading of the page itself",
      "# Here\n[x](#here) [y](#there)",
      ["docs/a.md:2 links to docs/a.md#there, and no heading there has this anchor"],
    ],
    ["a heading with signs", "[x](b.md#a-code-heading-12)", []],
    ["another host, another folder", "[x](https://example.com/#y) [z](../src/a.ts)", []],
    [
      "a path that is not there",
      "`src/b.ts` `src/a.ts` `src/{a,c}.ts`",
      ["src/b.ts", "src/c.ts"].map((p) => `docs/a.md:1 names ${p}, which does not exist`),
    ],
    ["folders and patterns", "`src/folder/` `test/*.ts`", []],
    ["what an example shows", "```\n[x](c.md)\n```", []],
  ])("link to %s: found only when broken", (_what, text, findings) => {
    expect(linkFindings({ path: "docs/a.md", text }, textOf)).toEqual(findings);
  });
});

describe("pages that comments name", () => {
  it("page that does not exist: found", () => {
    const textOf = (path: string): string | undefined => (path === "docs/a.md" ? "" : undefined);
    expect(pageFindings({ path: "a.ts", text: "// docs/a.md\n// (docs/b.md, docs/in/a.md)" }, textOf)).toEqual([
      "a.ts:2 names docs/b.md, which does not exist",
      "a.ts:2 names docs/in/a.md, which does not exist",
    ]);
  });

  it("page at the root, where hosts look for it: found as one of docs is", () => {
    const text = "// CONTRIBUTING.md, SECURITY.md\n// node_modules/one/SECURITY.md";
    expect(pageFindings({ path: "a.ts", text }, (path) => (path === "CONTRIBUTING.md" ? "" : undefined))).toEqual([
      "a.ts:1 names SECURITY.md, which does not exist",
    ]);
  });
});

describe("imports", () => {
  it("circle of imports: found with all of its files, also by way of others", () => {
    const imports = new Map([
      ["a", ["b"]],
      ["b", ["c"]],
      ["c", ["a", "d"]],
      ["d", []],
      ["e", ["e"]],
      ["f", ["a", "g"]],
      ["g", ["d"]],
    ]);
    expect(circles(imports)).toEqual([["a", "b", "c"], ["e"]]);
  });

  it("paths that meet without a circle: nothing found", () => {
    expect(
      circles(
        new Map([
          ["a", ["b", "c"]],
          ["b", ["d"]],
          ["c", ["d"]],
          ["d", []],
        ]),
      ),
    ).toEqual([]);
  });

  it("imports against the table of layers: found; those that go down, and those of tests: not found", () => {
    const imports = new Map([
      ["src/core/base/result.ts", ["src/core/base/ports.ts", "src/api/store/state/keys.ts"]],
      ["src/api/store/state/keys.ts", ["src/core/base/result.ts", "test/support/sim/platform/seeds.ts"]],
      ["test/unit/core/base/result.test.ts", ["src/worker/index.ts"]],
    ]);
    expect(layerFindings(imports)).toEqual([
      "src/core/base/result.ts: src/core/base must not import src/api/store/state: imports only go down (scripts/dev/layers.ts)",
      "src/api/store/state/keys.ts: src/api/store/state/keys.ts must not import test/support/sim/platform/seeds.ts: nothing below imports scripts or tests",
    ]);
  });

  it("arrows between wings: one for each pair, none within a wing or from outside", () => {
    const imports = new Map([
      ["x/a", ["y/b", "y/c", "x/d"]],
      ["x/d", ["y/b"]],
      ["test/e", ["x/a"]],
      ["z/f", ["y/b"]],
    ]);
    expect(arrows(imports, (path) => (path.startsWith("test/") ? undefined : path.slice(0, 1)))).toEqual([
      { from: "x", to: "y" },
      { from: "z", to: "y" },
    ]);
  });
});

describe("the computed part of the page about the architecture", () => {
  const configuration = 'class_name = "One"\nname = "Two"\n';
  const shells = shellsIn(
    configuration,
    new Map([
      ["durable-objects/two.ts", "export class Two {}\n"],
      ["durable-objects/one.ts", `${"//\n".repeat(80)}export class One extends Two {}\n`],
    ]),
  );

  it("shells: the files of the classes that the configuration binds, with their lines", () => {
    expect(shells).toEqual([{ path: "durable-objects/one.ts", className: "One", lines: 81 }]);
  });

  it("shell of 81 lines: found; of 80 lines: not found", () => {
    expect(longShells(shells)).toEqual(["durable-objects/one.ts has 81 lines; a shell has at most 80: rules belong into src/"]);
    expect(longShells(shells.map((shell) => ({ ...shell, lines: 80 })))).toEqual([]);
  });

  it("tables: the arrows of each wing and the lines of each shell", () => {
    const besides = [{ path: "durable-objects/ports.ts", about: "Ports", lines: 7 }];
    const text = houseTables({ wings: ["a", "b"], arrows: [{ from: "b", to: "a" }], shells, besides });
    expect(text).toContain("| `durable-objects/ports.ts` | Ports | 7 |");
    expect(text).toContain("1 arrows of imports between 2 wings");
    expect(text).toContain("| `a` | nothing |\n| `b` | `a` |\n");
    expect(text).toContain("| `durable-objects/one.ts` | One | 81 |");
  });

  it("files beside the shells: each with the first sentence of its header, without those of folders", () => {
    const files = new Map([
      ["durable-objects/one.ts", "export class One {}\n"],
      ["durable-objects/ports.ts", "/**\n * The ports of a.ts\n * are here. More.\n */\nexport const a = 1;\n"],
      ["durable-objects/bare.ts", "export const b = 1;\n"],
      ["durable-objects/sql/rows.ts", "/** Rows. */\n"],
    ]);
    expect(besidesShells([{ path: "durable-objects/one.ts", className: "One", lines: 1 }], files)).toEqual([
      { path: "durable-objects/bare.ts", about: "", lines: 1 },
      { path: "durable-objects/ports.ts", about: "The ports of a.ts are here", lines: 5 },
    ]);
  });

  it("page: only what is between the marks is replaced; a page without marks is refused", () => {
    const page = "x\n<!-- computed by `npm run tidy -- --write`: do not edit below -->\nold\n<!-- end of the computed part -->\ny\n";
    const after = withComputedPart(page, "new", "docs/a.md");
    expect(after).toBe(page.replace("\nold\n", "\n\nnew\n\n"));
    expect(() => withComputedPart("x", "new", "docs/a.md")).toThrow("lacks the marks");
  });
});

describe("sentences of pages", () => {
  const words = (count: number): string => Array.from({ length: count }, (_, i) => `w${String(i)}`).join(" ");
  const lines = (text: string): string[] => longSentences({ path: "docs/a.md", text }).map((line) => line.replace(/ \(.*/, ""));

  it.each([
    ["thirty words", `${words(30)}. ${words(30)}!`, []],
    ["one word more", `a.\n\n${words(31)}.`, ["docs/a.md:3 has a sentence of 31 words"]],
    ["two lines of a paragraph", `${words(20)}\n${words(11)}.`, ["docs/a.md:1 has a sentence of 31 words"]],
    ["items, headings and cells, each for itself", `## ${words(20)}\n- ${words(20)}\n- ${words(20)}\n| ${words(20)} | ${words(20)} |`, []],
    ["two lines of an item", `- ${words(20)}\n  ${words(11)}`, ["docs/a.md:1 has a sentence of 31 words"]],
    ["a semicolon, which ends nothing", `${words(16)}; ${words(16)}.`, ["docs/a.md:1 has a sentence of 32 words"]],
    ["names, addresses of links and blocks of code", `\`${words(40)}\` [x](y#z)\n\`\`\`\n${words(40)}\n\`\`\``, []],
  ])("%s: found only when too long", (_what, text, findings) => {
    expect(lines(text)).toEqual(findings);
  });

  it("page: its first line says for whom it is", () => {
    expect(withoutReader({ path: "docs/a.md", text: "# A\n\nFor users: at its end a server runs.\n" })).toEqual([]);
    expect(withoutReader({ path: "docs/a.md", text: "# A\n\nOther words.\n" })).toEqual([
      'docs/a.md does not say in its first line for whom it is ("For …: …")',
    ]);
  });
});

describe("sentences of comments", () => {
  const words = (count: number): string => Array.from({ length: count }, (_, i) => `w${String(i)}`).join(" ");
  const lines = (code: string): string[] =>
    longCommentSentences("src/a.ts", factsIn("src/a.ts", code).comments).map((line) => line.replace(/ \(.*/, ""));

  it.each([
    ["thirty words", `/** ${words(30)}. ${words(30)}. */\n`, []],
    ["one word more, over lines", `\n/**\n * ${words(20)}\n * ${words(11)}.\n */\n`, ["src/a.ts:3 has a sentence of 31 words"]],
    ["a line comment that goes on", `const a = 1;\n// ${words(20)}\n// ${words(11)}`, ["src/a.ts:2 has a sentence of 31 words"]],
    ["comments at the ends of lines, each for itself", `f(\n  1, // ${words(20)}\n  2, // ${words(20)}\n);`, []],
    ["a comment before a closing brace", `{\n  a();\n  // ${words(31)}\n}`, ["src/a.ts:3 has a sentence of 31 words"]],
    ["tags and items", `/**\n * ${words(20)}\n * @param a ${words(20)}\n *   ${words(5)}\n * - ${words(20)}\n */`, []],
    ["a table's cells", `/**\n * ${words(20)}:\n *\n *   ${words(20)}   ${words(20)}\n *   ${words(20)}\n */`, []],
    ["a text that looks like a comment", `const a = "// ${words(31)}";\nconst b = \`/* ${words(31)} */\`;`, []],
  ])("%s: found only when too long", (_what, code, findings) => {
    expect(lines(code)).toEqual(findings);
  });
});

describe("names of types", () => {
  const declaring = (path: string, code: string) => ({ path, types: factsIn(path, code).types });
  const HELD = "src/access/audit/a.ts";

  it.each([
    [
      "an exported name that another wing has, too",
      [declaring(HELD, "\nexport interface Place {}"), declaring("src/core/net/b.ts", "type Place = 1;")],
      ["src/access/audit/a.ts:2, src/core/net/b.ts:1 declare the exported type Place"],
    ],
    [
      "a private name twice in a wing",
      [declaring(HELD, "class Place {}"), declaring("src/access/rbac/b.ts", "enum Place {}")],
      ["src/access/audit/a.ts:1, src/access/rbac/b.ts:1 declare the type Place in one wing"],
    ],
    ["a private name in two wings", [declaring(HELD, "class Place {}"), declaring("src/core/net/b.ts", "class Place {}")], []],
    [
      "a shell of its brain's name",
      [declaring("src/tenancy/a.ts", "export class A {}"), declaring("durable-objects/a.ts", "export class A {}")],
      [],
    ],
    ["a type of the tests", [declaring("src/tenancy/a.ts", "export class A {}"), declaring("test/a.ts", "class A {}")], []],
  ])("%s: found only when a reader could take one for the other", (_what, files, findings) => {
    expect(repeatedTypeNames(files)).toEqual(findings);
  });
});

describe("terms of pages", () => {
  const words = "row claim segment band epoch fence cover usable pending+release audit sweep mark turn draw hand-off token owner poke pass";
  const table = words.split(" ").map((word) => `| ${word.replace("+", " ")} | … |`);
  const glossary = ["| word | meaning |", "| --- | --- |", "| free, taken | one of _none_ |", "| history (of a test) | … |", ...table].join(
    "\n",
  );

  it("words of the glossary: first cells one by one, and what is in italics", () => {
    expect([...glossaryTerms(glossary).keys()].slice(0, 3)).toEqual(["free", "taken", "history (of a test)"]);
    expect(glossaryTerms(glossary).has("none")).toBe(true);
  });

  it.each([
    ["a word that is there", "a _row_, _Tokens_ and _pending release_", []],
    [
      "a word that is not there",
      "one\na _quark_",
      ['docs/a.md:2 sets "quark" in italics as a term, and docs/internals/glossary.md does not have it'],
    ],
    ["code", "`_a_` b_c_d\n```\n_e_\n```", []],
  ])("%s in italics: found only when the glossary lacks it", (_what, text, findings) => {
    expect(termFindings(glossary, [{ path: "docs/a.md", text }])).toEqual(findings);
  });

  it("word that comments need, or one with two meanings: found", () => {
    expect(termFindings(`${glossary.replace("| claim |", "| quark |")}\n| row | another |`, [])).toEqual([
      'docs/internals/glossary.md lacks the word "claim"',
      'docs/internals/glossary.md has the word "row" more than once',
    ]);
  });
});

it("a folder with more than 25 files of its own: a finding; those of its folders count for themselves", () => {
  const files = (folder: string, count: number) => Array.from({ length: count }, (_, i) => `${folder}/f${String(i)}.ts`);
  expect(heaps([...files("src/a", 25), ...files("src/a/b", 25), ...files("docs", 30)])).toEqual([]);
  expect(heaps([...files("src/a", 25), ...files("test/x", 26)])).toEqual(["test/x has 26 files of its own, 25 are the most"]);
});

it("variables: a row for each that operators set; what wrangler.toml says otherwise is found", () => {
  const rows = [
    { name: "A", deployed: "1", meaning: "first" },
    { name: "B", deployed: "", meaning: "second" },
    { name: "C", deployed: "x", shown: "much", meaning: "third" },
    { name: "SECRET", meaning: "fourth" },
    { name: "INTERNAL" },
  ];
  expect(variableTable(rows).split("\n").slice(2)).toEqual([
    "| `A` | `1` | first |",
    "| `B` | none | second |",
    "| `C` | much | third |",
    "| `SECRET` | none | fourth |",
  ]);
  expect(configuredFindings(rows, { A: "1", B: "", C: "x" })).toEqual([]);
  expect(configuredFindings(rows, { A: "2", B: "", SECRET: "s" })).toEqual([
    'wrangler.toml has A = "2", and src/core/config/variables.ts says "1"',
    'wrangler.toml has C = nothing, and src/core/config/variables.ts says "x"',
    'wrangler.toml has SECRET = "s", and src/core/config/variables.ts says nothing',
  ]);
});
