/** Credentials in real objects: what is durable, what is stored, and that the keys of a cluster end with it. */
import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { createLocalJWKSet, jwtVerify } from "jose";
import { expect, it } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { bearerTokens, recordedObject, signingKeys } from "../../../durable-objects/peers/peers";
import { parseToken } from "../../../src/access/authentication/bearer-token";
import { serviceAccountIssuer, type ServiceAccountClaims } from "../../../src/access/authentication/service-account-claims";
import type { IssuedToken } from "../../../src/access/authentication/token-book";
import { CREDENTIALS } from "../../../src/tenancy/cluster-objects";
import { CLUSTER_GONE } from "../../../src/tenancy/rpc";

const bindings = env as unknown as Env;
const ASKED = { user: "alice", groups: ["dev", "ops"], clusters: ["team"], description: "laptop" };

async function created(): Promise<IssuedToken> {
  const made = await bearerTokens(bindings).createToken(ASKED);
  if (!made.ok) throw new Error(JSON.stringify(made.error));
  return made.value;
}

async function judged(token: string): Promise<string> {
  const { id = "", secret = "" } = parseToken(token) ?? {};
  const verified = await bearerTokens(bindings).verifyToken(id, secret);
  return verified.ok ? "good" : verified.error;
}

/** Everything that an object stores, as one text. */
function stored(name: string): Promise<string> {
  return runInDurableObject(bindings.CREDENTIAL_STORE.getByName(name), (_, { storage }) => {
    const tables = storage.sql.exec<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 4) <> '_cf_'",
    );
    return JSON.stringify(tables.toArray().map((table) => storage.sql.exec(`SELECT * FROM ${table.name}`).toArray()));
  });
}

function claims(): ServiceAccountClaims {
  const now = Math.floor(Date.now() / 1_000);
  const serviceaccount = { name: "web", uid: "u1" };
  return {
    sub: "system:serviceaccount:default:web",
    aud: ["api"],
    exp: now + 3_600,
    iat: now,
    nbf: now,
    jti: "j1",
    "kubernetes.io": { namespace: "default", serviceaccount },
  };
}

it("tokens: outlive a restart, with their revocations and rotations", async () => {
  const [kept, rotated, revoked] = [await created(), await created(), await created()];
  const fresh = await bearerTokens(bindings).rotateToken(rotated.record.id, 0);
  await bearerTokens(bindings).revokeToken(revoked.record.id);
  const listed = await bearerTokens(bindings).listTokens();
  await abortAllDurableObjects();
  expect(await Promise.all([kept, rotated, revoked].map(({ token }) => judged(token)))).toEqual(["good", "unknown", "revoked"]);
  expect(fresh.ok && (await judged(fresh.value.token))).toBe("good");
  const again = await bearerTokens(bindings).listTokens();
  expect(again.map(({ lastUsedDay: _, ...record }) => record)).toEqual(listed.map(({ lastUsedDay: _, ...record }) => record));
  // Late requests of other tests may have made tokens, too: the runtime has one book.
  const mine = again.find(({ id }) => id === kept.record.id);
  expect(mine).toMatchObject({ user: "alice", groups: ["dev", "ops"], clusters: ["team"], description: "laptop" });
});

it("rows of tokens: have no secret in them, not even after a rotation with grace", async () => {
  const { token, record } = await created();
  const fresh = await bearerTokens(bindings).rotateToken(record.id, 60_000);
  const text = await stored(CREDENTIALS);
  expect(text).toContain(record.id);
  for (const one of [token, fresh.ok ? fresh.value.token : ""]) {
    const secret = parseToken(one)?.secret ?? "";
    expect(secret.length).toBe(43);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(Buffer.from(secret, "base64url").toString("hex"));
  }
});

it("a signed token: is good under the published key, also after a restart; the published key has no private part", async () => {
  const token = await signingKeys(bindings, "team").signServiceAccountToken(claims());
  await abortAllDurableObjects();
  const keys = await signingKeys(bindings, "team").publicKeys();
  expect(keys.map((key) => Object.keys(key).sort())).toEqual([["alg", "crv", "kid", "kty", "use", "x", "y"]]);
  const { payload } = await jwtVerify(token, createLocalJWKSet({ keys }), { issuer: serviceAccountIssuer("team"), algorithms: ["ES256"] });
  expect(payload).toMatchObject({ sub: "system:serviceaccount:default:web", jti: "j1" });
  await signingKeys(bindings, "team").signServiceAccountToken(claims());
  expect(await signingKeys(bindings, "team").publicKeys(), "one key signs all").toEqual(keys);
});

it("a cluster without service account tokens: has no keys, and asking makes none", async () => {
  expect(await signingKeys(bindings, "quiet").publicKeys()).toEqual([]);
  expect(await stored(`quiet/${CREDENTIALS}`)).not.toContain("kty");
});

it("keys of a deleted cluster: are gone, and its object answers nobody", async () => {
  await signingKeys(bindings, "gone").signServiceAccountToken(claims());
  const wiped = recordedObject(bindings, "gone", { kind: "credentials", name: CREDENTIALS }).wipe([]);
  await expect(wiped).rejects.toThrow(CLUSTER_GONE);
  await expect(signingKeys(bindings, "gone").publicKeys()).rejects.toThrow(CLUSTER_GONE);
  await expect(signingKeys(bindings, "gone").signServiceAccountToken(claims())).rejects.toThrow(CLUSTER_GONE);
});
