/**
 * Credentials: the deployment's own tokens in the object `credentials`, the keys that sign a cluster's service account tokens in
 * `<cluster>/credentials`, which ends with its cluster. A shell: the rules are in src/access/authentication.
 */
import { DurableObject } from "cloudflare:workers";
import type { BearerToken } from "../src/access/authentication/bearer-token";
import type { SigningKeysRpc, TokensRpc } from "../src/access/authentication/rpc";
import type { ServiceAccountClaims } from "../src/access/authentication/service-account-claims";
import { type PublicKey, SigningKeys } from "../src/access/authentication/signing-keys";
import { type CreateRefusal, type IssuedToken, TokenBook } from "../src/access/authentication/token-book";
import type { NewToken, TokenFault, TokenRecord, VerifiedToken } from "../src/access/authentication/token-record";
import type { Result } from "../src/core/base/result";
import type { Wipeable } from "../src/tenancy/rpc";
import type { Env } from "./platform/env";
import { systemClock, systemDigest, systemRandom } from "./platform/ports";
import { CREDENTIALS_MIGRATIONS, sqlCredentialStorage } from "./sql/credentials-sql";
import { migrate } from "./sql/migrate";
import { wipe } from "./platform/wipe";

export class CredentialStore extends DurableObject<Env> implements TokensRpc, SigningKeysRpc, Wipeable {
  readonly #tokens: TokenBook;
  readonly #keys: SigningKeys;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrate(ctx.storage, CREDENTIALS_MIGRATIONS, systemClock.now());
    const ports = { storage: sqlCredentialStorage(ctx.storage), clock: systemClock, random: systemRandom(), digest: systemDigest };
    this.#tokens = new TokenBook(ports);
    // No alarm wakes it: its callers name it.
    const name = ctx.id.name ?? "";
    this.#keys = new SigningKeys(name.slice(0, Math.max(name.indexOf("/"), 0)), ports);
  }

  createToken(asked: NewToken): Promise<Result<IssuedToken, CreateRefusal>> {
    return this.#tokens.create(asked);
  }

  listTokens(): Promise<TokenRecord[]> {
    return Promise.resolve(this.#tokens.list());
  }

  rotateToken(id: string, graceMs: number): Promise<Result<IssuedToken, TokenFault>> {
    return this.#tokens.rotate(id, graceMs);
  }

  revokeToken(id: string): Promise<Result<TokenRecord, "unknown">> {
    return Promise.resolve(this.#tokens.revoke(id));
  }

  verifyToken(id: string, secret: string): Promise<Result<VerifiedToken, TokenFault>> {
    return this.#tokens.verify(id, secret);
  }

  verifyTokens(tokens: readonly BearerToken[]): Promise<Result<VerifiedToken, TokenFault>[]> {
    return Promise.all(tokens.map(({ id, secret }) => this.#tokens.verify(id, secret)));
  }

  signServiceAccountToken(claims: ServiceAccountClaims): Promise<string> {
    return this.#keys.sign(claims);
  }

  publicKeys(): Promise<PublicKey[]> {
    return Promise.resolve(this.#keys.publicKeys());
  }

  wipe(): Promise<string[]> {
    return wipe(this.ctx);
  }
}
