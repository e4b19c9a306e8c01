/** The libraries of the package: JavaScript and types, each one file and what it shares with others. */
import { join } from "node:path";
import type * as Esbuild from "esbuild";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { requirePackage, root } from "../running/root.mjs";

/** Name of a library, as package.json exports it -> its first file. */
const LIBRARIES: Readonly<Record<string, string>> = Object.fromEntries(
  ["elector", "allocator", "ranges", "services", "agent"].map((name) => [name, `src/clients/${name}/index.ts`]),
);
/** The models of the official client import it, and use nothing of it. */
const UNUSED = /\/http\/http\.js$/;

/** Beside the programs, which it starts. */
const TESTING = { testing: "scripts/testing/index.ts" };

/** Writes them into `folder`. Paths from the root of the files that they are made of. Throws where something cannot be built. */
export async function buildLibraries(folder: string): Promise<string[]> {
  const esbuild = requirePackage("esbuild") as typeof Esbuild;
  const { metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: LIBRARIES,
    outdir: folder,
    chunkNames: "shared-[hash]",
    bundle: true,
    splitting: true,
    metafile: true,
    format: "esm",
    // Whoever runs a Worker, or a page, uses them, too.
    platform: "neutral",
    target: "es2023",
    mainFields: ["module", "main"],
    legalComments: "none",
    logLevel: "silent",
  });
  await buildTypes(folder, LIBRARIES, "src");
  await buildTypes(folder, TESTING, "scripts");
  return Object.keys(metafile.inputs);
}

/**
 * The types of the official client that are used come along: an installed package does not have it.
 *
 * @param program the folder whose tsconfig.json the libraries are of
 */
async function buildTypes(folder: string, libraries: Readonly<Record<string, string>>, program: string): Promise<void> {
  const bundle = await rollup({
    input: Object.fromEntries(Object.entries(libraries).map(([name, path]) => [name, join(root, path)])),
    plugins: [
      { name: "unused", resolveId: (id) => (UNUSED.test(id) ? { id, external: true, moduleSideEffects: false } : null) },
      dts({ tsconfig: join(root, program, "tsconfig.json"), respectExternal: true, includeExternal: ["@kubernetes/client-node"] }),
    ],
    // That a type is used and not exported is how most are.
    logLevel: "silent",
  });
  try {
    await bundle.write({ dir: folder, format: "es", entryFileNames: "[name].d.ts", chunkFileNames: "shared-[hash].d.ts" });
  } finally {
    await bundle.close();
  }
}
