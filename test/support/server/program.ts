/** Runs the programs of scripts/ as npm does. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { format } from "node:util";
import { root } from "../../../scripts/running/root.mjs";
import { endWithUs } from "./children";

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
  /** Called over and over with the number of the process; true kills the program at once, or sends it `signal`. */
  killWhen?: (pid: number) => boolean | Promise<boolean>;
  signal?: NodeJS.Signals;
  /** The program writes to a terminal. */
  terminal?: boolean;
  /** besides the environment of the tests */
  env?: Record<string, string>;
}

/** The environment of the tests, without the variables of the npm that runs them. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
}

/** A program stands among the commands of users, or among those of builders. */
function pathOf(name: string): string {
  const command = `scripts/commands/${name}.ts`;
  return existsSync(join(root, command)) ? command : `scripts/dev/${name}.ts`;
}

/** `npm run <name> -- <args>`. */
export async function runProgram(
  name: string,
  args: readonly string[],
  { input = "", killWhen, signal = "SIGKILL", terminal = false, env = {} }: ProgramSetting = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [...(terminal ? ON_TERMINAL : []), "scripts/run.mjs", pathOf(name), ...args], {
    cwd: root,
    env: { ...ownEnvironment(), ...env },
  });
  endWithUs(child, () => child.kill("SIGKILL"));
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdin.end(input);
  const closed = once(child, "close") as Promise<[number | null]>;
  if (killWhen) {
    while (child.exitCode === null && !(await killWhen(child.pid ?? 0))) await sleep(5);
    child.kill(signal);
  }
  const [code] = await closed;
  return { code, out, err };
}

export interface RunningProgram {
  /** what `ready` found in its output */
  found: readonly string[];
  /** all that it has written */
  output(): string;
  /** Sends SIGINT; resolves to the exit code. */
  stop(): Promise<number | null>;
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** `npm run <name> -- <args>` of a program that goes on until it is stopped; resolves when its output matches `ready`. */
export async function startProgram(name: string, args: readonly string[], ready: RegExp): Promise<RunningProgram> {
  return startCommand(process.execPath, ["scripts/run.mjs", pathOf(name), ...args], ready, root);
}

/** The same of any command. */
export async function startCommand(command: string, args: readonly string[], ready: RegExp, cwd: string): Promise<RunningProgram> {
  const child = spawn(command, args, { cwd, env: ownEnvironment() });
  endWithUs(child, () => child.kill("SIGKILL"));
  let output = "";
  const closed = once(child, "close") as Promise<[number | null]>;
  const found = await new Promise<string[]>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        const match = ready.exec(output);
        if (match) resolve([...match]);
      });
    }
    closed.then(() => reject(new Error(`${command} ${args.join(" ")} has ended:\n${output}`)), reject);
  });
  return {
    found,
    output: () => output,
    stop: async () => {
      child.kill("SIGINT");
      const [code] = await closed;
      return code;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

let runs = 0;

/**
 * The same in this process, for calls that end before the program begins its work: a process costs half a second of the machine. One call at a time.
 */
export async function runProgramHere(name: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const { argv, cwd, env: own, exitCode } = process;
  const [log, error] = [console.log, console.error];
  const exit = process.exit.bind(process);
  let [out, err] = ["", ""];
  console.log = (...words: unknown[]) => void (out += `${format(...words)}\n`);
  console.error = (...words: unknown[]) => void (err += `${format(...words)}\n`);
  // The last statement of a program.
  process.exit = ((code: number) => void (process.exitCode = code)) as typeof process.exit;
  process.argv = [process.execPath, pathOf(name), ...args];
  process.env = { ...ownEnvironment(), ...env };
  process.cwd = () => root;
  try {
    await import(/* @vite-ignore */ `../../../${pathOf(name)}?run=${String(runs++)}`);
    return { code: Number(process.exitCode), out, err };
  } finally {
    Object.assign(process, { argv, cwd, env: own, exit, exitCode });
    Object.assign(console, { log, error });
  }
}
