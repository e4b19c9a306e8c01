/**
 * Administrators by the variable ADMIN_TOKEN_HASHES: `ID:SALT:SHA256` for each token, between commas. They need no object, so that they work
 * on an empty deployment, and while its objects do not answer.
 */
import type { Digest } from "../../core/base/ports";
import { err, ok, type Result } from "../../core/base/result";
import { type BearerToken, isSecretOf, SALT_FORM, type SecretHash, SHA256_FORM, TOKEN_ID } from "./bearer-token";

export const ADMIN = "admin";

export interface AdminToken extends SecretHash {
  readonly id: string;
}

/** The problems name entries by their place alone: what they are may be a secret in the wrong variable. */
export function parseAdminTokens(text: string | undefined): Result<readonly AdminToken[], string[]> {
  const entries = (text ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const problems: string[] = [];
  const tokens = entries.flatMap((entry, i) => {
    const [id = "", salt = "", sha256 = "", ...more] = entry.split(":");
    if (TOKEN_ID.test(id) && SALT_FORM.test(salt) && SHA256_FORM.test(sha256) && more.length === 0) return { id, salt, sha256 };
    problems.push(`entry ${i + 1} is not as \`npm run token -- new-admin\` prints it: ID:SALT:SHA256`);
    return [];
  });
  return problems.length > 0 ? err(problems) : ok(tokens);
}

/** One token as the variable has it. */
export function formatAdminToken({ id, salt, sha256 }: AdminToken): string {
  return `${id}:${salt}:${sha256}`;
}

/** Whether a token is an administrator's; undefined: the id belongs to no administrator. */
export function isAdminToken(tokens: readonly AdminToken[], { id, secret }: BearerToken, digest: Digest): Promise<boolean> | undefined {
  const token = tokens.find((one) => one.id === id);
  return token && isSecretOf(token, secret, digest);
}
