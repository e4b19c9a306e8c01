/** Random tests begin at a seed of the commit: another commit explores others, and the same one the same. */
import { execFileSync } from "node:child_process";
import { root } from "./commands";

/** From 1 to 2^28. Outside a repository it is 1. */
export function seedOfCommit(): number {
  try {
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return 1 + parseInt(commit.slice(0, 7), 16);
  } catch {
    return 1;
  }
}
