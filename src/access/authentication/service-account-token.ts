/**
 * Tokens of service accounts: what is signed, and who a signed one stands for.
 * Source: upstream pkg/serviceaccount/claims.go and jwt.go, apiserver pkg/authentication/serviceaccount/util.go.
 */
import { err, ok, type Result } from "../../core/base/result";
import {
  CREDENTIAL_ID,
  NODE_NAME_EXTRA,
  SERVICE_ACCOUNTS,
  SERVICE_ACCOUNTS_PREFIX,
  serviceAccountUserName,
  type User,
} from "../identity/user";
import type { CheckedClaims } from "./jwt";
import type { AuthenticationFault, BoundKind, ClaimedUid, ServiceAccountSource } from "./ports";
import type { ClaimedObject, ServiceAccountClaims } from "./service-account-claims";

/** Of a Pod also the node that it runs on, where it has one. */
export type BoundObject =
  | { readonly kind: "Pod"; readonly pod: ClaimedObject; readonly node?: ClaimedObject }
  | { readonly kind: "Node"; readonly node: ClaimedObject }
  | { readonly kind: "Secret"; readonly secret: ClaimedObject };

export interface AskedToken {
  readonly namespace: string;
  readonly serviceAccount: ClaimedObject;
  readonly bound?: BoundObject;
  readonly audiences: readonly string[];
  readonly seconds: number;
  /** fresh; names the token */
  readonly id: string;
}

const POD_NAME = "authentication.kubernetes.io/pod-name";
const POD_UID = "authentication.kubernetes.io/pod-uid";
const NODE_UID = "authentication.kubernetes.io/node-uid";

export function serviceAccountClaims(
  { namespace, serviceAccount, bound, audiences, seconds, id }: AskedToken,
  nowMs: number,
): ServiceAccountClaims {
  const now = Math.floor(nowMs / 1_000);
  return {
    sub: serviceAccountUserName(namespace, serviceAccount.name),
    aud: audiences,
    exp: now + seconds,
    iat: now,
    nbf: now,
    jti: id,
    "kubernetes.io": { namespace, serviceaccount: serviceAccount, ...withoutKind(bound) },
  };
}

function withoutKind(bound: BoundObject | undefined): Omit<BoundObject, "kind"> {
  const { kind: _, ...objects } = bound ?? { kind: undefined };
  return objects;
}

/** The user of checked claims. The account and the object that the token is bound to must still be the ones that it names. */
export async function serviceAccountUser(claims: CheckedClaims, source: ServiceAccountSource): Promise<Result<User, AuthenticationFault>> {
  const about = claimed(claims["kubernetes.io"]);
  if (!about) return err("Unauthorized");
  const { namespace, serviceaccount, pod, node, secret } = about;
  const name = serviceAccountUserName(namespace, serviceaccount.name);
  if (claims.sub !== name) return err("Unauthorized");
  // A Pod's node is only named: the token lives as long as its Pod.
  const bound: [BoundKind, string, ClaimedObject | undefined][] = [
    ["Pod", namespace, pod],
    ["Secret", namespace, secret],
    ["Node", "", pod ? undefined : node],
  ];
  const claimedOf = ({ uid }: ClaimedObject): ClaimedUid => ({ uid, issuedMs: (claims.iat ?? 0) * 1_000 });
  const account = await source.findServiceAccount(namespace, serviceaccount.name, claimedOf(serviceaccount));
  if (account !== serviceaccount.uid) return err("Unauthorized");
  for (const [kind, where, object] of bound)
    if (object && (await source.findBound(kind, where, object.name, claimedOf(object))) !== object.uid) return err("Unauthorized");
  const extra: Record<string, readonly string[]> = {};
  if (typeof claims.jti === "string" && claims.jti !== "") extra[CREDENTIAL_ID] = [`JTI=${claims.jti}`];
  if (pod) Object.assign(extra, { [POD_NAME]: [pod.name], [POD_UID]: [pod.uid] });
  if (node) Object.assign(extra, { [NODE_NAME_EXTRA]: [node.name], [NODE_UID]: [node.uid] });
  const groups = [SERVICE_ACCOUNTS, `${SERVICE_ACCOUNTS_PREFIX}${namespace}`];
  return ok({ name, uid: serviceaccount.uid, groups, extra });
}

type Claimed = ServiceAccountClaims["kubernetes.io"];

/** undefined: it is not what this server signs. */
function claimed(value: unknown): Claimed | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { namespace, serviceaccount, pod, node, secret } = value as Partial<Record<keyof Claimed, unknown>>;
  if (typeof namespace !== "string" || namespace === "" || !isObject(serviceaccount)) return undefined;
  if (!isObjectOrAbsent(pod) || !isObjectOrAbsent(node) || !isObjectOrAbsent(secret)) return undefined;
  return { namespace, serviceaccount, pod, node, secret };
}

function isObjectOrAbsent(value: unknown): value is ClaimedObject | undefined {
  return value === undefined || isObject(value);
}

function isObject(value: unknown): value is ClaimedObject {
  const { name, uid } = (value ?? {}) as Partial<Record<keyof ClaimedObject, unknown>>;
  return typeof name === "string" && name !== "" && typeof uid === "string" && uid !== "";
}
