/** The modules whose files comments cite, as the Go module proxy delivers them, in the versions of the recorded kube-apiserver. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { UpstreamModule } from "./upstream-files";

/** Its go.mod has the versions. */
const RECORDED = ["test", "clients", "kube-apiserver"];

const MODULES = [
  "k8s.io/apimachinery",
  "k8s.io/apiserver",
  "k8s.io/client-go",
  "k8s.io/cloud-provider",
  "k8s.io/component-base",
  "k8s.io/component-helpers",
  "k8s.io/controller-manager",
  "k8s.io/endpointslice",
  "k8s.io/kube-openapi",
  "k8s.io/kubectl",
  "k8s.io/kubernetes",
  "sigs.k8s.io/structured-merge-diff/v6",
];

const DIGITS = 12;

/** Throws when a module cannot be downloaded. */
export function upstreamModules(root: string): UpstreamModule[] {
  return MODULES.map((name) => {
    const { stdout, error } = spawnSync("go", ["mod", "download", "-json", name], { cwd: join(root, ...RECORDED), encoding: "utf8" });
    if (error) throw error;
    const { Dir: folder, Version: version, Error: problem } = JSON.parse(stdout) as { Dir?: string; Version?: string; Error?: string };
    if (folder === undefined || version === undefined) throw new Error(`${name}: ${problem ?? "not downloaded"}`);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
    return {
      name,
      version,
      files: files.filter((path) => path.endsWith(".go")),
      digest: (file) =>
        createHash("sha256")
          .update(readFileSync(join(folder, file)))
          .digest("hex")
          .slice(0, DIGITS),
    };
  });
}
