import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { removeFolder, temporaryFolder } from "../../../support/server/server";
import { root } from "../../../../scripts/running/root.mjs";

const bundleBytesMax = 3 * 1024 * 1024;
const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

describe("wrangler deploy --dry-run", () => {
  it.each(["", "staging", "production"])("environment %j: built without a warning, below 3 MiB compressed", (name) => {
    const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
    const result = spawnSync(process.execPath, [wrangler, "deploy", "--dry-run", "--outdir", folder, `--env=${name}`], {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, CI: "1", NO_COLOR: "1", WRANGLER_SEND_METRICS: "false" },
    });
    const output = result.stdout + result.stderr;
    expect(output).toContain("--dry-run: exiting now.");
    expect(output).not.toMatch(/warning|deprecated|✘|▲/i);
    expect(result.status).toBe(0);
    // One module alone: an import that wrangler takes for a data file would be a second one, and would fail at the start.
    const modules = readdirSync(folder).filter((name) => name !== "README.md" && !name.endsWith(".map"));
    expect(modules).toEqual(["index.js"]);
    expect(gzipSync(readFileSync(join(folder, "index.js"))).length).toBeLessThan(bundleBytesMax);
  });
});
