/**
 * The keys that sign a cluster's service account tokens (ES256).
 *
 * What must hold
 * - A private key never leaves the object that keeps it, and goes when the key is replaced.
 * - The public key of a replaced one is kept until every token that it signed is over.
 * - The issuer of a token names the cluster's id, so that it is good in one life of one cluster alone.
 */
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";
import { assert } from "../../core/base/assert";
import type { Clock, Random } from "../../core/base/ports";
import { LEEWAY_SECONDS, LIFETIME_MAX_SECONDS, SIGNING_ALGORITHM } from "./credential-limits";
import { serviceAccountIssuer, type ServiceAccountClaims } from "./service-account-claims";

const KEY_LIFETIME_MS = 90 * 86_400_000;

/** A key as it is published. */
export type PublicKey = JWK & { readonly kid: string };

/** Keys as texts of JSON. A replaced key has no private part. */
export interface SigningKeyRow {
  readonly kid: string;
  readonly createdAt: number;
  readonly replacedAt?: number;
  readonly publicJwk: string;
  readonly privateJwk?: string;
}

/** Every method is one synchronous step. */
export interface SigningKeyStorage {
  transaction<T>(work: () => T): T;
  /** oldest first */
  signingKeysLoad(): SigningKeyRow[];
  signingKeySave(row: SigningKeyRow): void;
  signingKeyDelete(kid: string): void;
}

export interface SigningKeyPorts {
  storage: SigningKeyStorage;
  clock: Pick<Clock, "now">;
  random: Random;
}

export class SigningKeys {
  /** @param clusterId the id of one life of the cluster */
  constructor(
    private readonly clusterId: string,
    private readonly ports: SigningKeyPorts,
  ) {}

  /** The first one makes the first key. */
  async sign(claims: ServiceAccountClaims): Promise<string> {
    assert(this.clusterId !== "", "a key belongs to a cluster");
    const seconds = claims.exp - Math.floor(this.ports.clock.now() / 1_000);
    assert(seconds <= LIFETIME_MAX_SECONDS + LEEWAY_SECONDS, "a token ends before the public key of its signature is dropped");
    const { kid, privateJwk = "" } = this.#current() ?? (await this.#renew());
    const key = await importJWK(JSON.parse(privateJwk) as JWK, SIGNING_ALGORITHM);
    return new SignJWT({ ...claims, aud: [...claims.aud], iss: serviceAccountIssuer(this.clusterId) })
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid })
      .sign(key);
  }

  /** Makes nothing: a cluster without service account tokens has no keys. */
  publicKeys(): PublicKey[] {
    const { storage } = this.ports;
    return storage.signingKeysLoad().flatMap((row) => (this.#isOver(row) ? [] : [JSON.parse(row.publicJwk) as PublicKey]));
  }

  /** The key that signs now. */
  #current(): SigningKeyRow | undefined {
    const { storage, clock } = this.ports;
    const row = storage.signingKeysLoad().at(-1);
    return row?.privateJwk !== undefined && row.createdAt + KEY_LIFETIME_MS > clock.now() ? row : undefined;
  }

  async #renew(): Promise<SigningKeyRow> {
    const { storage, clock, random } = this.ports;
    const { publicKey, privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true });
    const kid = random.uuid();
    const publicJwk = JSON.stringify({ ...(await exportJWK(publicKey)), kid, alg: SIGNING_ALGORITHM, use: "sig" });
    const privateJwk = JSON.stringify(await exportJWK(privateKey));
    return storage.transaction(() => {
      const made = this.#current();
      if (made) return made;
      const now = clock.now();
      for (const row of storage.signingKeysLoad()) {
        if (this.#isOver(row)) storage.signingKeyDelete(row.kid);
        else if (row.replacedAt === undefined)
          storage.signingKeySave({ kid: row.kid, createdAt: row.createdAt, publicJwk: row.publicJwk, replacedAt: now });
      }
      const row: SigningKeyRow = { kid, createdAt: now, publicJwk, privateJwk };
      storage.signingKeySave(row);
      return row;
    });
  }

  #isOver({ replacedAt }: SigningKeyRow): boolean {
    const keptMs = (LIFETIME_MAX_SECONDS + 2 * LEEWAY_SECONDS) * 1_000;
    return replacedAt !== undefined && replacedAt + keptMs <= this.ports.clock.now();
  }
}
