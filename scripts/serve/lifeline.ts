/** Ends the runtime with the runner, however the runner dies. */
import { spawn } from "node:child_process";
import type { ProcessIdentity } from "./processes";

/** The end of the standard input is the death of the runner: the system closes its end of the pipe. */
const PROGRAM = `trap '' INT HUP TERM; read -r _; kill -9 "$1"`;

export interface Lifeline {
  /** The runtime may outlive the runner again. */
  cut(): void;
}

/**
 * Starts a small shell that waits for the death of this process and then kills `runtime`: a kill -9 leaves nobody else to do that. The shell is in a
 * process group of its own, so that the signals of a terminal pass it by. Windows has no such shell; there the next start ends the runtime.
 */
export function tieToUs(runtime: ProcessIdentity): Lifeline {
  if (process.platform === "win32") return { cut: () => undefined };
  const shell = spawn("/bin/sh", ["-c", PROGRAM, "servicenet-lifeline", String(runtime.pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Without it the server serves all the same.
  shell.on("error", () => undefined);
  shell.stdin.on("error", () => undefined);
  return { cut: () => void shell.kill("SIGKILL") };
}
