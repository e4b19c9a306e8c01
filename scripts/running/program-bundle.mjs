/**
 * A program as one module for Node. It is bundled once per state of the sources and kept (kept-files.mjs): the next start loads neither a compiler nor
 * hundreds of files.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { root } from "./root.mjs";
import { buildSync } from "./compiler.mjs";
import { KEPT_FOLDERS, keep, readKept } from "./kept-files.mjs";
import { areHashed, hashOfSources } from "./source-hash.mjs";

const SOURCES = { root, folders: ["scripts", "src"] };
/** Too large for a bundle, or with files of their own beside them: programs load them by requirePackage. */
const LOADED_LATER = ["miniflare", "esbuild"];
/** In a bundle import.meta is that of the program, wherever the bundle stands. */
const BANNER = `import { createRequire as createRequireOfProgram } from "node:module";
import { dirname as dirnameOfProgram } from "node:path";
import { pathToFileURL as urlOfFile } from "node:url";
const programFile = process.argv[1], programFolder = dirnameOfProgram(programFile), programUrl = urlOfFile(programFile).href;
const require = createRequireOfProgram(programFile);`;

/** @type {import("esbuild").BuildOptions & { metafile: true; write: false }} */
const OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  metafile: true,
  write: false,
  format: "esm",
  platform: "node",
  target: "node20.19",
  // Files for bundlers come first: those of UMD hide what they require.
  mainFields: ["module", "main"],
  external: LOADED_LATER,
  banner: { js: BANNER },
  define: { "import.meta.dirname": "programFolder", "import.meta.filename": "programFile", "import.meta.url": "programUrl" },
  logLevel: "silent",
};

/**
 * The path of the module, with all that the program imports. Throws an error of one line where it cannot be built or stored.
 * @param {string} program its absolute path
 * @param {readonly string[]} [folders] where bundles are kept
 * @returns {string}
 */
export function programBundle(program, folders = KEPT_FOLDERS) {
  const { absWorkingDir: _, ...options } = OPTIONS;
  const hash = hashOfSources(SOURCES, program, options);
  const key = hash && { kind: basename(program, ".ts"), hash };
  const kept = key && readKept(folders, key);
  if (kept) return kept.path;
  const { text, inputs } = build(program);
  // A file that changed meanwhile is in the hash as it was, and in the bundle perhaps as it is.
  const isKnown = key && hash === hashOfSources(SOURCES, program, options) && areHashed(SOURCES, inputs);
  return (isKnown && keep(folders, key, text)) || forNow(text);
}

/**
 * @param {string} program
 * @returns {{ text: string; inputs: string[] }}
 */
function build(program) {
  try {
    const { outputFiles, metafile } = buildSync({ ...OPTIONS, entryPoints: [program] });
    return { text: outputFiles[0]?.text ?? "", inputs: Object.keys(metafile.inputs) };
  } catch (error) {
    const [first] = /** @type {Partial<import("esbuild").BuildFailure>} */ (error).errors ?? [];
    const where = first?.location ? `${first.location.file}:${String(first.location.line)}: ` : "";
    throw new Error(`${program} cannot be built: ${where}${first?.text ?? String(error)}`, { cause: error });
  }
}

/**
 * A module that this process alone runs.
 * @param {string} text
 */
function forNow(text) {
  const folder = mkdtempSync(join(tmpdir(), "servicenet-program-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "program.mjs");
  writeFileSync(path, text);
  return path;
}
