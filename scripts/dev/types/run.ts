/** The types of the project, which are four programs: pure code, the Worker, tests in workerd, and what runs in Node. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Ended, root as projectRoot, run } from "../testing/commands";

const COMPILER = join(projectRoot, "node_modules", "typescript-native", "bin", "tsc");
/** Folders of the programs, each with a tsconfig.json. */
const PROGRAMS = ["src", ".", "test", "test/e2e"];

/**
 * Checks the programs one after the other; the compiler itself uses all cores. What it found out stays below `.cache`: its next run compares the
 * contents of all files, and looks again at those that changed and at what depends on them.
 */
export async function checkTypes(root: string, programs: readonly string[] = PROGRAMS): Promise<Ended> {
  const kept = keptFolder(root);
  const runs: Ended[] = [];
  for (const folder of programs) {
    const name = folder.replaceAll("/", "-").replace(".", "worker");
    const keeping = kept === undefined ? [] : ["--incremental", "--tsBuildInfoFile", join(kept, `${name}.tsbuildinfo`)];
    runs.push(await run([process.execPath, COMPILER, "-p", join(root, folder), ...keeping]));
  }
  return { code: runs.every(({ code }) => code === 0) ? 0 : 1, output: runs.map(({ output }) => output).join("") };
}

/** undefined: there is no room or no right to write. */
function keptFolder(root: string): string | undefined {
  const folder = join(root, ".cache", "checks", "types");
  try {
    mkdirSync(folder, { recursive: true });
    return folder;
  } catch {
    return undefined;
  }
}
