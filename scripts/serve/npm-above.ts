/**
 * The npm that runs this program. Its end is a stop: npm passes SIGTERM on to its shell, few shells pass it on to us, and a kill -9 of npm reaches
 * nobody else.
 */
import { isRunning, type ProcessRow, rowOf } from "./processes";

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "ash", "zsh", "ksh"]);
/** npm as process 1 of a container is no adoptive parent. */
const RUNS_SCRIPTS = /^(npm|node|MainThread|pnpm|yarn|bun)/;

export interface NpmAbove {
  isGone(): boolean;
}

/**
 * To be called as early as possible: who has died before cannot be told from who was never there. Without npm nobody is ever gone, unless whoever
 * starts this program says that it ends with him (scripts/testing).
 */
export function npmAbove(): NpmAbove {
  if ([process.env["npm_lifecycle_event"], process.env["SERVICENET_ENDS_WITH_PARENT"]].every((name) => name === undefined))
    return { isGone: () => false };
  const { ppid } = process;
  const parent = rowOf(ppid);
  // A shell that runs a single command may have replaced itself: then the parent is npm.
  const npm = parent && SHELLS.has(parent.command) ? rowOf(parent.parent) : parent;
  const wasGone = npm !== undefined && adopts(npm);
  return { isGone: () => wasGone || process.ppid !== ppid || (npm !== undefined && !isRunning(npm)) };
}

/** Whether this process is nobody's parent but that of orphans. */
function adopts({ pid, command }: ProcessRow): boolean {
  return (pid === 1 || command === "systemd") && !RUNS_SCRIPTS.test(command);
}
