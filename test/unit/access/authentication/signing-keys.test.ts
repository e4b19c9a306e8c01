import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import { systemRandom } from "../../../../durable-objects/platform/ports";
import { serviceAccountIssuer, type ServiceAccountClaims } from "../../../../src/access/authentication/service-account-claims";
import { SigningKeys } from "../../../../src/access/authentication/signing-keys";
import { memoryCredentialStorage } from "../../../support/memory/credential-storage";

const DAY = 86_400_000;

class World {
  now = 1_000 * DAY;
  readonly storage = memoryCredentialStorage();

  keys(cluster = "team"): SigningKeys {
    return new SigningKeys(cluster, { storage: this.storage, clock: { now: () => this.now }, random: systemRandom() });
  }

  claims(seconds = 3_600): ServiceAccountClaims {
    const now = this.now / 1_000;
    const serviceaccount = { name: "web", uid: "u1" };
    const about = { "kubernetes.io": { namespace: "default", serviceaccount } };
    return { sub: "system:serviceaccount:default:web", aud: ["api"], exp: now + seconds, iat: now, nbf: now, jti: "j", ...about };
  }

  async isGood(token: string): Promise<boolean> {
    const keys = this.keys().publicKeys();
    const options = { issuer: serviceAccountIssuer("team"), currentDate: new Date(this.now) };
    return jwtVerify(token, createLocalJWKSet({ keys }), options).then(
      () => true,
      () => false,
    );
  }
}

describe("keys of service account tokens", () => {
  it("the first signature: makes the only key, also where two come at once", async () => {
    const world = new World();
    const tokens = await Promise.all([world.keys().sign(world.claims()), world.keys().sign(world.claims())]);
    expect(new Set(tokens.map((token) => decodeProtectedHeader(token).kid)).size).toBe(1);
    expect(world.keys().publicKeys().length).toBe(1);
    expect(await Promise.all(tokens.map((token) => world.isGood(token)))).toEqual([true, true]);
  });

  it("a token: names the cluster that signed it, whatever the claims say", async () => {
    const world = new World();
    const claims = { ...world.claims(), iss: serviceAccountIssuer("other") };
    expect(await world.isGood(await world.keys("team").sign(claims))).toBe(true);
    expect(await world.isGood(await world.keys("team~2").sign(claims))).toBe(false);
  });

  it("after 90 days: a new key signs, tokens of the old one stay good to their end, and its private part is gone", async () => {
    const world = new World();
    await world.keys().sign(world.claims());
    world.now += 90 * DAY - 1_000;
    const last = await world.keys().sign(world.claims(86_400));
    world.now += 1_000;
    const first = await world.keys().sign(world.claims());
    expect(decodeProtectedHeader(first).kid).not.toBe(decodeProtectedHeader(last).kid);
    expect(world.storage.signingKeysLoad().map(({ privateJwk }) => privateJwk !== undefined)).toEqual([false, true]);
    world.now += DAY - 2_000;
    expect(await world.isGood(last)).toBe(true);
    world.now += 2 * 60_000 + 2_000;
    expect(world.keys().publicKeys().length).toBe(1);
    world.now += 90 * DAY;
    await world.keys().sign(world.claims());
    expect(world.storage.signingKeysLoad().length, "rows of keys that are over go").toBe(2);
  });

  it.each([
    ["for a deployment, which is no cluster", "", 3_600, "a key belongs to a cluster"],
    ["that would outlive its key", "team", 86_400 + 61, "a token ends before the public key"],
  ])("a token %s: is not signed", async (_, cluster, seconds, problem) => {
    const world = new World();
    await expect(world.keys(cluster).sign(world.claims(seconds))).rejects.toThrow(problem);
  });
});
