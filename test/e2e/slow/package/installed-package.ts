/** The package as users have it: packed by npm, and installed into an empty folder. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { root } from "../../../../scripts/running/root.mjs";

export interface InstalledPackage {
  /** the folder with node_modules */
  project: string;
  /** that of the package */
  folder: string;
  /** the command `servicenet`, as a file for Node */
  command: string;
}

/** Programs of all Nodes that are supported: this one, and those that .ci/run brings. */
export const NODES: readonly string[] = [process.execPath, ...(process.env["OTHER_NODES"] ?? "").split(delimiter).filter(Boolean)];

const QUIET = ["--no-audit", "--no-fund", "--loglevel=error"];

/** Packs and installs below `folder`. What npm has fetched before is not fetched again. */
export function installedPackage(folder: string): InstalledPackage {
  const packed = npm(["pack", "--json", "--pack-destination", folder], root);
  const [{ filename = "" } = {}] = JSON.parse(packed.slice(packed.lastIndexOf("\n[") + 1)) as { filename?: string }[];
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), `{ "name": "project", "private": true, "type": "module" }\n`);
  npm(["install", "--prefer-offline", ...QUIET, join(folder, filename)], project);
  return {
    project,
    folder: join(project, "node_modules", "servicenet"),
    command: join(project, "node_modules", ".bin", "servicenet"),
  };
}

/** Its standard output. npm in npm would take the outer one's project for its own. */
function npm(args: readonly string[], cwd: string): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
  return execFileSync("npm", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}
