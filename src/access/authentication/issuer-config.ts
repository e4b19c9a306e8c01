/**
 * The variable AUTHENTICATION_CONFIG: issuers of tokens, in JSON and in the shape of upstream's AuthenticationConfiguration (its list `jwt`).
 * Three fields are this server's own: `clusters`, `algorithms`, and `issuer.jwksURL` for an issuer without a discovery document. Expressions are not
 * understood, and no unknown field is passed over: it might be a condition.
 * Source: upstream apiserver pkg/apis/apiserver/validation/validation.go.
 */
import { validateDNS1123Label } from "../../api/meta/names";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/schema/json/json-value";
import { err, ok, type Result } from "../../core/base/result";
import { isReservedName } from "./reserved-names";
import { isServiceAccountIssuer } from "./service-account-claims";

export interface PrefixedClaim {
  readonly claim: string;
  readonly prefix: string;
}

export interface Issuer {
  readonly url: string;
  /** of the keys themselves; undefined = the document at `discoveryUrl` names them */
  readonly jwksUrl: string | undefined;
  readonly discoveryUrl: string;
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly username: PrefixedClaim;
  readonly groups: PrefixedClaim | undefined;
  /** name of the claim */
  readonly uid: string | undefined;
  readonly rules: readonly { readonly claim: string; readonly requiredValue: string }[];
  /** names of the clusters that its users reach; undefined = all */
  readonly clusters: readonly string[] | undefined;
}

/** With public keys alone: a token that is signed with a secret, or with nothing, is never good. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"];
const DEFAULT_ALGORITHMS = ["RS256", "ES256", "PS256", "EdDSA"];
/** Upstream's limit (pkg/apis/apiserver/validation). */
const ISSUERS_MAX = 64;
const HTTPS_URL = /^https:\/\/[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:\/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?$/;
const API_GROUP = "apiserver.config.k8s.io/";
const KIND = "AuthenticationConfiguration";

/** An absent or blank text has no issuers. The problems are all that there are, each with the path of its field. */
export function parseIssuers(text: string | undefined): Result<readonly Issuer[], string[]> {
  if ((text ?? "").trim() === "") return ok([]);
  let document: JsonValue;
  try {
    document = JSON.parse(text ?? "") as JsonValue;
  } catch {
    return err(["is no JSON"]);
  }
  const problems: string[] = [];
  const fields = new Fields(document, "", problems);
  fields.only("apiVersion", "kind", "jwt");
  const kind = fields.text("kind", KIND);
  if (kind !== KIND) problems.push(`kind: must be ${KIND}`);
  if (!fields.text("apiVersion", API_GROUP).startsWith(API_GROUP))
    problems.push(`apiVersion: must be a version of ${API_GROUP.slice(0, -1)}`);
  const issuers = fields.list("jwt").map(issuerOf);
  if (issuers.length > ISSUERS_MAX) problems.push(`jwt: must have at most ${ISSUERS_MAX} items`);
  issuers.forEach(({ url }, i) => {
    if (issuers.findIndex((other) => other.url === url) < i) problems.push(`jwt[${i}].issuer.url: ${JSON.stringify(url)} is there twice`);
  });
  return problems.length > 0 ? err(problems) : ok(issuers);
}

function issuerOf(fields: Fields): Issuer {
  fields.only("issuer", "claimMappings", "claimValidationRules", "clusters", "algorithms");
  const issuer = fields.object("issuer");
  issuer.only("url", "discoveryURL", "jwksURL", "audiences", "audienceMatchPolicy");
  const url = issuer.https("url");
  if (isServiceAccountIssuer(url)) issuer.problem("url", "is this server itself");
  const policy = issuer.text("audienceMatchPolicy", "MatchAny");
  if (policy !== "MatchAny") issuer.problem("audienceMatchPolicy", "must be MatchAny");
  const audiences = issuer.texts("audiences");
  if (audiences.length === 0) issuer.problem("audiences", "at least one is required: a token for somebody else is not good here");
  const mappings = fields.object("claimMappings");
  mappings.only("username", "groups", "uid");
  return {
    url,
    jwksUrl: issuer.has("jwksURL") ? issuer.https("jwksURL") : undefined,
    discoveryUrl: issuer.has("discoveryURL") ? issuer.https("discoveryURL") : `${url.replace(/\/$/, "")}/.well-known/openid-configuration`,
    audiences,
    algorithms: algorithmsOf(fields),
    username: prefixedClaim(mappings.object("username")),
    groups: mappings.has("groups") ? prefixedClaim(mappings.object("groups")) : undefined,
    uid: mappings.has("uid") ? claimOf(mappings.object("uid")) : undefined,
    rules: fields.list("claimValidationRules").map((rule) => {
      rule.only("claim", "requiredValue");
      return { claim: rule.required("claim"), requiredValue: rule.text("requiredValue", "") };
    }),
    clusters: clustersOf(fields),
  };
}

function algorithmsOf(fields: Fields): readonly string[] {
  if (!fields.has("algorithms")) return DEFAULT_ALGORITHMS;
  const algorithms = fields.texts("algorithms");
  if (algorithms.length === 0) fields.problem("algorithms", "at least one is required");
  for (const algorithm of algorithms)
    if (!ALGORITHMS.includes(algorithm)) fields.problem("algorithms", `${JSON.stringify(algorithm)} is none of ${ALGORITHMS.join(", ")}`);
  return algorithms;
}

function clustersOf(fields: Fields): readonly string[] | undefined {
  if (!fields.has("clusters")) return undefined;
  const clusters = fields.texts("clusters");
  if (clusters.length === 0) fields.problem("clusters", "must name a cluster; without the field its users reach all");
  for (const name of clusters)
    if (validateDNS1123Label(name).length > 0) fields.problem("clusters", `${JSON.stringify(name)} is no name of a cluster`);
  return clusters;
}

/** As upstream, a prefix has to be written, so that nobody leaves it out by mistake. */
function prefixedClaim(fields: Fields): PrefixedClaim {
  fields.only("claim", "prefix");
  const claim = fields.required("claim");
  if (!fields.has("prefix")) fields.problem("prefix", 'is required; "" means none');
  const prefix = fields.text("prefix", "");
  if (isReservedName(prefix)) fields.problem("prefix", "names with this prefix are the server's own");
  return { claim, prefix };
}

function claimOf(fields: Fields): string {
  fields.only("claim");
  return fields.required("claim");
}

/** An object of the document. What is wrong goes to `problems`, and reading goes on with something of the right type. */
class Fields {
  readonly #fields: JsonObject;

  constructor(
    value: JsonValue,
    private readonly path: string,
    private readonly problems: string[],
  ) {
    this.#fields = isJsonObject(value) ? value : {};
    if (!isJsonObject(value)) problems.push(`${path === "" ? "" : `${path}: `}must be an object`);
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined;
  }

  problem(name: string, text: string): void {
    this.problems.push(`${this.#pathOf(name)}: ${text}`);
  }

  only(...names: string[]): void {
    for (const name of Object.keys(this.#fields)) if (!names.includes(name)) this.problem(name, "is not supported");
  }

  object(name: string): Fields {
    return new Fields(this.#fields[name] ?? {}, this.#pathOf(name), this.problems);
  }

  list(name: string): Fields[] {
    return this.#items(name).map((item, i) => new Fields(item, `${this.#pathOf(name)}[${i}]`, this.problems));
  }

  texts(name: string): string[] {
    return this.#items(name).flatMap((item, i) => {
      if (typeof item === "string" && item !== "") return item;
      this.problem(`${name}[${i}]`, "must be a text");
      return [];
    });
  }

  text(name: string, byDefault: string): string {
    const value = this.#fields[name] ?? byDefault;
    if (typeof value === "string") return value;
    this.problem(name, "must be a text");
    return byDefault;
  }

  required(name: string): string {
    const text = this.text(name, "");
    if (text === "") this.problem(name, "is required");
    return text;
  }

  /** Keys that come by plain http are anybody's. */
  https(name: string): string {
    const text = this.required(name);
    if (text !== "" && !HTTPS_URL.test(text)) this.problem(name, "must be an https URL without user, query and fragment");
    return text;
  }

  #items(name: string): readonly JsonValue[] {
    const value = this.#fields[name] ?? [];
    if (Array.isArray(value)) return value as readonly JsonValue[];
    this.problem(name, "must be a list");
    return [];
  }

  #pathOf(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }
}
