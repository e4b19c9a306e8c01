/**
 * Authentication: the user who sends a request.
 *
 * What must hold
 * - A credential that is wrong is refused, whatever else the server would allow without one.
 * - A token that was revoked is refused 30 s later at the latest, everywhere: an answer is kept no longer.
 * - Most requests ask no other object: answers are kept, right and wrong ones, and their number is bounded.
 * - A token of a cluster's service account is good in that cluster alone, and only in the life of the cluster that signed it.
 * - A token is good for its audiences alone: for this API, or for those that a TokenReview names.
 */
import type { Beside } from "../../core/turns/batched";
import { err, ok, type Result } from "../../core/base/result";
import { extraOfLimits } from "../identity/agent-limits";
import { AUTHENTICATED, type Caller, MASTERS, type User } from "../identity/user";
import { ADMIN, isAdminToken } from "./admin-tokens";
import { isOwnToken, parseToken } from "./bearer-token";
import { ExpiringCache } from "./expiring-cache";
import type { Issuer } from "./issuer-config";
import { readIssuerKeys } from "./issuer-keys";
import { userOf } from "./issuer-user";
import { checkJwt, endOfClaims, readJwt, type UncheckedJwt } from "./jwt";
import { CLUSTER_PACE, ISSUER_PACE, KeySet, type LoadKeys } from "./key-set";
import { CREDENTIAL_MAX_CHARS, SIGNING_ALGORITHM } from "./credential-limits";
import type { AuthenticationFault, AuthenticatorPorts, Credentials } from "./ports";
import { API_AUDIENCE, clusterIdOfIssuer, isServiceAccountIssuer, serviceAccountIssuer } from "./service-account-claims";
import { serviceAccountUser } from "./service-account-token";
import type { AuthenticationSettings } from "./credential-settings";

/** Half of the minute that a revocation may take. */
const GOOD_MS = 30_000;
/** Enough against a client that repeats itself. */
const BAD_MS = 5_000;
/** Answers kept in one isolate: some hundred bytes each. */
const KEPT_MAX = 10_000;
/** Texts of credentials that are kept with their hashes, and the longest of them: 2 MB in one isolate. */
const HASHES_MAX = 1_000;
const HASHED_MAX_CHARS = 2_048;
const CLUSTERS_MAX = 1_000;

/** A caller, and for whom his credential is, of those that were asked for. */
export interface Authenticated {
  readonly caller: Caller;
  readonly audiences: readonly string[];
}

/** `goodUntil`: from then on the credential is over. `life`: of the cluster that signed it, where one did. */
interface Judged extends Authenticated {
  readonly goodUntil: number;
  readonly life?: string;
}

export interface AuthenticationContext {
  /** name of the cluster that the request is for; undefined = the server as a whole */
  readonly cluster: string | undefined;
  /** what is known of the cluster's life, "" = nothing: an answer about a service account holds for no other one */
  readonly life: string;
  readonly audiences: readonly string[];
  /** keeps a question that others share running after the answer to this request */
  readonly beside: Beside;
  /** called when an own token is being asked for, before its answer: what does not depend on it may begin */
  meanwhile?(): void;
}

type Judgement = Result<Judged, AuthenticationFault>;

const OWN_AUDIENCES: readonly string[] = [API_AUDIENCE];
const UNAUTHORIZED = err<AuthenticationFault>("Unauthorized");

export class Authenticator {
  readonly #good: ExpiringCache<Authenticated>;
  readonly #bad: ExpiringCache<true>;
  /** of the texts of good credentials, as long as their answers are kept */
  readonly #hashes: ExpiringCache<string>;
  readonly #issuers: ReadonlyMap<string, { readonly issuer: Issuer; readonly keys: KeySet }>;
  /** of clusters, by their ids */
  readonly #clusterKeys: ExpiringCache<KeySet>;

  constructor(
    private readonly settings: AuthenticationSettings,
    private readonly ports: AuthenticatorPorts,
  ) {
    const { clock, recorder } = ports;
    this.#good = new ExpiringCache(clock, KEPT_MAX);
    this.#bad = new ExpiringCache(clock, KEPT_MAX);
    this.#hashes = new ExpiringCache(clock, HASHES_MAX);
    this.#clusterKeys = new ExpiringCache(clock, CLUSTERS_MAX);
    this.#issuers = new Map(
      settings.issuers.map((issuer) => [issuer.url, { issuer, keys: new KeySet(issuer.url, { clock, recorder }, ISSUER_PACE) }]),
    );
  }

  /** The caller; undefined = the request has no credential. */
  async authenticate(
    credentials: Credentials,
    asked: Omit<AuthenticationContext, "audiences">,
  ): Promise<Result<Caller | undefined, AuthenticationFault>> {
    const answer = await this.judge(credentials, { ...asked, audiences: OWN_AUDIENCES });
    return answer.ok ? ok(answer.value?.caller) : answer;
  }

  /** The same for other audiences than this API. Tokens that name none are for this API alone. */
  async judge(
    { bearer = "", accessJwt = "" }: Credentials,
    asked: AuthenticationContext,
  ): Promise<Result<Authenticated | undefined, AuthenticationFault>> {
    const text = bearer === "" ? accessJwt : bearer;
    if (text === "") return ok(undefined);
    if (text.length > CREDENTIAL_MAX_CHARS) return UNAUTHORIZED;
    const isOwn = bearer !== "" && isOwnToken(bearer);
    const hash = this.#hashes.get(text) ?? (await this.#hashOf(text));
    const audiences = asked.audiences === OWN_AUDIENCES ? "" : await this.#hashOf(JSON.stringify(asked.audiences));
    const keyIn = (life: string): string => {
      const scope = isOwn ? "own" : bearer === "" ? "access" : `in ${asked.cluster ?? ""} ${life}`;
      return `${hash} ${audiences} ${scope}`;
    };
    const key = keyIn(asked.life);
    const known = this.#good.get(key);
    if (known) return ok(known);
    if (this.#bad.get(key)) return UNAUTHORIZED;
    const judged = await (isOwn ? this.#ownToken(text, asked) : this.#jwt(text, asked, bearer !== ""));
    const now = this.ports.clock.now();
    if (!judged.ok) {
      if (judged.error === "Unauthorized") this.#bad.put(key, true, now + BAD_MS);
      return judged;
    }
    const { goodUntil, life = asked.life, ...authenticated } = judged.value;
    const until = Math.min(now + GOOD_MS, goodUntil);
    this.#good.put(keyIn(life), authenticated, until);
    if (text.length <= HASHED_MAX_CHARS) this.#hashes.put(text, hash, until);
    return ok(authenticated);
  }

  #hashOf(text: string): Promise<string> {
    return this.ports.digest(new TextEncoder().encode(text));
  }

  async #ownToken(text: string, { audiences, beside, meanwhile }: AuthenticationContext): Promise<Judgement> {
    if (!audiences.includes(API_AUDIENCE)) return UNAUTHORIZED;
    const token = parseToken(text);
    if (!token) return UNAUTHORIZED;
    const credential = `token:${token.id}`;
    const isAdmin = await isAdminToken(this.settings.adminTokens, token, this.ports.digest);
    if (isAdmin === false) return UNAUTHORIZED;
    if (isAdmin) return ok(judged({ name: ADMIN, uid: "", groups: [MASTERS], extra: {} }, undefined, credential, Infinity));
    const verifying = this.#asked("token", () => this.ports.verifyToken(token.id, token.secret, beside));
    meanwhile?.();
    const verified = await verifying;
    if (!verified.ok) return verified;
    if (!verified.value.ok) return UNAUTHORIZED;
    const { user, groups, clusters, goodUntil = Infinity, ...limits } = verified.value.value;
    return ok(judged({ name: user, uid: "", groups, extra: extraOfLimits(limits) }, clusters, credential, goodUntil));
  }

  /** @param isBearer otherwise no token of a service account is taken from there */
  async #jwt(text: string, asked: AuthenticationContext, isBearer: boolean): Promise<Judgement> {
    const jwt = readJwt(text);
    if (!jwt) return UNAUTHORIZED;
    if (isServiceAccountIssuer(jwt.issuer))
      return isBearer && asked.cluster !== undefined ? this.#serviceAccount(jwt, asked.cluster, asked) : UNAUTHORIZED;
    const known = this.#issuers.get(jwt.issuer);
    // Upstream: WrapAudienceAgnosticToken. The audiences of the issuer's rules are its clients, not those of a TokenReview.
    if (!known || !asked.audiences.includes(API_AUDIENCE)) return UNAUTHORIZED;
    const { issuer, keys } = known;
    const { url, audiences, algorithms, clusters } = issuer;
    const load: LoadKeys = () => readIssuerKeys(issuer, (from) => this.ports.fetchJson(from));
    const claims = await checkJwt(jwt, { issuer: url, audiences, algorithms }, (kid) => keys.keys(kid, load), this.ports.clock.now());
    if (!claims.ok) return claims;
    const user = userOf(claims.value, issuer);
    return user ? ok(judged(user, clusters, `jwt:${url}`, endOfClaims(claims.value))) : UNAUTHORIZED;
  }

  async #serviceAccount(jwt: UncheckedJwt, cluster: string, { audiences, beside }: AuthenticationContext): Promise<Judgement> {
    const judgement = await this.#asked("service account", async (): Promise<Judgement> => {
      const source = await this.ports.serviceAccounts(cluster, clusterIdOfIssuer(jwt.issuer), beside);
      if (!source) return UNAUTHORIZED;
      const issuer = serviceAccountIssuer(source.clusterId);
      const rules = { issuer, audiences, algorithms: [SIGNING_ALGORITHM] };
      const keys = this.#keysOf(source.clusterId);
      const load: LoadKeys = () => source.publicKeys();
      const claims = await checkJwt(jwt, rules, (kid) => keys.keys(kid, load), this.ports.clock.now());
      if (!claims.ok) return claims;
      const user = await serviceAccountUser(claims.value, source);
      if (!user.ok) return user;
      const known = judged(user.value, [cluster], "serviceaccount", endOfClaims(claims.value));
      const named = [claims.value.aud ?? []].flat().filter((audience) => audiences.includes(audience));
      return ok({ ...known, audiences: named, life: source.clusterId });
    });
    return judgement.ok ? judgement.value : judgement;
  }

  #keysOf(clusterId: string): KeySet {
    const known = this.#clusterKeys.get(clusterId);
    if (known) return known;
    const { clock, recorder } = this.ports;
    const keys = new KeySet(serviceAccountIssuer(clusterId), { clock, recorder }, CLUSTER_PACE);
    this.#clusterKeys.put(clusterId, keys, Infinity);
    return keys;
  }

  /** What another object answers. */
  async #asked<T>(about: string, ask: () => Promise<T>): Promise<Result<T, AuthenticationFault>> {
    try {
      return ok(await ask());
    } catch (error) {
      this.ports.recorder.log("warn", "a credential could not be checked", { about, error: String(error) });
      return err("Unavailable");
    }
  }
}

function judged(user: User, clusters: readonly string[] | undefined, credential: string, goodUntil: number): Judged {
  const groups = [...new Set([...user.groups, AUTHENTICATED])];
  return { caller: { user: { ...user, groups }, clusters, credential }, audiences: OWN_AUDIENCES, goodUntil };
}
