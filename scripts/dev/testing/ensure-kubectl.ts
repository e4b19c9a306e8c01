/** The kubectl of .ci/run, built from its Go module: test/clients/kubectl. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { goProgram } from "./go-program";
import { type Counts, oneFailed, onePassed } from "./counts";

const MODULE = "k8s.io/kubectl";
const source = join(import.meta.dirname, "..", "..", "..", "test", "clients", "kubectl");

/** Builds kubectl where it is missing or old; a machine that cannot build fails this step loudly. */
export function ensureKubectl(): { command: string | undefined; counts: Counts } {
  try {
    return { command: goProgram({ folder: source, name: "kubectl", args: ["-ldflags", stamp(moduleVersion())] }), counts: onePassed };
  } catch (error) {
    console.error(`FAILED kubectl could not be built: ${error instanceof Error ? error.message : String(error)}`);
    return { command: undefined, counts: oneFailed("kubectl") };
  }
}

/** The version in go.mod: v0.36.2 is kubectl v1.36.2. */
function moduleVersion(): string {
  return execFileSync("go", ["list", "-m", "-f", "{{.Version}}", MODULE], { cwd: source, encoding: "utf8" }).trim();
}

/** Linker flags that tell a program its version. Source: upstream hack/lib/version.sh, kube::version::ldflags. */
function stamp(version: string): string {
  const [, minor = "", patch = ""] = version.split(".");
  const values = { gitVersion: `v1.${minor}.${patch}`, gitMajor: "1", gitMinor: minor };
  return ["-s -w", ...Object.entries(values).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)].join(" ");
}
