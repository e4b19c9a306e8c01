/** Runs the programs of scripts/ as npm does. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const root = join(import.meta.dirname, "..", "..", "..");

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Makes a program take its stderr for a terminal. */
const ON_TERMINAL = ["--import", "data:text/javascript,process.stderr.isTTY=true"];

/**
 * `npm run <name> -- <args>`. `killWhen` is asked over and over, and true ends the program where it stands. `terminal`: it writes for somebody who looks
 * on.
 */
export async function runProgram(
  name: string,
  args: readonly string[],
  { input = "", killWhen, terminal = false }: { input?: string; killWhen?: () => Promise<boolean>; terminal?: boolean } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [...(terminal ? ON_TERMINAL : []), "scripts/run.mjs", `scripts/${name}.ts`, ...args], {
    cwd: root,
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdin.end(input);
  const closed = once(child, "close") as Promise<[number | null]>;
  if (killWhen) {
    while (child.exitCode === null && !(await killWhen())) await sleep(5);
    child.kill("SIGKILL");
  }
  const [code] = await closed;
  return { code, out, err };
}
