import { type Config, parseConfig } from "../../src/core/config/config";
import { UserError } from "../terminal/user-error";

/** The configuration of these variables. Refuses those that the Worker would refuse: the server does not start on them. */
export function checkVars(vars: Record<string, unknown>): Config {
  const texts = Object.fromEntries(Object.entries(vars).map(([name, value]) => [name, String(value)]));
  const config = parseConfig(texts);
  if (!config.ok) throw new UserError(`invalid configuration: ${config.error.join("; ")}`);
  return config.value;
}
