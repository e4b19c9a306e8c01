/** Calls about credentials: to the object of the deployment's own tokens, and to the object of a cluster's signing keys. */
import { isMethodMissing } from "../../api/rpc/older-release";
import type { Result } from "../../core/base/result";
import type { BearerToken } from "./bearer-token";
import type { ServiceAccountClaims } from "./service-account-claims";
import type { PublicKey } from "./signing-keys";
import type { CreateRefusal, IssuedToken } from "./token-book";
import type { NewToken, TokenFault, TokenRecord, VerifiedToken } from "./token-record";

/** Answered by the deployment's object. */
export interface TokensRpc {
  createToken(asked: NewToken): Promise<Result<IssuedToken, CreateRefusal>>;
  /** in the order of their creation, those that are over included */
  listTokens(): Promise<TokenRecord[]>;
  /** gives the token a new secret; the old one is good for `graceMs` longer */
  rotateToken(id: string, graceMs: number): Promise<Result<IssuedToken, TokenFault>>;
  /** durable when it answers */
  revokeToken(id: string): Promise<Result<TokenRecord, "unknown">>;
  verifyToken(id: string, secret: string): Promise<Result<VerifiedToken, TokenFault>>;
  /** the same of many, in their order */
  verifyTokens(tokens: readonly BearerToken[]): Promise<Result<VerifiedToken, TokenFault>[]>;
}

/** Answered by the object of one life of a cluster. */
export interface SigningKeysRpc {
  signServiceAccountToken(claims: ServiceAccountClaims): Promise<string>;
  /** of every token that may still be good; makes nothing */
  publicKeys(): Promise<PublicKey[]>;
}

/**
 * `verifyTokens`; an object of a release without it is asked for each token alone.
 *
 * @param object makes a stub for one call
 * @throws what the call rejects with
 */
export async function verifyTokensOf(
  object: () => Pick<TokensRpc, "verifyToken" | "verifyTokens">,
  tokens: readonly BearerToken[],
): Promise<Result<VerifiedToken, TokenFault>[]> {
  try {
    return await object().verifyTokens(tokens);
  } catch (error) {
    if (!isMethodMissing(error, "verifyTokens")) throw error;
    return Promise.all(tokens.map(({ id, secret }) => object().verifyToken(id, secret)));
  }
}
