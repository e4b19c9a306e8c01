/** Child processes that end with this one. */
import type { ChildProcess } from "node:child_process";

const kills = new Set<() => void>();

process.on("exit", () => {
  for (const kill of kills) kill();
});

/** While `child` runs, the end of this process calls `kill`, which may not wait. A kill -9 of this process alone leaves the child. */
export function endWithUs(child: ChildProcess, kill: () => void): void {
  kills.add(kill);
  child.once("close", () => kills.delete(kill));
}
