/**
 * The Worker as one module, bundled as `wrangler deploy` does. The bundle is kept (../running/kept-files.mjs): the next start of the same code takes it
 * from there.
 */
import type { BuildFailure, BuildOptions } from "esbuild";
import { root as project } from "../running/root.mjs";
import { buildSync } from "../running/compiler.mjs";
import { keep, KEPT_FOLDERS, readKept } from "../running/kept-files.mjs";
import { areHashed, hashOfSources } from "../running/source-hash.mjs";
import { UserError } from "../terminal/user-error";

export interface WorkerSource {
  /** absolute path of the Worker's first module */
  main: string;
  define: Record<string, string>;
}

/** Where the code of the Worker stands. */
const FOLDERS = ["src", "durable-objects"];

function optionsOf({ define }: WorkerSource): BuildOptions {
  return {
    bundle: true,
    metafile: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    define,
    logLevel: "silent",
    sourcemap: "inline",
    sourcesContent: false,
  };
}

export interface Bundle {
  /** of one ES module */
  text: string;
  /** A file with the module, behind a comment; undefined: it could not be kept. */
  path: string | undefined;
}

/** `root`: the folder of the project. Throws UserError where it cannot be built. */
export function bundle(source: WorkerSource, keptIn: readonly string[] = KEPT_FOLDERS, root = project): Bundle {
  const { main } = source;
  const sources = { root, folders: FOLDERS };
  const options = optionsOf(source);
  const hash = hashOfSources(sources, main, options);
  const key = hash === undefined ? undefined : { kind: "worker", hash };
  const kept = key && readKept(keptIn, key);
  if (kept) return kept;
  const { text, inputs } = build(options, main, root);
  // A file that changed meanwhile is in the hash as it was, and in the bundle perhaps as it is.
  const isTrue = key && hash === hashOfSources(sources, main, options) && areHashed(sources, inputs);
  return { text, path: isTrue ? keep(keptIn, key, text) : undefined };
}

/** Paths from the root of the files that the bundle is made of. Throws UserError where it cannot be built. */
export function workerInputs(source: WorkerSource): string[] {
  return build(optionsOf(source), source.main, project).inputs;
}

/** The text, and paths from the root of all that it is made of. */
function build(options: BuildOptions, main: string, root: string): { text: string; inputs: string[] } {
  try {
    // The source map has paths from the root.
    const { outputFiles = [], metafile } = buildSync({ ...options, entryPoints: [main], absWorkingDir: root });
    return { text: outputFiles[0]?.text ?? "", inputs: Object.keys(metafile?.inputs ?? {}) };
  } catch (error) {
    throw new UserError(`${main} cannot be built: ${String((error as Partial<BuildFailure>).errors?.[0]?.text ?? error)}`);
  }
}
