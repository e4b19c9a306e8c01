/** JWTs of issuers, through the whole Worker: the configurations of docs/access.md, with the internet in place of the issuers. */
import { SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AccessWorld } from "../../../support/access/access-world";
import { type IssuerKey, issuerKey } from "../../../support/worlds/issuer-world";

const [load] = Object.values(import.meta.glob("../../../../docs/access.md", { query: "?raw", import: "default" }));
const page = String(await load?.());
const [OIDC = "", CLOUDFLARE = ""] = [...page.matchAll(/```json\n([^`]*)```/g)].map(([, text = ""]) => text);
const OIDC_URL = "https://login.example.com";
const CLOUDFLARE_URL = "https://TEAM.cloudflareaccess.com";

let key: IssuerKey;
let answers: Map<string, () => Response>;
let asked: string[];
beforeEach(async () => {
  key = await issuerKey("RS256", "k1");
  answers = new Map();
  asked = [];
  vi.stubGlobal("fetch", (url: string, init?: RequestInit) => {
    asked.push(url);
    const answer = answers.get(url)?.() ?? new Response("", { status: 404 });
    const isRedirect = answer.status >= 300 && answer.status < 400;
    return isRedirect && init?.redirect !== "manual" ? Promise.reject(new Error("followed")) : Promise.resolve(answer);
  });
  answers.set(`${OIDC_URL}/.well-known/openid-configuration`, () => Response.json({ issuer: OIDC_URL, jwks_uri: `${OIDC_URL}/keys` }));
  answers.set(`${OIDC_URL}/keys`, () => Response.json({ keys: [key.jwk] }));
  answers.set(`${CLOUDFLARE_URL}/cdn-cgi/access/certs`, () => Response.json({ keys: [key.jwk] }));
});
afterEach(() => vi.unstubAllGlobals());

async function signed(issuer: string, audience: string, claims: object): Promise<string> {
  const jwt = new SignJWT({ ...claims }).setProtectedHeader({ alg: "RS256", kid: "k1" }).setIssuer(issuer).setAudience(audience);
  return jwt.setIssuedAt().setExpirationTime("5m").sign(key.privateKey);
}

const whoami = async (world: AccessWorld, options: { token: string; headers?: Record<string, string> }) => {
  const answer = await world.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { ...options, body: {} });
  return answer.code === 201 ? (answer.body.status as { userInfo: object }).userInfo : answer.code;
};

/** The world of a configuration, whose issuers are for its own cluster. */
async function worldOf(config: string): Promise<AccessWorld> {
  const world = new AccessWorld();
  const text = config.replace(/"clusters": \[[^\]]*\]/, `"clusters": ["${world.cluster}"]`);
  Object.assign(world.env, { AUTHENTICATION_CONFIG: text });
  return world.begin();
}

describe("an OIDC issuer", () => {
  it("a JWT of it: the user and the groups that the page says, with the rights of the rules", async () => {
    const world = await worldOf(OIDC);
    const token = await signed(OIDC_URL, "servicenet", { email: "jane@example.com", groups: ["devs", "system:masters"] });
    expect(await whoami(world, { token })).toEqual({
      username: "jane@example.com",
      groups: ["corp:devs", "corp:system:masters", "system:authenticated"],
    });
    const services = "/api/v1/namespaces/default/services";
    expect((await world.ask("GET", services, { token })).code).toBe(403);
    await world.make("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
      metadata: { name: "devs" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "corp:devs" }],
    });
    expect((await world.ask("GET", services, { token })).code).toBe(200);
    expect((await world.ask("GET", "/clusters/other/api/v1/services", { token })).code, "a cluster that it is not for").toBe(403);
    expect(asked, "the keys are kept").toHaveLength(2);
  });

  it.each<[name: string, claims: () => Promise<string>]>([
    ["another audience", () => signed(OIDC_URL, "another", { email: "jane@example.com" })],
    ["another issuer", () => signed("https://evil.example", "servicenet", { email: "jane@example.com" })],
    ["a user of the server's own", () => signed(OIDC_URL, "servicenet", { email: "system:admin" })],
    ["no user", () => signed(OIDC_URL, "servicenet", {})],
  ])("a JWT with %s: 401", async (_name, claims) => {
    expect(await whoami(await worldOf(OIDC), { token: await claims() })).toBe(401);
  });

  it.each<[name: string, answer: () => Response]>([
    ["redirects", () => new Response("", { status: 302, headers: { Location: "http://127.0.0.1/keys" } })],
    ["is huge", () => new Response(" ".repeat(2 * 1024 * 1024))],
    ["is no JSON", () => new Response("<html>")],
    ["fails", () => new Response("", { status: 500 })],
  ])("a discovery document that %s: no key is taken from it, and nobody gets in", async (_name, answer) => {
    answers.set(`${OIDC_URL}/.well-known/openid-configuration`, answer);
    const token = await signed(OIDC_URL, "servicenet", { email: "jane@example.com" });
    expect(await whoami(await worldOf(OIDC), { token })).toSatisfy((code) => code === 401 || code === 503);
    expect(asked).not.toContain("http://127.0.0.1/keys");
  });
});

describe("Cloudflare Access", () => {
  it("its header: the user of the JWT; a token of this server counts before it", async () => {
    const world = await worldOf(CLOUDFLARE);
    const assertion = await signed(CLOUDFLARE_URL, "AUD-TAG-OF-THE-APPLICATION", { email: "jane@example.com" });
    const headers = { "Cf-Access-Jwt-Assertion": assertion };
    expect(await whoami(world, { token: "", headers })).toMatchObject({ username: "jane@example.com" });
    const bob = await world.tokenOf("bob");
    expect(await whoami(world, { token: bob, headers })).toMatchObject({ username: "bob" });
    expect(await whoami(world, { token: "", headers: { "Cf-Access-Jwt-Assertion": `${assertion}x` } })).toBe(401);
  });
});
