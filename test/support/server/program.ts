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

/** A program with these options sees a terminal on its stderr. */
const ON_TERMINAL = ["--import", "data:text/javascript,process.stderr.isTTY=true"];

interface ProgramSetting {
  /** its standard input */
  input?: string;
  /** Called over and over; true kills the program at once. */
  killWhen?: () => Promise<boolean>;
  /** The program writes to a terminal. */
  terminal?: boolean;
  /** besides the environment of the tests */
  env?: Record<string, string>;
}

/** The environment of the tests, without the variables of the npm that runs them. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
}

/** `npm run <name> -- <args>`. */
export async function runProgram(
  name: string,
  args: readonly string[],
  { input = "", killWhen, terminal = false, env = {} }: ProgramSetting = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [...(terminal ? ON_TERMINAL : []), "scripts/run.mjs", `scripts/${name}.ts`, ...args], {
    cwd: root,
    env: { ...ownEnvironment(), ...env },
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
