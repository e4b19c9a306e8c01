/**
 * The Worker as one module, bundled as `wrangler deploy` does. The bundle is kept (../running/kept-files.mjs): the next start of the same code takes it
 * from there.
 */
import type { BuildFailure, BuildOptions } from "esbuild";
import { readFileSync } from "node:fs";
import { PACKAGED_WORKER } from "../packaging/packaged";
import { isPackage, root as project } from "../running/root.mjs";
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

/** How esbuild makes the one module. */
export function optionsOf({ define }: Pick<WorkerSource, "define">): BuildOptions {
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
    // A source map would be as long as the code, and the runtime does not read it.
  };
}

export interface Bundle {
  /** of one ES module */
  text: string;
  /** A file with the module, behind a comment; undefined: it could not be kept. */
  path: string | undefined;
}

/** `root`: the folder of the project. An installed package has one Worker, whatever the source says. Throws UserError where it cannot be built. */
export function bundle(source: WorkerSource, keptIn: readonly string[] = KEPT_FOLDERS, root = project): Bundle {
  if (isPackage) return { text: readFileSync(PACKAGED_WORKER, "utf8"), path: PACKAGED_WORKER };
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

/** The text with an inline source map, whose paths are from the root; not kept. Throws UserError where it cannot be built. */
export function textWithMap(source: WorkerSource): string {
  return build({ ...optionsOf(source), sourcemap: "inline", sourcesContent: false }, source.main, project).text;
}

/** The shortest text, of the sources of another folder, as those of an earlier commit; not kept. Throws UserError where it cannot be built. */
export function shortText(source: WorkerSource, root: string): string {
  return build({ ...optionsOf(source), minify: true }, source.main, root).text;
}

/** Paths from the root of the files that the bundle is made of. Throws UserError where it cannot be built. */
export function workerInputs(source: WorkerSource): string[] {
  return build(optionsOf(source), source.main, project).inputs;
}

/** The text, and paths from the root of all that it is made of. */
function build(options: BuildOptions, main: string, root: string): { text: string; inputs: string[] } {
  try {
    const { outputFiles = [], metafile } = buildSync({ ...options, entryPoints: [main], absWorkingDir: root });
    return { text: inAscii(outputFiles[0]?.text ?? ""), inputs: Object.keys(metafile?.inputs ?? {}) };
  } catch (error) {
    throw new UserError(`${main} cannot be built: ${String((error as Partial<BuildFailure>).errors?.[0]?.text ?? error)}`);
  }
}

/**
 * The same code. One character that does not fit into a byte makes V8 keep the whole text in two bytes each. esbuild leaves such characters in comments and in regular
 * expressions, where their escapes mean the same.
 */
export function inAscii(code: string): string {
  return code.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
