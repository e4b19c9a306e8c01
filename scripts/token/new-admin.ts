/** A token of an administrator, and what the server has to know of it. */
import { createHash, randomBytes } from "node:crypto";
import { formatAdminToken } from "../../src/access/authentication/admin-tokens";
import { type BearerToken, drawToken, formatToken, hashSecret } from "../../src/access/authentication/bearer-token";
import { WordRandom } from "../../src/core/base/word-random";

export interface Admin {
  token: string;
  /** an entry of ADMIN_TOKEN_HASHES, with a salt of its own */
  hash: string;
}

const random = new WordRandom(() => randomBytes(4).readUInt32LE());
const digest = (bytes: Uint8Array): Promise<string> => Promise.resolve(createHash("sha256").update(bytes).digest("hex"));

export async function newAdmin(): Promise<Admin> {
  return adminWith(drawToken(random));
}

export async function adminWith(token: BearerToken): Promise<Admin> {
  return { token: formatToken(token), hash: formatAdminToken({ id: token.id, ...(await hashSecret(token.secret, random, digest)) }) };
}
