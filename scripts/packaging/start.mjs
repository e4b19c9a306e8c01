/** Starts the command `servicenet` in this process. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isPackage, root } from "../running/root.mjs";

/** @returns {Promise<void>} */
export async function start() {
  if (isPackage) {
    await import(pathToFileURL(join(root, "dist", "servicenet", "servicenet.mjs")).href);
    return;
  }
  process.argv.splice(2, 0, join(root, "scripts", "commands", "servicenet.ts"));
  const { run } = await import("../running/run-program.mjs");
  await run();
}
