/**
 * Loaded into `npm start` before its own code (NODE_OPTIONS): its workerd gets an inspector at the port INSPECTOR_PORT of loopback. The inspector may do
 * everything and asks nobody for a token, so the program itself has no option for it.
 */
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

const BEFORE = "--experimental";
const { spawn } = childProcess;

/** @type {(command: string, args: readonly string[], options: import("node:child_process").SpawnOptions) => import("node:child_process").ChildProcess} */
const spawnInspected = (command, args, options) => {
  const at = Array.isArray(args) ? args.indexOf(BEFORE) : -1;
  if (at < 0) return spawn(command, args, options);
  const inspector = `--inspector-addr=127.0.0.1:${process.env.INSPECTOR_PORT ?? ""}`;
  return spawn(command, [...args.slice(0, at), inspector, ...args.slice(at)], options);
};
childProcess.spawn = /** @type {typeof spawn} */ (spawnInspected);
syncBuiltinESMExports();
