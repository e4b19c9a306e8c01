/** Builds the Worker of a commit and keeps it for the test of two releases (test/e2e/slow/cluster/two-releases.test.ts). */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { shortText } from "../../serve/bundle";
import { UserError } from "../../terminal/user-error";
import { KEPT_BYTES_MAX, KEPT_RELEASE } from "./kept";

export interface Kept {
  commit: string;
  bytes: number;
}

/**
 * @param root the folder of the project; its installed packages are used for the older sources, too
 * @param name of a commit, a branch or a tag
 * @throws UserError where git does not know the commit, or it cannot be built, or is too long to be kept
 */
export function keepRelease(root: string, name: string): Kept {
  const commit = git(root, ["rev-parse", "--verify", "--quiet", `${name}^{commit}`])
    .toString()
    .trim();
  const folder = mkdtempSync(join(tmpdir(), "servicenet-release-"));
  try {
    const sources = git(root, ["archive", commit, "src", "durable-objects", "package.json", "wrangler.toml"]);
    const unpacked = spawnSync("tar", ["-x", "-C", folder], { input: sources });
    if (unpacked.status !== 0) throw new UserError(`tar cannot unpack the sources of ${commit}: ${unpacked.stderr.toString().trim()}`);
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const text = shortText({ main: join(folder, "src/worker/index.ts"), define: {} }, folder);
    const bytes = compressed(text);
    if (bytes.length > KEPT_BYTES_MAX)
      throw new UserError(`the bundle has ${String(bytes.length)} bytes, more than ${String(KEPT_BYTES_MAX)}`);
    const kept = join(root, KEPT_RELEASE.folder);
    mkdirSync(kept, { recursive: true });
    writeFileSync(join(kept, KEPT_RELEASE.bundle), bytes);
    writeFileSync(join(kept, KEPT_RELEASE.facts), `${JSON.stringify({ commit }, null, 2)}\n`);
    return { commit, bytes: bytes.length };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function compressed(text: string): Buffer {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT } = constants;
  return brotliCompressSync(text, {
    params: { [BROTLI_PARAM_QUALITY]: 11, [BROTLI_PARAM_LGWIN]: 24, [BROTLI_PARAM_SIZE_HINT]: text.length },
  });
}

function git(root: string, args: readonly string[]): Buffer {
  const { stdout, stderr, status, error } = spawnSync("git", args, { cwd: root, maxBuffer: 1 << 28 });
  if (error || status !== 0)
    throw new UserError(`git ${args.join(" ")}: ${error?.message ?? (stderr.toString().trim() || "no such commit here")}`);
  return stdout;
}
