import { decodeJwt, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { API_AUDIENCE, type ServiceAccountClaims } from "../../../../src/access/authentication/service-account-claims";
import { type AskedToken, type BoundObject, serviceAccountClaims } from "../../../../src/access/authentication/service-account-token";
import { otherBoundUid, otherPodAccount, tokenRequestNameErrors, tokenSpec } from "../../../../src/access/authentication/token-request";
import { CLUSTER_ID, issuerKey, IssuerWorld, SECOND_MS } from "../../../support/worlds/issuer-world";

const POD: BoundObject = { kind: "Pod", pod: { name: "web-1", uid: "p1" }, node: { name: "n1", uid: "n1-uid" } };

function claimsOf(world: IssuerWorld, asked: Partial<AskedToken> = {}): ServiceAccountClaims {
  const serviceAccount = { name: "web", uid: "u1" };
  return serviceAccountClaims(
    { namespace: "default", serviceAccount, audiences: [API_AUDIENCE], seconds: 3_600, id: "j1", ...asked },
    world.now,
  );
}

function signed(world: IssuerWorld, asked: Partial<AskedToken> = {}): Promise<string> {
  return world.signer.sign(claimsOf(world, asked));
}

describe("a token of a service account", () => {
  it("its claims: are upstream's, and its issuer names the cluster", async () => {
    const world = new IssuerWorld();
    const now = world.now / SECOND_MS;
    expect(decodeJwt(await signed(world, { bound: POD }))).toEqual({
      iss: `https://kubernetes.default.svc/clusters/${CLUSTER_ID}`,
      sub: "system:serviceaccount:default:web",
      aud: ["https://kubernetes.default.svc"],
      exp: now + 3_600,
      iat: now,
      nbf: now,
      jti: "j1",
      "kubernetes.io": {
        namespace: "default",
        serviceaccount: { name: "web", uid: "u1" },
        pod: { name: "web-1", uid: "p1" },
        node: { name: "n1", uid: "n1-uid" },
      },
    });
  });

  it("its user: has upstream's name, groups and extra, in this cluster alone", async () => {
    const world = new IssuerWorld();
    world.bound.set("Pod default/web-1", "p1");
    expect(await world.authenticate({ bearer: await signed(world, { bound: POD }) }, "team")).toEqual({
      ok: true,
      value: {
        user: {
          name: "system:serviceaccount:default:web",
          uid: "u1",
          groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
          extra: {
            "authentication.kubernetes.io/credential-id": ["JTI=j1"],
            "authentication.kubernetes.io/pod-name": ["web-1"],
            "authentication.kubernetes.io/pod-uid": ["p1"],
            "authentication.kubernetes.io/node-name": ["n1"],
            "authentication.kubernetes.io/node-uid": ["n1-uid"],
          },
        },
        clusters: ["team"],
        credential: "serviceaccount",
      },
    });
  });

  it.each<[what: string, asked: Partial<AskedToken>, bound: [string, string][], isGood: boolean]>([
    ["nothing", {}, [], true],
    ["its Pod", { bound: POD }, [["Pod default/web-1", "p1"]], true],
    ["a Pod that is gone", { bound: POD }, [], false],
    ["another Pod of the name", { bound: POD }, [["Pod default/web-1", "p2"]], false],
    ["a Node", { bound: { kind: "Node", node: { name: "n1", uid: "n" } } }, [["Node /n1", "n"]], true],
    ["a Node that is gone", { bound: { kind: "Node", node: { name: "n1", uid: "n" } } }, [], false],
    ["a Secret that is gone", { bound: { kind: "Secret", secret: { name: "s", uid: "s1" } } }, [], false],
    ["another audience", { audiences: ["vault"] }, [], false],
    ["ours among others", { audiences: ["vault", API_AUDIENCE] }, [], true],
    ["another account of the name", { serviceAccount: { name: "web", uid: "u0" } }, [], false],
    ["an account that is not there", { serviceAccount: { name: "db", uid: "u1" } }, [], false],
  ])("a token for %s: is good or not", async (_, asked, bound, isGood) => {
    const world = new IssuerWorld();
    for (const [key, uid] of bound) world.bound.set(key, uid);
    expect(await world.judged(await signed(world, asked))).toBe(isGood ? "system:serviceaccount:default:web" : "Unauthorized");
  });

  it("the claims of another cluster, of a later life and of this server as a whole: are refused", async () => {
    const world = new IssuerWorld();
    for (const cluster of ["other", `${CLUSTER_ID}~2`])
      expect(await world.judged(await world.signerOf(cluster).sign(claimsOf(world))), cluster).toBe("Unauthorized");
    const good = await signed(world);
    expect(await world.judged(good, "other")).toBe("Unauthorized");
    expect((await world.authenticate({ bearer: good }, undefined)).ok).toBe(false);
    expect(await world.judged({ accessJwt: good })).toBe("Unauthorized");
    expect(await world.judged(good)).toBe("system:serviceaccount:default:web");
  });

  it("the same claims under somebody else's key: are refused", async () => {
    const world = new IssuerWorld();
    await signed(world);
    const kid = world.signer.publicKeys()[0]?.kid;
    const { privateKey } = await issuerKey("ES256");
    const claims = { ...claimsOf(world), aud: [API_AUDIENCE], iss: `${API_AUDIENCE}/clusters/${CLUSTER_ID}` };
    expect(await world.judged(await new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid }).sign(privateKey))).toBe("Unauthorized");
  });

  it("after its end and the leeway: is refused", async () => {
    const world = new IssuerWorld();
    const token = await signed(world, { seconds: 600 });
    world.now += 659 * SECOND_MS;
    expect(await world.judged(token)).toBe("system:serviceaccount:default:web");
    world.now += SECOND_MS;
    expect(await world.judged(token)).toBe("Unauthorized");
  });

  it("after the deletion of its account: is refused within 30 s", async () => {
    const world = new IssuerWorld();
    const token = await signed(world);
    await world.judged(token);
    world.uids.clear();
    world.now += 30 * SECOND_MS;
    expect(await world.judged(token)).toBe("Unauthorized");
  });

  it("a good token while the isolate does not know the cluster: is remembered for the life that signed it alone", async () => {
    const world = new IssuerWorld();
    const bearer = await signed(world);
    const judged = async (life: string) => (await world.authenticate({ bearer }, "team", life)).ok;
    expect(await judged("")).toBe(true);
    const before = world.asked.length;
    expect([await judged(CLUSTER_ID), world.asked.length]).toEqual([true, before]);
    // The cluster is deleted and made again, and the isolate does not know it yet.
    world.uids.clear();
    expect([await judged(""), await judged(`${CLUSTER_ID}~2`)]).toEqual([false, false]);
  });

  it("a token that is used twice: no object is asked again", async () => {
    const world = new IssuerWorld();
    const token = await signed(world);
    await world.judged(token);
    const before = world.asked.length;
    for (let i = 0; i < 10; i++) await world.judged(token);
    expect(world.asked.length).toBe(before);
  });

  it("while objects do not answer: is not judged", async () => {
    const world = new IssuerWorld();
    const token = await signed(world);
    world.areObjectsUp = false;
    expect(await world.judged(token)).toBe("Unavailable");
  });
});

describe("a TokenReview", () => {
  const judge = async (world: IssuerWorld, bearer: string, audiences: string[]) => {
    const answer = await world.authenticator.judge({ bearer }, { cluster: "team", life: CLUSTER_ID, audiences, beside: () => undefined });
    return answer.ok ? answer.value?.audiences : answer.error;
  };

  it.each<[audiences: string[], asked: string[], answer: string[] | "Unauthorized"]>([
    [["vault"], ["vault"], ["vault"]],
    [["vault"], [API_AUDIENCE], "Unauthorized"],
    [
      ["vault", "db", API_AUDIENCE],
      ["db", "other", "vault"],
      ["vault", "db"],
    ],
    [["vault"], ["db"], "Unauthorized"],
    [[API_AUDIENCE], ["vault"], "Unauthorized"],
    [[API_AUDIENCE], [API_AUDIENCE, "vault"], [API_AUDIENCE]],
  ])("a token for %j, asked for %j: is for those that both name, %j", async (audiences, asked, answer) => {
    const world = new IssuerWorld();
    expect(await judge(world, await signed(world, { audiences }), asked)).toEqual(answer);
  });

  it("a token for another audience that a review has taken: no request is let in by it, before or after", async () => {
    const world = new IssuerWorld();
    const bearer = await signed(world, { audiences: ["vault"] });
    expect(await world.judged(bearer)).toBe("Unauthorized");
    expect(await judge(world, bearer, ["vault"])).toEqual(["vault"]);
    expect(await world.judged(bearer)).toBe("Unauthorized");
  });

  it("tokens that name no audience of a review: are for this API alone", async () => {
    const world = new IssuerWorld();
    const { token } = await world.token();
    const key = await issuerKey("ES256", "k1");
    world.publish(key);
    for (const bearer of [token, await world.signed(key)]) {
      expect(await judge(world, bearer, ["vault", API_AUDIENCE])).toEqual([API_AUDIENCE]);
      expect(await judge(world, bearer, ["vault", "servicenet"])).toBe("Unauthorized");
    }
  });
});

describe("a TokenRequest", () => {
  it.each([
    [{}, { audiences: [API_AUDIENCE], expirationSeconds: 3_600 }],
    [
      { audiences: [], expirationSeconds: null },
      { audiences: [API_AUDIENCE], expirationSeconds: 3_600 },
    ],
    [
      { audiences: ["vault"], expirationSeconds: 600 },
      { audiences: ["vault"], expirationSeconds: 600 },
    ],
    [
      { expirationSeconds: 86_401 },
      {
        audiences: [API_AUDIENCE],
        expirationSeconds: 86_400,
        warning: "requested expiration of 86401 seconds shortened to 86400 seconds",
      },
    ],
  ])("the spec %j: has defaults and a limit", (asked, spec) => {
    expect(tokenSpec(asked)).toEqual({ ok: true, value: spec });
  });

  it.each([
    [599, "Invalid value: 599: may not specify a duration less than 10 minutes"],
    [2 ** 32 + 1, "Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds"],
  ])("a lifetime of %d s: is refused in upstream's words", (expirationSeconds, body) => {
    const spec = tokenSpec({ expirationSeconds });
    expect(spec.ok ? [] : spec.error).toEqual([{ field: "spec.expirationSeconds", body, reason: "FieldValueInvalid" }]);
  });

  it.each([
    [{}, ""],
    [{ name: "web", namespace: "default" }, ""],
    [{ name: "db" }, 'metadata.name: Invalid value: "db": must match the service account name if specified'],
    [{ namespace: "x" }, 'metadata.namespace: Invalid value: "x": must match the service account namespace if specified'],
  ])("a body with the names %j: is of the account of its path", (names, text) => {
    const errors = tokenRequestNameErrors(names, { name: "web", namespace: "default" });
    expect(errors.map(({ field, body }) => `${field}: ${body}`).join()).toBe(text);
  });

  it("the texts of refusals: are upstream's", () => {
    expect(otherPodAccount("web")).toBe('cannot bind token for serviceaccount "web" to pod running with different serviceaccount name.');
    expect(otherBoundUid("u")).toBe(
      "the UID in the bound object reference (u) does not match the UID in record. The object might have been deleted and then recreated",
    );
  });
});
