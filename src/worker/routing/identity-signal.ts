/** The "cron" of the local runner, which renews the identity Lease of the cluster `default` without a request. Nothing else fires it. */
export const RENEW_IDENTITY = "renew-identity";
