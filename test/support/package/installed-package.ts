/** The package as users have it: packed by npm, and installed into an empty folder. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
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

/** The tarballs of test runs, each in a folder with the number of the process whose files share it. */
const PACKED = join(root, ".cache", "packed");

/** Installs below `folder`. What npm has fetched before is not fetched again. */
export async function installedPackage(folder: string): Promise<InstalledPackage> {
  const tarball = await packedOnce();
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), `{ "name": "project", "private": true, "type": "module" }\n`);
  npm(["install", "--prefer-offline", ...QUIET, tarball], project);
  return {
    project,
    folder: join(project, "node_modules", "servicenet"),
    command: join(project, "node_modules", ".bin", "servicenet"),
  };
}

/** The tarball of this run. Files of one run are processes of one parent; the first one packs, and others wait for it. */
async function packedOnce(): Promise<string> {
  const release = await takeLock(join(PACKED, "lock"));
  try {
    const folder = join(PACKED, String(process.ppid));
    const [packed] = existsSync(folder) ? readdirSync(folder) : [];
    if (packed !== undefined) return join(folder, packed);
    for (const name of readdirSync(PACKED).filter((one) => /^\d+$/.test(one))) rmSync(join(PACKED, name), { recursive: true, force: true });
    const unfinished = join(PACKED, "unfinished");
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished);
    npm(["pack", "--loglevel=error", "--pack-destination", unfinished], root);
    renameSync(unfinished, folder);
    return join(folder, readdirSync(folder)[0] ?? "");
  } finally {
    release();
  }
}

/** Its standard output. npm in npm would take the outer one's project for its own. */
function npm(args: readonly string[], cwd: string): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
  return execFileSync("npm", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}
