/** Invalid variables fail every request with one clear Status, and are logged once per isolate with the variable's name. */
import type { Result } from "../../core/base/result";
import type { Config } from "../../core/config/config";
import { internalError, type Status } from "../../api/meta/status";
import { checkedVars } from "../../access/settings";
import type { Env } from "../../../durable-objects/platform/env";
import { log } from "../http/log";

const parsed = new WeakMap<Env, Result<Config, Status>>();

/** The configuration of this isolate; parsed once. */
export function configOf(env: Env): Result<Config, Status> {
  const known = parsed.get(env);
  if (known) return known;
  const fresh = parse(env);
  parsed.set(env, fresh);
  return fresh;
}

function parse(env: Env): Result<Config, Status> {
  const config = checkedVars(env as unknown as Record<string, string | undefined>);
  if (config.ok) return config;
  const problems = config.error.join("; ");
  log("error", "invalid configuration", { problems });
  return { ok: false, error: internalError(`invalid configuration: ${problems}`) };
}
