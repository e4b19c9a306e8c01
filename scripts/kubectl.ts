/** Where kubectl is, if it is new enough: the tests expect what kubectl 1.36 prints. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const oldest = { major: 1, minor: 36 };
const cached = join(import.meta.dirname, "..", ".cache", "kubectl");

/** A command that runs kubectl 1.36 or newer: $KUBECTL, the one on the PATH, or the one that .ci/run built in .cache/. */
export function findKubectl(): string | undefined {
  const candidates = [process.env["KUBECTL"], "kubectl", existsSync(cached) ? cached : undefined];
  return candidates.find((command) => command !== undefined && isNewEnough(command));
}

function isNewEnough(command: string): boolean {
  const answer = spawnSync(command, ["version", "--client", "-o", "json"], { encoding: "utf8", timeout: 20_000 });
  if (answer.status !== 0) return false;
  const version = /"gitVersion":\s*"v(\d+)\.(\d+)/.exec(answer.stdout);
  if (!version) return false;
  const [major, minor] = [Number(version[1]), Number(version[2])];
  return major > oldest.major || (major === oldest.major && minor >= oldest.minor);
}
