/**
 * The deployment's own bearer tokens.
 *
 * What must hold
 * - A secret is given out once, by the answer to its creation or rotation. Only its salted hash is stored.
 * - Each change is one transaction: a token that a client saw is durable, and so is its revocation.
 * - The number of tokens is bounded. Tokens that are over make room for new ones.
 */
import type { FieldError } from "../../api/meta/field-errors";
import type { Clock, Digest, Random } from "../../core/base/ports";
import { err, ok, type Result } from "../../core/base/result";
import { limitsIn } from "../identity/agent-limits";
import { drawSecret, drawTokenId, formatToken, hashSecret, isSecretOf } from "./bearer-token";
import { endOf, newTokenErrors, type NewToken, type TokenFault, type TokenRecord, type TokenRow, type VerifiedToken } from "./token-record";

/** An object reads all rows for a list, and a list is one answer. */
const TOKENS_MAX = 10_000;
/** Long enough to carry a new secret to every machine. */
export const GRACE_MAX_MS = 7 * 86_400_000;
const DAY_MS = 86_400_000;

/** Every method is one synchronous step. The writes of a `transaction` are kept or lost together. */
export interface TokenStorage {
  transaction<T>(work: () => T): T;
  tokensCount(): number;
  tokenLoad(id: string): TokenRow | undefined;
  /** in the order of their creation */
  tokensLoad(): TokenRow[];
  tokenSave(row: TokenRow): void;
  tokenDelete(id: string): void;
}

export interface TokenBookPorts {
  storage: TokenStorage;
  clock: Pick<Clock, "now">;
  random: Random;
  digest: Digest;
}

/** A token with its text, which is shown this once. */
export interface IssuedToken {
  readonly token: string;
  readonly record: TokenRecord;
}

export type CreateRefusal =
  { readonly reason: "invalid"; readonly errors: readonly FieldError[] } | { readonly reason: "full"; readonly max: number };

export class TokenBook {
  constructor(
    private readonly ports: TokenBookPorts,
    private readonly max = TOKENS_MAX,
  ) {}

  async create(asked: NewToken): Promise<Result<IssuedToken, CreateRefusal>> {
    const { storage, clock, random, digest } = this.ports;
    const errors = newTokenErrors(asked, clock.now());
    if (errors.length > 0) return err({ reason: "invalid", errors });
    const id = drawTokenId(random);
    const secret = drawSecret(random);
    const hash = await hashSecret(secret, random, digest);
    const { user, groups, clusters, expiresAt, description } = asked;
    const record = { id, user, groups, clusters, ...limitsIn(asked), expiresAt, description, createdAt: clock.now() };
    const isSaved = storage.transaction(() => {
      if (!this.#makeRoom()) return false;
      storage.tokenSave({ record, hash });
      return true;
    });
    return isSaved ? ok({ token: formatToken({ id, secret }), record }) : err({ reason: "full", max: this.max });
  }

  list(): TokenRecord[] {
    return this.ports.storage.tokensLoad().map(({ record }) => record);
  }

  /** Gives the token a new secret. The old one is good for `graceMs` longer. */
  async rotate(id: string, graceMs = 0): Promise<Result<IssuedToken, TokenFault>> {
    const { storage, clock, random, digest } = this.ports;
    const secret = drawSecret(random);
    const hash = await hashSecret(secret, random, digest);
    return storage.transaction((): Result<IssuedToken, TokenFault> => {
      const row = storage.tokenLoad(id);
      if (!row) return err("unknown");
      const now = clock.now();
      const end = endOf(row.record, now);
      if (end) return err(end);
      const grace = Math.min(Math.max(graceMs, 0), GRACE_MAX_MS);
      const { formerUntil: _, ...kept } = row.record;
      const record = grace > 0 ? { ...kept, formerUntil: now + grace } : kept;
      storage.tokenSave({ record, hash, ...(grace > 0 ? { formerHash: row.hash } : {}) });
      return ok({ token: formatToken({ id, secret }), record });
    });
  }

  /** For good. A revoked token stays in the list until its place is needed. Again it changes nothing. */
  revoke(id: string): Result<TokenRecord, "unknown"> {
    const { storage, clock } = this.ports;
    return storage.transaction((): Result<TokenRecord, "unknown"> => {
      const row = storage.tokenLoad(id);
      if (!row) return err("unknown");
      if (row.record.revokedAt !== undefined) return ok(row.record);
      const { formerUntil: _, ...kept } = row.record;
      const record = { ...kept, revokedAt: clock.now() };
      storage.tokenSave({ record, hash: row.hash });
      return ok(record);
    });
  }

  async verify(id: string, secret: string): Promise<Result<VerifiedToken, TokenFault>> {
    const { storage, digest } = this.ports;
    const read = storage.tokenLoad(id);
    if (!read) return err("unknown");
    const isCurrent = await isSecretOf(read.hash, secret, digest);
    const isFormer = read.formerHash !== undefined && (await isSecretOf(read.formerHash, secret, digest));
    if (!isCurrent && !isFormer) return err("unknown");
    // Meanwhile the token may have been rotated or revoked.
    return storage.transaction(() => this.#judge(id, isCurrent ? read.hash.sha256 : (read.formerHash?.sha256 ?? "")));
  }

  /** @param sha256 the hash that the secret has */
  #judge(id: string, sha256: string): Result<VerifiedToken, TokenFault> {
    const { storage, clock } = this.ports;
    const row = storage.tokenLoad(id);
    const now = clock.now();
    if (!row) return err("unknown");
    const { record } = row;
    const isCurrent = row.hash.sha256 === sha256;
    const isFormer = row.formerHash?.sha256 === sha256 && (record.formerUntil ?? 0) > now;
    if (!isCurrent && !isFormer) return err("unknown");
    const end = endOf(record, now);
    if (end) return err(end);
    const day = Math.floor(now / DAY_MS);
    if (record.lastUsedDay === undefined || record.lastUsedDay < day)
      storage.tokenSave({ ...row, record: { ...record, lastUsedDay: day } });
    const goodUntil = Math.min(record.expiresAt ?? Infinity, isCurrent ? Infinity : (record.formerUntil ?? 0));
    const { user, groups, clusters } = record;
    return ok({ user, groups, clusters, ...limitsIn(record), goodUntil: goodUntil === Infinity ? undefined : goodUntil });
  }

  /** Whether there is a place for one more. Where there is none, all that is over goes. */
  #makeRoom(): boolean {
    const { storage, clock } = this.ports;
    if (storage.tokensCount() < this.max) return true;
    const over = storage.tokensLoad().filter(({ record }) => endOf(record, clock.now()) !== undefined);
    for (const { record } of over) storage.tokenDelete(record.id);
    return over.length > 0;
  }
}
