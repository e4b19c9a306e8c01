/** Claims of an issuer -> user. Source: upstream apiserver plugin/pkg/authenticator/token/oidc/oidc.go. */
import type { JWTPayload } from "jose";
import { CREDENTIAL_ID, type User } from "../identity/user";
import type { Issuer, PrefixedClaim } from "./issuer-config";
import { isReservedName } from "./reserved-names";

const EMAIL = "email";
const EMAIL_VERIFIED = "email_verified";

/** undefined: the claims name no user, or one that is not the issuer's to name. Groups of the server are dropped. */
export function userOf(claims: JWTPayload, { username, groups, uid, rules }: Issuer): User | undefined {
  if (rules.some(({ claim, requiredValue }) => ownClaim(claims, claim) !== requiredValue)) return undefined;
  const name = nameOf(claims, username);
  if (name === undefined || isReservedName(name)) return undefined;
  const memberOf = groups ? groupsOf(ownClaim(claims, groups.claim), groups.prefix) : [];
  const id = uid === undefined ? "" : (ownClaim(claims, uid) ?? "");
  if (!memberOf || typeof id !== "string") return undefined;
  const { jti } = claims;
  const extra: User["extra"] = typeof jti === "string" && jti !== "" ? { [CREDENTIAL_ID]: [`JTI=${jti}`] } : {};
  return { name, uid: id, groups: memberOf.filter((group) => !isReservedName(group)), extra };
}

/** An address that its owner has not shown to be his own is no name. */
function nameOf(claims: JWTPayload, { claim, prefix }: PrefixedClaim): string | undefined {
  if (claim === EMAIL && Object.hasOwn(claims, EMAIL_VERIFIED) && claims[EMAIL_VERIFIED] !== true) return undefined;
  const name = ownClaim(claims, claim);
  return typeof name === "string" && name !== "" ? `${prefix}${name}` : undefined;
}

/** A text stands for a list of one. undefined: it is neither. */
function groupsOf(value: unknown, prefix: string): string[] | undefined {
  if (value === undefined || value === null) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = list.flatMap((group) => (typeof group === "string" ? group : []));
  if (texts.length < list.length) return undefined;
  return texts.filter((group) => group !== "").map((group) => `${prefix}${group}`);
}

/** A claim with the name of something that every object has is absent all the same. */
function ownClaim(claims: JWTPayload, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}
