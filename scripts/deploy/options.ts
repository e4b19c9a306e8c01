/** The command line of `npm run deploy`: wrangler's own, of which this program reads what it checks. */
import { existsSync } from "node:fs";
import { tableIn } from "../serve/configuration/fields";
import { readTable } from "../serve/configuration/read-file";
import { parseCommandLine } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";

export interface DeployOptions {
  /** wrangler's configuration */
  config: string;
  /** names that the command line and CLOUDFLARE_ENV give; wrangler takes one */
  environments: readonly string[];
  /** for wrangler */
  args: readonly string[];
}

/** Where wrangler looks, in its order. */
const CONFIGURATIONS = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

export const usage = `Usage: npm run deploy -- [options of wrangler deploy]

Deploys to Cloudflare what wrangler.toml describes (docs/deploy.md).

  --env NAME          an environment of the configuration, or what CLOUDFLARE_ENV says (the top level)
  --config FILE       another configuration (wrangler.toml)
  --dry-run           bundles, and deploys nothing
  --help              this text; npx wrangler deploy --help has all options

Exit code: wrangler's; 1 the configuration has no such environment, 2 wrong options. Then nothing was deployed.`;

export function parseOptions(args: string[], env: NodeJS.ProcessEnv = process.env): DeployOptions | "help" {
  const parsed = parseCommandLine("npm run deploy", {
    args,
    strict: false,
    options: { env: { type: "string", short: "e", multiple: true }, config: { type: "string", short: "c" } },
  });
  if (parsed === "help") return "help";
  const given = (parsed.values.env ?? []).map((value) => textOf("--env", value));
  const environments = given.length > 0 ? given : [env["CLOUDFLARE_ENV"] ?? ""];
  const { config } = parsed.values;
  const found = CONFIGURATIONS.find((name) => existsSync(name)) ?? "wrangler.toml";
  return { config: config === undefined ? found : textOf("--config", config), environments, args };
}

/** Wrangler would warn, and deploy the top level under another name. */
export function assertEnvironment(config: string, environments: readonly string[]): void {
  const names = Object.keys(tableIn(tableOf(config), "env"));
  const missing = environments.find((name) => name !== "" && !names.includes(name));
  if (missing === undefined) return;
  const there = names.length === 0 ? "none" : names.join(", ");
  throw new UserError(`--env ${missing}: ${config} has no such environment (it has ${there}); nothing was deployed`);
}

function tableOf(config: string): ReturnType<typeof readTable> {
  try {
    return readTable(config);
  } catch (error) {
    throw new UserError(`--config ${config}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** `-e=NAME` is `-e NAME` to wrangler. */
function textOf(option: string, value: string | boolean): string {
  if (typeof value === "boolean") throw new UserError(`${option}: argument missing`);
  return value.replace(/^=/, "");
}
