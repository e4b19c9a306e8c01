/** The inputs and answers of authentication, and its ports. */
import type { Beside } from "../../core/turns/batched";
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

/** What a token says of an object, and when it was issued, in ms since the epoch. */
export interface ClaimedUid {
  readonly uid: string;
  readonly issuedMs: number;
}

/** What the tokens of a cluster's service accounts are judged by. */
export interface ServiceAccountSource {
  /** of the life of the cluster */
  readonly clusterId: string;
  /** SigningKeysRpc.publicKeys; its answers are kept here */
  publicKeys(): Promise<readonly PublicKey[]>;
  /** the uid, as it was at most 30 s ago; another one than the claimed is no older than the token. undefined = there is none, or it is being deleted */
  findServiceAccount(namespace: string, name: string, claimed: ClaimedUid): Promise<string | undefined>;
  /** the same of an object that a token is bound to; `namespace` is "" for a Node */
  findBound(kind: BoundKind, namespace: string, name: string, claimed: ClaimedUid): Promise<string | undefined>;
}

export interface AuthenticatorPorts {
  readonly clock: Pick<Clock, "now" | "after">;
  readonly digest: Digest;
  readonly recorder: Recorder;
  /** TokensRpc.verifyToken */
  verifyToken(id: string, secret: string, beside: Beside): Promise<Result<VerifiedToken, TokenFault>>;
  /**
   * of the cluster that clients know by this name; undefined = there is none, or `claimedId` is of no cluster of the name. It is asked only for tokens that mean
   * to be of a service account
   */
  serviceAccounts(cluster: string, claimedId: string, beside: Beside): Promise<ServiceAccountSource | undefined>;
  /** the JSON behind an https URL, of at most 1 MiB and without redirects; rejects for any other answer than 200 */
  fetchJson(url: string): Promise<unknown>;
}
