/** Where a dnsmasq is, for the suite that asks it for names. */
import { spawnSync } from "node:child_process";

/** A command that runs dnsmasq: $DNSMASQ, the one on the PATH, or Debian's, which stands outside the PATH of most users. */
export function findDnsmasq(): string | undefined {
  const candidates = [process.env["DNSMASQ"], "dnsmasq", "/usr/sbin/dnsmasq"];
  return candidates.find((command) => command !== undefined && spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0);
}
