/**
 * `npm run deploy`: wrangler deploys to Cloudflare, unless the command line names an environment that the configuration does not have. Then the cluster
 * `default` is made, where there is an administrator's token.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { deployedUrl, howToMake, makeDefaultCluster } from "../deploy/default-cluster";
import { assertEnvironment, parseOptions, usage } from "../deploy/options";
import { root } from "../running/root.mjs";
import { runProgram } from "../terminal/command-line";

/** Wrangler's exit code, and the address that it deployed to. */
async function deploy(args: readonly string[]): Promise<{ code: number; url: string | undefined }> {
  const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  const folder = mkdtempSync(join(tmpdir(), "servicenet-deploy-"));
  const report = join(folder, "report");
  try {
    const env = { ...process.env, WRANGLER_OUTPUT_FILE_PATH: report };
    const [code] = (await once(spawn(process.execPath, [wrangler, "deploy", ...args], { stdio: "inherit", env }), "close")) as [
      number | null,
    ];
    return { code: code ?? 1, url: code === 0 ? deployedUrl(report) : undefined };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exit(
  await runProgram({
    name: "deploy",
    usage,
    parse: parseOptions,
    main: async ({ config, environments, location, args }) => {
      assertEnvironment(config, environments);
      // A terminal signals both; wrangler decides.
      process.on("SIGINT", () => undefined);
      const { code, url } = await deploy(args);
      if (url === undefined) return code;
      const token = process.env["SERVICENET_ADMIN_TOKEN"];
      if (!token) {
        console.log(howToMake(url, location));
        return code;
      }
      const made = await makeDefaultCluster(url, token, { fetch, pause, location });
      if (made.text !== "") console.log(made.text);
      return made.isThere ? code : 1;
    },
  }),
);
