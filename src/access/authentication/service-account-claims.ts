/** What a service account token says. Source: upstream pkg/serviceaccount/claims.go. */

export interface ClaimedObject {
  readonly name: string;
  readonly uid: string;
}

/** The claims but for the issuer, which only the signer says. Times in seconds since the epoch. */
export interface ServiceAccountClaims {
  readonly sub: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly jti: string;
  readonly "kubernetes.io": {
    readonly namespace: string;
    readonly serviceaccount: ClaimedObject;
    /** the object that the token is bound to; of a Pod also its node */
    readonly pod?: ClaimedObject;
    readonly node?: ClaimedObject;
    readonly secret?: ClaimedObject;
  };
}

/** The audience of a token that names none: this API. */
export const API_AUDIENCE = "https://kubernetes.default.svc";

/** The issuer of the tokens of one life of a cluster. */
export function serviceAccountIssuer(clusterId: string): string {
  return `${API_AUDIENCE}/clusters/${clusterId}`;
}

/** Whether an issuer is this server, whichever cluster it names. */
export function isServiceAccountIssuer(issuer: string): boolean {
  return issuer === API_AUDIENCE || issuer.startsWith(`${API_AUDIENCE}/`);
}

/** The id of the cluster that an issuer means to be; "" = none. */
export function clusterIdOfIssuer(issuer: string): string {
  const before = serviceAccountIssuer("");
  return issuer.startsWith(before) ? issuer.slice(before.length) : "";
}
