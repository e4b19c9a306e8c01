/** Builds what `npm pack` packs: programs and the Worker as JavaScript, so that an installed package needs no compiler. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type * as Esbuild from "esbuild";
import { requirePackage, root } from "../running/root.mjs";
import { bundle, workerInputs } from "../serve/bundle";
import { readWorkerConfig } from "../serve/worker-config";
import { buildLibraries } from "./libraries";
import { licencesText } from "./licences";
import { PACKAGED_WORKER } from "./packaged";

const FOLDER = dirname(PACKAGED_WORKER);
const LIBRARIES = join(root, "dist", "lib");
const CLIENT = join("node_modules", "@kubernetes", "client-node", "dist");
const esbuild = requirePackage("esbuild") as typeof Esbuild;
/** Code of packages that are no modules of the language. */
const BANNER = `import { createRequire as createRequireHere } from "node:module";\nconst require = createRequireHere(import.meta.url);`;

/** Writes dist/servicenet and dist/lib anew. Throws where something cannot be built. */
export async function buildPackage(): Promise<void> {
  for (const folder of [FOLDER, LIBRARIES]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const inputs = [...(await buildPrograms()), ...(await buildLibraries(LIBRARIES))];
  await esbuild.stop();
  const config = readWorkerConfig(join(root, "wrangler.toml"));
  writeFileSync(PACKAGED_WORKER, bundle(config).text);
  writeFileSync(join(FOLDER, "LICENCES.txt"), licencesText([...inputs, ...workerInputs(config)]));
}

/** Paths from the root of the files that the programs are made of. */
async function buildPrograms(): Promise<string[]> {
  const { metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: {
      servicenet: "scripts/commands/servicenet.ts",
      testing: "scripts/testing/index.ts",
      kubeconfig: join(CLIENT, "config.js"),
    },
    outdir: FOLDER,
    outExtension: { ".js": ".mjs" },
    chunkNames: "part-[hash]",
    bundle: true,
    splitting: true,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    // Files for bundlers come first: those of UMD hide what they require.
    mainFields: ["module", "main"],
    // An installed package has it beside this one.
    external: ["miniflare"],
    banner: { js: BANNER },
    plugins: [withoutModels],
    // Licences stand in one file.
    legalComments: "none",
    logLevel: "silent",
  });
  return Object.keys(metafile.inputs);
}

/** The reader of kubeconfigs imports two files of the client through the index of all its models: megabytes. */
const withoutModels: Esbuild.Plugin = {
  name: "without models",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^\.\/gen\/index\.js$/ }, () => ({ path: "configuration", namespace: "client" }));
    onLoad({ filter: /^configuration$/, namespace: "client" }, () => ({
      contents: `export { createConfiguration } from "./gen/configuration.js";\nexport { ServerConfiguration } from "./gen/servers.js";`,
      resolveDir: join(root, CLIENT),
    }));
  },
};
