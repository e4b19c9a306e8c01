/** What is wrong with the variables of access control; core/config checks those that are plain switches. */
import { parseAuditPolicy } from "./audit/audit-policy";
import { parseAuthentication } from "./authentication/settings";

/** Every text begins with the variable's name; none has a secret. */
export function accessProblems(vars: Readonly<Record<string, string | undefined>>): string[] {
  const authentication = parseAuthentication(vars);
  const audit = parseAuditPolicy(vars.AUDIT_POLICY ?? "");
  return [...(authentication.ok ? [] : authentication.error), ...(audit.ok ? [] : audit.error)];
}
