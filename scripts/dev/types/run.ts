/** The types of the project, which are four programs: pure code, the Worker, tests in workerd, and what runs in Node. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Ended, GO_WITHOUT_COLLECTION, root as projectRoot, run } from "../testing/commands";

const COMPILER = join(projectRoot, "node_modules", "typescript-native", "bin", "tsc");
/** Folders of the programs, each with a tsconfig.json. The largest comes first, so that the others fill the time beside it. */
const PROGRAMS = ["test", "test/e2e", ".", "src"];
/** A compiler has one thread: each further one would look at the types of shared files once more. */
const AT_ONCE = 2;

/**
 * Checks the programs, two at once. What the compiler found out stays below `.cache`: its next run compares the contents of all files, and looks
 * again at those that changed and at what depends on them.
 */
export async function checkTypes(root: string, programs: readonly string[] = PROGRAMS): Promise<Ended> {
  const kept = keptFolder(root);
  const runs: Ended[] = [];
  const waiting = programs.entries();
  const checkWaiting = async (): Promise<void> => {
    for (const [index, folder] of waiting) {
      const name = folder.replaceAll("/", "-").replace(".", "worker");
      const keeping = kept === undefined ? [] : ["--incremental", "--tsBuildInfoFile", join(kept, `${name}.tsbuildinfo`)];
      const program = [process.execPath, COMPILER, "-p", join(root, folder), "--singleThreaded", ...keeping];
      runs[index] = await run(program, { env: { ...GO_WITHOUT_COLLECTION, ...process.env } });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, checkWaiting));
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
