/** JSON Web Tokens, checked with the keys of their issuer. Source: RFC 7519, RFC 8725. */
import {
  type CryptoKey,
  decodeJwt,
  decodeProtectedHeader,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from "jose";
import { err, ok, type Result } from "../../core/base/result";
import { CREDENTIAL_MAX_CHARS, LEEWAY_SECONDS } from "./credential-limits";
import type { AuthenticationFault } from "./ports";

/** A token that nobody has checked yet. */
export interface UncheckedJwt {
  readonly text: string;
  readonly issuer: string;
  readonly alg: string;
  readonly kid: string | undefined;
}

export interface JwtRules {
  readonly issuer: string;
  /** one of them must be in the token */
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
}

export type CheckedClaims = JWTPayload & { readonly exp: number };

/** A kid is only ever compared. A longer one is no name of a key. */
const KID_LENGTH_MAX = 256;
/** Other types are statements of the issuer to others: a logout token is no access token (RFC 8725 section 3.11). */
const TYPES: readonly string[] = ["jwt", "at+jwt", "application/jwt", "application/at+jwt"];
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** What a token says about itself; undefined: it is none, or it asks for what is never granted. Extensions (`crit`) are not understood. */
export function readJwt(text: string): UncheckedJwt | undefined {
  if (text.length > CREDENTIAL_MAX_CHARS || !COMPACT.test(text)) return undefined;
  try {
    const { alg, kid, typ, crit } = decodeProtectedHeader(text) as Readonly<Record<string, unknown>>;
    const { iss } = decodeJwt(text);
    if (typeof alg !== "string" || typeof iss !== "string" || crit !== undefined) return undefined;
    if (typ !== undefined && (typeof typ !== "string" || !TYPES.includes(typ.toLowerCase()))) return undefined;
    if (kid !== undefined && (typeof kid !== "string" || kid === "" || kid.length > KID_LENGTH_MAX)) return undefined;
    return { text, issuer: iss, alg, kid };
  } catch {
    return undefined;
  }
}

/** The claims of a token that its issuer signed for us and that is good now. No key is asked for before everything else may be right. */
export async function checkJwt(
  jwt: UncheckedJwt,
  { issuer, audiences, algorithms }: JwtRules,
  keysFor: (kid: string | undefined) => Promise<JWTVerifyGetKey | undefined>,
  nowMs: number,
): Promise<Result<CheckedClaims, AuthenticationFault>> {
  if (jwt.issuer !== issuer || !algorithms.includes(jwt.alg)) return err("Unauthorized");
  const getKey = await keysFor(jwt.kid);
  if (!getKey) return err("Unavailable");
  const claims = await verified(jwt.text, getKey, {
    issuer,
    audience: [...audiences],
    algorithms: [...algorithms],
    clockTolerance: LEEWAY_SECONDS,
    currentDate: new Date(nowMs),
    requiredClaims: ["exp"],
  });
  if (typeof claims?.exp !== "number") return err("Unauthorized");
  if (claims.iat !== undefined && claims.iat > nowMs / 1_000 + LEEWAY_SECONDS) return err("Unauthorized");
  return ok({ ...claims, exp: claims.exp });
}

/** From then on a token is over. */
export function endOfClaims({ exp }: CheckedClaims): number {
  return (exp + LEEWAY_SECONDS) * 1_000;
}

async function verified(text: string, getKey: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTPayload | undefined> {
  try {
    return (await jwtVerify(text, getKey, options)).payload;
  } catch (error) {
    return isAmbiguous(error) ? verifiedByAny(text, error, options) : undefined;
  }
}

/** A header without kid fits several keys of its issuer. */
async function verifiedByAny(text: string, keys: AsyncIterable<CryptoKey>, options: JWTVerifyOptions): Promise<JWTPayload | undefined> {
  for await (const key of keys) {
    try {
      return (await jwtVerify(text, key, options)).payload;
    } catch {
      continue;
    }
  }
  return undefined;
}

function isAmbiguous(error: unknown): error is AsyncIterable<CryptoKey> {
  return error instanceof Error && (error as { code?: unknown }).code === "ERR_JWKS_MULTIPLE_MATCHING_KEYS";
}
