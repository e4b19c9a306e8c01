/** The checks that need no server: tidy, the page about compatibility, and types. They share one reading of the sources, and one process beside the compiler. */
import { compatibilityMistakes } from "../compatibility/run";
import { readSources, type Sources } from "../sources/read";
import { tidyFindings } from "../tidy/run";
import { checkTypes } from "../types/run";

export interface Checked {
  name: string;
  passed: boolean;
  ms: number;
  /** what was found, a line each */
  output: string;
}

/** Finds what one check finds: lines, or "" for nothing. */
type Check = (root: string, sources: () => Sources) => Promise<string>;

/** The compiler comes first: it runs in processes of its own while this one reads the sources. */
const checks = {
  types: async (root) => {
    const { code, output } = await checkTypes(root);
    return code === 0 ? "" : output || "the compiler failed";
  },
  tidy: async (root, sources) => (await tidyFindings({ root, sources: sources(), write: false, cited: false })).join("\n"),
  "compatibility page": async (root, sources) =>
    (await compatibilityMistakes({ root, sources: sources(), check: true })).mistakes.join("\n"),
} satisfies Record<string, Check>;

type CheckName = keyof typeof checks;
export const checkNames = Object.keys(checks) as CheckName[];

export async function runChecks(root: string, names: readonly CheckName[] = checkNames): Promise<Checked[]> {
  let read: Sources | undefined;
  const sources = (): Sources => (read ??= readSources(root));
  return Promise.all(names.map((name) => timed(name, () => checks[name](root, sources))));
}

async function timed(name: string, findings: () => Promise<string>): Promise<Checked> {
  const startedAt = performance.now();
  const output = await findings().catch((error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)));
  return { name, passed: output === "", ms: performance.now() - startedAt, output };
}
