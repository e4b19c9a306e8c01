/** A token of an administrator, and what the server has to know of it. */
import { createHash, webcrypto } from "node:crypto";
import { formatAdminToken } from "../../src/access/authentication/admin-tokens";
import { drawToken, formatToken, hashSecret } from "../../src/access/authentication/bearer-token";
import { WordRandom } from "../../src/core/base/word-random";

export interface NewAdmin {
  token: string;
  /** an entry of ADMIN_TOKEN_HASHES */
  hash: string;
}

export async function newAdmin(): Promise<NewAdmin> {
  const random = new WordRandom(() => webcrypto.getRandomValues(new Uint32Array(1))[0] ?? 0);
  const digest = (bytes: Uint8Array) => Promise.resolve(createHash("sha256").update(bytes).digest("hex"));
  const token = drawToken(random);
  return { token: formatToken(token), hash: formatAdminToken({ id: token.id, ...(await hashSecret(token.secret, random, digest)) }) };
}
