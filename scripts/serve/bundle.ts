/**
 * The Worker as one module, bundled as `wrangler deploy` does. The bundle is kept (kept-files.ts): the next start of the same code takes it from
 * there.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import type { BuildFailure } from "esbuild";
import { UserError } from "../terminal/user-error";
import { keep, keptFolder, readKept } from "./kept-files";

export interface WorkerSource {
  /** absolute path of the Worker's first module */
  main: string;
  define: Record<string, string>;
}

const project = join(import.meta.dirname, "..", "..");
/** Where the code of the Worker stands. */
const FOLDERS = ["src", "durable-objects"];
/** What else decides on a bundle: packages, the language, and this file. */
const FILES = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.base.json"];

/** The text of one ES module. `root`: the folder of the project. Throws UserError where it cannot be built. */
export async function bundle(source: WorkerSource, folder = keptFolder, root = project): Promise<string> {
  const hash = hashOf(source, root);
  const kept = hash && readKept(folder, hash);
  if (kept) return kept;
  const { text, inputs } = await build(source);
  // A file that changed meanwhile is in the hash as it was, and in the bundle perhaps as it is.
  if (hash && hash === hashOf(source, root) && inputs.every((path) => isHashed(path, root))) keep(folder, hash, text);
  return text;
}

/** The text, and absolute paths of all that it is made of. */
async function build({ main, define }: WorkerSource): Promise<{ text: string; inputs: string[] }> {
  const esbuild = await import("esbuild");
  const result = await esbuild
    .build({
      entryPoints: [main],
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
    })
    .catch((error: unknown) => {
      throw new UserError(`${main} cannot be built: ${String((error as Partial<BuildFailure>).errors?.[0]?.text ?? error)}`);
    });
  return { text: result.outputFiles[0]?.text ?? "", inputs: Object.keys(result.metafile.inputs).map((path) => resolve(path)) };
}

/** Whether the hash has the file, or the version of its package. */
function isHashed(path: string, root: string): boolean {
  const names = relative(realpathSync(root), path).split(sep);
  return names.includes("node_modules") || (FOLDERS.includes(names[0] ?? "") && !basename(path).startsWith("."));
}

/** undefined: the bundle has no hash, because its code stands elsewhere or cannot be read. */
function hashOf({ main, define }: WorkerSource, root: string): string | undefined {
  try {
    const code = FOLDERS.flatMap((folder) => filesIn(join(root, folder))).sort();
    if (!code.includes(main)) return undefined;
    // The source map has paths from the current folder.
    const hash = createHash("sha256").update(JSON.stringify([main, define, process.cwd()]));
    for (const file of [...FILES.map((name) => join(root, name)), import.meta.filename, ...code]) {
      const bytes = readFileSync(file);
      hash.update(`${relative(root, file)} ${String(bytes.length)}\n`).update(bytes);
    }
    return hash.digest("hex");
  } catch {
    return undefined;
  }
}

/** Their paths, without the hidden files of editors. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => join(entry.parentPath, entry.name));
}
