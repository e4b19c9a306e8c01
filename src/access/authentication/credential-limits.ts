/** Limits of credentials, with the unit in the name and the reason for the size. */

/** Clocks of issuers differ from ours. Source: upstream apiserver and pkg/serviceaccount allow as much. */
export const LEEWAY_SECONDS = 60;

/** Longer credentials are refused unread. Upstream's limit of all headers together is 1 MiB; no issuer's token comes near this. */
export const CREDENTIAL_MAX_CHARS = 16_384;

/** Of a service account token. Who needs one for longer asks again, as kubelets and client-go do. */
export const LIFETIME_MAX_SECONDS = 86_400;

/** Of service account tokens: a key and a signature are short, and every client's library knows it. */
export const SIGNING_ALGORITHM = "ES256";
