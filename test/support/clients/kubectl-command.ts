/** Where kubectl is, if it is new enough: the tests expect what kubectl 1.36 prints. */
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";

const oldest = { major: 1, minor: 36 };
const built = join(import.meta.dirname, "..", "..", "..", ".cache", "kubectl");

let known = "";

/**
 * The path of kubectl 1.36 or newer: of $KUBECTL, of the one on the PATH, or of the one that .ci/run built in .cache/.
 *
 * @throws Error where there is none
 */
export function kubectlCommand(): string {
  if (known === "") known = found();
  return known;
}

function found(): string {
  for (const command of [process.env["KUBECTL"], "kubectl", built]) {
    const path = command === undefined ? "" : pathOf(command);
    if (path !== "" && isNewEnough(path)) return path;
  }
  throw new Error("there is no kubectl 1.36 or newer: put one on the PATH, name it in $KUBECTL, or run .ci/run once");
}

/** "" = there is no such program */
function pathOf(command: string): string {
  const answer = spawnSync("sh", ["-c", 'command -v "$0"', command], { encoding: "utf8" }).stdout.trim();
  return answer === "" ? "" : resolve(answer);
}

function isNewEnough(command: string): boolean {
  const answer = spawnSync(command, ["version", "--client", "-o", "json"], { encoding: "utf8", timeout: 20_000 });
  if (answer.status !== 0) return false;
  const version = /"gitVersion":\s*"v(\d+)\.(\d+)/.exec(answer.stdout);
  if (!version) return false;
  const [major, minor] = [Number(version[1]), Number(version[2])];
  return major > oldest.major || (major === oldest.major && minor >= oldest.minor);
}
