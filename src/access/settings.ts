/** All variables of the server, checked: core/config has those that are plain values, this wing those of access control. */
import { err, ok, type Result } from "../core/base/result";
import { type Config, parseConfig } from "../core/config/config";
import { parseAuditPolicy } from "./audit/audit-policy";
import { parseAuthentication } from "./authentication/credential-settings";

/** The configuration, or every problem of every variable: each text begins with the variable's name, none has a secret. */
export function checkedVars(vars: Readonly<Record<string, string | undefined>>): Result<Config, string[]> {
  const config = parseConfig(vars);
  const authentication = parseAuthentication(vars);
  const audit = parseAuditPolicy(vars.AUDIT_POLICY ?? "");
  const problems = [config, authentication, audit].flatMap((checked) => (checked.ok ? [] : checked.error));
  return config.ok && problems.length === 0 ? ok(config.value) : err(problems);
}
