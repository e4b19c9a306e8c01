/** Tests in workerd read the product as one module: each of its hundreds would be asked for, transformed and compiled by itself in each runtime. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { build } from "esbuild";
import type { Plugin } from "vitest/config";
import { inAscii, optionsOf } from "../../serve/bundle";
import { lineMappings } from "./line-map";

const FOLDERS = ["src/", "durable-objects/"];
const DEFAULT_EXPORT = /^export default /m;

interface ProductModule {
  code: string;
  map: { version: 3; sources: string[]; names: string[]; mappings: string };
  /** absolute path of a source file -> what the module exports all its exports as */
  names: ReadonlyMap<string, string>;
}

/**
 * Vite's plugin: what the Worker consists of is one module, and a source file of the Worker only hands on its part of it. So tests and the Worker
 * share each class and each variable, as they do where every file is a module. Stack traces name the lines of the sources.
 *
 * `main`: the path of the Worker's first module below `root`. Where Vitest watches the sources, each file stays a module.
 */
export function productModule({ root, main }: { root: string; main: string }): Plugin {
  /** No such file exists. Paths in the source map are from its folder. */
  const path = resolve(root, "servicenet-product.js");
  let product: Promise<ProductModule> | undefined;
  return {
    name: "servicenet-product",
    enforce: "pre",
    configResolved(config) {
      const { test } = config as { test?: { watch?: boolean } };
      if (test?.watch !== true) product = bundled(root, main);
    },
    resolveId: (id) => (id === path ? path : undefined),
    async load(id) {
      if (!product) return;
      const { code, map, names } = await product;
      if (id === path) return { code, map };
      const name = names.get(id);
      if (name === undefined) return;
      // Vite's own function behind `export *`, which leaves out the default export: names need not be known here.
      const all = `import { ${name} } from ${JSON.stringify(path)}; __vite_ssr_exportAll__(${name});`;
      return DEFAULT_EXPORT.test(readFileSync(id, "utf8")) ? `${all} export default ${name}.default;` : all;
    },
  };
}

/** The Worker is bundled twice: the first time tells which files it consists of. */
async function bundled(root: string, main: string): Promise<ProductModule> {
  const options = { ...optionsOf({ define: {} }), absWorkingDir: root };
  const { metafile } = await build({ ...options, entryPoints: [main] });
  const inputs = Object.keys(metafile?.inputs ?? {});
  // The first module begins, as it does in the Worker.
  const files = [main, ...inputs.filter((path) => path !== main && FOLDERS.some((folder) => path.startsWith(folder)))];
  const contents = files.map((path, index) => `export * as file${String(index)} from "./${path}";`).join("\n");
  const further = { stdin: { contents, resolveDir: root }, outfile: "product.js", sourcemap: "external", sourcesContent: false } as const;
  const { outputFiles = [] } = await build({ ...options, ...further });
  const textOf = (end: string): string => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? "";
  const { sources, mappings } = JSON.parse(textOf(".map")) as { sources: string[]; mappings: string };
  return {
    code: inAscii(textOf(".js")),
    map: { version: 3, sources, names: [], mappings: lineMappings(mappings) },
    names: new Map(files.map((path, index) => [resolve(root, path), `file${String(index)}`])),
  };
}
