/** The token of the administrator of a local server: made once, in the data folder (`admin-token`, readable by its owner alone). */
import { createHash, randomBytes } from "node:crypto";
import { type BearerToken, drawToken, formatToken, hashSecret, parseToken } from "../../src/access/authentication/bearer-token";
import { WordRandom } from "../../src/core/base/word-random";
import { readIfThere, writePrivate } from "./private-file";

export interface AdminToken {
  token: string;
  /** as the variable ADMIN_TOKEN_HASHES has it */
  hash: string;
}

const random = new WordRandom(() => randomBytes(4).readUInt32LE());
const digest = (bytes: Uint8Array): Promise<string> => Promise.resolve(createHash("sha256").update(bytes).digest("hex"));

/** The token that the file has; where it has none, a new one. */
export async function adminTokenIn(path: string): Promise<AdminToken> {
  const token = parseToken(readIfThere(path)?.trim() ?? "") ?? madeIn(path);
  const { salt, sha256 } = await hashSecret(token.secret, random, digest);
  return { token: formatToken(token), hash: `${token.id}:${salt}:${sha256}` };
}

function madeIn(path: string): BearerToken {
  const token = drawToken(random);
  writePrivate(path, `${formatToken(token)}\n`);
  return token;
}
