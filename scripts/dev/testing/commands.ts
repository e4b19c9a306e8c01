/** The commands that a test run starts, so that a signal for the run ends them. */
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..", "..", "..");

/**
 * Variables of programs in Go that keep most of what they allocate, as compilers do: to collect garbage takes half of their CPU and frees little.
 * Beyond 2 GiB they collect as always.
 */
export const GO_WITHOUT_COLLECTION = { GOGC: "off", GOMEMLIMIT: "2GiB" } as const;

export interface Ended {
  /** null: a signal ended it, or it never started */
  code: number | null;
  /** what it wrote to stdout and stderr */
  output: string;
}

/** The commands that run. */
const running = new Set<ChildProcess>();
/** How long a command has to end its own children. */
const END_MS_MAX = 10_000;

let ending = false;

/** No further step begins. */
export function isEnding(): boolean {
  return ending;
}

/** Asks the commands to end, and waits for them; one that takes too long is killed. */
export async function endCommands(): Promise<void> {
  ending = true;
  const commands = [...running].filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  const exits = commands.map((child) => once(child, "exit"));
  for (const child of commands) child.kill();
  const timer = setTimeout(() => commands.forEach((child) => child.kill("SIGKILL")), END_MS_MAX);
  await Promise.all(exits);
  clearTimeout(timer);
}

/** Runs a command in the project's root to its end. */
export async function run([command = "", ...args]: readonly string[], options: Pick<SpawnOptions, "env" | "timeout"> = {}): Promise<Ended> {
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], shell: process.platform === "win32", ...options });
  let output = "";
  running.add(child);
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const code = await new Promise<number | null>((resolve) => {
    child.on("close", resolve).on("error", (error) => {
      output += String(error);
      resolve(null);
    });
  });
  running.delete(child);
  return { code, output };
}
