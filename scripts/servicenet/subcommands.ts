/** The programs that the command `servicenet` has. Each is the one of its npm script, and is loaded when it is called. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { isPackage, root } from "../running/root.mjs";
import type { ProgramOptions } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";

export interface Subcommand {
  readonly name: string;
  /** one line, without an end */
  readonly summary: string;
  /** what its command line may have, for completion */
  completed(): Promise<Completed>;
  /** Runs it on the arguments of this process; it sets the exit code. */
  run(): Promise<unknown>;
}

interface Completed {
  readonly options: ProgramOptions;
  /** of which one follows the name; absent = other arguments, if any, are files */
  readonly words?: readonly string[];
}

export const SUBCOMMANDS: readonly Subcommand[] = [
  {
    name: "serve",
    summary: "serve Servicenet on this machine",
    completed: async () => ({ options: (await import("../serve/options")).options }),
    run: () => import("../commands/serve"),
  },
  {
    name: "check",
    summary: "check what must always hold of a live cluster",
    completed: async () => ({ options: (await import("../check/options")).options }),
    run: () => import("../commands/check"),
  },
  {
    name: "backup",
    summary: "write a whole cluster into one file",
    completed: async () => ({ options: (await import("../backup/options")).options }),
    run: () => import("../commands/backup"),
  },
  {
    name: "restore",
    summary: "make an empty cluster the one of a backup",
    completed: async () => ({ options: (await import("../restore/options")).options }),
    run: () => import("../commands/restore"),
  },
  {
    name: "import",
    summary: "take over a dump of a live cluster",
    completed: async () => ({ options: (await import("../import/options")).options }),
    run: () => import("../commands/import"),
  },
  {
    name: "cluster",
    summary: "list, make and delete clusters of a server",
    completed: async () => {
      const { CLUSTER_COMMANDS, options } = await import("../clusters/options");
      return { options, words: CLUSTER_COMMANDS };
    },
    run: () => import("../commands/cluster"),
  },
  {
    name: "token",
    summary: "make, list, rotate and revoke tokens of a server",
    completed: async () => {
      const { TOKEN_COMMANDS, options } = await import("../token/options");
      return { options, words: TOKEN_COMMANDS };
    },
    run: () => import("../commands/token"),
  },
  {
    name: "proxy",
    summary: "make Services reachable on loopback addresses",
    completed: async () => ({ options: (await import("../proxy/options")).options }),
    run: () => import("../commands/proxy"),
  },
  {
    name: "dns",
    summary: "keep a file of hosts with the names of Services",
    completed: async () => ({ options: (await import("../dns/options")).options }),
    run: () => import("../commands/dns"),
  },
  {
    name: "agent",
    summary: "make this machine a node",
    completed: async () => ({ options: (await import("../agent/options")).options }),
    run: () => import("../commands/agent"),
  },
  {
    name: "bench",
    summary: "measure a clone of the repository on this machine",
    completed: () => Promise.resolve({ options: {} }),
    run: runBench,
  },
];

/** It starts servers of the sources, and needs the packages for development: it has a process of its own. */
async function runBench(): Promise<void> {
  if (isPackage) throw new UserError("bench: measures the sources; run npm run bench in a clone of the repository");
  const program = ["scripts/run.mjs", "scripts/dev/bench.ts"].map((path) => join(root, path));
  const child = spawn(process.execPath, [...program, ...process.argv.slice(2)], { stdio: "inherit" });
  // A terminal signals both.
  process.on("SIGINT", () => undefined);
  const [code] = (await once(child, "close")) as [number | null];
  process.exitCode = code ?? 1;
}
