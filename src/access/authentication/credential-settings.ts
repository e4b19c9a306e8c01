/** What a deployment says about credentials. */
import { err, ok, type Result } from "../../core/base/result";
import { type AdminToken, parseAdminTokens } from "./admin-tokens";
import { type Issuer, parseIssuers } from "./issuer-config";

export interface AuthenticationSettings {
  readonly adminTokens: readonly AdminToken[];
  readonly issuers: readonly Issuer[];
}

const ADMIN_TOKEN_HASHES = "ADMIN_TOKEN_HASHES";
const AUTHENTICATION_CONFIG = "AUTHENTICATION_CONFIG";

/** The variables ADMIN_TOKEN_HASHES and AUTHENTICATION_CONFIG, or all that is wrong with them. Without either, only tokens of this server's own are good. */
export function parseAuthentication(vars: Readonly<Record<string, string | undefined>>): Result<AuthenticationSettings, string[]> {
  const adminTokens = parseAdminTokens(vars[ADMIN_TOKEN_HASHES]);
  const issuers = parseIssuers(vars[AUTHENTICATION_CONFIG]);
  if (adminTokens.ok && issuers.ok) return ok({ adminTokens: adminTokens.value, issuers: issuers.value });
  const problemsOf = (variable: string, of: { ok: true } | { ok: false; error: string[] }): string[] =>
    of.ok ? [] : of.error.map((problem) => `${variable}: ${problem}`);
  return err([...problemsOf(ADMIN_TOKEN_HASHES, adminTokens), ...problemsOf(AUTHENTICATION_CONFIG, issuers)]);
}
