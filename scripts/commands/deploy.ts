/** `npm run deploy`: wrangler deploys to Cloudflare, unless the command line names an environment that the configuration does not have. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { assertEnvironment, parseOptions, usage } from "../deploy/options";
import { root } from "../running/root.mjs";
import { runProgram } from "../terminal/command-line";

process.exit(
  await runProgram({
    name: "deploy",
    usage,
    parse: parseOptions,
    main: async ({ config, environments, args }) => {
      assertEnvironment(config, environments);
      const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
      // A terminal signals both; wrangler decides.
      process.on("SIGINT", () => undefined);
      const [code] = (await once(spawn(process.execPath, [wrangler, "deploy", ...args], { stdio: "inherit" }), "close")) as [number | null];
      return code ?? 1;
    },
  }),
);
