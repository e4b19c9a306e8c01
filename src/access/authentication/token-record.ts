/** The record of an own bearer token, and the users for whom no token is made. */
import { forbiddenField, invalidValue, required, tooLong, tooMany, type FieldError } from "../../api/meta/field-errors";
import { validateDNS1123Label } from "../../api/meta/names";
import {
  AGENT_PREFIX,
  ANONYMOUS,
  NODE_PREFIX,
  SERVICE_ACCOUNT_PREFIX,
  SERVICE_ACCOUNTS,
  SERVICE_ACCOUNTS_PREFIX,
  UNAUTHENTICATED,
} from "../identity/user";
import { agentLimitErrors, type AgentLimits } from "../identity/agent-limits";
import type { SecretHash } from "./bearer-token";

/** Asked for by an administrator. Times in milliseconds since the epoch. */
export interface NewToken extends AgentLimits {
  readonly user: string;
  readonly groups: readonly string[];
  /** names of the clusters that it is good for; absent = all, and what belongs to the server as a whole */
  readonly clusters?: readonly string[];
  /** absent = never */
  readonly expiresAt?: number;
  readonly description: string;
}

/** A token as lists show it: neither its secret nor a hash of it. */
export interface TokenRecord extends NewToken {
  readonly id: string;
  readonly createdAt: number;
  readonly revokedAt?: number;
  /** days since the epoch; absent = never used */
  readonly lastUsedDay?: number;
  /** until then the secret before the last rotation is good, too */
  readonly formerUntil?: number;
}

/** As it is stored. */
export interface TokenRow {
  readonly record: TokenRecord;
  readonly hash: SecretHash;
  /** of the secret before the last rotation */
  readonly formerHash?: SecretHash;
}

/** What a request with a good token may act as. */
export interface VerifiedToken extends AgentLimits {
  readonly user: string;
  readonly groups: readonly string[];
  readonly clusters?: readonly string[];
  /** from then on the token, or this secret of it, is no longer good; absent = never */
  readonly goodUntil?: number;
}

/** Who does not know the secret learns nothing about the token: it is unknown. */
export type TokenFault = "unknown" | "expired" | "revoked";

const NAME_LENGTH_MAX = 256;
const GROUPS_MAX = 64;
const CLUSTERS_MAX = 100;
/** Control characters would let a name write lines of its own into logs and terminals. */
// prettier-ignore
const CONTROL = /\p{Cc}/u;
/** Users and groups that are somebody only if their own credential says so. */
const RESERVED_USERS = [ANONYMOUS, SERVICE_ACCOUNT_PREFIX];
const RESERVED_GROUPS = [UNAUTHENTICATED, SERVICE_ACCOUNTS, SERVICE_ACCOUNTS_PREFIX];

/** All that is wrong with what is asked for. Names of the server itself, system:masters among them, are right: an administrator asks. */
export function newTokenErrors(asked: NewToken, nowMs: number): FieldError[] {
  return [
    ...nameErrors("user", asked.user, RESERVED_USERS),
    ...[NODE_PREFIX, AGENT_PREFIX]
      .filter((prefix) => asked.user === prefix)
      .map(() => invalidValue("user", asked.user, "a name must follow the prefix")),
    ...(asked.groups.length > GROUPS_MAX ? [tooMany("groups", asked.groups.length, GROUPS_MAX)] : []),
    ...asked.groups.flatMap((group, i) => nameErrors(`groups[${i}]`, group, RESERVED_GROUPS)),
    ...clusterErrors(asked.clusters),
    ...limitErrors(asked),
    ...expiryErrors(asked.expiresAt, nowMs),
    ...textErrors("description", asked.description),
  ];
}

function nameErrors(field: string, name: string, reserved: readonly string[]): FieldError[] {
  if (name === "") return [required(field)];
  const isReserved = reserved.some((one) => (one.endsWith(":") ? name.startsWith(one) : name === one));
  if (isReserved) return [invalidValue(field, name, "no token of this server stands for this name")];
  return textErrors(field, name);
}

function textErrors(field: string, text: string): FieldError[] {
  if (text.length > NAME_LENGTH_MAX) return [tooLong(field, `may not be more than ${NAME_LENGTH_MAX} characters`)];
  return CONTROL.test(text) ? [invalidValue(field, text, "must not contain control characters")] : [];
}

function clusterErrors(clusters: readonly string[] | undefined): FieldError[] {
  if (!clusters) return [];
  if (clusters.length === 0)
    return [required("clusters", "a token for no cluster is good for nothing; without the field it is good for all")];
  if (clusters.length > CLUSTERS_MAX) return [tooMany("clusters", clusters.length, CLUSTERS_MAX)];
  return clusters.flatMap((name, i) => validateDNS1123Label(name).map((problem) => invalidValue(`clusters[${i}]`, name, problem)));
}

function limitErrors(asked: NewToken): FieldError[] {
  if (asked.user.startsWith(AGENT_PREFIX)) return agentLimitErrors(asked);
  return (["agentNamespaces", "agentLabels"] as const)
    .filter((field) => asked[field] !== undefined)
    .map((field) => forbiddenField(field, "may only be set for the user of an agent"));
}

function expiryErrors(expiresAt: number | undefined, nowMs: number): FieldError[] {
  if (expiresAt === undefined) return [];
  return Number.isSafeInteger(expiresAt) && expiresAt > nowMs ? [] : [invalidValue("expiresAt", expiresAt, "must be in the future")];
}

/** Whether the token is over, for good. */
export function endOf({ expiresAt, revokedAt }: TokenRecord, nowMs: number): Exclude<TokenFault, "unknown"> | undefined {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && expiresAt <= nowMs ? "expired" : undefined;
}
