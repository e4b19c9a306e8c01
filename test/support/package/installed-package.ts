/** The package as users have it: packed by npm, and installed into an empty folder. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { takeLock } from "../../../scripts/running/install-lock.mjs";
import { root } from "../../../scripts/running/root.mjs";

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

/** What `npx tsx` runs. */
export const TSX = join(root, "node_modules", "tsx", "dist", "cli.mjs");

const QUIET = ["--no-audit", "--no-fund", "--loglevel=error"];

/** Packs and installs below `folder`. What npm has fetched before is not fetched again. */
export async function installedPackage(folder: string): Promise<InstalledPackage> {
  const packed = await pack(folder);
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

/** What npm says of the tarball. Files that pack at once would build into one folder. */
async function pack(folder: string): Promise<string> {
  const release = await takeLock(join(root, "dist", ".pack.lock"));
  try {
    return npm(["pack", "--json", "--pack-destination", folder], root);
  } finally {
    release();
  }
}

/** Its standard output. npm in npm would take the outer one's project for its own. */
function npm(args: readonly string[], cwd: string): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
  return execFileSync("npm", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}
