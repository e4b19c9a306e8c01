/** The token of the administrator of a local server: made once, in the data folder (`admin-token`, readable by its owner alone). */
import { createHash, randomBytes } from "node:crypto";
import { readIfThere, writePrivate } from "./private-file";

export interface AdminToken {
  token: string;
  /** what the server compares with: `<id>:<salt in hex>:<SHA-256 of salt and secret in hex>` */
  hash: string;
}

/** No other start of the server has to know the salt: each has its own. */
const SALT_BYTES = 16;
const ID_BYTES = 8;
const SECRET_BYTES = 32;
const TOKEN = /^sn_([0-9a-z]+)_([\w-]+)$/;

/** The token that the file has; where it has none, a new one. */
export function adminTokenIn(path: string): AdminToken {
  const kept = readIfThere(path)?.trim() ?? "";
  if (TOKEN.test(kept)) return hashed(kept);
  const token = `sn_${randomBytes(ID_BYTES).toString("hex")}_${randomBytes(SECRET_BYTES).toString("base64url")}`;
  writePrivate(path, `${token}\n`);
  return hashed(token);
}

function hashed(token: string): AdminToken {
  const [, id = "", secret = ""] = TOKEN.exec(token) ?? [];
  const salt = randomBytes(SALT_BYTES);
  const hash = createHash("sha256").update(salt).update(secret).digest("hex");
  return { token, hash: `${id}:${salt.toString("hex")}:${hash}` };
}
