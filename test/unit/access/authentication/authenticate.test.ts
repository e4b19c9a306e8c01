import { describe, expect, it } from "vitest";
import { systemDigest, systemRandom } from "../../../../durable-objects/platform/ports";
import { formatAdminToken, parseAdminTokens } from "../../../../src/access/authentication/admin-tokens";
import { drawToken, formatToken, hashSecret, parseToken } from "../../../../src/access/authentication/bearer-token";
import { CREDENTIAL_MAX_CHARS } from "../../../../src/access/authentication/credential-limits";
import { issuerConfig, issuerKey, IssuerWorld, KEYS_URL, SECOND_MS } from "../../../support/worlds/issuer-world";

async function adminToken() {
  const token = drawToken(systemRandom());
  const text = formatAdminToken({ id: token.id, ...(await hashSecret(token.secret, systemRandom(), systemDigest)) });
  const parsed = parseAdminTokens(text);
  if (!parsed.ok) throw new Error(parsed.error.join());
  return { bearer: formatToken(token), id: token.id, tokens: parsed.value };
}

describe("own tokens", () => {
  it("a good token: is its user, with the group of all who are known", async () => {
    const world = new IssuerWorld();
    const { token, id } = await world.token({ clusters: ["team"] });
    expect(await world.authenticate({ bearer: token }, "team")).toEqual({
      ok: true,
      value: {
        user: { name: "bob", uid: "", groups: ["ops", "system:authenticated"], extra: {} },
        clusters: ["team"],
        credential: `token:${id}`,
      },
    });
  });

  it("no credential: is nobody, and nobody is asked", async () => {
    const world = new IssuerWorld();
    expect(await world.judged({})).toBe("nobody");
    expect(await world.judged({ bearer: "", accessJwt: "" })).toBe("nobody");
    expect(world.asked).toEqual([]);
  });

  it.each([
    ["of the wrong form", "sn_x_y"],
    ["that nobody made", `sn_${"0".repeat(20)}_${"A".repeat(43)}`],
    ["of another kind", "Zm9vYmFy"],
    ["longer than any", `sn_${"0".repeat(CREDENTIAL_MAX_CHARS)}`],
  ])("a token %s: is refused", async (_, bearer) => {
    expect(await new IssuerWorld().judged(bearer)).toBe("Unauthorized");
  });

  it("a token that is used again: asks no object for 30 s", async () => {
    const world = new IssuerWorld();
    const { token } = await world.token();
    for (let i = 0; i < 30; i++) {
      expect(await world.judged(token)).toBe("bob");
      world.now += SECOND_MS - 1;
    }
    expect(world.asked).toEqual(["verifyToken"]);
    world.now += SECOND_MS;
    await world.judged(token);
    expect(world.asked.length).toBe(2);
  });

  it("a token that is used again: is hashed again when its answer is, and a wrong one each time", async () => {
    const world = new IssuerWorld();
    const { token } = await world.token();
    for (let i = 0; i < 30; i++) await world.judged(token);
    expect(world.digests).toBe(1);
    world.now += 30 * SECOND_MS;
    for (let i = 0; i < 30; i++) await world.judged(token);
    expect(world.digests).toBe(2);
    for (let i = 0; i < 3; i++) expect(await world.judged(`${token}x`)).toBe("Unauthorized");
    expect(world.digests).toBe(5);
  });

  it("a token that is refused again after it was good: stays refused, though its hash is kept", async () => {
    const world = new IssuerWorld();
    const { token, id } = await world.token();
    await world.judged(token);
    world.book.revoke(id);
    world.now += 30 * SECOND_MS;
    for (let i = 0; i < 3; i++) expect(await world.judged(token)).toBe("Unauthorized");
  });

  it("a revoked token: is refused after 30 s at the latest, also while it is used all the time", async () => {
    const world = new IssuerWorld();
    const { token, id } = await world.token();
    await world.judged(token);
    world.book.revoke(id);
    let goodMs = 0;
    while ((await world.judged(token)) === "bob") {
      goodMs += 500;
      world.now += 500;
    }
    expect(goodMs).toBeLessThanOrEqual(30 * SECOND_MS);
  });

  it.each([
    ["its own end", true],
    ["the end of the grace after a rotation", false],
  ])("a kept answer: ends with %s", async (_, expires) => {
    const world = new IssuerWorld();
    const end = 10 * SECOND_MS;
    const { token, id } = await world.token(expires ? { expiresAt: world.now + end } : {});
    if (!expires) await world.book.rotate(id, end);
    expect(await world.judged(token)).toBe("bob");
    world.now += end - 1;
    expect(await world.judged(token)).toBe("bob");
    world.now += 1;
    expect(await world.judged(token)).toBe("Unauthorized");
  });

  it("a refused token: is refused without a question for 5 s, then asked for again", async () => {
    const world = new IssuerWorld();
    const bearer = formatToken(drawToken(systemRandom()));
    for (let i = 0; i < 5; i++) {
      expect(await world.judged(bearer)).toBe("Unauthorized");
      world.now += SECOND_MS - 1;
    }
    expect(world.asked.length).toBe(1);
    world.now += 5;
    await world.judged(bearer);
    expect(world.asked.length).toBe(2);
  });

  it("while the object does not answer: new tokens are not judged, known ones are taken, and nothing is kept of it", async () => {
    const world = new IssuerWorld();
    const { token } = await world.token();
    const { token: other } = await world.token();
    await world.judged(token);
    world.areObjectsUp = false;
    expect([await world.judged(token), await world.judged(other)]).toEqual(["bob", "Unavailable"]);
    world.areObjectsUp = true;
    expect(await world.judged(other)).toBe("bob");
  });

  it("a clock that was set back: keeps no answer longer", async () => {
    const world = new IssuerWorld();
    const { token, id } = await world.token();
    await world.judged(token);
    world.book.revoke(id);
    world.now -= 3_600 * SECOND_MS;
    expect(await world.judged(token)).toBe("Unauthorized");
  });
});

describe("administrators by variable", () => {
  it("the token: is a master in every cluster, and no object is asked", async () => {
    const { bearer, id, tokens } = await adminToken();
    const world = new IssuerWorld([], tokens);
    world.areObjectsUp = false;
    expect(await world.authenticate({ bearer }, undefined)).toEqual({
      ok: true,
      value: {
        user: { name: "admin", uid: "", groups: ["system:masters", "system:authenticated"], extra: {} },
        clusters: undefined,
        credential: `token:${id}`,
      },
    });
    expect(world.asked).toEqual([]);
  });

  it("another secret under its id: is refused, and no object is asked", async () => {
    const { id, tokens } = await adminToken();
    const world = new IssuerWorld([], tokens);
    expect(await world.judged(formatToken({ id, secret: "A".repeat(43) }))).toBe("Unauthorized");
    expect(world.asked).toEqual([]);
  });

  it.each([
    ["nothing", "", 0],
    ["blanks and commas", " , ,", 0],
    ["two", `${"0".repeat(20)}:${"1".repeat(32)}:${"2".repeat(64)}, ${"a".repeat(20)}:${"b".repeat(32)}:${"c".repeat(64)}`, 2],
    ["an entry without salt", `${"0".repeat(20)}::${"2".repeat(64)}`, "entry 1"],
    ["a token itself", `sn_${"0".repeat(20)}_${"A".repeat(43)}`, "entry 1"],
    ["a fourth part", `${"0".repeat(20)}:${"1".repeat(32)}:${"2".repeat(64)}:x`, "entry 1"],
  ])("a variable with %s: is read, or refused without showing what it is", (_, text, found) => {
    const parsed = parseAdminTokens(text);
    if (typeof found === "number") expect(parsed.ok && parsed.value.length).toBe(found);
    else {
      const problems = parsed.ok ? "" : parsed.error.join();
      expect(problems).toContain(found);
      for (const part of text.split(/[:_]/)) if (part.length > 2) expect(problems).not.toContain(part);
    }
  });
});

describe("keys of issuers", () => {
  it("many tokens: one question for ten minutes", async () => {
    const world = new IssuerWorld();
    const key = await issuerKey("ES256", "k1");
    world.publish(key);
    for (let i = 0; i < 9; i++) {
      expect(await world.judged(await world.signed(key, { jti: `${i}` }))).toBe("oidc:alice");
      world.now += 60 * SECOND_MS;
    }
    expect(world.fetched.filter((url) => url === KEYS_URL).length).toBe(1);
    world.now += 60 * SECOND_MS;
    await world.judged(await world.signed(key));
    expect(world.fetched.filter((url) => url === KEYS_URL).length).toBe(2);
  });

  it("a new key of the issuer: is found at once, and unknown kids lead to one question in 30 s", async () => {
    const world = new IssuerWorld();
    const [first, second] = [await issuerKey("ES256", "k1"), await issuerKey("ES256", "k2")];
    world.publish(first);
    await world.judged(await world.signed(first));
    world.now += 31 * SECOND_MS;
    world.publish(first, second);
    expect(await world.judged(await world.signed(second))).toBe("oidc:alice");
    const before = world.fetched.length;
    for (let i = 0; i < 29; i++) {
      expect(await world.judged(await world.signed(second, {}, { kid: `unknown-${i}` }))).toBe("Unauthorized");
      world.now += SECOND_MS;
    }
    expect(world.fetched.length).toBe(before);
    world.now += SECOND_MS;
    await world.judged(await world.signed(second, {}, { kid: "unknown" }));
    expect(world.fetched.length).toBe(before + 2);
  });

  it("an issuer that is down: its known keys are good for a day, and it is asked each 30 s", async () => {
    const world = new IssuerWorld();
    const key = await issuerKey("ES256", "k1");
    world.publish(key);
    await world.judged(await world.signed(key));
    world.pages.clear();
    world.now += 23 * 3_600 * SECOND_MS;
    const before = world.fetched.length;
    for (let i = 0; i < 20; i++) expect(await world.judged(await world.signed(key, { jti: `${i}` }))).toBe("oidc:alice");
    expect(world.fetched.length).toBe(before + 1);
    world.now += 3_600 * SECOND_MS;
    expect(await world.judged(await world.signed(key))).toBe("Unavailable");
  });

  it("an issuer that never answered: its tokens are not judged, and it is asked each 30 s", async () => {
    const world = new IssuerWorld();
    const key = await issuerKey("ES256", "k1");
    world.pages.clear();
    for (let i = 0; i < 5; i++) expect(await world.judged(await world.signed(key))).toBe("Unavailable");
    expect(world.fetched.length).toBe(1);
    world.now += 30 * SECOND_MS;
    expect(await world.judged(await world.signed(key))).toBe("Unavailable");
    expect(world.fetched.length).toBe(2);
  });

  it.each([
    ["of another issuer", { issuer: "https://evil.example", jwks_uri: KEYS_URL }],
    ["with keys over plain http", { issuer: "https://issuer.example", jwks_uri: "http://issuer.example/keys" }],
    ["that is no object", "text"],
  ])("a discovery document %s: is not followed", async (_, document) => {
    const world = new IssuerWorld();
    const key = await issuerKey("ES256", "k1");
    world.publish(key);
    world.pages.set("https://issuer.example/.well-known/openid-configuration", document);
    expect(await world.judged(await world.signed(key))).toBe("Unavailable");
    expect(world.fetched).not.toContain(KEYS_URL);
  });

  it("two issuers: the keys of one sign nothing for the other", async () => {
    const other = { url: "https://other.example", jwksURL: "https://other.example/keys" };
    const world = new IssuerWorld([issuerConfig(), issuerConfig({}, other)]);
    const [key, theirs] = [await issuerKey("ES256", "k1"), await issuerKey("ES256", "k1")];
    world.publish(key);
    world.pages.set("https://other.example/keys", { keys: [theirs.jwk] });
    expect(await world.judged(await world.signed(theirs, { iss: "https://other.example" }))).toBe("oidc:alice");
    expect(await world.judged(await world.signed(theirs))).toBe("Unauthorized");
    expect(await world.judged(await world.signed(key, { iss: "https://other.example" }))).toBe("Unauthorized");
  });
});

it("secrets: no log line and no call has one but the question whether it is good", async () => {
  const world = new IssuerWorld();
  const { token } = await world.token();
  world.areObjectsUp = false;
  await world.judged(token);
  expect(JSON.stringify(world.lines)).toContain("could not be checked");
  expect(JSON.stringify(world.lines)).not.toContain(parseToken(token)?.secret);
});
