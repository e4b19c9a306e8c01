/**
 * node scripts/run.mjs <program.ts> [arguments]: installs what is missing, then runs a TypeScript program in this same process.
 * One process, so that a signal for the command reaches the program whatever shell npm uses.
 */
import "./ensure-installed.mjs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { register } = await import("tsx/esm/api");
register();
const [program = ""] = process.argv.splice(2, 1);
process.argv[1] = resolve(program);
await import(pathToFileURL(process.argv[1]).href);
