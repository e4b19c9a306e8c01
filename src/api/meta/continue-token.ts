/** The tokens that continue a list (upstream apiserver storage/continue.go). */
import { err, ok, type Result } from "../../core/base/result";
import { decodeBase64Url, encodeBase64Url } from "../../core/encoding/base64";

/** The place where a list goes on; opaque to clients. */
export interface ContinueToken {
  /** revision of the first page's snapshot; -1 = go on at the newest revision (the token of a 410 answer) */
  revision: number;
  /** the last key that was sent: `namespace/name` (or the name of a cluster-scoped object); the next page starts after it */
  start: string;
  /** the store's incarnation: a token of another incarnation is expired (rule 22) */
  incarnation: string;
  /** when the first page was made, in ms; 0 = unknown, as in the tokens of earlier releases */
  madeAt: number;
  /** how many objects come after `start`; absent = unknown */
  remaining?: number;
}

const TOKEN_VERSION = "meta.k8s.io/v1";

export function encodeContinue(token: ContinueToken): string {
  const { revision: rv, start, incarnation, madeAt, remaining } = token;
  return encodeBase64Url(JSON.stringify({ v: TOKEN_VERSION, rv, start, incarnation, at: madeAt, remaining }));
}

/** The error is the whole text of the 400. */
export function decodeContinue(text: string): Result<ContinueToken, string> {
  const refuse = (why: string): Result<ContinueToken, string> => err(`invalid continue token: continue key is not valid: ${why}`);
  const json = decodeBase64Url(text);
  if (json === undefined) return refuse("illegal base64 data");
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return refuse("not JSON");
  }
  if (typeof parsed !== "object" || parsed === null) return refuse("not an object");
  const { v, rv, start, incarnation, at: madeAt = 0, remaining } = parsed as Record<string, unknown>;
  if (v !== TOKEN_VERSION) return refuse("server does not recognize this encoded version");
  if (typeof rv !== "number" || !Number.isSafeInteger(rv) || rv === 0 || rv < -1) return refuse("incorrect encoded start resourceVersion");
  if (typeof start !== "string" || start === "") return refuse("encoded start key empty");
  if (typeof incarnation !== "string") return refuse("incorrect encoded incarnation");
  if (typeof madeAt !== "number" || !Number.isSafeInteger(madeAt) || madeAt < 0) return refuse("incorrect encoded time");
  if (remaining === undefined) return ok({ revision: rv, start, incarnation, madeAt });
  if (typeof remaining !== "number" || !Number.isSafeInteger(remaining) || remaining < 0)
    return refuse("incorrect encoded remaining count");
  return ok({ revision: rv, start, incarnation, madeAt, remaining });
}
