/** The keys of an issuer, from where it publishes them. Source: OpenID Connect Discovery 1.0. */
import type { JWK } from "jose";
import type { Issuer } from "./issuer-config";

/** Rejects for what is no such document. */
export async function readIssuerKeys(
  { url, jwksUrl, discoveryUrl }: Issuer,
  fetchJson: (url: string) => Promise<unknown>,
): Promise<readonly JWK[]> {
  const keysAt = jwksUrl ?? namedIn(url, await fetchJson(discoveryUrl));
  const { keys } = documentOf(await fetchJson(keysAt));
  if (!Array.isArray(keys)) throw new Error("the document of the keys has no keys");
  return keys.filter((key): key is JWK => typeof key === "object" && key !== null);
}

/** A document that speaks for another issuer is nobody's. */
function namedIn(url: string, document: unknown): string {
  const { issuer, jwks_uri: keysAt } = documentOf(document);
  if (issuer !== url) throw new Error(`the discovery document is that of another issuer: ${JSON.stringify(issuer)}`);
  if (typeof keysAt !== "string" || !keysAt.startsWith("https://")) throw new Error("the discovery document names no https URL of keys");
  return keysAt;
}

function documentOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) throw new Error("the answer is no JSON object");
  return value as Readonly<Record<string, unknown>>;
}
