/** The product as one module, which tests in workerd read (scripts/dev/testing/product-module.ts). */
import { mkdirSync, writeFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { lineMappings } from "../../../scripts/dev/testing/line-map";
import { productModule } from "../../../scripts/dev/testing/product-module";
import { removeFolder, temporaryFolder } from "../../support/server/server";

interface Loaded {
  code: string;
  map: { version: number; sources: string[]; names: string[]; mappings: string };
}

interface Plugin {
  configResolved: (config: object) => void;
  load: (id: string) => Promise<Loaded | string | undefined>;
}

const root = temporaryFolder();
afterAll(() => removeFolder(root));
mkdirSync(join(root, "src"));
writeFileSync(join(root, "src/main.ts"), 'import { twice } from "./twice";\n\nexport default (n: number): number => twice(n);\n');
writeFileSync(join(root, "src/twice.ts"), "interface Unused {}\n\nexport function twice(n: number): number {\n  return 2 * n;\n}\n");
writeFileSync(join(root, "src/tool.ts"), "export const tool = 1;\n");

function pluginFor(test: { watch: boolean }): Plugin {
  const plugin = productModule({ root, main: "src/main.ts" }) as unknown as Plugin;
  plugin.configResolved({ test });
  return plugin;
}

it("source file of the Worker: hands on its part of the one module, and a default export where it has one", async () => {
  const { load } = pluginFor({ watch: false });
  const from = `from ${JSON.stringify(join(root, "servicenet-product.js"))}; __vite_ssr_exportAll__`;
  expect(await load(join(root, "src/main.ts"))).toBe(`import { file0 } ${from}(file0); export default file0.default;`);
  expect(await load(join(root, "src/twice.ts"))).toBe(`import { file1 } ${from}(file1);`);
});

it("source file that is no part of the Worker, and one that is while Vitest watches: a module of its own", async () => {
  expect(await pluginFor({ watch: false }).load(join(root, "src/tool.ts"))).toBeUndefined();
  expect(await pluginFor({ watch: true }).load(join(root, "src/main.ts"))).toBeUndefined();
});

it("line of the one module: its source map names the line of the source", async () => {
  const { code, map } = (await pluginFor({ watch: false }).load(join(root, "servicenet-product.js"))) as Loaded;
  const line = code.split("\n").findIndex((text) => text.includes("return 2 * n"));
  const payload = { ...map, file: "", sourceRoot: "", sourcesContent: [] };
  expect(new SourceMap(payload).findEntry(line, 10)).toMatchObject({ originalSource: "src/twice.ts", originalLine: 3 });
});

it.each([
  ["one segment of each line, from its beginning", "IAAA,MAAM;EAAE", "AAAA;AAAQ"],
  ["lines of no source", ";;C;CAAA", ";;;AAAA"],
  ["numbers of several digits, also negative ones; the name goes", "A8kBooCkB,CAAA;AADpoCnB", "A8kBooCkB;AADpoC"],
])("mappings: %s", (_, mappings, expected) => {
  expect(lineMappings(mappings)).toBe(expected);
});
