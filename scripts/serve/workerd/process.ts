/** The process of workerd: from a configuration file to its sockets, and to its end. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { requirePackage, root } from "../../running/root.mjs";
import { UserError } from "../../terminal/user-error";

/** The shell script that says why. */
const SHIELD = join(root, "scripts", "serve", "workerd", "workerd.sh");
/** of the child: what it says about its sockets */
const CONTROL = 3;

export interface WorkerdProcess {
  stdout: Readable;
  stderr: Readable;
  /** Name of each socket -> its port, once workerd listens on all of them. Rejects when it ends before. */
  listening: Promise<ReadonlyMap<string, number>>;
  /** Ends it at once, and waits for its end. */
  kill(): Promise<void>;
}

export function startWorkerd(configPath: string, sockets: readonly string[]): WorkerdProcess {
  const args = [programPath(), "serve", "--experimental", `--control-fd=${String(CONTROL)}`, "--import-path=/", configPath];
  // Colours in its lines would be none of the log's.
  const child = spawn(SHIELD, args, { stdio: ["ignore", "pipe", "pipe", "pipe"], env: { ...process.env, FORCE_COLOR: "0" } });
  const { stdout, stderr } = child as { stdout: Readable; stderr: Readable };
  const ended = endOf(child);
  const killNow = (): void => void child.kill("SIGKILL");
  process.on("exit", killNow);
  void ended.then(() => process.off("exit", killNow));
  const listening = portsOf(child.stdio[CONTROL] as Readable, sockets);
  return {
    stdout,
    stderr,
    listening,
    kill: async () => {
      killNow();
      await ended;
    },
  };
}

/** Also of a program that could not be started. */
async function endOf(child: ChildProcess): Promise<void> {
  await once(child, "exit").catch(() => undefined);
}

async function portsOf(control: Readable, names: readonly string[]): Promise<Map<string, number>> {
  const ports = new Map<string, number>();
  for await (const line of createInterface(control)) {
    const { event, socket, port } = JSON.parse(line) as { event: string; socket: string; port: number };
    if (event === "listen") ports.set(socket, port);
    if (names.every((name) => ports.has(name))) return ports;
  }
  throw new UserError("the runtime (workerd) has ended before it was ready");
}

function programPath(): string {
  const fromMiniflare = createRequire(requirePackage.resolve("miniflare"));
  return (fromMiniflare("workerd") as { default: string }).default;
}
