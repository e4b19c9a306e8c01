import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

/**
 * The program of history-process.ts as one file in a folder of its own; `remove` deletes the folder. Through the loader, which keeps the name of every
 * function, a history takes a seventh longer.
 */
export async function bundleHistoryProcess(): Promise<{ file: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "servicenet-simulate-"));
  const file = join(folder, "history-process.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "history-process.ts")],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "es2024",
    logLevel: "warning",
  });
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}
