/** Issuers of tokens with real keys, the server's own tokens, a cluster with service accounts, and the authenticator that judges all of them. */
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import { systemDigest, systemRandom } from "../../../durable-objects/platform/ports";
import type { AdminToken } from "../../../src/access/authentication/admin-tokens";
import { Authenticator } from "../../../src/access/authentication/authenticate";
import { parseToken } from "../../../src/access/authentication/bearer-token";
import type { BoundKind, Credentials, ServiceAccountSource } from "../../../src/access/authentication/ports";
import { type AuthenticationSettings, parseAuthentication } from "../../../src/access/authentication/credential-settings";
import { SigningKeys } from "../../../src/access/authentication/signing-keys";
import { TokenBook } from "../../../src/access/authentication/token-book";
import type { NewToken } from "../../../src/access/authentication/token-record";
import type { JsonObject } from "../../../src/api/schema/json/json-value";
import { memoryCredentialStorage } from "../memory/credential-storage";

const ISSUER = "https://issuer.example";
export const KEYS_URL = `${ISSUER}/keys`;
const DISCOVERY_URL = `${ISSUER}/.well-known/openid-configuration`;
export const SECOND_MS = 1_000;
/** Of the first life of the cluster `team`. */
export const CLUSTER_ID = "team";

type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];

export interface IssuerKey {
  readonly jwk: JWK;
  readonly privateKey: PrivateKey;
  readonly alg: string;
}

/** A key pair as an issuer has it. */
export async function issuerKey(alg: string, kid?: string): Promise<IssuerKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), alg, use: "sig", ...(kid === undefined ? {} : { kid }) };
  return { jwk, privateKey, alg };
}

export function issuerConfig(overrides: JsonObject = {}, issuer: JsonObject = {}): JsonObject {
  return {
    issuer: { url: ISSUER, audiences: ["servicenet"], ...issuer },
    claimMappings: { username: { claim: "sub", prefix: "oidc:" }, groups: { claim: "groups", prefix: "" } },
    ...overrides,
  };
}

export class IssuerWorld {
  now = 1_800_000_000_000;
  /** what the internet answers; absent = no answer */
  readonly pages = new Map<string, unknown>();
  readonly fetched: string[] = [];
  readonly asked: string[] = [];
  /** of the authenticator */
  digests = 0;
  readonly lines: unknown[] = [];
  readonly uids = new Map<string, string>([["default/web", "u1"]]);
  readonly bound = new Map<string, string>();
  /** the objects of the deployment answer */
  areObjectsUp = true;
  readonly #storage = memoryCredentialStorage();
  readonly book = new TokenBook({ storage: this.#storage, ...this.#ports() });
  readonly signer = this.signerOf(CLUSTER_ID);
  readonly authenticator: Authenticator;

  constructor(issuers: readonly JsonObject[] = [issuerConfig()], adminTokens: readonly AdminToken[] = []) {
    const parsed = parseAuthentication({ AUTHENTICATION_CONFIG: JSON.stringify({ jwt: issuers }) });
    if (!parsed.ok) throw new Error(parsed.error.join("; "));
    this.authenticator = this.#authenticatorOf({ ...parsed.value, adminTokens });
    this.pages.set(DISCOVERY_URL, { issuer: ISSUER, jwks_uri: KEYS_URL });
  }

  #ports() {
    return { clock: { now: () => this.now }, random: systemRandom(), digest: systemDigest };
  }

  signerOf(cluster: string): SigningKeys {
    return new SigningKeys(cluster, { storage: cluster === CLUSTER_ID ? this.#storage : memoryCredentialStorage(), ...this.#ports() });
  }

  #authenticatorOf(settings: AuthenticationSettings): Authenticator {
    const call = <T>(name: string, answer: () => T | Promise<T>): Promise<T> => {
      this.asked.push(name);
      return this.areObjectsUp ? Promise.resolve().then(answer) : Promise.reject(new Error("down"));
    };
    const source: ServiceAccountSource = {
      clusterId: CLUSTER_ID,
      publicKeys: () => call("publicKeys", () => this.signer.publicKeys()),
      findServiceAccount: (namespace, name) => call("findServiceAccount", () => this.uids.get(`${namespace}/${name}`)),
      findBound: (kind: BoundKind, namespace, name) => call("findBound", () => this.bound.get(`${kind} ${namespace}/${name}`)),
    };
    return new Authenticator(settings, {
      clock: { now: () => this.now, after: () => () => undefined },
      digest: (bytes) => {
        this.digests++;
        return systemDigest(bytes);
      },
      recorder: { log: (...line) => void this.lines.push(line) },
      verifyToken: (id, secret) => call("verifyToken", () => this.book.verify(id, secret)),
      serviceAccounts: (cluster) => Promise.resolve(cluster === "team" ? source : undefined),
      fetchJson: (url) => {
        this.fetched.push(url);
        return this.pages.has(url) ? Promise.resolve(this.pages.get(url)) : Promise.reject(new Error(`no answer from ${url}`));
      },
    });
  }

  publish(...keys: readonly IssuerKey[]): void {
    this.pages.set(KEYS_URL, { keys: keys.map(({ jwk }) => jwk) });
  }

  claims(overrides: JWTPayload = {}): JWTPayload {
    const now = Math.floor(this.now / SECOND_MS);
    return { iss: ISSUER, aud: "servicenet", sub: "alice", groups: ["dev"], iat: now, exp: now + 600, ...overrides };
  }

  signed({ privateKey, alg, jwk }: IssuerKey, claims: JWTPayload = {}, header: Readonly<Record<string, unknown>> = {}): Promise<string> {
    return new SignJWT(this.claims(claims)).setProtectedHeader({ alg, ...(jwk.kid ? { kid: jwk.kid } : {}), ...header }).sign(privateKey);
  }

  async token(asked: Partial<NewToken> = {}): Promise<{ token: string; id: string }> {
    const made = await this.book.create({ user: "bob", groups: ["ops"], description: "", ...asked });
    if (!made.ok) throw new Error(JSON.stringify(made.error));
    return { token: made.value.token, id: parseToken(made.value.token)?.id ?? "" };
  }

  /** @param life what the isolate knows of the cluster's; "" = nothing */
  authenticate(credentials: Credentials, cluster: string | undefined, life = ""): ReturnType<Authenticator["authenticate"]> {
    return this.authenticator.authenticate(credentials, { cluster, life, beside: () => undefined });
  }

  /** Name of the user, or what is wrong. */
  async judged(credentials: Credentials | string, cluster: string | undefined = "team"): Promise<string> {
    const asked = typeof credentials === "string" ? { bearer: credentials } : credentials;
    const answer = await this.authenticate(asked, cluster, cluster === "team" ? CLUSTER_ID : "");
    return answer.ok ? (answer.value?.user.name ?? "nobody") : answer.error;
  }
}
