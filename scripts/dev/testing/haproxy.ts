/** Where an HAProxy is, for the suite that puts it in front of nodes. */
import { spawnSync } from "node:child_process";

/** A command that runs HAProxy: $HAPROXY, the one on the PATH, or Debian's, which stands outside the PATH of most users. */
export function findHaproxy(): string | undefined {
  const candidates = [process.env["HAPROXY"], "haproxy", "/usr/sbin/haproxy"];
  return candidates.find((command) => command !== undefined && spawnSync(command, ["-v"], { stdio: "ignore" }).status === 0);
}

/** jq on the PATH, where the page's script looks for it. */
export function findJq(): string | undefined {
  return spawnSync("jq", ["--version"], { stdio: "ignore" }).status === 0 ? "jq" : undefined;
}
