import { describe, expect, it } from "vitest";
import { parseIssuers } from "../../../../src/access/authentication/issuer-config";
import { parseAuthentication } from "../../../../src/access/authentication/credential-settings";
import type { JsonObject, JsonValue } from "../../../../src/api/schema/json/json-value";
import { issuerConfig } from "../../../support/worlds/issuer-world";

function problems(document: JsonValue | string): string[] {
  const parsed = parseIssuers(typeof document === "string" ? document : JSON.stringify(document));
  return parsed.ok ? [] : parsed.error;
}

const USERNAME: JsonObject = { claim: "sub", prefix: "" };
const USERNAME_ALONE: JsonObject = { username: USERNAME };

describe("AUTHENTICATION_CONFIG", () => {
  it.each([undefined, "", "  ", "{}", '{"jwt":[]}'])("the text %j: has no issuers", (text) => {
    expect(parseIssuers(text)).toEqual({ ok: true, value: [] });
  });

  it("an issuer: has upstream's fields and this server's own, with defaults", () => {
    const apiVersion = "apiserver.config.k8s.io/v1";
    const jwt = [issuerConfig({ clusters: ["team"], algorithms: ["ES256"] }, { url: "https://a.example/x/" })];
    expect(parseIssuers(JSON.stringify({ apiVersion, kind: "AuthenticationConfiguration", jwt }))).toEqual({
      ok: true,
      value: [
        {
          url: "https://a.example/x/",
          jwksUrl: undefined,
          discoveryUrl: "https://a.example/x/.well-known/openid-configuration",
          audiences: ["servicenet"],
          algorithms: ["ES256"],
          username: { claim: "sub", prefix: "oidc:" },
          groups: { claim: "groups", prefix: "" },
          uid: undefined,
          rules: [],
          clusters: ["team"],
        },
      ],
    });
    const parsed = parseIssuers(JSON.stringify({ jwt: [issuerConfig()] }));
    expect(parsed.ok && [parsed.value[0]?.algorithms, parsed.value[0]?.clusters]).toEqual([
      ["RS256", "ES256", "PS256", "EdDSA"],
      undefined,
    ]);
  });

  it("Cloudflare Access: is one issuer, with the address of its keys", () => {
    const team = "https://team.cloudflareaccess.com";
    const issuer = {
      url: team,
      jwksURL: `${team}/cdn-cgi/access/certs`,
      audiences: ["4714c1358e65fe4b408ad6d432a5f878f08194bdb4752441fd56faefa9b2b6f2"],
    };
    expect(problems({ jwt: [{ issuer, claimMappings: { username: { claim: "email", prefix: "" } } }] })).toEqual([]);
  });

  it.each<[what: string, document: JsonValue | string, found: string[]]>([
    ["no JSON", "{", ["is no JSON"]],
    ["a list", [], ["must be an object"]],
    ["another kind", { kind: "X", jwt: [] }, ["kind: must be AuthenticationConfiguration"]],
    ["another version", { apiVersion: "v1" }, ["apiVersion: must be a version of apiserver.config.k8s.io"]],
    ["a list that is none", { jwt: {} }, ["jwt: must be a list"]],
    ["anonymous", { anonymous: { enabled: true } }, ["anonymous: is not supported"]],
    ["plain http", { jwt: [issuerConfig({}, { url: "http://a.example" })] }, ["jwt[0].issuer.url: must be an https URL"]],
    ["a password", { jwt: [issuerConfig({}, { url: "https://u:p@a.example" })] }, ["jwt[0].issuer.url: must be an https URL"]],
    ["a query", { jwt: [issuerConfig({}, { discoveryURL: "https://a.example/?x" })] }, ["jwt[0].issuer.discoveryURL: must be"]],
    [
      "this server",
      { jwt: [issuerConfig({}, { url: "https://kubernetes.default.svc/clusters/a" })] },
      ["jwt[0].issuer.url: is this server"],
    ],
    ["no audience", { jwt: [issuerConfig({}, { audiences: [] })] }, ["jwt[0].issuer.audiences: at least one"]],
    ["the same issuer twice", { jwt: [issuerConfig(), issuerConfig()] }, ['jwt[1].issuer.url: "https://issuer.example" is there twice']],
    ["alg none", { jwt: [issuerConfig({ algorithms: ["none"] })] }, ['jwt[0].algorithms: "none" is none of']],
    ["a shared secret", { jwt: [issuerConfig({ algorithms: ["HS256"] })] }, ['jwt[0].algorithms: "HS256" is none of']],
    ["no algorithm", { jwt: [issuerConfig({ algorithms: [] })] }, ["jwt[0].algorithms: at least one"]],
    ["no cluster", { jwt: [issuerConfig({ clusters: [] })] }, ["jwt[0].clusters: must name a cluster"]],
    ["a cluster of another form", { jwt: [issuerConfig({ clusters: ["A"] })] }, ['jwt[0].clusters: "A" is no name']],
    [
      "no user",
      { jwt: [issuerConfig({ claimMappings: {} })] },
      ["jwt[0].claimMappings.username.claim: is required", "jwt[0].claimMappings.username.prefix"],
    ],
    [
      "no prefix",
      { jwt: [issuerConfig({ claimMappings: { username: { claim: "sub" } } })] },
      ["jwt[0].claimMappings.username.prefix: is required"],
    ],
    [
      "a prefix of the server",
      { jwt: [issuerConfig({ claimMappings: { username: { claim: "sub", prefix: "system:node:" } } })] },
      ["jwt[0].claimMappings.username.prefix: names with this prefix"],
    ],
    [
      "an expression",
      { jwt: [issuerConfig({ claimMappings: { username: { ...USERNAME, expression: "claims.sub" } } })] },
      ["jwt[0].claimMappings.username.expression: is not supported"],
    ],
    ["rules for users", { jwt: [issuerConfig({ userValidationRules: [] })] }, ["jwt[0].userValidationRules: is not supported"]],
    [
      "a rule without claim",
      { jwt: [issuerConfig({ claimMappings: USERNAME_ALONE, claimValidationRules: [{ requiredValue: "x" }] })] },
      ["jwt[0].claimValidationRules[0].claim: is required"],
    ],
    [
      "numbers for texts",
      { jwt: [issuerConfig({}, { audiences: [1], url: 2 })] },
      ["url: must be a text", "url: is required", "audiences[0]: must be", "audiences: at least"],
    ],
  ])("a configuration with %s: is refused with every problem", (_, document, found) => {
    const texts = problems(document);
    expect(texts.length, texts.join("; ")).toBe(found.length);
    found.forEach((text, i) => expect(texts[i]).toContain(text));
  });
});

it("both variables with problems: each problem names its variable", () => {
  expect(parseAuthentication({})).toEqual({ ok: true, value: { adminTokens: [], issuers: [] } });
  expect(parseAuthentication({ ADMIN_TOKEN_HASHES: "x", AUTHENTICATION_CONFIG: "{" })).toEqual({
    ok: false,
    error: [
      "ADMIN_TOKEN_HASHES: entry 1 is not as `npm run token -- new-admin` prints it: ID:SALT:SHA256",
      "AUTHENTICATION_CONFIG: is no JSON",
    ],
  });
});
