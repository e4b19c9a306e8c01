/**
 * A copy of the project in which the product counts what of it runs. Everything that runs in the copy then counts, without a word in the configurations of
 * tests and in the product: unit tests, objects, the Worker's bundle, programs. TypeScript stays TypeScript, with the same counters wherever it runs.
 */
import { execFileSync } from "node:child_process";
import { constants, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { FileCoverageData } from "istanbul-lib-coverage";
import type * as Instrument from "istanbul-lib-instrument";
import { requirePackage } from "../../running/root.mjs";

const { createInstrumenter } = requirePackage("istanbul-lib-instrument") as typeof Instrument;

/** What is measured. */
const MEASURED = /^(src|durable-objects)\/.*(?<!\.d)\.ts$/;
/** A folder of the copy's Worker: the bundle's hash has all that stands in `src`. */
const ADDED = "src/coverage";
const ADDED_FILES = ["counters.mjs", "worker-counters.mjs"];
/** The Worker's first module, and the name of its counting form. */
const [MAIN, COUNTED] = ["src/worker/index", "src/worker/index.counted"];

/** Copies `root` to `copy`. The result: each measured file, with all counters at zero. `collector`: where the Worker sends its counters. */
export function makeInstrumentedCopy(root: string, copy: string, collector: string): Map<string, FileCoverageData> {
  rmSync(copy, { recursive: true, force: true });
  const files = new Map<string, FileCoverageData>();
  for (const path of filesOf(root)) {
    const to = join(copy, path);
    mkdirSync(dirname(to), { recursive: true });
    if (!MEASURED.test(path)) cpSync(join(root, path), to, { verbatimSymlinks: true });
    else {
      const { text, counters } = instrument(readFileSync(join(root, path), "utf8"), path);
      writeFileSync(to, text);
      files.set(path, counters);
    }
  }
  copyPackages(join(root, "node_modules"), join(copy, "node_modules"));
  sendFromWorker(copy, collector);
  return files;
}

/** Paths of what is under version control, and of what will be. */
function filesOf(root: string): string[] {
  const list = (args: readonly string[]) =>
    execFileSync("git", ["ls-files", "-z", ...args], { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 })
      .split("\0")
      .filter((path) => path !== "");
  const deleted = new Set(list(["--deleted"]));
  return list(["--cached", "--others", "--exclude-standard"]).filter((path) => !deleted.has(path));
}

const instrumenter = createInstrumenter({
  esModules: true,
  compact: false,
  preserveComments: true,
  // The names of a version's options are missing in the types.
  ...{ coverageGlobalScope: "globalThis", coverageGlobalScopeFunc: false, parserPlugins: ["typescript", "explicitResourceManagement"] },
});

/** The same code with counters, and these at zero. */
export function instrument(source: string, path: string): { text: string; counters: FileCoverageData } {
  const text = instrumenter.instrumentSync(source, path);
  return { text, counters: instrumenter.lastFileCoverage() as unknown as FileCoverageData };
}

/** Whole, because a compiler follows a link to where the package stands. Caches are the copy's own: no start outside finds a counting bundle. */
function copyPackages(from: string, to: string): void {
  const left = new Set([".cache", ".vite", ".install"].map((name) => join(from, name)));
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE, filter: (path) => !left.has(path) });
}

/** The first module of the Worker exports what it exported, and sends the counters after each event. Vitest gets them by a way of its own. */
export function sendFromWorker(copy: string, collector: string): void {
  mkdirSync(join(copy, ADDED));
  for (const name of ADDED_FILES) cpSync(join(import.meta.dirname, name), join(copy, ADDED, name));
  renameSync(join(copy, `${MAIN}.ts`), join(copy, `${COUNTED}.ts`));
  const counted = `"./${basename(COUNTED)}"`;
  const counters = JSON.stringify(relative(dirname(MAIN), join(ADDED, "worker-counters.mjs")));
  const text = `
import * as counted from ${counted};
import { sendAfterEvents } from ${counters};
export * from ${counted};
export { default } from ${counted};
if (import.meta.env?.MODE === undefined) sendAfterEvents(counted, "${collector}");
`;
  writeFileSync(join(copy, `${MAIN}.ts`), text);
}
