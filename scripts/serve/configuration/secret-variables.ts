/** Variables that stand beside a configuration, as wrangler reads them: secrets of a deployment. */
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse } from "dotenv";
import { expand } from "dotenv-expand";
import { shownPath } from "../../folders/user-path";
import { type Table, tableIn, textsIn } from "./fields";

/** What the file `.dev.vars` has; without it `.env` and, over that, `.env.local`. With "secrets" in the configuration: those that it names alone. */
export function secretVariables(path: string, fields: Table, env: NodeJS.ProcessEnv): { vars: Record<string, string>; warnings: string[] } {
  const folder = dirname(resolve(path));
  const named = fields["secrets"] === undefined ? undefined : textsIn(tableIn(fields, "secrets"), "required", "secrets.required");
  const all = ofFile(join(folder, ".dev.vars")) ?? ofEnvironment(folder, env, named !== undefined);
  if (!named) return { vars: all, warnings: [] };
  const missing = named.filter((name) => !(name in all));
  const warnings = missing.length > 0 ? [`secrets that neither .dev.vars, .env nor the environment has: ${missing.join(", ")}`] : [];
  return { vars: Object.fromEntries(named.flatMap((name) => (name in all ? [[name, all[name] ?? ""]] : []))), warnings };
}

function ofEnvironment(folder: string, env: NodeJS.ProcessEnv, needsProcess: boolean): Record<string, string> {
  if (!isTrue(env, "CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV", true)) return {};
  const vars = Object.assign({}, ofFile(join(folder, ".env")), ofFile(join(folder, ".env.local")));
  const ofProcess = needsProcess || isTrue(env, "CLOUDFLARE_INCLUDE_PROCESS_ENV", false) ? { ...env } : {};
  expand({ parsed: vars, processEnv: ofProcess as Record<string, string> });
  return ofProcess as Record<string, string>;
}

/** undefined: there is no such file. */
function ofFile(path: string): Record<string, string> | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  console.log(`Using secrets defined in ${shownPath(path)}`);
  return parse(text);
}

function isTrue(env: NodeJS.ProcessEnv, name: string, otherwise: boolean): boolean {
  const value = env[name]?.toLowerCase();
  if (value === undefined) return otherwise;
  if (value === "true" || value === "false") return value === "true";
  throw new Error(`$${name} must be true or false`);
}
