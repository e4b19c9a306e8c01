/** The authenticator of this isolate, with the Durable Objects of the deployment as its sources. */
import { assert } from "../../core/base/assert";
import { Batched, type Beside } from "../../core/turns/batched";
import { err, ok, type Result } from "../../core/base/result";
import { withTimeout } from "../../core/base/timeout";
import { serviceUnavailable, type Status, unauthorized } from "../../api/meta/status";
import { Authenticator } from "../../access/authentication/authenticate";
import { parseAuthentication } from "../../access/authentication/credential-settings";
import { API_AUDIENCE } from "../../access/authentication/service-account-claims";
import type { BearerToken } from "../../access/authentication/bearer-token";
import { type TokensRpc, verifyTokensOf } from "../../access/authentication/rpc";
import type { Caller } from "../../access/identity/user";
import type { Env } from "../../../durable-objects/platform/env";
import { bearerTokens } from "../../../durable-objects/peers/peers";
import { systemClock, systemDigest, systemRecorder } from "../../../durable-objects/platform/ports";
import { clusterName } from "../../tenancy/cluster-id";
import { credentialsOf } from "../http/read/credentials";
import { ASKED_TOGETHER, RETRY_AFTER_SECONDS } from "../http/limits";
import { log } from "../http/log";
import { call } from "../routing/call";
import { activeIdOf, forgetCluster, knownIdOf } from "../routing/known-clusters";
import type { ReviewedToken } from "./access";
import { serviceAccountSource } from "./service-accounts";

const FETCH_TIMEOUT_MS = 5_000;
const FETCHED_MAX_BYTES = 1024 * 1024;

const made = new WeakMap<Env, Authenticator>();

/** The caller; undefined = the request has no credential. */
export async function authenticate(
  env: Env,
  headers: Headers,
  cluster: string,
  { beside, meanwhile }: { beside: Beside; meanwhile?(): void },
): Promise<Result<Caller | undefined, Status>> {
  const asked = { cluster: cluster === "" ? undefined : cluster, life: knownIdOf(env, cluster), beside, ...(meanwhile && { meanwhile }) };
  const known = await authenticatorOf(env).authenticate(credentialsOf(headers), asked);
  if (known.ok) return known;
  return err(known.error === "Unauthorized" ? unauthorized() : unavailable());
}

/** The answer to a TokenReview, which asks for this API where it names nobody. Upstream: pkg/registry/authentication/tokenreview/storage.go. */
export async function reviewToken(
  { env, beside }: { env: Env; beside: Beside },
  cluster: string,
  token: string,
  audiences: readonly string[],
): Promise<Result<ReviewedToken, string>> {
  const asked = { cluster, life: knownIdOf(env, cluster), beside, audiences: audiences.length === 0 ? [API_AUDIENCE] : audiences };
  const known = await authenticatorOf(env).judge({ bearer: token }, asked);
  if (!known.ok || !known.value)
    return err(known.ok || known.error === "Unauthorized" ? "invalid bearer token" : "the token could not be checked");
  const { caller, audiences: answered } = known.value;
  if (caller.clusters && !caller.clusters.includes(cluster)) return err("invalid bearer token");
  return ok({ user: caller.user, audiences: answered });
}

function unavailable(): Status {
  return serviceUnavailable("the credential could not be checked, try again", RETRY_AFTER_SECONDS);
}

function authenticatorOf(env: Env): Authenticator {
  const known = made.get(env);
  if (known) return known;
  const fresh = make(env);
  made.set(env, fresh);
  return fresh;
}

function make(env: Env): Authenticator {
  const settings = parseAuthentication({ ADMIN_TOKEN_HASHES: env.ADMIN_TOKEN_HASHES, AUTHENTICATION_CONFIG: env.AUTHENTICATION_CONFIG });
  assert(settings.ok, "requests with invalid variables are refused before");
  const { adminTokens, issuers } = settings.value;
  if (adminTokens.length === 0 && issuers.length === 0) {
    const hint = "set the secret ADMIN_TOKEN_HASHES (npm run token -- new-admin) or the variable AUTHENTICATION_CONFIG; see docs/access.md";
    log("error", "no credential is configured, so requests are refused", { hint });
  }
  const tokens = new Batched(systemClock, ASKED_TOGETHER, (asked: BearerToken[]) => verifyAll(env, asked));
  return new Authenticator(settings.value, {
    clock: systemClock,
    digest: systemDigest,
    recorder: systemRecorder({ object: "Worker" }),
    verifyToken: (id, secret, beside) => tokens.ask({ id, secret }, beside),
    serviceAccounts: async (cluster, claimedId, beside) => {
      // Whoever signed it, the token is no good here, and nobody is asked.
      if (clusterName(claimedId) !== cluster) return undefined;
      const id = valueOf(await activeIdOf(env, cluster, beside));
      return id === undefined ? undefined : serviceAccountSource(env, id, () => forgetCluster(env, cluster));
    },
    fetchJson,
  });
}

/**
 * Unknown tokens are sent together to the one object that knows all tokens. So a flood of made-up tokens has a bounded cost, and a valid one among
 * them is checked with the others.
 */
async function verifyAll(env: Env, tokens: BearerToken[]): Promise<Awaited<ReturnType<TokensRpc["verifyTokens"]>>> {
  const verify = () => verifyTokensOf(() => bearerTokens(env), tokens);
  return valueOf(await call(verify, { what: "credentials.verifyTokens", repeatable: true }));
}

/** Throws where a call got no answer. */
function valueOf<T>(result: Result<T, Status>): T {
  if (result.ok) return result.value;
  throw new Error(result.error.message);
}

/** An issuer that answers with more than a document of keys is none. */
async function fetchJson(url: string): Promise<unknown> {
  const response = await withTimeout(
    systemClock,
    FETCH_TIMEOUT_MS,
    fetch(url, { headers: { Accept: "application/json" }, redirect: "manual" }),
  );
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > FETCHED_MAX_BYTES) throw new Error(`${url} answered more than ${FETCHED_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(await new Blob(chunks).text()) as unknown;
}
