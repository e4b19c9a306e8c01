/** What authentication is given, what it answers, and what it asks for. */
import type { Clock, Digest, Recorder } from "../../core/base/ports";
import type { Result } from "../../core/base/result";
import type { PublicKey } from "./signing-keys";
import type { TokenFault, VerifiedToken } from "./token-record";

/** The credentials of a request. */
export interface Credentials {
  /** of `Authorization: Bearer …` */
  readonly bearer?: string;
  /** of `Cf-Access-Jwt-Assertion`, the header of Cloudflare Access; it counts only where there is no other credential */
  readonly accessJwt?: string;
}

/** Unavailable: who could tell did not answer. The request may be repeated. */
export type AuthenticationFault = "Unauthorized" | "Unavailable";

/** The objects that a service account token may be bound to. */
export type BoundKind = "Pod" | "Node" | "Secret";

/** What the tokens of a cluster's service accounts are judged by. */
export interface ServiceAccountSource {
  /** of the life of the cluster */
  readonly clusterId: string;
  /** SigningKeysRpc.publicKeys; its answers are kept here */
  publicKeys(): Promise<readonly PublicKey[]>;
  /** the uid; undefined = there is none, or its deletionTimestamp is a minute old. The caller keeps an answer for at most 30 s */
  findServiceAccount(namespace: string, name: string): Promise<string | undefined>;
  /** the same of an object that a token is bound to; `namespace` is "" for a Node */
  findBound(kind: BoundKind, namespace: string, name: string): Promise<string | undefined>;
}

export interface AuthenticatorPorts {
  readonly clock: Pick<Clock, "now" | "after">;
  readonly digest: Digest;
  readonly recorder: Recorder;
  /** TokensRpc.verifyToken */
  verifyToken(id: string, secret: string): Promise<Result<VerifiedToken, TokenFault>>;
  /** of the cluster that clients know by this name; undefined = there is none. It is asked only for tokens that mean to be of a service account */
  serviceAccounts(cluster: string): Promise<ServiceAccountSource | undefined>;
  /** the JSON behind an https URL, of at most 1 MiB and without redirects; rejects for any other answer than 200 */
  fetchJson(url: string): Promise<unknown>;
}
