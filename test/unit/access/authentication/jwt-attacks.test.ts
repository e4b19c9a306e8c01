/** Tokens of issuers that try to be what they are not. Every key is real. */
import { base64url, exportJWK, exportSPKI, importJWK, type JWTPayload, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { issuerConfig, type IssuerKey, issuerKey, IssuerWorld, KEYS_URL } from "../../../support/worlds/issuer-world";

/** Built by hand: no library signs these. */
function handmade(header: object, claims: JWTPayload, signature: Uint8Array): string {
  const part = (value: object) => base64url.encode(new TextEncoder().encode(JSON.stringify(value)));
  return `${part(header)}.${part(claims)}.${base64url.encode(signature)}`;
}

async function hmac(secret: string, header: object, claims: JWTPayload): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: "HS256", ...header }).sign(new TextEncoder().encode(secret));
}

async function pem({ jwk }: IssuerKey): Promise<string> {
  return exportSPKI((await importJWK(jwk, jwk.alg, { extractable: true })) as Parameters<typeof exportSPKI>[0]);
}

interface Given {
  world: IssuerWorld;
  key: IssuerKey;
  now: number;
}

const FORGERIES: [what: string, token: (given: Given) => Promise<string>][] = [
  ["alg none without a signature", ({ world }) => Promise.resolve(handmade({ alg: "none" }, world.claims(), new Uint8Array()))],
  ["alg none with a signature", ({ world }) => Promise.resolve(handmade({ alg: "none" }, world.claims(), new Uint8Array(32)))],
  ["alg NoNe", ({ world, key }) => Promise.resolve(handmade({ alg: "NoNe", kid: key.jwk.kid }, world.claims(), new Uint8Array(32)))],
  ["HMAC with the public key as PEM", async ({ world, key }) => hmac(await pem(key), { kid: "k1" }, world.claims())],
  ["HMAC with the public key as JWK", ({ world, key }) => hmac(JSON.stringify(key.jwk), { kid: "k1" }, world.claims())],
  ["another key under the same kid", async ({ world }) => world.signed(await issuerKey("RS256", "k1"))],
  ["another key under another kid", async ({ world }) => world.signed(await issuerKey("RS256", "k9"))],
  [
    "its own key in the header",
    async ({ world }) => {
      const own = await issuerKey("RS256", "k1");
      return world.signed(own, {}, { jwk: own.jwk });
    },
  ],
  [
    "a URL of keys in the header",
    async ({ world }) => world.signed(await issuerKey("RS256", "k1"), {}, { jku: "https://evil.example/keys" }),
  ],
  ["an algorithm that is not on the list", async ({ world }) => world.signed(await issuerKey("RS512", "k1"))],
  [
    "another algorithm of the same key",
    async ({ world, key }) => {
      const privateKey = (await importJWK(await exportJWK(key.privateKey), "PS256")) as IssuerKey["privateKey"];
      return world.signed({ ...key, alg: "PS256", privateKey });
    },
  ],
  ["a kid with a path", ({ world, key }) => world.signed(key, {}, { kid: "../../../../dev/null" })],
  ["a kid with SQL", ({ world, key }) => world.signed(key, {}, { kid: "' OR 1=1 --" })],
  ["a very long kid", ({ world, key }) => world.signed(key, {}, { kid: "k".repeat(5_000) })],
  ["a kid that is no text", ({ world, key }) => world.signed(key, {}, { kid: ["k1"] })],
  [
    "a critical extension",
    ({ world, key }) =>
      new SignJWT(world.claims())
        .setProtectedHeader({ alg: "RS256", kid: "k1", crit: ["x"], x: 1 })
        .sign(key.privateKey, { crit: { x: true } }),
  ],
  ["the type of a logout token", ({ world, key }) => world.signed(key, {}, { typ: "logout+jwt" })],
  ["another issuer", ({ world, key }) => world.signed(key, { iss: "https://other.example" })],
  ["its issuer with a slash", ({ world, key }) => world.signed(key, { iss: "https://issuer.example/" })],
  ["an issuer that is a list", ({ world, key }) => world.signed(key, { iss: ["https://issuer.example"] as never })],
  ["no issuer", ({ world, key }) => world.signed(key, { iss: undefined as never })],
  ["another audience", ({ world, key }) => world.signed(key, { aud: "other" })],
  ["no audience", ({ world, key }) => world.signed(key, { aud: undefined as never })],
  ["an audience that only contains ours", ({ world, key }) => world.signed(key, { aud: "servicenet2" })],
  ["an end 61 s ago", ({ world, key, now }) => world.signed(key, { exp: now - 61 })],
  ["no end", ({ world, key }) => world.signed(key, { exp: undefined as never })],
  ["an end that is a text", ({ world, key }) => world.signed(key, { exp: "9999999999" as never })],
  ["a beginning in 61 s", ({ world, key, now }) => world.signed(key, { nbf: now + 61 })],
  ["an issue in 61 s", ({ world, key, now }) => world.signed(key, { iat: now + 61 })],
  ["more than 16 KiB", ({ world, key }) => world.signed(key, { padding: "x".repeat(16_384) })],
  ["no user", ({ world, key }) => world.signed(key, { sub: "" })],
  ["a user that is a number", ({ world, key }) => world.signed(key, { sub: 1 as never })],
  ["groups that are numbers", ({ world, key }) => world.signed(key, { groups: [1] })],
  ["a changed payload", async ({ world, key }) => changed(await world.signed(key), world.claims({ sub: "root" }))],
  ["a cut signature", async ({ world, key }) => (await world.signed(key)).slice(0, -4)],
  ["a fourth part", async ({ world, key }) => `${await world.signed(key)}.x`],
  ["padding", async ({ world, key }) => `${await world.signed(key)}=`],
  ["a line end", async ({ world, key }) => `${await world.signed(key)}\n`],
];

function changed(token: string, claims: JWTPayload): string {
  const [header = "", , signature = ""] = token.split(".");
  return `${header}.${base64url.encode(JSON.stringify(claims))}.${signature}`;
}

const key = issuerKey("RS256", "k1");

async function given(...config: Parameters<typeof issuerConfig>): Promise<Given> {
  const world = new IssuerWorld([issuerConfig(...config)]);
  world.publish(await key);
  return { world, key: await key, now: world.now / 1_000 };
}

describe("forged tokens", () => {
  it.each(FORGERIES)("a token with %s: is refused", async (_, token) => {
    const { world, ...rest } = await given();
    expect(await world.judged(await world.signed(await key)), "the true one is taken").toBe("oidc:alice");
    const forged = await token({ world, ...rest });
    expect(await world.judged(forged)).toBe("Unauthorized");
    expect(world.fetched.filter((url) => !url.startsWith("https://issuer.example/"))).toEqual([]);
  });

  it.each(["", ".", "..", "a.b", "a.b.c", "e30.e30.e30", "null.null.null", "ey", "Bearer x", "\u0000"])(
    "the text %j: is no token and breaks nothing",
    async (text) => {
      const { world } = await given();
      expect(await world.judged(text)).toBe(text === "" ? "nobody" : "Unauthorized");
    },
  );
});

describe("true tokens", () => {
  it.each(["RS256", "PS256", "ES256", "EdDSA"])("a token signed by %s: is taken", async (alg) => {
    const world = new IssuerWorld();
    const own = await issuerKey(alg, "k1");
    world.publish(own);
    expect(await world.judged(await world.signed(own))).toBe("oidc:alice");
  });

  it.each<[what: string, claims: (now: number) => JWTPayload]>([
    ["an end 59 s ago", (now) => ({ exp: now - 59 })],
    ["a beginning in 59 s", (now) => ({ nbf: now + 59 })],
    ["several audiences", () => ({ aud: ["other", "servicenet"] })],
  ])("a token with %s: is taken", async (_, claims) => {
    const { world, now } = await given();
    expect(await world.judged(await world.signed(await key, claims(now)))).toBe("oidc:alice");
  });

  it.each(["JWT", "jwt", "at+jwt"])("the type %s: is taken", async (typ) => {
    const { world } = await given();
    expect(await world.judged(await world.signed(await key, {}, { typ }))).toBe("oidc:alice");
  });

  it("a header without kid: every key of the issuer is tried", async () => {
    const world = new IssuerWorld();
    const [first, second] = await Promise.all([issuerKey("ES256"), issuerKey("ES256")]);
    world.publish(first, second);
    expect(await world.judged(await world.signed(second))).toBe("oidc:alice");
    expect(await world.judged(await world.signed(await issuerKey("ES256")))).toBe("Unauthorized");
  });

  it.each([
    ["a shared secret among the keys", { kty: "oct", kid: "k1", k: "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA" }],
    ["a private key", { kty: "EC", kid: "k1", crv: "P-256", x: "x", y: "y", d: "d" }],
    ["something that is no key", { kid: "k1" }],
  ])("an issuer that publishes %s: no token of it is taken", async (_, jwk) => {
    const world = new IssuerWorld();
    world.pages.set(KEYS_URL, { keys: [jwk] });
    expect(await world.judged(await world.signed(await issuerKey("ES256", "k1")))).toBe("Unauthorized");
    expect(await world.judged(await hmac("secret-secret-secret-secret-secret", { kid: "k1" }, world.claims()))).toBe("Unauthorized");
  });
});

describe("users of issuers", () => {
  const rule = { claimValidationRules: [{ claim: "hd", requiredValue: "example.com" }] };
  const plain = {
    claimMappings: { username: { claim: "sub", prefix: "" }, groups: { claim: "groups", prefix: "" }, uid: { claim: "oid" } },
  };
  const mail = { claimMappings: { username: { claim: "email", prefix: "" } } };

  it.each<[what: string, config: Parameters<typeof issuerConfig>[0], claims: JWTPayload, name: string]>([
    ["a master", plain, { sub: "system:admin" }, "Unauthorized"],
    ["a node", plain, { sub: "system:node:n1" }, "Unauthorized"],
    ["an agent", plain, { sub: "servicenet:agent:n1" }, "Unauthorized"],
    ["a required claim", rule, { hd: "example.com" }, "oidc:alice"],
    ["another value of it", rule, { hd: "evil.com" }, "Unauthorized"],
    ["a list with the value", rule, { hd: ["example.com"] }, "Unauthorized"],
    ["no required claim", rule, {}, "Unauthorized"],
    ["an address", mail, { email: "a@example.com" }, "a@example.com"],
    ["an address that is verified", mail, { email: "a@example.com", email_verified: true }, "a@example.com"],
    ["an address that is not verified", mail, { email: "a@example.com", email_verified: false }, "Unauthorized"],
    ["an address that says it is verified", mail, { email: "a@example.com", email_verified: "true" }, "Unauthorized"],
  ])("claims of %s: name the user, or are refused", async (_, config, claims, name) => {
    const { world } = await given(config);
    expect(await world.judged(await world.signed(await key, claims))).toBe(name);
  });

  it("the caller: has the mapped groups without those of the server, its uid, the name of the token and its clusters", async () => {
    const { world } = await given({ ...plain, clusters: ["team"] });
    const groups = ["dev", "system:masters", "servicenet:agents", ""];
    const bearer = await world.signed(await key, { groups, oid: "o1", jti: "j1" });
    expect(await world.authenticate({ bearer }, "team")).toEqual({
      ok: true,
      value: {
        user: {
          name: "alice",
          uid: "o1",
          groups: ["dev", "system:authenticated"],
          extra: { "authentication.kubernetes.io/credential-id": ["JTI=j1"] },
        },
        clusters: ["team"],
        credential: "jwt:https://issuer.example",
      },
    });
  });

  it("the header of Cloudflare Access: counts where there is no other credential", async () => {
    const { world } = await given({}, { jwksURL: KEYS_URL });
    const accessJwt = await world.signed(await key);
    expect(await world.judged({ accessJwt })).toBe("oidc:alice");
    expect(await world.judged({ accessJwt, bearer: "wrong" })).toBe("Unauthorized");
    expect(await world.judged({ accessJwt: (await world.token()).token }), "own tokens do not come in it").toBe("Unauthorized");
    expect(world.fetched, "keys without a discovery document").toEqual([KEYS_URL]);
  });
});
