import { checkedVars } from "../../src/access/settings";
import type { Config } from "../../src/core/config/config";
import { UserError } from "../terminal/user-error";

/** The configuration of these variables. Refuses those that the Worker would refuse: the server does not start on them. */
export function checkVars(vars: Record<string, unknown>): Config {
  const config = checkedVars(Object.fromEntries(Object.entries(vars).map(([name, value]) => [name, String(value)])));
  if (config.ok) return config.value;
  throw new UserError(`invalid configuration: ${config.error.join("; ")}`);
}
