import { type Config, parseConfig } from "../../src/core/config/config";
import { accessProblems } from "../../src/access/settings";
import { UserError } from "../terminal/user-error";

/** The configuration of these variables. Refuses those that the Worker would refuse: the server does not start on them. */
export function checkVars(vars: Record<string, unknown>): Config {
  const texts = Object.fromEntries(Object.entries(vars).map(([name, value]) => [name, String(value)]));
  const config = parseConfig(texts);
  const ofAccess = accessProblems(texts);
  if (config.ok && ofAccess.length === 0) return config.value;
  throw new UserError(`invalid configuration: ${[...(config.ok ? [] : config.error), ...ofAccess].join("; ")}`);
}
