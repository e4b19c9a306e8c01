/** Ends the runtime with the runner, however the runner dies, and removes the folder of its socket. */
import { spawn } from "node:child_process";
import type { ProcessIdentity } from "./processes";
import { FOLDER_PREFIX, SOCKET_NAME } from "./workerd/socket-folder";

/**
 * The end of the standard input is the death of the runner: the system closes its end of the pipe. The process with the number of the runtime may be
 * another one by then, so the start times are compared as processes.ts tells them. In /proc the 20th word behind the name is the start time.
 */
const PROGRAM = `
trap '' INT HUP TERM
read -r _
runtime=$1 started=$2 folder=$3
if [ -e /proc/self/stat ]; then
  stat=$(cat "/proc/$runtime/stat")
  set -- \${stat##*) }
  now="$(cat /proc/sys/kernel/random/boot_id)/\${20}"
else
  now=$(LC_ALL=C ps -o lstart= -p "$runtime" | tr -s ' ' | sed 's/^ //; s/ $//')
fi
if [ "$now" = "$started" ]; then kill -9 "$runtime"; fi
case $folder in
  */${FOLDER_PREFIX}*) rm -f "$folder/${SOCKET_NAME}" && rmdir "$folder" ;;
esac
`;

/**
 * Command and arguments of the shell that ends `runtime`, and no other process, when its standard input ends. `folder`: of its
 * socket (workerd/socket-folder.ts).
 */
export function watchman({ pid, startedAt }: ProcessIdentity, folder: string): [string, string[]] {
  return ["/bin/sh", ["-c", PROGRAM, "servicenet-lifeline", String(pid), startedAt, folder]];
}

export interface Lifeline {
  /** Lets the runtime outlive the runner again. */
  cut(): void;
}

/**
 * Starts a small shell that waits for the death of this process and then kills `runtime`, because a kill -9 leaves no other process to do so. The
 * shell has a process group of its own, so the signals of a terminal do not reach it.
 */
export function tieToUs(runtime: ProcessIdentity, folder: string): Lifeline {
  const shell = spawn(...watchman(runtime, folder), { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  // Without it the server serves all the same.
  shell.on("error", () => undefined);
  shell.stdin.on("error", () => undefined);
  return { cut: () => void shell.kill("SIGKILL") };
}
